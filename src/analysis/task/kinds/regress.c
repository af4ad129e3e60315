// Numbers: how near those of an output come to the right ones. R2 is the share of their variance that is explained, of every
// number of a sample over the samples, as scikit-learn has it (the mean over the numbers); where a sample has very many, of all
// of them together.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "../decode/floats.h"
#include "../task_impl.h"
#include "qtui/base/mem.h"
#include "qtui/base/str.h"

enum { COLUMNS = 256, SHOWN = 4 }; // numbers of a sample that are kept; that a look shows

struct numbers { // of one sample
	struct task_result base;        // value: nearness, the sum of all |truth| over that of |truth| and |error|; NAN: it has none
	double n, square, absolute;     // of the errors
	double sum, squares;            // of the truth
	int columns;                    // that are kept; 0: they are too many
	struct number {
		float said, truth; // truth NAN: there is none
	} of[];
};

// ---- reading

static int output_of(const struct task *t, const struct tensor *out, int64_t n)
{
	for (int i = 0; i < t->g->n_outputs; i++)
		if (tensor_count(&out[i]) == n)
			return i;
	return -1;
}

// What is said as NaN could not be farther off: else it would be left out as unknown.
static double error_of(float said, double truth)
{
	return isnan(said) ? INFINITY : (double)said - truth;
}

static struct numbers *compare(const float *said, const struct truth *truth)
{
	int columns = truth->n <= COLUMNS ? (int)truth->n : 0;
	size_t size = sizeof(struct numbers) + (size_t)columns * sizeof(struct number);
	struct numbers *r = xcalloc(1, size);
	double whole = 0;
	for (int64_t i = 0; i < truth->n; i++) {
		double x = (double)truth->at[i], e = error_of(said[i], x);
		if (i < columns)
			r->of[i] = (struct number){said[i], truth->at[i]};
		if (isnan(x))
			continue;
		r->n++;
		r->sum += x;
		r->squares += x * x;
		r->square += e * e;
		r->absolute += fabs(e);
		whole += fabs(x);
	}
	r->columns = columns;
	r->base = (struct task_result){.refs = 1, .bytes = size, .value = r->n == 0 ? NAN : r->absolute == 0 ? 1 : whole / (whole + r->absolute)};
	return r;
}

static enum status regress_read(struct task *t, int sample, const struct task_said *said, struct task_result **result, struct error *err)
{
	struct truth truth;
	float *heap;
	enum status st = labels_truth(&truth, t->labels, sample, err);
	if (st != STATUS_OK)
		return st;
	int at = output_of(t, said->out, truth.n);
	if (at < 0)
		st = error_set(err, STATUS_UNSUPPORTED, "%s has %lld numbers for a sample, and no output has as many",
		    t->labels->label[sample].file ? t->labels->label[sample].file : t->labels->source, (long long)truth.n);
	else {
		*result = &compare(output_floats(&said->out[at], &heap), &truth)->base;
		free(heap);
	}
	truth_done(&truth);
	return st;
}

static void regress_release(struct task_result *r)
{
	free(r);
}

static void regress_note(struct task *t, char *out, size_t size)
{
	snprintf(out, size, "numbers %s (%d of %d samples)", t->labels->source, t->labels->n_known, t->n_samples);
}

// ---- scoring

static const struct numbers *numbers(const struct frozen *f, int sample)
{
	return (const struct numbers *)f->at[sample];
}

static double times_of(const struct frozen *f, int sample, const int *weight)
{
	return !f->at[sample] ? 0 : weight ? weight[sample] : 1;
}

// As many as every sample has; 0: they have not, or too many.
static int columns_of(const struct frozen *f)
{
	int columns = -1;
	for (int i = 0; i < f->n; i++)
		if (f->at[i])
			columns = columns < 0 || columns == numbers(f, i)->columns ? numbers(f, i)->columns : 0;
	return columns < 0 ? 0 : columns;
}

struct moments {
	double n, sum, squares, errors;
};

