// Anchor-free heads: distances from the centre of a cell to the four sides, in strides. A distance is a number, or the
// mean of a distribution over bins 0, 1, 2 ... (DFL, GFL). Keypoints, where there are some, are offsets in strides: twice
// the output from the corner of the cell where distances have bins (YOLOv8, 11), else the output from its centre (YOLO26).
#include <math.h>
#include "../decode_family.h"

enum { BINS_MAX = 32 }; // of a distance; known heads have 16 or 17 (DFL) and 8 (GFL)

// RTMDet's may go through an exponential, and be given in pixels.
static bool fits(const struct head *h, const struct field *box, const struct field *score, int bins)
{
	unsigned allowed = h->rtmdet ? END_LINEAR | END_OTHER | END_PRODUCT : END_LINEAR;
	return box->channels == 4 * bins && head_ends(h, box->ends, allowed) && decode_pick_classes(h, score, 0) > 0;
}

static bool prefers_swap(const struct head *h, const struct level *l)
{
	const struct head_output *first = &h->out[l->field[0].output], *second = &h->out[l->field[1].output];
	return (first->scores && !second->scores) || (second->boxes && !first->boxes) ||
	       (l->field[0].ends & END_SIGMOID && !(l->field[1].ends & END_SIGMOID));
}

static bool bind_two(struct source *s, const struct head *h, const struct level *l, int bins)
{
	int swap = prefers_swap(h, l);
	for (int i = 0; i < 2; i++, swap = !swap)
		if (fits(h, &l->field[swap], &l->field[!swap], bins)) {
			s->box = l->field[swap];
			s->score = field_part(&l->field[!swap], 0, decode_pick_classes(h, &l->field[!swap], 0));
			return true;
		}
	return false;
}

// Boxes and scores in one output: NanoDet-Plus has the scores in front.
static bool bind_one(struct bound *b, struct source *s, const struct head *h, const struct level *l, int bins, bool scores_first)
{
	const struct field *f = &l->field[0];
	int classes = decode_pick_classes(h, f, 4 * bins);
	if (classes < 0 || !head_ends(h, f->ends, END_LINEAR | END_SIGMOID))
		return false;
	s->box = field_part(f, scores_first ? classes : 0, 4 * bins);
	s->score = field_part(f, scores_first ? 0 : 4 * bins, classes);
	decode_bind_points(b, s, h, f, 4 * bins + classes);
	decode_bind_masks(s, h, f, 4 * bins + classes);
	return true;
}

// An output of keypoints alone, behind the others of its level.
static void take_points(struct bound *b, struct source *s, const struct head *h, struct level *l)
{
	for (int i = l->n_fields - 1; l->n_fields > 1 && i >= 0 && !s->point.channels; i--) {
		if (!head_ends(h, l->field[i].ends, END_LINEAR) || h->out[l->field[i].output].boxes)
			continue;
		decode_bind_points(b, s, h, &l->field[i], 0);
		if (s->point.channels)
			level_drop(l, i);
	}
}

// The sum of a cell's scores, by which a device finds cells without objects early (RKNN): a third output, of one channel.
static void drop_sum(struct level *l)
{
	for (int i = 1; l->n_fields == 3 && i < l->n_fields; i++)
		if (l->field[i].channels == 1 && l->field[i].ends & END_OTHER)
			level_drop(l, i);
}

static bool bind_level(struct bound *b, struct source *s, const struct head *h, const struct level *l, int bins, bool scores_first)
{
	*s = (struct source){.stride = l->stride,
	    .w = l->w,
	    .n = (int64_t)l->w * l->h,
	    .anchors = 1,
	    .object = FIELD_NONE,
	    .label = FIELD_NONE,
	    .mask = l->mask};
	if (l->field[0].anchors != 1)
		return false;
	struct level rest = *l;
	take_points(b, s, h, &rest);
	drop_sum(&rest);
	return rest.n_fields == 2 ? bind_two(s, h, &rest, bins)
	                          : rest.n_fields == 1 && bind_one(b, s, h, &rest, bins, scores_first);
}

