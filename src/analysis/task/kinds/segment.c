// Segmentation: intersection over union of the pixels of a class, pooled over the samples, and the mean of the classes.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "../decode/floats.h"
#include "../decode/head.h"
#include "../decode/pixels.h"
#include "segment.h"

enum { CELLS = 96 }; // along the longer side of what is kept for a look

static int n_classes(const struct task *t)
{
	return t->labels->n_classes;
}

static const struct segments *segments(const struct frozen *f, int sample)
{
	return (const struct segments *)f->at[sample];
}

double segment_iou(const struct area *a)
{
	int64_t any = (int64_t)a->labelled + a->predicted - a->both;
	return any ? (double)a->both / (double)any : NAN;
}

// Somebody may have replaced the mask between the two.
bool segment_same_cells(const struct segments *a, const struct segments *b)
{
	return a->w == b->w && a->h == b->h;
}

const char *segment_class_name(const struct task *t, int c)
{
	return t->labels->name[c] ? t->labels->name[c] : c < t->names.n ? t->names.at[c] : NULL;
}

// ---- reading

static enum status segment_open(struct task *t, struct error *err)
{
	struct pixels p = {0};
	int w, h;
	head_input(&w, &h, t->g);
	if (!w)
		return error_set(
		    err, STATUS_UNSUPPORTED, "%s: masks, but no input of the model takes pictures of one or three channels", t->labels->source);
	if (!pixels_find(&p, t->g, NULL, w, h) && task_outputs_known(t->g))
		return error_set(err, STATUS_UNSUPPORTED,
		    "%s: masks, but no output of the model has a class or scores of classes for each pixel", t->labels->source);
	return labels_number_masks(t->labels, &t->names, p.classes ? p.classes : t->names.n, err);
}

static void segment_note(struct task *t, char *out, size_t size)
{
	const struct labels *l = t->labels;
	snprintf(out, size, "masks %s (%d of %d samples), %d classes, %s", l->source, l->n_known, t->n_samples, n_classes(t), l->how);
}

struct reading {
	const struct task *t;
	const char *path;
	struct mask mask;
	struct pixel_lines *lines;
	struct segments *to;
};

static enum status read_line(const struct reading *r, int y, struct error *err)
{
	const int16_t *predicted = pixel_line(r->lines, y);
	const uint16_t *number = r->mask.number + (size_t)y * (size_t)r->mask.w;
	for (int x = 0; x < r->mask.w; x++) {
		int label = labels_class_of_number(r->t->labels, number[x]), said = predicted[x];
		if (label == LABELS_UNKNOWN)
			return error_set(err, STATUS_FORMAT,
			    "%s: pixel %d,%d has the number %d, and the model has %d classes: name the numbers in "
			    "classes.txt there, one a line, - for no class",
			    r->path, x, y, number[x], n_classes(r->t));
		if (label == LABELS_NO_CLASS || said < 0)
			continue;
		r->to->area[label].labelled++;
		if (said < n_classes(r->t))
			r->to->area[said].predicted++;
		r->to->area[label].both += said == label;
	}
	return STATUS_OK;
}

// Cells are the pixels at their centres.
static void keep_cells(const struct reading *r)
{
	struct segments *to = r->to;
	for (int cy = 0; cy < to->h; cy++) {
		int y = (int)((cy + .5) * r->mask.h / to->h);
		const int16_t *predicted = pixel_line(r->lines, y);
		for (int cx = 0; cx < to->w; cx++) {
			int x = (int)((cx + .5) * r->mask.w / to->w);
			int label = labels_class_of_number(r->t->labels, r->mask.number[(size_t)y * (size_t)r->mask.w + (size_t)x]);
			to->cell[cy * to->w + cx] = (struct segment_cell){predicted[x], predicted[x] == label};
		}
	}
}

