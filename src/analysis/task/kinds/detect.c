// Detection, poses and masks: opening and scoring.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../metric/rotated.h"
#include "boxes.h"
#include "detect.h"
#include "qtui/base/log.h"
#include "qtui/base/mem.h"
#include "qtui/base/str.h"

// ---- opening

static void warn_of_unknown(const struct task *t, const struct detect *d)
{
	const struct labels *l = t->labels;
	bool *known = xcalloc((size_t)l->n_classes + 1, sizeof *known);
	int unknown = 0, all = 0, first = 0;
	for (int i = 0; i < d->n_map; i++)
		if (d->map[i] >= 0)
			known[d->map[i]] = true;
	for (int i = 0; i < l->n_samples; i++)
		for (int k = 0; k < l->label[i].n; k++, all++)
			if (!known[l->label[i].truth[k].class] && unknown++ == 0)
				first = l->label[i].truth[k].class;
	char number[16];
	snprintf(number, sizeof number, "%d", unknown ? l->id[first] : 0);
	if (unknown)
		log_warn("%d of %d objects of %s are of classes that the model does not have (first: %s): they count as missed%s", unknown, all,
		    l->source, l->name[first] ? l->name[first] : number,
		    unknown == all && l->numbered ? "; write the model's names there, or these in order into MODEL.names" : "");
	free(known);
}

// Of a decoder of one object.
static void warn_of_more(const struct task *t, const struct bound *b)
{
	int more = 0;
	for (int i = 0; i < t->labels->n_samples && b->single.form; i++)
		more += t->labels->label[i].n > 1;
	if (more)
		log_warn("the model finds one object a sample, and %d of %d have more in %s: the others count as missed; give pictures of one each",
		    more, t->labels->n_samples, t->labels->source);
}

// NULL: not by keypoints.
static const struct skeleton *detect_poses(const struct task *t)
{
	return t->kind == TASK_POSE ? &t->labels->skeleton : NULL;
}

struct coco_rule detect_rule(const struct task *t)
{
	return (struct coco_rule){.poses = detect_poses(t), .masks = t->kind == TASK_INSTANCE, .rotated = t->kind == TASK_OBB};
}

int detect_points(const struct task *t)
{
	return t->kind == TASK_OBB ? ROTATED_CORNERS : detect_poses(t) ? detect_poses(t)->n : 0;
}

// Keypoints that labels say a network has.
static int said_points(const struct labels *l)
{
	return l->kind == LABELS_ROTATED ? 0 : l->skeleton.n;
}

enum status detect_check_bound(const struct task *t, const struct decoder *d, const struct bound *b, struct error *err)
{
	const struct skeleton *poses = detect_poses(t);
	if (t->kind == TASK_INSTANCE && !b->masks)
		return error_set(
		    err, STATUS_UNSUPPORTED, "decoder %s finds no masks in the outputs; --task detect measures their boxes", d->name);
	if (t->kind == TASK_OBB && !b->rotated)
		return error_set(err, STATUS_UNSUPPORTED,
		    "decoder %s finds no rotated boxes in the outputs; --task detect measures them as boxes along the axes", d->name);
	if (!poses || (b->points == poses->n && !b->rotated))
		return STATUS_OK;
	if (!b->points || b->rotated)
		return error_set(
		    err, STATUS_UNSUPPORTED, "decoder %s finds no keypoints in the outputs; --task detect measures their boxes", d->name);
	return error_set(err, STATUS_FORMAT, "the model has %d keypoint%s of an object, and %s %d; --task detect measures their boxes",
	    b->points, plural(b->points), t->labels->source, poses->n);
}

bool detect_finds(const struct graph *g, const struct labels *l, const char *decoder, enum task_kind kind)
{
	struct head h;
	struct bound b = {0};
	struct error ignored; // opening the task will tell
	const struct decoder *d;
	head_init(&h, g, l->n_classes, said_points(l));
	bool said = kind == TASK_POSE ? h.extra > 0 : kind == TASK_OBB ? h.rotated : h.segments || head_names_masks(&h); // by metadata or name
	bool known = head_is_known(&h) && decode_find(&d, &h, decoder, &ignored) == STATUS_OK && decode_bind(&b, d, &h);
	head_done(&h);
	if (kind == TASK_POSE)
		return said || (known && b.points && !b.rotated);
	return !known ? said : kind == TASK_OBB ? b.rotated : b.masks != MASKS_NONE;
}

bool detect_is_rotated(const struct graph *g)
{
	struct head h;
	head_init(&h, g, 0, 0);
	bool rotated = h.rotated;
	head_done(&h);
	return rotated;
}

bool detect_may_have_masks(const struct graph *g)
{
	struct head h;
	if (g->n_outputs < 2)
		return false;
	head_init(&h, g, 0, 0);
	bool may = head_mask_channels(&h) > 0 || head_names_masks(&h);
	head_done(&h);
	return may;
}

// The model's classes, of which there are so many (0: not known), become the labels'.
static void map_classes(const struct task *t, int n)
{
	struct detect *d = t->state;
	d->n_map = n;
	d->map = labels_map(t->labels, &d->n_map, &t->names, &d->how);
	if (!d->ids)
		warn_of_unknown(t, d);
}

enum status detect_find_decoder(const struct task *t, struct head *h, struct error *err)
{
	struct detect *d = t->state;
	struct bound b = {0};
	enum status st = decode_find(&d->decoder, h, d->named, err);
	if (st != STATUS_OK)
		return st;
	d->head.named = h->named;
	d->head.anchors = h->anchors;
	d->head.any_classes = h->any_classes;
	decode_bind(&b, d->decoder, h);
	if (detect_check_bound(t, d->decoder, &b, err) != STATUS_OK)
		return err->status;
	d->iou = t->opt.iou ? t->opt.iou : d->decoder->iou;
	d->ids = b.ids;
	d->background = b.background;
	map_classes(t, decode_classes(&b));
	warn_of_more(t, &b);
	return STATUS_OK;
}