static double explained(const struct moments *m)
{
	double variance = m->n > 0 ? m->squares - m->sum * m->sum / m->n : 0;
	return variance > 1e-12 * m->squares ? 1 - m->errors / variance : NAN;
}

static double explained_of_column(const struct frozen *f, int column, const int *weight)
{
	struct moments m = {0};
	for (int i = 0; i < f->n; i++) {
		double w = times_of(f, i, weight);
		const struct number *x = w > 0 ? &numbers(f, i)->of[column] : NULL;
		if (!x || isnan(x->truth))
			continue;
		double truth = (double)x->truth, e = error_of(x->said, truth);
		m.n += w;
		m.sum += w * truth;
		m.squares += w * truth * truth;
		m.errors += w * e * e;
	}
	return explained(&m);
}

static double explained_together(const struct frozen *f, const int *weight)
{
	struct moments m = {0};
	for (int i = 0; i < f->n; i++) {
		double w = times_of(f, i, weight);
		const struct numbers *x = w > 0 ? numbers(f, i) : NULL;
		if (!x)
			continue;
		m.n += w * x->n;
		m.sum += w * x->sum;
		m.squares += w * x->squares;
		m.errors += w * x->square;
	}
	return explained(&m);
}

// Numbers that do not change over the samples explain nothing.
static double regress_score(const struct task *t, const struct frozen *f, const int *weight)
{
	int columns = columns_of(f), known = 0;
	double sum = 0;
	(void)t;
	for (int c = 0; c < columns; c++) {
		double r2 = explained_of_column(f, c, weight);
		sum += isnan(r2) ? 0 : r2;
		known += !isnan(r2);
	}
	return columns == 0 ? explained_together(f, weight) : known ? sum / known : NAN;
}

static void regress_report(const struct task *t, const struct frozen f[TASK_VARIANTS], struct task_report *r)
{
	static const char *const name[] = {"r2", "rmse", "mae"};
	r->n_figures = 3;
	r->figure = xcalloc(3, sizeof *r->figure);
	for (int i = 0; i < 3; i++)
		r->figure[i].name = name[i];
	for (int v = 0; v < TASK_VARIANTS; v++) {
		double n = 0, square = 0, absolute = 0;
		for (int i = 0; i < f[v].n; i++) {
			n += f[v].at[i] ? numbers(&f[v], i)->n : 0;
			square += f[v].at[i] ? numbers(&f[v], i)->square : 0;
			absolute += f[v].at[i] ? numbers(&f[v], i)->absolute : 0;
		}
		r->figure[0].value[v] = regress_score(t, &f[v], NULL);
		r->figure[1].value[v] = n > 0 ? sqrt(square / n) : NAN;
		r->figure[2].value[v] = n > 0 ? absolute / n : NAN;
	}
}

// ---- a look

static const char *first_numbers(struct task_look *l, const struct numbers *x, bool truth)
{
	struct str s = {0};
	for (int i = 0; i < x->columns && i < SHOWN; i++)
		str_addf(&s, "%s%.4g", i ? ", " : "", (double)(truth ? x->of[i].truth : x->of[i].said));
	if (!x->columns || x->columns > SHOWN)
		str_addf(&s, "%s%.0f numbers", x->columns ? " ... of " : "", x->n);
	const char *text = arena_strdup(l->memory, str_text(&s));
	str_done(&s);
	return text;
}

static void regress_look(struct task *t, const struct looked *at, struct task_look *l)
{
	(void)t;
	l->class = "";
	for (int v = 0; v < TASK_VARIANTS; v++) {
		const struct numbers *x = (const struct numbers *)at->result[v];
		l->class = x ? first_numbers(l, x, true) : l->class;
		l->said[v] = x ? first_numbers(l, x, false) : NULL;
		l->sure[v] = x ? x->base.value : NAN;
	}
}

const struct task_ops regress_ops = {
    .name = "regress", .figure = "r2",
    .labels = LABELS_VALUES,
    .shows = SHOWS_VERDICT,
    .note = regress_note,
    .read = regress_read,
    .release = regress_release,
    .score = regress_score,
    .report = regress_report,
    .look = regress_look,
};
