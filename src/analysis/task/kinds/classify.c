// Classification: the share of samples whose class is the first, or among the first five.
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../decode/argmax.h"
#include "../decode/floats.h"
#include "../labels/wnids.h"
#include "../task_impl.h"
#include "qtui/base/log.h"

enum { TOP = 5, NO_RANK = INT_MAX }; // top-5; the rank of what is never right
enum { TENSORFLOW_CLASSES = IMAGENET_CLASSES + 1 }; // with a background in front

struct verdict { // on one sample
	struct task_result base; // value: the probability of the right class
	int rank;                // of the right class, 0 is first; NO_RANK: its score is NaN
	int first;               // the class that came first, as the labels number it
	double sure;             // its probability; NAN: no class has a score
};

// Does the model have a class in front of those of the labels?
static bool has_background(const struct task *t, int64_t n)
{
	return n == TENSORFLOW_CLASSES && t->labels->n_classes < TENSORFLOW_CLASSES;
}

// Names are numbered as the model numbers them, where it says how.
static enum status classify_open(struct task *t, struct error *err)
{
	int64_t n = task_class_count(t->g);
	if (!n && task_outputs_known(t->g))
		return error_set(err, STATUS_UNSUPPORTED, "%s: a class for each sample, but no output of the model has one score a class",
		    t->labels->source);
	if (!t->labels->n_classes || !t->labels->by_name)
		return STATUS_OK;
	enum status st = labels_number(t->labels, &t->names, err);
	if (st != STATUS_OK || !t->labels->by_name)
		return st;
	if ((n == IMAGENET_CLASSES || n == TENSORFLOW_CLASSES) && labels_number_synsets(t->labels))
		return STATUS_OK;
	t->labels->how = t->labels->how ? t->labels->how : "in order of their names";
	bool agree = t->labels->n_classes == n || (n == TENSORFLOW_CLASSES && t->labels->n_classes == n - 1);
	if (n && !agree)
		log_warn("%s: %d class%s, and the model has %d: taken for its first, %s", t->labels->source, t->labels->n_classes,
		    t->labels->n_classes == 1 ? "" : "es", (int)n, t->labels->how);
	return st;
}

static void classify_note(struct task *t, char *out, size_t size)
{
	const char *how = t->labels->how, *background = has_background(t, task_class_count(t->g)) ? ", behind the model's first" : "";
	snprintf(out, size, "labels %s (%d of %d samples)", t->labels->source, t->labels->n_known, t->n_samples);
	size_t n = strlen(out);
	if (how || *background)
		snprintf(out + n, size - n, "; classes %s%s", how ? how : "in order", background);
}

// What a logit counts beside the greatest. NaN counts nothing, and infinity as the greatest does.
static double share_of_logit(float x, double most)
{
	return isnan(x) ? 0 : (double)x == most ? 1 : exp((double)x - most);
}

// Scores that are no distribution are taken for logits.
static double probability(const float *x, int64_t n, int64_t class)
{
	double sum = 0, most = -INFINITY, least = INFINITY;
	for (int64_t i = 0; i < n; i++) {
		sum += x[i];
		most = fmax(most, x[i]);
		least = fmin(least, x[i]);
	}
	if (least >= 0 && fabs(sum - 1) < .05)
		return x[class];
	sum = 0;
	for (int64_t i = 0; i < n; i++)
		sum += share_of_logit(x[i], most);
	return isnan(x[class]) ? 0 : share_of_logit(x[class], most) / sum;
}

// Of equal scores the lower class is first, as with numpy.argmax. NaN never wins, even where there is nothing else.
static int rank_of(const float *x, int64_t n, int64_t class)
{
	int rank = 0;
	for (int64_t i = 0; i < n; i++)
		rank += x[i] > x[class] || (x[i] == x[class] && i < class);
	return isnan(x[class]) ? NO_RANK : rank;
}

static enum status classify_read(struct task *t, int sample, const struct task_said *said, struct task_result **result, struct error *err)
{
	const struct tensor *out = said->out;
	float *heap;
	int at = task_class_output(t->g, out);
	if (at < 0)
		return error_set(err, STATUS_UNSUPPORTED, "no output has one score a class");
	int64_t n = tensor_count(&out[at]), class = t->labels->label[sample].class;
	class += has_background(t, n);
	if (class >= n)
		return error_set(err, STATUS_FORMAT, "its label is class %d, the model has %d", (int)class, (int)n);
	const float *x = output_floats(&out[at], &heap);
	struct verdict *v = xcalloc(1, sizeof *v);
	int64_t first = argmax(x, n, 1);
	*v = (struct verdict){.base = {.refs = 1, .bytes = sizeof *v, .value = probability(x, n, class)},
	    .rank = rank_of(x, n, class),
	    .first = (int)(first - class + t->labels->label[sample].class),
	    .sure = isnan(x[first]) ? NAN : probability(x, n, first)};
	free(heap);
	*result = &v->base;
	return STATUS_OK;
}