struct boxes_limits detect_limits(const struct task *t)
{
	const struct detect *d = t->state;
	return (struct boxes_limits){.least = t->opt.score > 0 ? t->opt.score : DECODE_LEAST_SCORE, .iou = d->iou,
	    .most = t->opt.boxes > 0 ? t->opt.boxes : DECODE_KEPT};
}

static enum status detect_open(struct task *t, struct error *err)
{
	struct detect *d = t->state = xcalloc(1, sizeof *d);
	head_init(&d->head, t->g, t->labels->n_classes, said_points(t->labels));
	d->head.rotated |= t->kind == TASK_OBB;
	d->named = xstrdup(t->opt.decoder);
	if (t->opt.boxes_by && t->kind != TASK_DETECT)
		return error_set(err, STATUS_USAGE, "task %s: --boxes gives boxes and nothing else: --task detect measures them", t->ops->name);
	if (t->opt.boxes_by) {
		d->iou = t->opt.iou;
		const struct boxes_limits limits = detect_limits(t);
		map_classes(t, 0);
		d->program = boxes_program_new(t->opt.boxes_by, t->labels, d->map, d->n_map, &limits);
		return STATUS_OK;
	}
	return head_is_known(&d->head) ? detect_find_decoder(t, &d->head, err) : STATUS_OK;
}

static void detect_close(struct task *t)
{
	struct detect *d = t->state;
	boxes_program_free(&d->program);
	head_done(&d->head);
	free(d->named);
	free(d->map);
	free(d);
}

// Where nothing but the outputs' shape says how many classes there are, one of them may be an objectness.
static void note_classes(const struct detect *d, char *out, size_t size)
{
	bool guessed = d->head.any_classes && !d->named && d->n_map > 0;
	int n = snprintf(out, size, "classes %s", d->ids ? "are category ids" : d->how);
	if (n > 0 && (size_t)n < size && d->background)
		snprintf(out + n, size - (size_t)n, " behind a background, the first of %d scores", d->n_map + d->background);
	n = (int)strlen(out);
	if (guessed && (size_t)n < size)
		snprintf(out + n, size - (size_t)n,
		    " (%d by the outputs' shape, a number that neither metadata nor labels have: --decoder reads it otherwise)", d->n_map);
}

static void detect_note(struct task *t, char *out, size_t size)
{
	const struct detect *d = t->state;
	char more[32] = "", nms[32] = "no NMS", classes[256];
	if (detect_poses(t))
		snprintf(more, sizeof more, ", %d keypoints", t->labels->skeleton.n);
	else if (t->kind == TASK_INSTANCE || t->kind == TASK_OBB)
		snprintf(more, sizeof more, t->kind == TASK_OBB ? ", rotated boxes" : ", masks");
	int n = snprintf(out, size, "labels %s (%d of %d samples, %d class%s%s)", t->labels->source, t->labels->n_known,
	    t->n_samples, t->labels->n_classes, t->labels->n_classes == 1 ? "" : "es", more);
	if (n < 0 || (size_t)n >= size)
		return;
	note_classes(d, classes, sizeof classes);
	if (d->iou > 0)
		snprintf(nms, sizeof nms, "NMS at IoU %g", d->iou);
	if (d->program)
		snprintf(out + n, size - (size_t)n, "; boxes by %s; %s; classes %s", boxes_program_command(d->program), nms, d->how);
	else if (d->decoder)
		snprintf(out + n, size - (size_t)n, "; decoder %s: %s; %s; %s", d->decoder->name, d->decoder->title, nms, classes);
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
	if (t->ops->look != detect_look)
		return NULL;
	// The metadata need not say that boxes are rotated: the decoder that was found does.
	if (d->program)
		return boxes_reader_by(d->program);
	const char *decoder = d->named || t->kind != TASK_OBB || !d->decoder ? d->named : d->decoder->name;
	return boxes_reader_new(t->g, decoder, t->labels->n_classes, said_points(t->labels));
}

static struct boxes *boxes_at(const struct frozen *f, int sample)
{
	const struct detections *d = (const struct detections *)f->at[sample];
	return d->rotated ? boxes_of_rotated(d->box, d->n) : boxes_of(d->box, d->n, d->points);
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
	r->by_program = ((const struct detect *)t->state)->program != NULL;
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

static void detect_classes(const struct task *t, const struct frozen *f, int sample, bool *has)
{
	const struct label *l = &t->labels->label[sample];
	(void)f;
	for (int i = 0; i < l->n; i++)
		if (!l->truth[i].crowd)
			has[l->truth[i].class] = true;
}

// Poses are boxes that are matched by their keypoints, instances those that are matched by their masks, rotated boxes by their
// corners.
#define OF_BOXES                                                                                                       \
	.open = detect_open, .close = detect_close, .note = detect_note, .read = detect_read, .release = detect_release, \
	.pool = detect_pool, .drain = detect_drain, .score = detect_score, .apart = detect_apart,                       \
	.report = detect_report, .classes = detect_classes, .look = detect_look
const struct task_ops detect_ops = {.name = "detect", .figure = "AP", .labels = LABELS_BOXES, OF_BOXES};
const struct task_ops pose_ops = {.name = "pose", .figure = "AP", .labels = LABELS_POSES, OF_BOXES};
const struct task_ops obb_ops = {.name = "obb", .figure = "AP", .labels = LABELS_ROTATED, OF_BOXES};
const struct task_ops instance_ops = {.name = "instance", .figure = "AP", .labels = LABELS_OUTLINES, OF_BOXES};
