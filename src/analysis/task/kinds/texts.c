// Texts: the share of samples that are read without a fault, and how near the others come.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../decode/ctc.h"
#include "../decode/decode.h"
#include "../decode/floats.h"
#include "../task_impl.h"
#include "qtui/base/mem.h"
#include "qtui/base/str.h"

struct reading { // of one sample
	struct task_result base; // value: how near it comes, 1 - edits / characters of the longer text
	bool right;
	char text[];
};

// ---- opening

// A softmax, which no boxes have, or as many classes as there are characters: six numbers of a box are no six characters.
bool texts_said(int *characters, const struct task *t)
{
	struct names alphabet;
	struct head h;
	struct ctc c;
	if (t->g->n_outputs != 1)
		return false;
	head_init(&h, t->g, 0, 0);
	alphabet_find(&alphabet, t->g, t->opt.labels ? t->opt.labels : dataset_path(t->d));
	*characters = alphabet.n;
	bool found = ctc_find(&c, &h.out[0].shape, alphabet.n) &&
	             (h.out[0].ends == END_SOFTMAX || (ctc_fits(&c, alphabet.n) && !decode_is_likely(&h)));
	names_done(&alphabet);
	head_done(&h);
	return found;
}

static bool fits(const struct shape *s, int characters)
{
	struct ctc c;
	return ctc_find(&c, s, characters) && ctc_fits(&c, characters);
}

static enum status texts_open(struct task *t, struct error *err)
{
	struct names *a = t->state = xcalloc(1, sizeof *a);
	bool found = !task_outputs_known(t->g);
	alphabet_find(a, t->g, t->labels->source);
	if (!a->n)
		return error_set(err, STATUS_NOTFOUND,
		    "%s: texts, and nothing says which characters the model's classes are: put them beside it as dict.txt, a line each",
		    t->labels->source);
	for (int i = 0; i < t->g->n_outputs && !found; i++)
		found = fits(&t->g->value[t->g->output[i]].shape, a->n);
	if (!found)
		return error_set(err, STATUS_UNSUPPORTED,
		    "%s: texts, but no output of the model has scores of %d to %d classes a step, as %d characters have", t->labels->source, a->n,
		    a->n + ALPHABET_MORE, a->n);
	return STATUS_OK;
}

static void texts_close(struct task *t)
{
	if (t->state)
		names_done(t->state);
	free(t->state);
	t->state = NULL;
}

static void texts_note(struct task *t, char *out, size_t size)
{
	snprintf(out, size, "labels %s (%d of %d samples); %d characters", t->labels->source, t->labels->n_known, t->n_samples,
	    ((const struct names *)t->state)->n);
}

// ---- reading

// Characters but blanks, which do not count; each as the bytes that it has in UTF-8.
static uint32_t *characters_of(const char *text, int *n)
{
	uint32_t *out = xcalloc(strlen(text) + 1, sizeof *out);
	*n = 0;
	for (; *text; text++) {
		if (*text == ' ')
			continue;
		if (((unsigned char)*text & 0xc0) == 0x80 && *n)
			out[*n - 1] = out[*n - 1] << 8 | (unsigned char)*text;
		else
			out[(*n)++] = (unsigned char)*text;
	}
	return out;
}

// Levenshtein's distance.
static int distance(const uint32_t *a, int n, const uint32_t *b, int m)
{
	int *row = xcalloc((size_t)m + 1, sizeof *row), result;
	for (int j = 0; j <= m; j++)
		row[j] = j;
	for (int i = 1; i <= n; i++) {
		int corner = row[0]++;
		for (int j = 1; j <= m; j++) {
			int least = corner + (a[i - 1] != b[j - 1]);
			corner = row[j];
			least = row[j] + 1 < least ? row[j] + 1 : least;
			row[j] = row[j - 1] + 1 < least ? row[j - 1] + 1 : least;
		}
	}
	result = row[m];
	free(row);
	return result;
}