static void classify_release(struct task_result *r)
{
	free(r);
}

// ---- scoring

static const struct verdict *verdict(const struct frozen *f, int sample)
{
	return (const struct verdict *)f->at[sample];
}

static bool classify_right(const struct frozen *f, int sample)
{
	return verdict(f, sample)->rank == 0;
}

// The share, by weight, of the samples of a class (-1: of all) that are among the first `top`.
static double share(const struct task *t, const struct frozen *f, const int *weight, int class, int top)
{
	long right = 0, all = 0;
	for (int i = 0; i < f->n; i++) {
		int times = weight ? weight[i] : 1;
		if (!f->at[i] || (class >= 0 && t->labels->label[i].class != class))
			continue;
		all += times;
		right += verdict(f, i)->rank < top ? times : 0;
	}
	return all ? (double)right / (double)all : NAN;
}

static double classify_score(const struct task *t, const struct frozen *f, const int *weight)
{
	return share(t, f, weight, -1, 1);
}

static int count_objects(const struct task *t, const struct frozen *f, int class)
{
	int n = 0;
	for (int i = 0; i < f->n; i++)
		n += f->at[i] && t->labels->label[i].class == class;
	return n;
}

// By how much most of what the network says is beside the labels.
static int off_by(const struct task *t, const struct frozen *f)
{
	int n = 0, beside[2] = {0};
	for (int i = 0; i < f->n; i++) {
		if (!f->at[i])
			continue;
		int off = verdict(f, i)->first - t->labels->label[i].class;
		n++;
		beside[0] += off == -1;
		beside[1] += off == 1;
	}
	return 2 * beside[0] > n ? -1 : 2 * beside[1] > n ? 1 : 0;
}

static void classify_report(const struct task *t, const struct frozen f[TASK_VARIANTS], struct task_report *r)
{
	static const char *const name[] = {"top1", "top5"};
	r->n_figures = 2;
	r->figure = xcalloc(2, sizeof *r->figure);
	r->off = off_by(t, &f[TASK_FLOAT]);
	r->n_classes = t->labels->n_classes;
	r->class = xcalloc((size_t)r->n_classes + 1, sizeof *r->class);
	for (int i = 0; i < 2; i++) {
		r->figure[i].name = name[i];
		for (int v = 0; v < TASK_VARIANTS; v++)
			r->figure[i].value[v] = share(t, &f[v], NULL, -1, i ? TOP : 1);
	}
	for (int c = 0; c < r->n_classes; c++) {
		struct task_class *to = &r->class[c];
		to->id = t->labels->id[c];
		to->name = t->labels->name[c] ? t->labels->name[c] : c < t->names.n ? t->names.at[c] : NULL;
		for (int v = 0; v < TASK_VARIANTS; v++) {
			int n = count_objects(t, &f[v], c);
			to->value[v] = share(t, &f[v], NULL, c, 1);
			to->objects = n > to->objects ? n : to->objects;
		}
	}
}

static void classify_classes(const struct task *t, const struct frozen *f, int sample, bool *has)
{
	(void)f;
	has[t->labels->label[sample].class] = true;
}

static void classify_look(struct task *t, const struct looked *at, struct task_look *l)
{
	l->class = task_class_text(t, t->labels->label[l->sample].class, l);
	for (int v = 0; v < TASK_VARIANTS; v++) {
		const struct verdict *verdict = (const struct verdict *)at->result[v];
		l->said[v] = !verdict ? NULL : isnan(verdict->sure) ? "NaN" : task_class_text(t, verdict->first, l);
		l->sure[v] = verdict ? verdict->sure : NAN;
	}
}

const struct task_ops classify_ops = {
    .name = "classify", .figure = "top1",
    .labels = LABELS_CLASSES,
    .shows = SHOWS_VERDICT,
    .open = classify_open,
    .note = classify_note,
    .read = classify_read,
    .release = classify_release,
    .score = classify_score,
    .right = classify_right,
    .report = classify_report,
    .classes = classify_classes,
    .look = classify_look,
};
