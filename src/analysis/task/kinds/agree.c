// Agreement, where there are no labels: how like the keypoints, boxes or texts are that both networks find; cosine and SNR
// of the quantized network's outputs against the float network's; and how often both say the same class, of a sample or of
// its pixels, or how like the pictures are that they make. Figures exist for the quantized variant only.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../decode/argmax.h"
#include "../decode/ctc.h"
#include "../decode/floats.h"
#include "../decode/head.h"
#include "../task_impl.h"
#include "agree_boxes.h"
#include "agree_points.h"
#include "made.h"

// What a sample may have. The first that there is up to the cosine is what it goes by: a cosine hardly falls where all boxes
// are lost. Of the others the first that there is stands beside it.
enum { POINTS, BOXES, TEXT, COSINE, PSNR, SSIM, PIXELS, CLASS, FIGURES };
static const char *const figure_name[FIGURES] = {[POINTS] = "same_points", [BOXES] = "same_boxes", [TEXT] = "same_texts",
    [COSINE] = "cosine", [PSNR] = "psnr_db", [SSIM] = "ssim", [PIXELS] = "same_pixels", [CLASS] = "same_top1"};

struct sums { // of one sample
	struct task_result base;
	double ff, qq, fq, ee; // of the outputs that can be compared element by element
	double known, unknown; // elements that the float network has finite, and others: with these nothing can be compared
	bool lost;             // some of the first are not finite when quantized
	int compared;          // how many outputs these are
	struct share {
		double value, weight; // NAN, 0: it has none; of weight 0 are also the boxes where neither network finds any
	} figure[FIGURES];
	struct boxes_alike boxes;
	bool is_picture;
	struct made made, exact; // the quantized network's picture, and the float one's
};
struct agree {
	struct levels_range *range;  // of pictures
	struct agree_points *points; // NULL: it finds none
	struct agree_boxes *boxes;   // NULL: it finds none, or these are a part of what it says of its only object
	bool says_texts;
	int characters; // of them, 0: not known
};

static enum status agree_open(struct task *t, struct error *err)
{
	(void)err;
	struct agree *a = xcalloc(1, sizeof *a);
	*a = (struct agree){.range = levels_range_new(dataset_preprocess(t->d)), .points = agree_points_new(t->g, t->opt.decoder)};
	a->says_texts = texts_said(&a->characters, t);
	a->boxes = a->points || a->says_texts ? NULL : agree_boxes_new(t->g, t->opt.decoder);
	t->state = a;
	return STATUS_OK;
}

static void agree_close(struct task *t)
{
	struct agree *a = t->state;
	levels_range_free(&a->range);
	agree_points_free(&a->points);
	agree_boxes_free(&a->boxes);
	free(a);
	t->state = NULL;
}

static const char *agree_leads(const struct task *t)
{
	const struct agree *a = t->state;
	return figure_name[a->points ? POINTS : a->boxes ? BOXES : a->says_texts ? TEXT : COSINE];
}

static void agree_note(struct task *t, char *out, size_t size)
{
	const char *range = levels_range_name(((const struct agree *)t->state)->range);
	const char *why = t->opt.kind == TASK_AGREE ? "without labels" : "no labels lie beside the samples (--labels names them)";
	snprintf(out, size, "%s: the quantized outputs are compared with the float ones%s%s", why, range ? "; their levels are " : "",
	    range ? range : "");
}

static void add_output(struct sums *s, const float *f, const float *q, int64_t n)
{
	for (int64_t i = 0; i < n; i++) {
		double e = (double)q[i] - f[i];
		s->unknown += !isfinite(f[i]);
		s->known += isfinite(f[i]);
		s->lost |= isfinite(f[i]) && !isfinite(q[i]);
		if (!isfinite(e))
			continue;
		s->ff += (double)f[i] * f[i];
		s->qq += (double)q[i] * q[i];
		s->fq += (double)f[i] * q[i];
		s->ee += e * e;
	}
}

static struct share share_of(double value)
{
	return (struct share){value, !isnan(value)};
}

