// Detection and poses: outputs to boxes in the image, perhaps with keypoints, matched with the labels as soon as they come.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "boxes.h"
#include "detect.h"
#include "qtui/base/log.h"
#include "qtui/base/mem.h"

// ---- opening

static void warn_of_unknown(const struct task *t, const struct detect *d)
{
	const struct labels *l = t->labels;
	bool *known = xcalloc((size_t)l->n_classes + 1, sizeof *known);
	int unknown = 0, all = 0, id = 0;
	for (int i = 0; i < d->n_map; i++)
		if (d->map[i] >= 0)
			known[d->map[i]] = true;
	for (int i = 0; i < l->n_samples; i++)
		for (int k = 0; k < l->label[i].n; k++, all++)
			if (!known[l->label[i].truth[k].class] && unknown++ == 0)
				id = l->id[l->label[i].truth[k].class];
	if (unknown)
		log_warn("%d of %d objects of %s are of classes that the model does not have (first: %d): they count as missed",
		    unknown, all, l->source, id);
	free(known);
}

const struct skeleton *detect_poses(const struct task *t)
{
	return t->kind == TASK_POSE ? &t->labels->skeleton : NULL;
}

static enum status check_points(const struct task *t, const struct decoder *d, const struct bound *b, struct error *err)
{
	const struct skeleton *poses = detect_poses(t);
	if (!poses || b->points == poses->n)
		return STATUS_OK;
	if (!b->points)
		return error_set(err, STATUS_UNSUPPORTED, "decoder %s finds no keypoints in the outputs; --task detect measures their boxes", d->name);
	return error_set(err, STATUS_FORMAT, "the model has %d keypoints of an object, and %s %d; --task detect measures their boxes",
	    b->points, t->labels->source, poses->n);
}

bool detect_has_points(const struct graph *g, const struct labels *l, const char *decoder)
{
	struct head h;
	struct bound b = {0};
	struct error ignored; // opening the task will tell
	const struct decoder *d;
	int points, dims;
	head_points(&points, &dims, g);
	head_init(&h, g, l->n_classes, l->skeleton.n);
	if (!points && head_is_known(&h) && decode_find(&d, &h, decoder, &ignored) == STATUS_OK && d->bind(&b, &h))
		points = b.points;
	head_done(&h);
	return points > 0;
}

static enum status find_decoder(
    const struct task *t, struct detect *d, struct head *h, const char *name, struct error *err)
{
	struct bound b = {0};
	enum status st = decode_find(&d->decoder, h, name, err);
	if (st != STATUS_OK)
		return st;
	d->head.named = h->named;
	d->head.any_classes = h->any_classes;
	d->decoder->bind(&b, h);
	if (check_points(t, d->decoder, &b, err) != STATUS_OK)
		return err->status;
	d->iou = t->opt.iou ? t->opt.iou : d->decoder->iou;
	d->ids = b.ids;
	d->n_map = decode_classes(&b);
	d->map = labels_map(t->labels, &d->n_map, &t->names, &d->how);
	if (!d->ids)
		warn_of_unknown(t, d);
	return STATUS_OK;
}

static enum status detect_open(struct task *t, struct error *err)
{
	struct detect *d = t->state = xcalloc(1, sizeof *d);
	head_init(&d->head, t->g, t->labels->n_classes, t->labels->skeleton.n);
	d->named = xstrdup(t->opt.decoder);
	return head_is_known(&d->head) ? find_decoder(t, d, &d->head, d->named, err) : STATUS_OK;
}

static void detect_close(struct task *t)
{
	struct detect *d = t->state;
	head_done(&d->head);
	free(d->named);
	free(d->map);
	free(d);
}

