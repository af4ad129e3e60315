// Boxes of a detector as the yardstick of a network: no labels, and each box counts, not only whether it is right.
#include "boxes.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "../decode/decode.h"
#include "../metric/rotated.h"
#include "boxes_program.h"
#include "detect.h"
#include "qtui/analysis/task_look.h"
#include "qtui/base/mem.h"
#include "qtui/engine/data.h"

static const double OVERLAP = .3; // IoU above which two boxes can be of one object

struct boxes_reader {
	struct head head;              // as declared
	const struct decoder *decoder; // NULL: found with every sample, by a reader that is not settled
	char *named;                   // that is to be found; NULL: any
	struct boxes_program *program; // in place of both; NULL: none
	struct key key;
};
struct boxes {
	struct candidate *at; // by class, then by falling score; cell: which keypoints and mask are its
	int n;
	struct skeleton skeleton;
	int points;             // of each: as many as the skeleton has, or the corners of a rotated box, whose overlap has them
	struct keypoint *point; // [n][points]
	struct rle **mask;      // [n] NULL: none
};

struct boxes_reader *boxes_reader_new(const struct graph *g, const char *decoder, int classes, int points)
{
	struct boxes_reader *r = xcalloc(1, sizeof *r);
	struct error ignored = {0};
	r->key = key_add_text((struct key){0}, decoder ? decoder : "");
	head_init(&r->head, g, classes, points);
	bool found = head_is_known(&r->head) && decode_find(&r->decoder, &r->head, decoder, &ignored) == STATUS_OK;
	if (!found || (r->head.any_classes && !decoder && !classes))
		boxes_reader_free(&r);
	return r;
}

struct boxes_reader *boxes_reader_of_rows(const struct graph *g, const char *decoder)
{
	struct boxes_reader *r = xcalloc(1, sizeof *r);
	head_init(&r->head, g, 0, 0);
	if (head_is_known(&r->head) || (!r->head.suppressed && !decoder))
		boxes_reader_free(&r);
	else
		r->named = xstrdup(decoder);
	return r;
}

struct boxes_reader *boxes_reader_by(struct boxes_program *p)
{
	struct boxes_reader *r = xcalloc(1, sizeof *r);
	*r = (struct boxes_reader){.program = p, .key = key_add_key((struct key){0}, program_key(boxes_program_command(p)))};
	return r;
}

int boxes_reader_classes(const struct boxes_reader *r)
{
	struct bound b = {0};
	return r->decoder && decode_bind(&b, r->decoder, &r->head) ? decode_classes(&b) : 0;
}

struct key boxes_reader_key(const struct boxes_reader *r)
{
	return r->key;
}

void boxes_reader_free(struct boxes_reader **r)
{
	if (!*r)
		return;
	if (!(*r)->program)
		head_done(&(*r)->head);
	free((*r)->named);
	free(*r);
	*r = NULL;
}

// ---- reading

static int by_class(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;
	if (x->class != y->class)
		return x->class < y->class ? -1 : 1;
	if (x->score != y->score)
		return x->score > y->score ? -1 : 1;
	return (x->x1 > y->x1) - (x->x1 < y->x1);
}

// Takes the candidates; their keypoints (or corners) and masks are to be filled in, in this order.
static struct boxes *unsorted(const struct candidates *c, int points, bool corners)
{
	struct boxes *b = xcalloc(1, sizeof *b);
	*b = (struct boxes){.at = c->at, .n = (int)c->n, .points = points, .point = xcalloc(c->n * (size_t)points + 1, sizeof *b->point),
	    .mask = xcalloc(c->n + 1, sizeof *b->mask)};
	skeleton_init(&b->skeleton, corners ? 0 : points);
	return b;
}

static struct boxes *sort(struct boxes *b)
{
	for (int i = 0; i < b->n; i++)
		b->at[i].cell = i;
	if (b->n)
		qsort(b->at, (size_t)b->n, sizeof *b->at, by_class);
	return b;
}

static struct keypoint *points_of(const struct boxes *b, int64_t i)
{
	return b->point + i * b->points;
}

// In pixels of the maps, which are as fine as masks are known, or (where each box has its own) of the input.
static void read_masks(struct boxes *to, struct bound *b, const struct head *h)
{
	int map_w = b->masks == MASKS_OF_BOX ? h->input_w : b->maps.w, map_h = b->masks == MASKS_OF_BOX ? h->input_h : b->maps.h;
	struct placement where = {.image_w = map_w, .image_h = map_h, .input_w = h->input_w, .input_h = h->input_h,
	    .scale_x = (double)h->input_w / map_w, .scale_y = (double)h->input_h / map_h};
	decode_mask_begin(b, h);
	for (int i = 0; i < to->n; i++) {
		if (to->at[i].score < DECODE_MASK_SCORE)
			continue;
		to->mask[i] = xmalloc(sizeof **to->mask);
		decode_mask(to->mask[i], b, h, &to->at[i], &where);
	}
}