// The float network's blank is that of both.
static bool is_same_text(const struct ctc *c, const float *x, const float *y)
{
	int *before = xcalloc((size_t)c->steps + 1, sizeof *before), *after = xcalloc((size_t)c->steps + 1, sizeof *after);
	ctc_first(before, c, x);
	ctc_first(after, c, y);
	int blank = ctc_blank(before, c), n = ctc_collapse(before, before, c->steps, blank), m = ctc_collapse(after, after, c->steps, blank);
	bool same = n == m && memcmp(before, after, (size_t)n * sizeof *before) == 0;
	free(before);
	free(after);
	return same;
}

static void compare_texts(const struct task *t, const struct tensor *f, const struct tensor *q, struct sums *s)
{
	const struct agree *a = t->state;
	struct ctc c;
	float *heap_f, *heap_q;
	if (!a->says_texts || !shape_equal(&f->shape, &q->shape) || !ctc_find(&c, &f->shape, a->characters))
		return;
	s->figure[TEXT] = (struct share){is_same_text(&c, output_floats(f, &heap_f), output_floats(q, &heap_q)), 1};
	free(heap_f);
	free(heap_q);
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
	struct pixel_lines *x = pixel_lines_new(&p, output_floats(&f[p.output], &heap_f), &as_it_is, p.w, p.h);
	struct pixel_lines *y = pixel_lines_new(&p, output_floats(&q[p.output], &heap_q), &as_it_is, p.w, p.h);
	double same = 0, all = (double)p.w * p.h;
	for (int row = 0; row < p.h; row++) {
		const int16_t *a = pixel_line(x, row), *b = pixel_line(y, row);
		for (int i = 0; i < p.w; i++)
			same += a[i] == b[i];
	}
	s->figure[PIXELS] = (struct share){same / all, all};
	pixel_lines_free(&x);
	pixel_lines_free(&y);
	free(heap_f);
	free(heap_q);
}

// Maps of one channel are depths and the like, unless a picture of one went in.
static bool makes_picture(const struct task *t, const struct pixels *p, int input_w)
{
	const struct shape *in = t->g->n_inputs ? &t->g->value[t->g->input[0]].shape : NULL;
	bool grey = in && in->rank == 4 && (in->dim[1] == 1 || in->dim[3] == 1);
	return pixels_may_be_colours(p) && (p->channels == 3 || grey) && (!p->likely || p->w > input_w);
}

static void compare_pictures(struct task *t, int sample, const struct tensor *f, const struct tensor *q, struct sums *s)
{
	struct levels_range *levels = ((struct agree *)t->state)->range;
	struct placement where;
	struct pixels p;
	struct error ignored; // arrays are no pictures, and lie in the input as they are
	float *heap_f, *heap_q;
	if (dataset_place(t->d, sample, &where, &ignored) || !pixels_find(&p, t->g, f, where.input_w, where.input_h) ||
	    !makes_picture(t, &p, where.input_w))
		return;
	const float *x = output_floats(&f[p.output], &heap_f), *y = output_floats(&q[p.output], &heap_q);
	struct area a = made_area(p.w, p.h, &where);
	int range = levels_range_find(levels, &t->lock, &p, &a, x, NULL);
	float *before = levels_new(levels, range, &p, x), *after = levels_new(levels, range, &p, y);
	bool bgr = dataset_preprocess(t->d)->bgr;
	made_measure(&s->made, &(struct pair){after, before, p.channels, p.w, p.h, bgr}, &a, made_share(t->n_samples));
	made_keep(&s->exact, &(struct pair){before, before, p.channels, p.w, p.h, bgr}, &a, made_share(t->n_samples));
	s->is_picture = true;
	s->figure[PSNR] = share_of(s->made.figure[MADE_PSNR]);
	s->figure[SSIM] = share_of(s->made.figure[MADE_SSIM]);
	free(before);
	free(after);
	free(heap_f);
	free(heap_q);
}

// NAN: the float network has nothing to compare with.
static double cosine(const struct sums *s)
{
	if (s->unknown > 0 && s->known == 0)
		return NAN;
	return s->ff > 0 && s->qq > 0 ? s->fq / sqrt(s->ff * s->qq) : s->ff == s->qq ? 1 : 0;
}

// NAN: the float network says none.
static double same_class(const float *f, const float *q, int64_t n)
{
	int64_t a = argmax(f, n, 1), b = argmax(q, n, 1);
	return isnan(f[a]) ? NAN : a == b && !isnan(q[b]);
}