static double mean_of_labelled(const struct segments *s, int classes)
{
	double sum = 0;
	int n = 0;
	for (int c = 0; c < classes; c++)
		if (s->area[c].labelled) {
			sum += segment_iou(&s->area[c]);
			n++;
		}
	return n ? sum / n : NAN;
}

static struct segments *segments_new(int w, int h, int classes)
{
	size_t size = sizeof(struct segments) + (size_t)classes * sizeof(struct area);
	double shrink = fmin(1, (double)CELLS / (w > h ? w : h));
	struct segments *s = xcalloc(1, size);
	s->w = (int)fmax(1, round(w * shrink));
	s->h = (int)fmax(1, round(h * shrink));
	s->cell = xcalloc((size_t)(s->w * s->h), sizeof *s->cell);
	s->base = (struct task_result){.refs = 1, .bytes = size + (size_t)(s->w * s->h) * sizeof *s->cell, .value = NAN};
	return s;
}

static void segment_release(struct task_result *r)
{
	free(((struct segments *)r)->cell);
	free(r);
}

// Masks may have another size than their images, in the same proportions.
static enum status check_size(const struct reading *r, const struct placement *where, struct error *err)
{
	if (pixels_have_proportions(r->mask.w, r->mask.h, where->image_w, where->image_h))
		return STATUS_OK;
	return error_set(
	    err, STATUS_FORMAT, "%s has %d x %d pixels, its image %d x %d", r->path, r->mask.w, r->mask.h, where->image_w, where->image_h);
}

static enum status read_pixels(struct reading *r, const struct pixels *p, const float *data, const struct placement *where, struct error *err)
{
	enum status st = check_size(r, where, err);
	if (st != STATUS_OK)
		return st;
	r->lines = pixel_lines_new(p, data, where, r->mask.w, r->mask.h);
	r->to = segments_new(r->mask.w, r->mask.h, n_classes(r->t));
	for (int y = 0; y < r->mask.h && st == STATUS_OK; y++)
		st = read_line(r, y, err);
	if (st == STATUS_OK) {
		keep_cells(r);
		r->to->base.value = mean_of_labelled(r->to, n_classes(r->t));
	} else {
		segment_release(&r->to->base);
		r->to = NULL;
	}
	pixel_lines_free(&r->lines);
	return st;
}

static enum status segment_read(struct task *t, int sample, const struct task_said *said, struct task_result **result, struct error *err)
{
	struct reading r = {.t = t, .path = t->labels->label[sample].file};
	struct placement where;
	struct pixels p;
	float *heap;
	enum status st = dataset_place(t->d, sample, &where, err);
	if (st == STATUS_OK && !pixels_find(&p, t->g, said->out, where.input_w, where.input_h))
		st = error_set(err, STATUS_UNSUPPORTED, "no output has a class or scores of classes for each pixel");
	if (st == STATUS_OK && p.kind != PIXELS_CLASSES && p.classes < n_classes(t))
		st = error_set(err, STATUS_FORMAT, "%s has %d classes, the model %d", t->labels->source, n_classes(t), p.classes);
	if (st == STATUS_OK)
		st = mask_read(&r.mask, r.path, err);
	if (st != STATUS_OK)
		return st;
	const float *data = output_floats(&said->out[p.output], &heap);
	st = read_pixels(&r, &p, data, &where, err);
	free(heap);
	mask_done(&r.mask);
	*result = r.to ? &r.to->base : NULL;
	return st;
}

// ---- scoring

struct sum {
	double labelled, predicted, both;
};

static struct sum *pool(const struct task *t, const struct frozen *f, const int *weight)
{
	int classes = n_classes(t);
	struct sum *sum = xcalloc((size_t)classes + 1, sizeof *sum);
	for (int i = 0; i < f->n; i++) {
		int times = weight ? weight[i] : 1;
		for (int c = 0; f->at[i] && times && c < classes; c++) {
			const struct area *a = &segments(f, i)->area[c];
			sum[c].labelled += (double)times * a->labelled;
			sum[c].predicted += (double)times * a->predicted;
			sum[c].both += (double)times * a->both;
		}
	}
	return sum;
}