static enum status ask(struct boxes **out, const struct boxes_reader *r, const struct sample_outputs *of, struct error *err)
{
	struct candidates c = {0};
	enum status st = boxes_program_read(&c, r->program, of, err);
	if (st == STATUS_OK)
		*out = sort(unsorted(&c, 0, false));
	else
		candidates_done(&c);
	return st;
}

// NMS left nothing: no decoder is needed to tell that.
static bool are_empty(const struct head *h)
{
	bool empty = h->n > 0;
	for (int i = 0; i < h->n; i++)
		empty = empty && shape_count(&h->out[i].shape) == 0;
	return empty;
}

static bool find_decoder(const struct decoder **by, struct head *h, const struct boxes_reader *r)
{
	struct error ignored; // another yardstick is taken then
	*by = r->decoder;
	return *by || decode_find(by, h, r->named, &ignored) == STATUS_OK;
}

static struct boxes *decode(const struct boxes_reader *r, const struct tensor *output)
{
	struct candidates c = {0};
	struct bound b = {0};
	struct head h;
	struct boxes *found = NULL;
	const struct decoder *by;
	head_fill(&h, &r->head, output);
	if (are_empty(&h)) {
		found = unsorted(&c, 0, false);
	} else if (find_decoder(&by, &h, r) && decode_bind(&b, by, &h)) {
		decode_run(&c, by, &b, &h, DECODE_LEAST_SCORE);
		nms_keep(&c, by->iou, DECODE_KEPT);
		found = unsorted(&c, b.points, b.rotated);
		for (int i = 0; b.points && i < found->n; i++)
			decode_points(points_of(found, i), &b, &h, &found->at[i]);
		if (b.masks)
			read_masks(found, &b, &h);
		sort(found);
	}
	head_drain(&h);
	return found;
}

bool boxes_reader_settle(struct boxes_reader *r, const struct tensor *output)
{
	struct head h;
	head_fill(&h, &r->head, output);
	bool found = find_decoder(&r->decoder, &h, r);
	r->head.named = h.named;
	r->head.anchors = h.anchors;
	r->head.any_classes = h.any_classes;
	head_drain(&h);
	return found;
}

enum status boxes_read(struct boxes **out, const struct boxes_reader *r, const struct sample_outputs *of, struct error *err)
{
	if (r->program)
		return ask(out, r, of, err);
	*out = decode(r, of->out);
	return STATUS_OK;
}

static struct candidate candidate_of(const struct task_box *b)
{
	return (struct candidate){.x1 = b->x, .y1 = b->y, .x2 = b->x + b->w, .y2 = b->y + b->h, .score = b->score, .class = b->class};
}

// Not the box that is cut at the image's border: the centre is that of the whole.
static struct candidate candidate_of_corners(const struct task_box *b)
{
	struct spread s = rotated_spread(b->point);
	float x = (float)s.x, y = (float)s.y;
	return (struct candidate){.x1 = x, .y1 = y, .x2 = x, .y2 = y, .xx = (float)s.xx, .yy = (float)s.yy, .xy = (float)s.xy,
	    .score = b->score, .class = b->class};
}

struct boxes *boxes_of_rotated(const struct task_box *box, int n)
{
	struct candidates c = {0};
	for (int i = 0; i < n; i++) {
		struct candidate one = candidate_of_corners(&box[i]);
		candidates_add(&c, &one);
	}
	return sort(unsorted(&c, 0, false));
}

struct boxes *boxes_of(const struct task_box *box, int n, int points)
{
	struct candidates c = {0};
	for (int i = 0; i < n; i++) {
		struct candidate one = candidate_of(&box[i]);
		candidates_add(&c, &one);
	}
	struct boxes *b = unsorted(&c, points, false);
	for (int i = 0; points && i < n; i++)
		memcpy(points_of(b, i), box[i].point, (size_t)points * sizeof *b->point);
	for (int i = 0; i < n; i++)
		b->mask[i] = rle_copy(box[i].mask);
	return sort(b);
}

void boxes_free(struct boxes **b)
{
	if (*b) {
		free((*b)->at);
		free((*b)->point);
		for (int i = 0; i < (*b)->n; i++)
			rle_free(&(*b)->mask[i]);
		free((*b)->mask);
		skeleton_done(&(*b)->skeleton);
	}
	free(*b);
	*b = NULL;
}

static int by_score(const void *a, const void *b)
{
	const struct task_box *x = a, *y = b;
	return x->score != y->score ? (x->score > y->score ? -1 : 1) : (x->class > y->class) - (x->class < y->class);
}

