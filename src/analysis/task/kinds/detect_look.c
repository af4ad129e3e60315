// What changed in an image between two detectors: boxes of a class are taken for the same object where they overlap; their
// keypoints or masks are then held against each other.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "../metric/rotated.h"
#include "detect.h"
#include "qtui/base/mem.h"

static const double same_object = .5; // IoU, or similarity of keypoints
// Of what has not changed: IoU or similarity of keypoints at the least, difference of scores at the most.
static const double same_box = .8, same_pose = .9, same_score = .1;

static struct coco_box area(const struct task_box *b)
{
	return (struct coco_box){b->x, b->y, b->w, b->h};
}

static double iou(const struct task_box *a, const struct task_box *b)
{
	struct coco_box x = area(a), y = area(b);
	return coco_iou(&x, &y, false);
}

static const struct keypoint *copy_points(struct task_look *l, const struct keypoint *from)
{
	return from && l->points ? arena_memdup(l->memory, from, (size_t)l->points * sizeof *from) : NULL;
}

static const struct rle *copy_mask(struct task_look *l, const struct rle *from)
{
	if (!from)
		return NULL;
	struct rle *to = arena_memdup(l->memory, from, sizeof *from);
	to->edge = arena_memdup(l->memory, from->edge, (size_t)from->n * sizeof *from->edge);
	return to;
}

static struct task_box copy_box(struct task_look *l, const struct task_box *from)
{
	struct task_box to = *from;
	to.point = copy_points(l, from->point);
	to.mask = copy_mask(l, from->mask);
	return to;
}

static struct task_box *copy_boxes(struct task_look *l, const struct task_box *from, int n)
{
	struct task_box *to = xcalloc((size_t)n + 1, sizeof *to);
	for (int i = 0; i < n; i++)
		to[i] = copy_box(l, &from[i]);
	return to;
}

static void name_classes(const struct task *t, struct task_look *l, const struct task_box *b, int n)
{
	for (int i = 0; i < n; i++) {
		const char *name = detect_class_name(t, b[i].class), **to = &l->class_name[b[i].class];
		char number[24];
		snprintf(number, sizeof number, "class %d", t->labels->id[b[i].class]);
		if (!*to)
			*to = arena_strdup(l->memory, name ? name : number);
	}
}

static void fill_truth(const struct task *t, struct task_look *l)
{
	const struct label *from = &t->labels->label[l->sample];
	l->truth = xcalloc((size_t)from->n + 1, sizeof *l->truth);
	for (int i = 0; i < from->n; i++) {
		const struct coco_box *b = &from->truth[i].box;
		if (!from->truth[i].crowd)
			l->truth[l->n_truths++] = (struct task_box){(float)b->x, (float)b->y, (float)b->w, (float)b->h, 1,
			    from->truth[i].class, copy_points(l, from->truth[i].point), copy_mask(l, from->truth[i].mask)};
	}
}

// ---- pairs

struct sight {
	const struct label *label; // NULL: nothing is known to be right
	struct coco_rule rule;
	struct task_look *l;
};

// Of the boxes that are not used yet, the one on the same object as b: one that counts before one that does not.
static int find_same(const struct found_boxes *in, const bool *used, const struct task_box *b, double least)
{
	int best = -1;
	double most = 0;
	for (int i = 0; i < in->n; i++) {
		double over = used[i] || in->box[i].class != b->class ? 0 : iou(&in->box[i], b);
		bool counts = in->box[i].score >= least;
		bool before = best >= 0 && in->box[best].score >= least;
		if (over < same_object || (before && !counts) || (over <= most && counts == before))
			continue;
		best = i;
		most = over;
	}
	return best;
}

// Between two networks' boxes: intersection over union, of instances that of their masks, of rotated boxes as rotated.h has it, of poses the
// similarity of those keypoints that the first is sure of, if there are any.
static double likeness(const struct sight *s, const struct task_box *a, const struct task_box *b)
{
	if (s->rule.masks && a->mask && b->mask)
		return rle_iou(a->mask, b->mask, false);
	if (s->rule.rotated) {
		struct spread x = rotated_spread(a->point), y = rotated_spread(b->point);
		return rotated_overlap(&x, &y);
	}
	double same = s->rule.poses ? keypoints_similarity(s->rule.poses, b->point, a->point, KEYPOINT_SEEN, (double)a->w * (double)a->h) : NAN;
	return isnan(same) ? iou(a, b) : same;
}

// As the figures have it, at the lowest of their thresholds.
static bool is_right(const struct sight *s, const struct task_box *b)
{
	const struct label *label = s->label;
	struct coco_found found = {.box = area(b), .point = b->point, .mask = b->mask};
	if (!label || (s->rule.masks && !b->mask))
		return false;
	for (int i = 0; i < label->n; i++) {
		const struct coco_truth *t = &label->truth[i];
		if (t->class != b->class || t->crowd)
			continue;
		if (coco_likeness(&found, t, &s->rule) >= same_object)
			return true;
	}
	return false;
}