static void detect_note(struct task *t, char *out, size_t size)
{
	const struct detect *d = t->state;
	char poses[32] = "";
	if (detect_poses(t))
		snprintf(poses, sizeof poses, ", %d keypoints", t->labels->skeleton.n);
	int n = snprintf(out, size, "labels %s (%d of %d samples, %d class%s%s)", t->labels->source, t->labels->n_known,
	    t->n_samples, t->labels->n_classes, t->labels->n_classes == 1 ? "" : "es", poses);
	if (!d->decoder || n < 0 || (size_t)n >= size)
		return;
	if (d->iou > 0)
		snprintf(out + n, size - (size_t)n, "; decoder %s: %s; NMS at IoU %g; classes %s", d->decoder->name,
		    d->decoder->title, d->iou, d->ids ? "are category ids" : d->how);
	else
		snprintf(out + n, size - (size_t)n, "; decoder %s: %s; no NMS; classes %s", d->decoder->name,
		    d->decoder->title, d->ids ? "are category ids" : d->how);
}

// ---- one sample

// What is found in one sample: in pixels of the input, in those of the image behind to_image.
struct findings {
	struct candidates c;    // by falling score
	struct keypoint *point; // [c.n][skeleton.n]; NULL: no poses are wanted
};

static struct keypoint *read_points(const struct bound *b, const struct head *h, const struct candidates *c)
{
	struct keypoint *point = xcalloc(c->n * (size_t)b->points + 1, sizeof *point);
	for (size_t i = 0; i < c->n; i++)
		decode_points(point + i * (size_t)b->points, b, h, &c->at[i]);
	return point;
}

static enum status decode(struct task *t, struct findings *f, const struct tensor *out, struct error *err)
{
	struct detect *d = t->state;
	struct bound b = {0};
	struct head h;
	enum status st = STATUS_OK;
	head_fill(&h, &d->head, out);
	pthread_mutex_lock(&t->lock);
	if (!d->decoder)
		st = find_decoder(t, d, &h, d->named, err);
	h.named = d->head.named;
	h.any_classes = d->head.any_classes;
	pthread_mutex_unlock(&t->lock);
	if (st == STATUS_OK && !d->decoder->bind(&b, &h))
		st = error_set(
		    err, STATUS_UNSUPPORTED, "the outputs have other shapes than decoder %s takes", d->decoder->name);
	if (st == STATUS_OK)
		st = check_points(t, d->decoder, &b, err);
	if (st == STATUS_OK) {
		decode_run(&f->c, d->decoder, &b, &h, t->opt.score > 0 ? t->opt.score : DECODE_LEAST_SCORE);
		nms_keep(&f->c, d->iou, t->opt.boxes > 0 ? t->opt.boxes : DECODE_KEPT);
		f->point = detect_poses(t) ? read_points(&b, &h, &f->c) : NULL;
	}
	head_drain(&h);
	return st;
}

static double clamp(double v, double high)
{
	return v < 0 ? 0 : v > high ? high : v;
}

// From the input back to the image, cut at its border.
static struct coco_box image_box(const struct candidate *c, const struct placement *p)
{
	double x1 = clamp((c->x1 - p->pad_x) / p->scale_x, p->image_w),
	       y1 = clamp((c->y1 - p->pad_y) / p->scale_y, p->image_h);
	double x2 = clamp((c->x2 - p->pad_x) / p->scale_x, p->image_w),
	       y2 = clamp((c->y2 - p->pad_y) / p->scale_y, p->image_h);
	return (struct coco_box){x1, y1, x2 - x1, y2 - y1};
}

static int label_class(const struct task *t, int class)
{
	const struct detect *d = t->state;
	if (d->ids)
		return labels_class_of_id(t->labels, class);
	return class < d->n_map ? d->map[class] : -1;
}

static struct keypoint image_point(struct keypoint k, const struct placement *p)
{
	return (struct keypoint){(float)clamp(((double)k.x - p->pad_x) / p->scale_x, p->image_w),
	    (float)clamp(((double)k.y - p->pad_y) / p->scale_y, p->image_h), k.v};
}