// What is left of a box is of interest, down to a score that says next to nothing.
struct found_boxes boxes_in_image(const struct boxes *b, const struct placement *where, struct keypoint **points)
{
	struct task_box *out = xcalloc((size_t)b->n + 1, sizeof *out);
	int n = 0, k = b->points;
	*points = k ? xcalloc((size_t)b->n * (size_t)k + 1, sizeof **points) : NULL;
	for (int i = 0; i < b->n; i++) {
		struct coco_box at = detect_image_box(&b->at[i], where);
		struct keypoint *own = k ? *points + (size_t)i * (size_t)k : NULL;
		for (int j = 0; j < k; j++)
			own[j] = detect_image_point(points_of(b, b->at[i].cell)[j], where, boxes_are_rotated(b));
		if (b->at[i].score >= DECODE_MASK_SCORE)
			out[n++] = (struct task_box){(float)at.x, (float)at.y, (float)at.w, (float)at.h, b->at[i].score, b->at[i].class, own, NULL};
	}
	qsort(out, (size_t)n, sizeof *out, by_score);
	return (struct found_boxes){xrealloc(out, ((size_t)n + 1) * sizeof *out), n};
}

int boxes_points(const struct boxes *b)
{
	return b->points;
}

bool boxes_are_rotated(const struct boxes *b)
{
	return b->points > b->skeleton.n;
}

double boxes_mass(const struct boxes *b)
{
	double mass = 0;
	for (int i = 0; i < b->n; i++)
		mass += (double)b->at[i].score * (double)b->at[i].score;
	return mass;
}

// ---- comparing

// Of an overlap between two networks' boxes: small shifts may go either way beside the object
// itself, and count by their square.
static double worth(double iou)
{
	double lack = (1 - iou) / .3;
	return exp(-lack * lack);
}

// Overlap of two boxes that are of one object; of poses also how near their keypoints are, in parts of the box's size,
// and of instances how their masks overlap.
static double likeness(const struct boxes *a, const struct candidate *x, const struct boxes *b, const struct candidate *y, double iou)
{
	if (a->mask[x->cell] && b->mask[y->cell])
		return fmin(iou, rle_iou(b->mask[y->cell], a->mask[x->cell], false));
	if (!a->skeleton.n || a->skeleton.n != b->skeleton.n)
		return iou;
	double area = ((double)x->x2 - (double)x->x1) * ((double)x->y2 - (double)x->y1);
	const struct keypoint *to = points_of(a, x->cell), *from = points_of(b, y->cell);
	double same = keypoints_similarity(&a->skeleton, from, to, KEYPOINT_SEEN, area);
	return fmin(iou, isnan(same) ? keypoints_similarity(&a->skeleton, from, to, 0, area) : same); // sure of none: by all
}

static int end_of_class(const struct boxes *b, int from)
{
	int i = from;
	while (i < b->n && b->at[i].class == b->at[from].class)
		i++;
	return i;
}

// Boxes first..last-1 and others from..to-1 of one class: those with the higher scores choose first.
static double match_class(const struct boxes *a, int first, int last, const struct boxes *b, int from, int to, bool *taken)
{
	double common = 0;
	for (int i = first; i < last; i++) {
		double most = OVERLAP;
		int best = -1;
		for (int k = from; k < to; k++) {
			double iou = taken[k] ? 0 : candidate_iou(&a->at[i], &b->at[k]);
			if (iou > most) {
				most = iou;
				best = k;
			}
		}
		if (best < 0)
			continue;
		taken[best] = true;
		common += worth(likeness(a, &a->at[i], b, &b->at[best], most)) * (double)a->at[i].score * (double)b->at[best].score;
	}
	return common;
}

static double in_common(const struct boxes *a, const struct boxes *b)
{
	double common = 0;
	bool *taken = xcalloc((size_t)b->n + 1, 1);
	for (int i = 0, k = 0; i < a->n && k < b->n;) {
		int last = end_of_class(a, i), to = end_of_class(b, k);
		int order = a->at[i].class - b->at[k].class;
		if (order == 0)
			common += match_class(a, i, last, b, k, to, taken);
		i = order <= 0 ? last : i;
		k = order >= 0 ? to : k;
	}
	free(taken);
	return common;
}

double boxes_apart(const struct boxes *const *before, const struct boxes *const *after, int n)
{
	double apart = 0, weights = 0;
	for (int i = 0; i < n; i++) {
		if (!before[i] || !after[i])
			continue;
		double all = boxes_mass(before[i]) + boxes_mass(after[i]), weight = all / (all + 1);
		if (all > 0)
			apart += weight * fmax(0, 1 - 2 * in_common(before[i], after[i]) / all);
		weights += weight;
	}
	return weights > 0 ? apart / weights : 0;
}