static bool bind_bins(struct bound *b, const struct head *h, const struct levels *l, int bins, bool scores_first)
{
	*b = (struct bound){.n = l->n, .bins = bins, .centre = .5f, .reach = bins > 1 ? 2 : 1, .from = bins > 1 ? 0 : .5f};
	for (int i = 0; i < l->n; i++)
		if (!bind_level(b, &b->source[i], h, &l->level[i], bins, scores_first))
			return false;
	for (int i = 0; b->points && i < b->n; i++)
		if (!b->source[i].point.channels)
			return false; // not every level has them
	b->score = decode_squash(&b->source[0].score);
	return true;
}

// Keypoints of all levels as one output [1, K, 2 or 3, cells], in pixels (RKNN).
static void take_points_of_all(struct bound *b, const struct head *h)
{
	int64_t cells = 0, at = 0;
	for (int i = 0; i < b->n; i++)
		cells += b->source[i].n;
	for (int i = 0; i < h->n && h->points && !b->points; i++) {
		const struct shape *s = &h->out[i].shape;
		if (s->rank != 4 || s->dim[0] != 1 || s->dim[1] != h->points || s->dim[2] < 2 || s->dim[2] > 3 || s->dim[3] != cells)
			continue;
		b->points = h->points;
		b->reach = 0;
		for (int k = 0; k < b->n; at += b->source[k++].n)
			b->source[k].point = (struct field){.output = i, .channels = (int)(s->dim[1] * s->dim[2]), .anchors = 1,
			    .at = at, .cell = 1, .channel = cells, .ends = h->out[i].ends};
	}
}

bool distance_bind(struct bound *b, const struct head *h)
{
	static const int bins[] = {16, 17, 1}; // DFL, PP-YOLOE, a number
	struct levels l;
	for (size_t i = 0; i < sizeof bins / sizeof *bins; i++)
		if (head_levels(&l, h) && bind_bins(b, h, &l, bins[i], false)) {
			take_points_of_all(b, h);
			return true;
		}
	return false;
}

// Distances from the corners of cells: in pixels where they have been multiplied by the stride, else in strides.
bool distance_bind_rtmdet(struct bound *b, const struct head *h)
{
	struct levels l;
	if (!(h->named || h->rtmdet) || !head_levels(&l, h) || l.level[0].n_fields != 2 || !bind_bins(b, h, &l, 1, false))
		return false;
	b->centre = 0;
	b->pixels = b->source[0].box.ends & END_PRODUCT;
	return true;
}

bool distance_bind_one2one(struct bound *b, const struct head *h)
{
	return (h->named || h->one2one) && distance_bind(b, h);
}

bool distance_bind_nanodet(struct bound *b, const struct head *h)
{
	struct levels l;
	return head_levels(&l, h) && bind_bins(b, h, &l, 8, true);
}

// Four levels, as PicoDet has them, which has boxes and scores apart and counts from the middle of cells.
bool distance_bind_nanodet_plus(struct bound *b, const struct head *h)
{
	if (!distance_bind_nanodet(b, h))
		return false;
	bool apart = b->source[0].box.output != b->source[0].score.output;
	if ((b->n != 4 || apart) && !h->named)
		return false;
	b->centre = 0;
	return true;
}

static float distance(const struct head *h, const struct bound *b, const struct source *s, int anchor, int64_t cell, int side)
{
	float v[BINS_MAX], most = -INFINITY, sum = 0, mean = 0;
	if (b->bins == 1)
		return field_get(h, &s->box, anchor, cell, side);
	for (int i = 0; i < b->bins; i++) {
		v[i] = field_get(h, &s->box, anchor, cell, side * b->bins + i);
		most = fmaxf(most, v[i]);
	}
	for (int i = 0; i < b->bins; i++) {
		float e = expf(v[i] - most);
		sum += e;
		mean += e * (float)i;
	}
	return mean / sum;
}

void distance_box(
    float out[4], const struct head *h, const struct bound *b, const struct source *s, int anchor, int64_t cell)
{
	float stride = (float)s->stride, unit = b->pixels ? 1 : stride;
	float x = ((float)(cell % s->w) + b->centre) * stride, y = ((float)(cell / s->w) + b->centre) * stride;
	out[0] = x - distance(h, b, s, anchor, cell, 0) * unit;
	out[1] = y - distance(h, b, s, anchor, cell, 1) * unit;
	out[2] = x + distance(h, b, s, anchor, cell, 2) * unit;
	out[3] = y + distance(h, b, s, anchor, cell, 3) * unit;
}