static double nearness(const char *said, const char *truth)
{
	int n, m;
	uint32_t *a = characters_of(said, &n), *b = characters_of(truth, &m);
	int longer = n > m ? n : m;
	double near = longer ? 1 - (double)distance(a, n, b, m) / longer : 1;
	free(a);
	free(b);
	return near;
}

static char *spell(const struct names *a, const struct ctc *c, const float *x)
{
	struct str text = {0};
	int *class = xcalloc((size_t)c->steps + 1, sizeof *class);
	ctc_first(class, c, x);
	int blank = alphabet_blank(a, c, class), n = ctc_collapse(class, class, c->steps, blank);
	for (int i = 0; i < n; i++)
		str_add(&text, alphabet_at(a, c, blank, class[i]));
	free(class);
	return str_detach(&text);
}

static enum status texts_read(struct task *t, int sample, const struct task_said *said, struct task_result **result, struct error *err)
{
	const struct names *a = t->state;
	int at = 0;
	while (at < t->g->n_outputs && !fits(&said->out[at].shape, a->n))
		at++;
	if (at == t->g->n_outputs)
		return error_set(err, STATUS_UNSUPPORTED, "no output has scores of %d to %d classes a step", a->n, a->n + ALPHABET_MORE);
	struct ctc c;
	float *heap;
	ctc_find(&c, &said->out[at].shape, a->n);
	char *text = spell(a, &c, output_floats(&said->out[at], &heap));
	free(heap);
	size_t size = sizeof(struct reading) + strlen(text) + 1;
	struct reading *r = xcalloc(1, size);
	memcpy(r->text, text, strlen(text) + 1);
	r->base = (struct task_result){.refs = 1, .bytes = size, .value = nearness(text, t->labels->label[sample].text)};
	r->right = r->base.value == 1;
	free(text);
	*result = &r->base;
	return STATUS_OK;
}

static void texts_release(struct task_result *r)
{
	free(r);
}

// ---- scoring

static double texts_score(const struct task *t, const struct frozen *f, const int *weight)
{
	long right = 0, all = 0;
	(void)t;
	for (int i = 0; i < f->n; i++) {
		int times = weight ? weight[i] : 1;
		if (!f->at[i])
			continue;
		all += times;
		right += ((const struct reading *)f->at[i])->right ? times : 0;
	}
	return all ? (double)right / (double)all : NAN;
}

static void texts_report(const struct task *t, const struct frozen f[TASK_VARIANTS], struct task_report *r)
{
	r->n_figures = 2;
	r->figure = xcalloc(2, sizeof *r->figure);
	r->figure[0].name = "accuracy";
	r->figure[1].name = "nearness";
	for (int v = 0; v < TASK_VARIANTS; v++) {
		r->figure[0].value[v] = texts_score(t, &f[v], NULL);
		r->figure[1].value[v] = task_mean(t, &f[v], NULL);
	}
}

// Characters come from files, and may be such as a terminal obeys.
static const char *on_a_line(struct task_look *l, const char *text)
{
	char *copy = arena_strdup(l->memory, text);
	str_oneline(copy);
	return copy;
}

static void texts_look(struct task *t, const struct looked *at, struct task_look *l)
{
	l->class = on_a_line(l, t->labels->label[l->sample].text);
	for (int v = 0; v < TASK_VARIANTS; v++) {
		l->said[v] = at->result[v] ? on_a_line(l, ((const struct reading *)at->result[v])->text) : NULL;
		l->sure[v] = at->result[v] ? at->result[v]->value : NAN;
	}
}

const struct task_ops text_ops = {
    .name = "text", .figure = "accuracy",
    .labels = LABELS_TEXTS,
    .shows = SHOWS_VERDICT,
    .open = texts_open,
    .close = texts_close,
    .note = texts_note,
    .read = texts_read,
    .release = texts_release,
    .score = texts_score,
    .report = texts_report,
    .look = texts_look,
};
