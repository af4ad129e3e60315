// One sample: outputs to boxes in the image, perhaps with keypoints or masks, matched with the labels as soon as they come.
#include <stdlib.h>
#include "detect.h"
#include "qtui/base/mem.h"

// What is found in one sample: in pixels of the input, in those of the image behind to_image.
struct findings {
	struct candidates c;    // by falling score
	struct keypoint *point; // [c.n][detect_points]; NULL: none are wanted
	struct rle *mask;       // [c.n] in pixels of the image; NULL: none are wanted
};

static struct keypoint *read_points(const struct bound *b, const struct head *h, const struct candidates *c)
{
	struct keypoint *point = xcalloc(c->n * (size_t)b->points + 1, sizeof *point);
	for (size_t i = 0; i < c->n; i++)
		decode_points(point + i * (size_t)b->points, b, h, &c->at[i]);
	return point;
}

static struct rle *read_masks(struct bound *b, const struct head *h, const struct candidates *c, const struct placement *where)
{
	struct rle *mask = xcalloc(c->n + 1, sizeof *mask);
	decode_mask_begin(b, h);
	for (size_t i = 0; i < c->n; i++)
		decode_mask(&mask[i], b, h, &c->at[i], where);
	return mask;
}

static enum status decode(struct task *t, struct findings *f, const struct tensor *out, const struct placement *where, struct error *err)
{
	struct detect *d = t->state;
	struct bound b = {0};
	struct head h;
	enum status st = STATUS_OK;
	head_fill(&h, &d->head, out);
	pthread_mutex_lock(&t->lock);
	if (!d->decoder)
		st = detect_find_decoder(t, &h, err);
	h.named = d->head.named;
	h.anchors = d->head.anchors;
	h.any_classes = d->head.any_classes;
	pthread_mutex_unlock(&t->lock);
	if (st == STATUS_OK && !decode_bind(&b, d->decoder, &h))
		st = error_set(
		    err, STATUS_UNSUPPORTED, "the outputs have other shapes than decoder %s takes", d->decoder->name);
	if (st == STATUS_OK)
		st = detect_check_bound(t, d->decoder, &b, err);
	if (st == STATUS_OK) {
		const struct boxes_limits limits = detect_limits(t);
		decode_run(&f->c, d->decoder, &b, &h, limits.least);
		nms_keep(&f->c, limits.iou, limits.most);
		f->point = detect_points(t) ? read_points(&b, &h, &f->c) : NULL;
		f->mask = detect_rule(t).masks ? read_masks(&b, &h, &f->c, where) : NULL;
	}
	head_drain(&h);
	return st;
}

static enum status ask(struct task *t, struct findings *f, int sample, const struct task_said *said, struct error *err)
{
	const struct detect *d = t->state;
	const struct sample_outputs of = {t->g, t->d, sample, said->out, said->stop};
	return boxes_program_read(&f->c, d->program, &of, err);
}

static double clamp(double v, double high)
{
	return v < 0 ? 0 : v > high ? high : v;
}

// From the input back to the image, cut at its border.
struct coco_box detect_image_box(const struct candidate *c, const struct placement *p)
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
	if (d->program)
		return class;
	if (d->ids)
		return labels_class_of_id(t->labels, class);
	return class < d->n_map ? d->map[class] : -1;
}

// A corner of a rotated box may lie outside: cut at the image's border it would be another box.
struct keypoint detect_image_point(struct keypoint k, const struct placement *p, bool corner)
{
	double x = ((double)k.x - p->pad_x) / p->scale_x, y = ((double)k.y - p->pad_y) / p->scale_y;
	return (struct keypoint){(float)(corner ? x : clamp(x, p->image_w)), (float)(corner ? y : clamp(y, p->image_h)), k.v};
}

// Those of classes that the labels have. Their keypoints are f's, which become those of the image.
static struct coco_found *to_image(const struct task *t, struct findings *f, const struct placement *where, int *n)
{
	struct coco_found *found = xcalloc(f->c.n + 1, sizeof *found);
	size_t points = (size_t)detect_points(t);
	for (size_t i = 0; i < f->c.n * points; i++)
		f->point[i] = detect_image_point(f->point[i], where, t->kind == TASK_OBB);
	*n = 0;
	for (size_t i = 0; i < f->c.n; i++) {
		int class = label_class(t, f->c.at[i].class);
		if (class >= 0)
			found[(*n)++] = (struct coco_found){.box = detect_image_box(&f->c.at[i], where), .score = f->c.at[i].score,
			    .class = class, .point = points ? f->point + i * points : NULL, .mask = f->mask ? &f->mask[i] : NULL};
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
		    found[i].class, found[i].point, found[i].score < (double)DECODE_MASK_SCORE ? NULL : found[i].mask};
	}
	qsort(d->box, (size_t)n, sizeof *d->box, by_score);
}

static void drop_masks(const struct findings *f)
{
	for (size_t i = 0; f->mask && i < f->c.n; i++)
		if (f->c.at[i].score < DECODE_MASK_SCORE)
			rle_done(&f->mask[i]);
}

static enum status match(struct task *t, int sample, const struct task_said *said, struct detections *d, struct error *err)
{
	const struct detect *by = t->state;
	const struct label *label = &t->labels->label[sample];
	struct findings f = {0};
	struct placement where;
	int n;
	enum status st = dataset_place(t->d, sample, &where, err);
	if (st == STATUS_OK)
		st = by->program ? ask(t, &f, sample, said, err) : decode(t, &f, said->out, &where, err);
	if (st == STATUS_OK) {
		struct coco_found *found = to_image(t, &f, &where, &n);
		struct coco_rule rule = detect_rule(t);
		coco_image_match(&d->image, label->truth, label->n, found, n, &rule);
		keep_boxes(d, found, n);
		drop_masks(&f);
		d->point = f.point;
		d->points = detect_points(t);
		d->rotated = rule.rotated;
		d->mask = f.mask;
		d->masks = f.mask ? (int)f.c.n : 0;
		free(found);
	}
	candidates_done(&f.c);
	return st;
}

static size_t bytes_of(const struct detections *d)
{
	size_t bytes = sizeof *d + (size_t)d->image.n_matches * sizeof *d->image.match +
	               (size_t)d->image.n_counts * sizeof *d->image.count + (size_t)d->n * sizeof *d->box +
	               (size_t)d->n * (size_t)d->points * sizeof *d->point + (size_t)d->masks * sizeof *d->mask;
	for (int i = 0; i < d->masks; i++)
		bytes += d->mask[i].cap * sizeof *d->mask[i].edge;
	return bytes;
}

static double own_ap(const struct coco_image *image, int n_classes)
{
	struct coco_pool *one = coco_pool_new(&image, 1, n_classes);
	double ap = coco_pool_ap(one, NULL);
	coco_pool_free(&one);
	return ap;
}

enum status detect_read(struct task *t, int sample, const struct task_said *said, struct task_result **result, struct error *err)
{
	struct detections *d = xcalloc(1, sizeof *d);
	enum status st = match(t, sample, said, d, err);
	if (st != STATUS_OK) {
		free(d);
		return st;
	}
	d->base = (struct task_result){.refs = 1, .bytes = bytes_of(d), .value = own_ap(&d->image, t->labels->n_classes)};
	*result = &d->base;
	return STATUS_OK;
}

void detect_release(struct task_result *r)
{
	struct detections *d = (struct detections *)r;
	coco_image_done(&d->image);
	free(d->box);
	free(d->point);
	for (int i = 0; i < d->masks; i++)
		rle_done(&d->mask[i]);
	free(d->mask);
	free(d);
}