// What became of box b of variant v, whose like in the other variant is `other` (NULL: none).
static void add_change(const struct sight *s, enum task_variant v, const struct task_box *b, const struct task_box *other)
{
	struct task_look *l = s->l;
	bool both = other && other->score >= l->least;
	enum task_change_kind kind = both ? CHANGE_MOVED : v == TASK_FLOAT ? CHANGE_MISSED : CHANGE_APPEARED;
	double over = other ? likeness(s, b, other) : 0;
	if (both && over >= (s->rule.poses ? same_pose : same_box) && fabsf(b->score - other->score) < same_score)
		return;
	struct task_change *c = &l->change[l->n_changes++];
	*c = (struct task_change){
	    .kind = kind, .name = l->class_name[b->class], .right = is_right(s, b), .iou = over};
	c->box[v] = copy_box(l, b);
	if (other)
		c->box[!v] = copy_box(l, other);
}

static int counted(const struct found_boxes *b, double least)
{
	int n = 0;
	while (n < b->n && b->box[n].score >= least)
		n++;
	return n;
}

static int by_kind(const void *a, const void *b)
{
	const struct task_change *x = a, *y = b;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	double sx = fmaxf(x->box[0].score, x->box[1].score), sy = fmaxf(y->box[0].score, y->box[1].score);
	return sx != sy ? (sx > sy ? -1 : 1) : (x->box[0].x > y->box[0].x) - (x->box[0].x < y->box[0].x);
}

static void compare(const struct sight *s, const struct found_boxes *f, const struct found_boxes *q)
{
	struct task_look *l = s->l;
	bool *used = xcalloc((size_t)q->n + 1, 1), *none = xcalloc((size_t)f->n + 1, 1);
	l->change = xcalloc((size_t)l->n_boxes[TASK_FLOAT] + (size_t)l->n_boxes[TASK_QUANT] + 1, sizeof *l->change);
	for (int i = 0; i < l->n_boxes[TASK_FLOAT]; i++) {
		int same = find_same(q, used, &f->box[i], l->least);
		add_change(s, TASK_FLOAT, &f->box[i], same >= 0 ? &q->box[same] : NULL);
		if (same >= 0)
			used[same] = true;
		none[i] = same >= 0 && q->box[same].score >= l->least;
	}
	for (int i = 0; i < l->n_boxes[TASK_QUANT]; i++) {
		int same = used[i] ? -1 : find_same(f, none, &q->box[i], 2); // only the remains of one
		if (!used[i])
			add_change(s, TASK_QUANT, &q->box[i], same >= 0 && f->box[same].score < l->least ? &f->box[same] : NULL);
	}
	qsort(l->change, (size_t)l->n_changes, sizeof *l->change, by_kind);
	free(used);
	free(none);
}

void detect_look_boxes(struct task_look *l, const struct found_boxes *by)
{
	for (int v = 0; v < TASK_VARIANTS; v++) {
		l->n_boxes[v] = counted(&by[v], l->least);
		l->box[v] = copy_boxes(l, by[v].box, l->n_boxes[v]);
	}
}

void detect_look_changes(
    struct task_look *l, const struct found_boxes *by, const struct coco_rule *rule, const struct label *label)
{
	compare(&(struct sight){label, *rule, l}, &by[TASK_FLOAT], &by[TASK_QUANT]);
}

void detect_look(struct task *t, const struct looked *at, struct task_look *l)
{
	const struct coco_rule rule = detect_rule(t);
	struct found_boxes by[TASK_VARIANTS] = {{NULL, 0}, {NULL, 0}};
	l->class_name = xcalloc((size_t)t->labels->n_classes + 1, sizeof *l->class_name);
	l->points = detect_points(t);
	l->rotated = t->kind == TASK_OBB;
	if (l->points) {
		const struct skeleton *s = &t->labels->skeleton;
		l->n_bones = s->n_bones;
		l->bone = arena_memdup(l->memory, s->bone, (size_t)s->n_bones * sizeof *s->bone);
	}
	fill_truth(t, l);
	name_classes(t, l, l->truth, l->n_truths);
	for (int v = 0; v < TASK_VARIANTS; v++)
		if (at->result[v])
			by[v] = (struct found_boxes){((const struct detections *)at->result[v])->box, ((const struct detections *)at->result[v])->n};
	detect_look_boxes(l, by);
	for (int v = 0; v < TASK_VARIANTS; v++)
		name_classes(t, l, l->box[v], l->n_boxes[v]);
	if (l->known)
		detect_look_changes(l, by, &rule, &t->labels->label[l->sample]);
	if (l->known && t->kind == TASK_INSTANCE)
		detect_look_cells(&t->labels->label[l->sample], t->labels->n_classes, l);
}
