// Classification: the share of samples whose class is the first, or among the first five.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "task_impl.h"

enum { TOP = 5, TENSORFLOW_CLASSES = 1001 };

struct verdict {
	int rank;           // of the right class, 0 is first; -1: not there
	double probability; // of the right class
};
struct classify {
	struct verdict *verdict[TASK_VARIANTS]; // [n_samples]
};
struct frozen {
	const struct task *t;
	struct verdict *verdict;
};

static enum status classify_open(struct task *t, struct error *err)
{
	struct classify *c = t->state = xcalloc(1, sizeof *c);
	(void)err;
	for (int v = 0; v < TASK_VARIANTS; v++) {
		c->verdict[v] = xcalloc((size_t)t->n_samples + 1, sizeof *c->verdict[v]);
		t->ops->forget(t, (enum task_variant)v);
	}
	return STATUS_OK;
}

static void classify_close(struct task *t)
{
	struct classify *c = t->state;
	for (int v = 0; v < TASK_VARIANTS; v++)
		free(c->verdict[v]);
	free(c);
}

static void classify_forget(struct task *t, enum task_variant v)
{
	struct classify *c = t->state;
	for (int i = 0; i < t->n_samples; i++)
		c->verdict[v][i].rank = -1;
}

static void classify_note(struct task *t, char *out, size_t size)
{
	snprintf(out, size, "labels %s (%d of %d samples)", t->labels->source, t->labels->n_known, t->n_samples);
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
		sum += exp(x[i] - most);
	return exp(x[class] - most) / sum;
}

// Of equal scores the lower class is first, as with numpy.argmax. NaN never wins.
static int rank_of(const float *x, int64_t n, int64_t class)
{
	int rank = 0;
	for (int64_t i = 0; i < n; i++)
		rank += i != class &&
		        (x[i] > x[class] || (x[i] == x[class] && i < class) || (isnan(x[class]) && !isnan(x[i])));
	return rank;
}

static enum status judge(
    const struct task *t, int sample, const struct tensor *out, struct verdict *to, struct error *err)
{
	float *heap;
	int at = task_class_output(t->g, out);
	if (at < 0)
		return error_set(err, STATUS_UNSUPPORTED, "no output has one score a class");
	int64_t n = tensor_count(&out[at]), class = t->labels->label[sample].class;
	if (n == TENSORFLOW_CLASSES && t->labels->n_classes < TENSORFLOW_CLASSES)
		class ++; // the first is the background
	if (class >= n)
		return error_set(err, STATUS_FORMAT, "its label is class %d, the model has %d", (int)class, (int)n);
	const float *x = task_floats(&out[at], &heap);
	*to = (struct verdict){.rank = rank_of(x, n, class), .probability = probability(x, n, class)};
	free(heap);
	return STATUS_OK;
}

static enum status classify_add(
    struct task *t, int sample, const struct tensor *const out[TASK_VARIANTS], struct error *err)
{
	struct classify *c = t->state;
	for (int v = 0; v < TASK_VARIANTS; v++) {
		struct verdict one;
		if (!out[v] || !t->labels->label[sample].known)
			continue;
		enum status st = judge(t, sample, out[v], &one, err);
		if (st != STATUS_OK)
			return st;
		pthread_mutex_lock(&t->lock);
		c->verdict[v][sample] = one;
		pthread_mutex_unlock(&t->lock);
	}
	return STATUS_OK;
}

// ---- scoring

static struct frozen *classify_freeze(struct task *t, enum task_variant v)
{
	const struct classify *c = t->state;
	struct frozen *f = xcalloc(1, sizeof *f);
	size_t n = (size_t)t->n_samples;
	*f = (struct frozen){.t = t, .verdict = xcalloc(n + 1, sizeof *f->verdict)};
	memcpy(f->verdict, c->verdict[v], n * sizeof *f->verdict);
	return f;
}

static void classify_thaw(struct frozen **f)
{
	free((*f)->verdict);
	free(*f);
	*f = NULL;
}

static bool classify_has(const struct frozen *f, int sample)
{
	return f->verdict[sample].rank >= 0;
}

// The share, by weight, of the samples of a class (-1: of all) that are among the first `top`.
static double share(const struct frozen *f, const int *weight, int class, int top)
{
	long right = 0, all = 0;
	for (int i = 0; i < f->t->n_samples; i++) {
		int times = weight ? weight[i] : 1;
		if (f->verdict[i].rank < 0 || (class >= 0 && f->t->labels->label[i].class != class))
			continue;
		all += times;
		right += f->verdict[i].rank < top ? times : 0;
	}
	return all ? (double)right / (double)all : NAN;
}

static double classify_score(const struct frozen *f, const int *weight)
{
	return share(f, weight, -1, 1);
}

static double classify_value(const struct frozen *f, int sample)
{
	return f->verdict[sample].probability;
}

static int count_objects(const struct frozen *f, int class)
{
	int n = 0;
	for (int i = 0; i < f->t->n_samples; i++)
		n += f->verdict[i].rank >= 0 && f->t->labels->label[i].class == class;
	return n;
}

static void classify_report(const struct task *t, struct frozen *const f[TASK_VARIANTS], struct task_report *r)
{
	static const char *const name[] = {"top1", "top5"};
	r->n_figures = 2;
	r->figure = xcalloc(2, sizeof *r->figure);
	r->n_classes = t->labels->n_classes;
	r->class = xcalloc((size_t)r->n_classes + 1, sizeof *r->class);
	for (int i = 0; i < 2; i++) {
		r->figure[i].name = name[i];
		for (int v = 0; v < TASK_VARIANTS; v++)
			r->figure[i].value[v] = share(f[v], NULL, -1, i ? TOP : 1);
	}
	for (int c = 0; c < r->n_classes; c++) {
		struct task_class *to = &r->class[c];
		to->id = t->labels->id[c];
		to->name = t->labels->name[c] ? t->labels->name[c] : c < t->names.n ? t->names.at[c] : NULL;
		for (int v = 0; v < TASK_VARIANTS; v++) {
			int n = count_objects(f[v], c);
			to->value[v] = share(f[v], NULL, c, 1);
			to->objects = n > to->objects ? n : to->objects;
		}
	}
}

const struct task_ops classify_ops = {
    .name = "classify",
    .open = classify_open,
    .close = classify_close,
    .add = classify_add,
    .forget = classify_forget,
    .note = classify_note,
    .freeze = classify_freeze,
    .thaw = classify_thaw,
    .has = classify_has,
    .score = classify_score,
    .value = classify_value,
    .report = classify_report,
};
