// The loops over what a decoder finds, the same for every family: cells, classes, thresholds, keypoints.
#include <math.h>
#include "../metric/rotated.h"
#include "decode.h"

enum { LABEL_MAX = 1 << 16 }; // labels that an output holds: beyond it they are none

struct run {
	struct candidates *out;
	const struct decoder *d;
	const struct bound *b;
	const struct head *h;
	const struct source *s;
	double least; // of a score, before its root
};

static void corners_at(struct keypoint out[ROTATED_CORNERS], const struct head *h, const struct source *s, int anchor, int64_t cell)
{
	double v[4];
	for (int i = 0; i < 4; i++)
		v[i] = (double)field_get(h, &s->box, anchor, cell, i);
	rotated_corners(out, v[0], v[1], v[2], v[3], (double)field_get(h, &s->angle, anchor, cell, 0));
}

static void add_spread(struct candidate *c, const struct run *r)
{
	struct keypoint corner[ROTATED_CORNERS];
	corners_at(corner, r->h, r->s, c->anchor, c->cell);
	struct spread s = rotated_spread(corner);
	c->xx = (float)s.xx;
	c->yy = (float)s.yy;
	c->xy = (float)s.xy;
}

// A rotated box is none where its angle is not finite.
static void add(const struct run *r, int anchor, int64_t cell, const float box[4], float score, int class)
{
	struct candidate c = {.x1 = box[0], .y1 = box[1], .x2 = box[2], .y2 = box[3],
	    .score = r->b->root ? sqrtf(score) : score, .class = class,
	    .source = (int)(r->s - r->b->source), .anchor = anchor, .cell = cell};
	if (r->b->rotated)
		add_spread(&c, r);
	if (isfinite(c.xx) && isfinite(c.yy) && isfinite(c.xy))
		candidates_add(r->out, &c);
}

static bool is_finite_box(const float box[4])
{
	return isfinite(box[0]) && isfinite(box[1]) && isfinite(box[2]) && isfinite(box[3]);
}

static float squashed(enum squash how, float x)
{
	return how == SQUASH_SIGMOID ? decode_sigmoid(x) : x;
}

// Softmax over the channels of `score`: its maximum and the sum of the exponentials.
static void softmax_terms(const struct run *r, int anchor, int64_t cell, float *most, double *sum)
{
	*most = -INFINITY;
	*sum = 0;
	for (int c = 0; c < r->s->score.channels; c++)
		*most = fmaxf(*most, field_get(r->h, &r->s->score, anchor, cell, c));
	for (int c = 0; c < r->s->score.channels; c++)
		*sum += exp(field_get(r->h, &r->s->score, anchor, cell, c) - *most);
}

static int classes_end(const struct run *r)
{
	return r->s->score.channels - r->b->nothing_last;
}

// What a raw score has to be at the least, if the threshold is to be reached: most logits need no exponential.
static double least_raw(const struct run *r, float object)
{
	double need = r->least / object;
	switch (r->b->score) {
	case SQUASH_SIGMOID: return log(need / (1 - need)) - 1e-3;
	case SQUASH_SOFTMAX: return -INFINITY;
	default: return need * (1 - 1e-5);
	}
}

// Is the score of a class as high as those of the eight cells around?
static bool is_peak(const struct run *r, int anchor, int64_t cell, int class)
{
	int64_t w = r->s->w, x = cell % w, y = cell / w;
	float own = field_get(r->h, &r->s->score, anchor, cell, class);
	for (int64_t j = y > 0 ? y - 1 : 0; j <= y + 1 && j * w < r->s->n; j++)
		for (int64_t i = x > 0 ? x - 1 : 0; i <= x + 1 && i < w; i++)
			if (field_get(r->h, &r->s->score, anchor, j * w + i, class) > own)
				return false;
	return true;
}

// All classes of one cell that reach the threshold; the box is computed for the first of them.
static void run_classes(const struct run *r, int anchor, int64_t cell, float object)
{
	double low = least_raw(r, object);
	float box[4], most = 0;
	double sum = 1;
	bool have = false;
	if (r->b->score == SQUASH_SOFTMAX)
		softmax_terms(r, anchor, cell, &most, &sum);
	for (int c = r->b->background; c < classes_end(r); c++) {
		float raw = field_get(r->h, &r->s->score, anchor, cell, c);
		if (!(raw >= low))
			continue;
		float p = r->b->score == SQUASH_SOFTMAX ? (float)(exp(raw - most) / sum) : squashed(r->b->score, raw);
		if (!(p * object > r->least) || (r->b->peaks && !is_peak(r, anchor, cell, c)))
			continue;
		if (!have)
			r->d->box(box, r->h, r->b, r->s, anchor, cell);
		have = true;
		if (!is_finite_box(box))
			return;
		add(r, anchor, cell, box, p * object, c - r->b->background);
	}
}

static void run_label(const struct run *r, int anchor, int64_t cell)
{
	float score = squashed(r->b->score, field_get(r->h, &r->s->score, anchor, cell, 0));
	float label = field_get(r->h, &r->s->label, anchor, cell, 0), box[4];
	int first = r->b->counted > 0;
	if (!(score > r->least) || !(label >= (float)first && label < LABEL_MAX))
		return;
	r->d->box(box, r->h, r->b, r->s, anchor, cell);
	if (is_finite_box(box))
		add(r, anchor, cell, box, score, (int)label - first);
}