// Those of classes that the labels have. Their keypoints are f's, which become those of the image.
static struct coco_found *to_image(const struct task *t, struct findings *f, const struct placement *where, int *n)
{
	struct coco_found *found = xcalloc(f->c.n + 1, sizeof *found);
	size_t points = detect_poses(t) ? (size_t)detect_poses(t)->n : 0;
	for (size_t i = 0; i < f->c.n * points; i++)
		f->point[i] = image_point(f->point[i], where);
	*n = 0;
	for (size_t i = 0; i < f->c.n; i++) {
		int class = label_class(t, f->c.at[i].class);
		if (class >= 0)
			found[(*n)++] = (struct coco_found){.box = image_box(&f->c.at[i], where), .score = f->c.at[i].score,
			    .class = class, .point = points ? f->point + i * points : NULL};
	}
	return found;
}

static int by_score(const void *a, const void *b)
{
	const struct task_box *x = a, *y = b;
	return x->score != y->score ? (x->score > y->score ? -1 : 1) : (x->class > y->class) - (x->class < y->class);
}

static void keep_boxes(struct detections *d, const struct coco_found *found, int n)
{
	d->box = xcalloc((size_t)n + 1, sizeof *d->box);
	d->n = n;
	for (int i = 0; i < n; i++) {
		const struct coco_box *b = &found[i].box;
		d->box[i] = (struct task_box){(float)b->x, (float)b->y, (float)b->w, (float)b->h, (float)found[i].score,
		    found[i].class, found[i].point};
	}
	qsort(d->box, (size_t)n, sizeof *d->box, by_score);
}

static enum status match(
    struct task *t, int sample, const struct tensor *out, struct detections *d, struct error *err)
{
	const struct label *label = &t->labels->label[sample];
	struct findings f = {0};
	struct placement where;
	int n;
	enum status st = dataset_place(t->d, sample, &where, err);
	if (st == STATUS_OK)
		st = decode(t, &f, out, err);
	if (st == STATUS_OK) {
		struct coco_found *found = to_image(t, &f, &where, &n);
		coco_image_match(&d->image, label->truth, label->n, found, n, detect_poses(t));
		keep_boxes(d, found, n);
		d->point = f.point;
		d->points = detect_poses(t) ? detect_poses(t)->n : 0;
		d->point_bytes = f.c.n * (size_t)d->points * sizeof *d->point;
		free(found);
	}
	candidates_done(&f.c);
	return st;
}

static double own_ap(const struct coco_image *image, int n_classes)
{
	struct coco_pool *one = coco_pool_new(&image, 1, n_classes);
	double ap = coco_pool_ap(one, NULL);
	coco_pool_free(&one);
	return ap;
}

static enum status detect_read(struct task *t, int sample, const struct tensor *out, const struct tensor *float_out,
    struct task_result **result, struct error *err)
{
	struct detections *d = xcalloc(1, sizeof *d);
	(void)float_out;
	enum status st = match(t, sample, out, d, err);
	if (st != STATUS_OK) {
		free(d);
		return st;
	}
	d->base = (struct task_result){.refs = 1,
	    .bytes = sizeof *d + (size_t)d->image.n_matches * sizeof *d->image.match +
	             (size_t)d->image.n_counts * sizeof *d->image.count + (size_t)d->n * sizeof *d->box + d->point_bytes,
	    .value = own_ap(&d->image, t->labels->n_classes)};
	*result = &d->base;
	return STATUS_OK;
}

static void detect_release(struct task_result *r)
{
	struct detections *d = (struct detections *)r;
	coco_image_done(&d->image);
	free(d->box);
	free(d->point);
	free(d);
}

// ---- scoring

struct pool {
	struct coco_pool *all;
	struct coco_draws *draws;
};

static void *detect_pool(const struct task *t, struct task_result *const *at, int n)
{
	struct pool *p = xcalloc(1, sizeof *p);
	const struct coco_image **image = xcalloc((size_t)n + 1, sizeof *image);
	for (int i = 0; i < n; i++)
		image[i] = at[i] ? &((const struct detections *)at[i])->image : NULL;
	p->all = coco_pool_new(image, n, t->labels->n_classes);
	p->draws = coco_draws_new(p->all);
	free(image);
	return p;
}

static void detect_drain(void *pool)
{
	struct pool *p = pool;
	coco_pool_free(&p->all);
	coco_draws_free(&p->draws);
	free(p);
}

