// Agreement, where there are no labels: cosine and SNR of the quantized network's outputs against the float network's,
// and for classifiers how often both say the same class. Figures exist for the quantized variant only.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "task_impl.h"

struct sums {
	double ff, qq, fq, ee;
	bool known, has_class, same;
};
struct agree {
	struct sums *sums; // [n_samples]
};
struct frozen {
	struct sums *sums;
	int n;
};

static enum status agree_open(struct task *t, struct error *err)
{
	struct agree *a = t->state = xcalloc(1, sizeof *a);
	(void)err;
	a->sums = xcalloc((size_t)t->n_samples + 1, sizeof *a->sums);
	return STATUS_OK;
}

static void agree_close(struct task *t)
{
	struct agree *a = t->state;
	free(a->sums);
	free(a);
}

static void agree_forget(struct task *t, enum task_variant v)
{
	struct agree *a = t->state;
	(void)v;
	memset(a->sums, 0, (size_t)t->n_samples * sizeof *a->sums);
}

static void agree_note(struct task *t, char *out, size_t size)
{
	(void)t;
	snprintf(out, size, "no labels: the quantized outputs are compared with the float ones");
}

static int64_t first_class(const float *x, int64_t n)
{
	int64_t best = 0;
	for (int64_t i = 1; i < n; i++)
		if (x[i] > x[best])
			best = i;
	return best;
}

static void add_output(struct sums *s, const float *f, const float *q, int64_t n)
{
	for (int64_t i = 0; i < n; i++) {
		double e = (double)q[i] - f[i];
		if (isnan(e))
			continue;
		s->ff += (double)f[i] * f[i];
		s->qq += (double)q[i] * q[i];
		s->fq += (double)f[i] * q[i];
		s->ee += e * e;
	}
}

static enum status compare(
    const struct task *t, const struct tensor *f, const struct tensor *q, struct sums *s, struct error *err)
{
	int class = task_class_output(t->g, f);
	for (int i = 0; i < t->g->n_outputs; i++) {
		float *heap_f, *heap_q;
		if (!shape_equal(&f[i].shape, &q[i].shape))
			return error_set(err, STATUS_UNSUPPORTED, "output %s has another shape when quantized",
			    t->g->value[t->g->output[i]].name);
		const float *x = task_floats(&f[i], &heap_f), *y = task_floats(&q[i], &heap_q);
		int64_t n = tensor_count(&f[i]);
		add_output(s, x, y, n);
		if (i == class) {
			s->has_class = true;
			s->same = first_class(x, n) == first_class(y, n);
		}
		free(heap_f);
		free(heap_q);
	}
	return STATUS_OK;
}

static enum status agree_add(
    struct task *t, int sample, const struct tensor *const out[TASK_VARIANTS], struct error *err)
{
	struct agree *a = t->state;
	struct sums s = {.known = true};
	if (!out[TASK_FLOAT] || !out[TASK_QUANT])
		return STATUS_OK;
	enum status st = compare(t, out[TASK_FLOAT], out[TASK_QUANT], &s, err);
	if (st != STATUS_OK)
		return st;
	pthread_mutex_lock(&t->lock);
	a->sums[sample] = s;
	pthread_mutex_unlock(&t->lock);
	return STATUS_OK;
}

// ---- scoring

static struct frozen *agree_freeze(struct task *t, enum task_variant v)
{
	const struct agree *a = t->state;
	struct frozen *f = xcalloc(1, sizeof *f);
	*f = (struct frozen){.n = t->n_samples, .sums = xcalloc((size_t)t->n_samples + 1, sizeof *f->sums)};
	if (v == TASK_QUANT)
		memcpy(f->sums, a->sums, (size_t)t->n_samples * sizeof *f->sums);
	return f;
}

static void agree_thaw(struct frozen **f)
{
	free((*f)->sums);
	free(*f);
	*f = NULL;
}

static bool agree_has(const struct frozen *f, int sample)
{
	return f->sums[sample].known;
}

static double cosine(const struct sums *s)
{
	return s->ff > 0 && s->qq > 0 ? s->fq / sqrt(s->ff * s->qq) : s->ff == s->qq ? 1 : 0;
}

static double agree_value(const struct frozen *f, int sample)
{
	return f->sums[sample].known ? cosine(&f->sums[sample]) : NAN;
}

static double agree_score(const struct frozen *f, const int *weight)
{
	double sum = 0, all = 0;
	for (int i = 0; i < f->n; i++) {
		int times = weight ? weight[i] : 1;
		if (!f->sums[i].known || !times)
			continue;
		sum += times * cosine(&f->sums[i]);
		all += times;
	}
	return all > 0 ? sum / all : NAN;
}

static double snr_db(const struct frozen *f)
{
	double signal = 0, noise = 0;
	for (int i = 0; i < f->n; i++) {
		signal += f->sums[i].ff;
		noise += f->sums[i].ee;
	}
	return signal > 0 && noise > 0 ? 10 * log10(signal / noise) : NAN;
}

static double same_class(const struct frozen *f)
{
	double same = 0, all = 0;
	for (int i = 0; i < f->n; i++) {
		all += f->sums[i].has_class;
		same += f->sums[i].same;
	}
	return all > 0 ? same / all : NAN;
}

static void agree_report(const struct task *t, struct frozen *const f[TASK_VARIANTS], struct task_report *r)
{
	(void)t;
	r->n_figures = 3;
	r->figure = xcalloc(3, sizeof *r->figure);
	r->figure[0] = (struct task_figure){.name = "cosine", .value = {NAN, agree_score(f[TASK_QUANT], NULL)}};
	r->figure[1] = (struct task_figure){.name = "snr_db", .value = {NAN, snr_db(f[TASK_QUANT])}};
	r->figure[2] = (struct task_figure){.name = "same_top1", .value = {NAN, same_class(f[TASK_QUANT])}};
}

const struct task_ops agree_ops = {
    .name = "agree",
    .open = agree_open,
    .close = agree_close,
    .add = agree_add,
    .forget = agree_forget,
    .note = agree_note,
    .freeze = agree_freeze,
    .thaw = agree_thaw,
    .has = agree_has,
    .score = agree_score,
    .value = agree_value,
    .report = agree_report,
};