// Where boxes were read, rows of which only a run knows how many there are (what a NonMaxSuppression leaves) are not the same
// objects in both networks, even if they are as many.
static void compare_elements(const struct task *t, const struct tensor *f, const struct tensor *q, struct sums *s)
{
	int class = embed_is_likely(t->g) ? -1 : task_class_output(t->g, f); // the greatest element of a vector means nothing
	for (int i = 0; i < t->g->n_outputs; i++) {
		float *heap_f, *heap_q;
		bool rows = shape_count(&t->g->value[t->g->output[i]].shape) < 0 && !isnan(s->figure[BOXES].value);
		if (rows || !shape_equal(&f[i].shape, &q[i].shape))
			continue;
		const float *x = output_floats(&f[i], &heap_f), *y = output_floats(&q[i], &heap_q);
		int64_t n = tensor_count(&f[i]);
		add_output(s, x, y, n);
		s->compared++;
		if (i == class)
			s->figure[CLASS] = share_of(same_class(x, y, n));
		free(heap_f);
		free(heap_q);
	}
	if (s->compared)
		s->figure[COSINE] = share_of(cosine(s));
}

static void compare_points(const struct task *t, const struct tensor *f, const struct tensor *q, struct sums *s)
{
	const struct agree *a = t->state;
	if (a->points)
		s->figure[POINTS] = share_of(agree_points_similarity(a->points, f, q));
}

static void compare_boxes(const struct task *t, int sample, const struct tensor *f, const struct tensor *q, struct sums *s)
{
	const struct agree *a = t->state;
	struct placement where;
	struct error ignored; // arrays are no pictures: their boxes cannot be shown
	if (!a->boxes)
		return;
	bool picture = dataset_place(t->d, sample, &where, &ignored) == STATUS_OK;
	agree_boxes_compare(&s->boxes, a->boxes, f, q, picture ? &where : NULL);
	s->figure[BOXES] = (struct share){s->boxes.value, s->boxes.weight};
}

// The first known of what a sample goes by; COSINE where none is.
static int lead_of(const struct sums *s)
{
	int i = 0;
	while (i < COSINE && isnan(s->figure[i].value))
		i++;
	return i;
}

// Numbers that are finite no more agree in nothing. Boxes and classes are read from those that still are.
static void lose(struct sums *s)
{
	static const int lost[] = {POINTS, TEXT, COSINE, PSNR, SSIM};
	for (size_t i = 0; s->lost && i < sizeof lost / sizeof *lost; i++)
		if (!isnan(s->figure[lost[i]].value))
			s->figure[lost[i]].value = 0;
}

static enum status compare(struct task *t, int sample, const struct tensor *f, const struct tensor *q, struct sums *s, struct error *err)
{
	for (int i = 0; i < FIGURES; i++)
		s->figure[i].value = NAN;
	compare_points(t, f, q, s);
	compare_boxes(t, sample, f, q, s);
	compare_texts(t, f, q, s);
	compare_elements(t, f, q, s);
	if (!s->compared && lead_of(s) == COSINE)
		return error_set(err, STATUS_UNSUPPORTED,
		    "output %s has another shape when quantized, and is not read as boxes: --decoder says how they are",
		    t->g->value[t->g->output[0]].name);
	if (s->compared == t->g->n_outputs) {
		compare_pixels(t, f, q, s);
		compare_pictures(t, sample, f, q, s);
	}
	lose(s);
	s->base.value = s->figure[lead_of(s)].value;
	return STATUS_OK;
}

static void agree_release(struct task_result *r)
{
	made_done(&((struct sums *)r)->made);
	made_done(&((struct sums *)r)->exact);
	boxes_alike_done(&((struct sums *)r)->boxes);
	free(r);
}

// The float network agrees with itself: there is nothing to keep.
static enum status agree_read(struct task *t, int sample, const struct task_said *said, struct task_result **result, struct error *err)
{
	const struct tensor *out = said->out, *float_out = said->float_out;
	if (!float_out || float_out == out)
		return STATUS_OK;
	struct sums *s = xcalloc(1, sizeof *s);
	enum status st = compare(t, sample, float_out, out, s, err);
	s->base.refs = 1;
	s->base.bytes = sizeof *s + s->made.bytes + s->exact.bytes + boxes_alike_bytes(&s->boxes);
	if (st == STATUS_OK)
		*result = &s->base;
	else
		agree_release(&s->base);
	return st;
}

// ---- scoring