static double detect_score(const struct task *t, const struct frozen *f, const int *weight)
{
	(void)t;
	return coco_draws_ap(((const struct pool *)f->pool)->draws, weight);
}

struct boxes_reader *boxes_reader_of(const struct task *t)
{
	const struct detect *d = t->state;
	if (t->kind != TASK_DETECT && t->kind != TASK_POSE)
		return NULL;
	return boxes_reader_new(t->g, d->named, t->labels->n_classes, t->labels->skeleton.n);
}

static struct boxes *boxes_at(const struct frozen *f, int sample)
{
	const struct detections *d = (const struct detections *)f->at[sample];
	return boxes_of(d->box, d->n, d->points);
}

static double detect_apart(const struct frozen *before, const struct frozen *after)
{
	int *sample = xcalloc((size_t)after->n + 1, sizeof *sample), n = task_paired(before, after, sample);
	struct boxes **a = xcalloc((size_t)n + 1, sizeof *a), **b = xcalloc((size_t)n + 1, sizeof *b);
	for (int i = 0; i < n; i++) {
		a[i] = boxes_at(before, sample[i]);
		b[i] = boxes_at(after, sample[i]);
	}
	double apart = boxes_apart((const struct boxes *const *)a, (const struct boxes *const *)b, n);
	for (int i = 0; i < n; i++) {
		boxes_free(&a[i]);
		boxes_free(&b[i]);
	}
	free(a);
	free(b);
	free(sample);
	return apart;
}

static void report_variant(const struct task *t, const struct frozen *f, enum task_variant v, struct task_report *r)
{
	int n = t->labels->n_classes;
	struct coco_scores s = {
	    .ap = xcalloc((size_t)n + 1, sizeof *s.ap), .truths = xcalloc((size_t)n + 1, sizeof *s.truths)};
	coco_pool_score(((const struct pool *)f->pool)->all, NULL, &s);
	for (int k = 0, i = 0; k < COCO_FIGURES; k++)
		if (coco_figure_name((enum coco_figure)k, detect_poses(t)))
			r->figure[i++].value[v] = r->samples[v] ? s.figure[k] : NAN;
	for (int c = 0; c < n; c++) {
		r->class[c].value[v] = s.ap[c];
		r->class[c].objects = s.truths[c] > r->class[c].objects ? s.truths[c] : r->class[c].objects;
	}
	free(s.ap);
	free(s.truths);
}

const char *detect_class_name(const struct task *t, int class)
{
	const struct detect *d = t->state;
	if (t->labels->name[class])
		return t->labels->name[class];
	for (int i = 0; i < d->n_map && i < t->names.n; i++)
		if (d->map[i] == class)
			return t->names.at[i];
	return NULL;
}

static void detect_report(const struct task *t, const struct frozen f[TASK_VARIANTS], struct task_report *r)
{
	r->figure = xcalloc(COCO_FIGURES, sizeof *r->figure);
	r->n_classes = t->labels->n_classes;
	r->class = xcalloc((size_t)r->n_classes + 1, sizeof *r->class);
	for (int k = 0; k < COCO_FIGURES; k++)
		if (coco_figure_name((enum coco_figure)k, detect_poses(t)))
			r->figure[r->n_figures++].name = coco_figure_name((enum coco_figure)k, detect_poses(t));
	for (int c = 0; c < r->n_classes; c++) {
		r->class[c].id = t->labels->id[c];
		r->class[c].name = detect_class_name(t, c);
	}
	for (int v = 0; v < TASK_VARIANTS; v++)
		report_variant(t, &f[v], (enum task_variant)v, r);
}

// Poses are boxes that are matched by their keypoints.
#define OF_BOXES                                                                                                       \
	.open = detect_open, .close = detect_close, .note = detect_note, .read = detect_read, .release = detect_release, \
	.pool = detect_pool, .drain = detect_drain, .score = detect_score, .apart = detect_apart,                       \
	.report = detect_report, .look = detect_look
const struct task_ops detect_ops = {.name = "detect", .labels = LABELS_BOXES, OF_BOXES};
const struct task_ops pose_ops = {.name = "pose", .labels = LABELS_POSES, OF_BOXES};