static void run_cell(const struct run *r, int anchor, int64_t cell)
{
	float object = r->s->object.output < 0
	                   ? 1
	                   : squashed(r->b->object, field_get(r->h, &r->s->object, anchor, cell, 0));
	if (!(object > r->least))
		return;
	if (r->s->label.output >= 0)
		run_label(r, anchor, cell);
	else
		run_classes(r, anchor, cell, object);
}

enum { CELLS = 64 }; // that are looked at together

// The greatest raw score of each of n cells. Class by class, since that is how most heads lay them out.
static void best_scores(float best[CELLS], const struct run *r, int anchor, int64_t first, int n)
{
	const struct field *f = &r->s->score;
	for (int i = 0; i < n; i++)
		best[i] = -INFINITY;
	for (int c = r->b->background; c < classes_end(r); c++) {
		const float *raw = field_at(r->h, f, anchor, first, c);
		for (int i = 0; i < n; i++)
			best[i] = raw[i * f->cell] > best[i] ? raw[i * f->cell] : best[i];
	}
}

// Where scores alone decide, the cells of which none is high enough, nearly all, are passed over together.
static void run_anchor(const struct run *r, int anchor)
{
	bool decided = r->s->object.output < 0 && r->s->label.output < 0;
	double low = decided ? least_raw(r, 1) : -INFINITY;
	float best[CELLS];
	for (int64_t first = 0; first < r->s->n; first += CELLS) {
		int n = r->s->n - first < CELLS ? (int)(r->s->n - first) : CELLS;
		if (decided)
			best_scores(best, r, anchor, first, n);
		for (int i = 0; i < n; i++)
			if (!decided || best[i] >= low)
				run_cell(r, anchor, first + i);
	}
}

// What NMS left of rows and classes.
static void run_picks(const struct run *r)
{
	for (int64_t i = 0; i < r->s->n_picks; i++) {
		float class = field_get(r->h, &r->s->pick, 0, i, 1), row = field_get(r->h, &r->s->pick, 0, i, 2), box[4];
		if (!(class >= 0 && class < (float)r->s->score.channels && row >= 0 && row < (float)r->s->n))
			continue;
		float score = squashed(r->b->score, field_get(r->h, &r->s->score, 0, (int64_t)row, (int)class));
		r->d->box(box, r->h, r->b, r->s, 0, (int64_t)row);
		if (score > r->least && is_finite_box(box))
			add(r, 0, (int64_t)row, box, score, (int)class);
	}
}

// One object, which is as sure as its keypoints are in the mean.
static void run_single(const struct run *r)
{
	struct keypoint k[KEYPOINTS_MAX];
	float box[4], sum = 0;
	decode_single(k, r->b, r->h);
	for (int i = 0; i < r->b->points; i++)
		sum += k[i].v;
	if (!(sum / (float)r->b->points > r->least))
		return;
	r->d->box(box, r->h, r->b, r->s, 0, 0);
	add(r, 0, 0, box, sum / (float)r->b->points, 0);
}

void decode_run(
    struct candidates *out, const struct decoder *d, const struct bound *b, const struct head *h, double least)
{
	for (int i = 0; i < b->n; i++) {
		struct run r = {.out = out, .d = d, .b = b, .h = h, .s = &b->source[i], .least = b->root ? least * least : least};
		if (b->single.form)
			run_single(&r);
		else if (r.s->pick.channels)
			run_picks(&r);
		else
			for (int anchor = 0; anchor < r.s->anchors; anchor++)
				run_anchor(&r, anchor);
	}
}

// From what a keypoint's channels say to pixels.
static void place_point(float at[2], const struct bound *b, const struct head *h, const struct source *s, const struct candidate *c)
{
	const float cell[2] = {(float)(c->cell % (s->w ? s->w : 1)), (float)(c->cell / (s->w ? s->w : 1))};
	const float size[2] = {(float)h->input_w, (float)h->input_h};
	if (b->yx) {
		float y = at[0];
		at[0] = at[1];
		at[1] = y;
	}
	for (int k = 0; k < 2; k++)
		if (b->priors > 0)
			at[k] = (cell[k] + .5f) * (float)s->stride + at[k] * b->priors * s->anchor[c->anchor][k];
		else if (b->reach > 0)
			at[k] = (at[k] * b->reach + cell[k] + b->from) * (float)s->stride;
		else if (b->fractions)
			at[k] *= size[k];
	if (!isfinite(at[0]) || !isfinite(at[1]))
		at[0] = at[1] = 0;
}

void decode_points(struct keypoint *out, const struct bound *b, const struct head *h, const struct candidate *c)
{
	const struct source *s = &b->source[c->source];
	const struct field *f = &s->point;
	if (b->single.form) {
		decode_single(out, b, h);
		return;
	}
	if (b->rotated) {
		corners_at(out, h, s, c->anchor, c->cell);
		return;
	}
	int dims = f->channels / b->points;
	enum squash how = b->reach > 0 ? SQUASH_SIGMOID : SQUASH_NONE; // of the visibility
	for (int i = 0; i < b->points; i++) {
		float at[2] = {field_get(h, f, c->anchor, c->cell, i * dims), field_get(h, f, c->anchor, c->cell, i * dims + 1)};
		place_point(at, b, h, s, c);
		out[i] = (struct keypoint){at[0], at[1], dims == 3 ? squashed(how, field_get(h, f, c->anchor, c->cell, i * dims + 2)) : 1};
	}
}
