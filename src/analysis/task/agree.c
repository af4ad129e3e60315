// Agreement, where there are no labels: cosine and SNR of the quantized network's outputs against the float network's,
// and how often both say the same class: of a sample, or of its pixels. Figures exist for the quantized variant only.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "head.h"
#include "pixels.h"
#include "task_impl.h"

struct sums { // of one sample
	struct task_result base; // value: cosine
	double ff, qq, fq, ee;
	bool has_class, same;
	double pixels, same_pixels;
};

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

// At the output's own size.
static void compare_pixels(const struct task *t, const struct tensor *f, const struct tensor *q, struct sums *s)
{
	struct pixels p;
	float *heap_f, *heap_q;
	int w, h;
	head_input(&w, &h, t->g);
	if (!pixels_are_all(t->g) || !pixels_find(&p, t->g, f, w, h) || !p.likely)
		return;
	const struct placement as_it_is = {p.w, p.h, p.w, p.h, 1, 1, 0, 0};
	struct pixel_lines *x = pixel_lines_new(&p, task_floats(&f[p.output], &heap_f), &as_it_is, p.w, p.h);
	struct pixel_lines *y = pixel_lines_new(&p, task_floats(&q[p.output], &heap_q), &as_it_is, p.w, p.h);
	for (int row = 0; row < p.h; row++) {
		const int16_t *a = pixel_line(x, row), *b = pixel_line(y, row);
		for (int i = 0; i < p.w; i++)
			s->same_pixels += a[i] == b[i];
	}
	s->pixels = (double)p.w * p.h;
	pixel_lines_free(&x);
	pixel_lines_free(&y);
	free(heap_f);
	free(heap_q);
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
	compare_pixels(t, f, q, s);
	return STATUS_OK;
}

static double cosine(const struct sums *s)
{
	return s->ff > 0 && s->qq > 0 ? s->fq / sqrt(s->ff * s->qq) : s->ff == s->qq ? 1 : 0;
}

// The float network agrees with itself: there is nothing to keep.
static enum status agree_read(struct task *t, int sample, const struct tensor *out, const struct tensor *float_out,
    struct task_result **result, struct error *err)
{
	(void)sample;
	if (!float_out || float_out == out)
		return STATUS_OK;
	struct sums *s = xcalloc(1, sizeof *s);
	enum status st = compare(t, float_out, out, s, err);
	s->base = (struct task_result){.refs = 1, .bytes = sizeof *s, .value = cosine(s)};
	if (st == STATUS_OK)
		*result = &s->base;
	else
		free(s);
	return st;
}

static void agree_release(struct task_result *r)
{
	free(r);
}

// ---- scoring

static const struct sums *sums(const struct frozen *f, int sample)
{
	return (const struct sums *)f->at[sample];
}

static double agree_score(const struct task *t, const struct frozen *f, const int *weight)
{
	double sum = 0, all = 0;
	(void)t;
	for (int i = 0; i < f->n; i++) {
		int times = weight ? weight[i] : 1;
		if (!f->at[i] || !times)
			continue;
		sum += times * f->at[i]->value;
		all += times;
	}
	return all > 0 ? sum / all : NAN;
}

static double snr_db(const struct frozen *f)
{
	double signal = 0, noise = 0;
	for (int i = 0; i < f->n; i++) {
		signal += f->at[i] ? sums(f, i)->ff : 0;
		noise += f->at[i] ? sums(f, i)->ee : 0;
	}
	return signal > 0 && noise > 0 ? 10 * log10(signal / noise) : NAN;
}

static double same_pixels(const struct frozen *f)
{
	double same = 0, all = 0;
	for (int i = 0; i < f->n; i++) {
		all += f->at[i] ? sums(f, i)->pixels : 0;
		same += f->at[i] ? sums(f, i)->same_pixels : 0;
	}
	return all > 0 ? same / all : NAN;
}

static double same_class(const struct frozen *f)
{
	double same = 0, all = 0;
	for (int i = 0; i < f->n; i++) {
		all += f->at[i] && sums(f, i)->has_class;
		same += f->at[i] && sums(f, i)->same;
	}
	return all > 0 ? same / all : NAN;
}

static void agree_report(const struct task *t, const struct frozen f[TASK_VARIANTS], struct task_report *r)
{
	bool pixels = !isnan(same_pixels(&f[TASK_QUANT]));
	r->n_figures = 3;
	r->figure = xcalloc(3, sizeof *r->figure);
	r->figure[0] = (struct task_figure){.name = "cosine", .value = {NAN, agree_score(t, &f[TASK_QUANT], NULL)}};
	r->figure[1] = (struct task_figure){.name = "snr_db", .value = {NAN, snr_db(&f[TASK_QUANT])}};
	r->figure[2] = pixels ? (struct task_figure){.name = "same_pixels", .value = {NAN, same_pixels(&f[TASK_QUANT])}}
	                      : (struct task_figure){.name = "same_top1", .value = {NAN, same_class(&f[TASK_QUANT])}};
}

const struct task_ops agree_ops = {
    .name = "agree",
    .labels = -1,
    .note = agree_note,
    .read = agree_read,
    .release = agree_release,
    .score = agree_score,
    .report = agree_report,
};