static double iou_of(const struct sum *s)
{
	double any = s->labelled + s->predicted - s->both;
	return any > 0 ? s->both / any : NAN;
}

static double recall_of(const struct sum *s)
{
	return s->labelled > 0 ? s->both / s->labelled : NAN;
}

// Of the classes that have one.
static double mean_over(const struct sum *sum, int classes, double (*of)(const struct sum *s))
{
	double all = 0;
	int n = 0;
	for (int c = 0; c < classes; c++)
		if (!isnan(of(&sum[c]))) {
			all += of(&sum[c]);
			n++;
		}
	return n ? all / n : NAN;
}

static double right_pixels(const struct sum *sum, int classes)
{
	double both = 0, labelled = 0;
	for (int c = 0; c < classes; c++) {
		both += sum[c].both;
		labelled += sum[c].labelled;
	}
	return labelled > 0 ? both / labelled : NAN;
}

static double segment_score(const struct task *t, const struct frozen *f, const int *weight)
{
	struct sum *sum = pool(t, f, weight);
	double score = mean_over(sum, n_classes(t), iou_of);
	free(sum);
	return score;
}

static double segment_apart(const struct frozen *before, const struct frozen *after)
{
	double other = 0, all = 0;
	for (int i = 0; i < before->n && i < after->n; i++) {
		if (!before->at[i] || !after->at[i])
			continue;
		const struct segments *a = segments(before, i), *b = segments(after, i);
		if (!segment_same_cells(a, b))
			continue;
		for (int k = 0; k < a->w * a->h; k++)
			other += a->cell[k].class != b->cell[k].class;
		all += a->w * a->h;
	}
	return all > 0 ? other / all : NAN;
}

static int samples_with(const struct frozen *f, int class)
{
	int n = 0;
	for (int i = 0; i < f->n; i++)
		n += f->at[i] && segments(f, i)->area[class].labelled;
	return n;
}

static void segment_report(const struct task *t, const struct frozen f[TASK_VARIANTS], struct task_report *r)
{
	static const char *const name[] = {"mIoU", "pixel_accuracy", "mean_accuracy"};
	int classes = n_classes(t);
	r->n_figures = 3;
	r->figure = xcalloc(3, sizeof *r->figure);
	r->n_classes = classes;
	r->class = xcalloc((size_t)classes + 1, sizeof *r->class);
	for (int i = 0; i < 3; i++)
		r->figure[i].name = name[i];
	for (int v = 0; v < TASK_VARIANTS; v++) {
		struct sum *sum = pool(t, &f[v], NULL);
		const double figure[] = {mean_over(sum, classes, iou_of), right_pixels(sum, classes), mean_over(sum, classes, recall_of)};
		for (int i = 0; i < 3; i++)
			r->figure[i].value[v] = figure[i];
		for (int c = 0; c < classes; c++) {
			int n = samples_with(&f[v], c);
			r->class[c].objects = n > r->class[c].objects ? n : r->class[c].objects;
			r->class[c].value[v] = iou_of(&sum[c]);
		}
		free(sum);
	}
	for (int c = 0; c < classes; c++) {
		r->class[c].id = t->labels->id[c];
		r->class[c].name = segment_class_name(t, c);
	}
}

static void segment_classes(const struct task *t, const struct frozen *f, int sample, bool *has)
{
	for (int c = 0; c < n_classes(t); c++)
		has[c] = segments(f, sample)->area[c].labelled > 0;
}

const struct task_ops segment_ops = {
    .name = "segment", .figure = "mIoU",
    .labels = LABELS_MASKS,
    .shows = SHOWS_REGIONS,
    .open = segment_open,
    .note = segment_note,
    .read = segment_read,
    .release = segment_release,
    .score = segment_score,
    .apart = segment_apart,
    .report = segment_report,
    .classes = segment_classes,
    .look = segment_look,
};