static const struct sums *sums(const struct frozen *f, int sample)
{
	return (const struct sums *)f->at[sample];
}

// NAN: there is none, also where a sample is lost.
static double snr_db(const struct frozen *f)
{
	double signal = 0, noise = 0;
	for (int i = 0; i < f->n; i++) {
		if (f->at[i] && sums(f, i)->lost)
			return NAN;
		signal += f->at[i] ? sums(f, i)->ff : 0;
		noise += f->at[i] ? sums(f, i)->ee : 0;
	}
	return signal > 0 && noise > 0 ? 10 * log10(signal / noise) : NAN;
}

// The mean over the samples that have it, each counted times[] times; `times` NULL: once.
static double mean_of(const struct frozen *f, int figure, const int *times)
{
	double sum = 0, weight = 0;
	for (int i = 0; i < f->n; i++) {
		const struct share none = {0}, *s = f->at[i] ? &sums(f, i)->figure[figure] : &none;
		double w = s->weight * (times ? times[i] : 1);
		sum += w > 0 ? w * s->value : 0;
		weight += w;
	}
	return weight > 0 ? sum / weight : NAN;
}

// The first that any sample goes by.
static int lead_of_all(const struct frozen *f)
{
	int lead = COSINE;
	for (int i = 0; i < f->n; i++) {
		int own = f->at[i] ? lead_of(sums(f, i)) : COSINE;
		lead = own < lead ? own : lead;
	}
	return lead;
}

static double agree_score(const struct task *t, const struct frozen *f, const int *weight)
{
	(void)t;
	return mean_of(f, lead_of_all(f), weight);
}

static void add_figure(struct task_report *r, const char *name, double quantized)
{
	r->figure[r->n_figures++] = (struct task_figure){.name = name, .value = {NAN, quantized}};
}

static void agree_report(const struct task *t, const struct frozen f[TASK_VARIANTS], struct task_report *r)
{
	const struct frozen *q = &f[TASK_QUANT];
	int lead = lead_of_all(q), beside = PSNR;
	(void)t;
	r->figure = xcalloc(4, sizeof *r->figure);
	add_figure(r, figure_name[lead], mean_of(q, lead, NULL));
	if (lead != COSINE)
		add_figure(r, figure_name[COSINE], mean_of(q, COSINE, NULL));
	add_figure(r, "snr_db", snr_db(q));
	if (lead != COSINE)
		return;
	while (beside < CLASS && isnan(mean_of(q, beside, NULL)))
		beside++;
	add_figure(r, figure_name[beside], mean_of(q, beside, NULL));
	if (beside == PSNR)
		add_figure(r, figure_name[SSIM], mean_of(q, SSIM, NULL));
}

static void say_figure(struct task_look *l, const char *name, double quantized)
{
	if (!isnan(quantized))
		l->figure[l->n_figures++] = (struct task_figure){name, {NAN, quantized}};
}

static void agree_look(struct task *t, const struct looked *at, struct task_look *l)
{
	const struct sums *s = (const struct sums *)at->result[TASK_QUANT];
	const struct agree *a = t->state;
	if (!s)
		return;
	if (a->boxes)
		agree_boxes_look(a->boxes, &s->boxes, l);
	const struct frozen one = {.at = (struct task_result *[1]){at->result[TASK_QUANT]}, .n = 1};
	for (int i = 0; i < COSINE; i++)
		say_figure(l, figure_name[i], s->figure[i].weight > 0 ? s->figure[i].value : NAN);
	say_figure(l, figure_name[COSINE], s->figure[COSINE].value);
	say_figure(l, "snr_db", snr_db(&one));
	if (s->is_picture && !made_look(l, &s->exact, &s->made))
		return;
	for (int i = PSNR; i < CLASS && l->n_figures < TASK_LOOK_FIGURES; i++)
		say_figure(l, figure_name[i], s->figure[i].weight > 0 ? s->figure[i].value : NAN);
}

const struct task_ops agree_ops = {
    .name = "agree",
    .figure = "cosine",
    .leads = agree_leads,
    .labels = -1,
    .shows = SHOWS_FIGURES,
    .open = agree_open,
    .close = agree_close,
    .note = agree_note,
    .read = agree_read,
    .release = agree_release,
    .score = agree_score,
    .report = agree_report,
    .look = agree_look,
};
