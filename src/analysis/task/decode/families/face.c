// Detectors of faces: YuNet, and with several anchors a cell, whose rows follow each other, SCRFD (an output for each level
// and kind), RetinaFace (one for all levels) and BlazeFace (either).
#include <math.h>
#include "../decode_family.h"

enum { LEVELS = 3, PRIORS = 2, POINTS = 5 };

static const int strides[LEVELS] = {8, 16, 32};
static const float priors[LEVELS][PRIORS][2] = {{{16, 16}, {32, 32}}, {{64, 64}, {128, 128}}, {{256, 256}, {512, 512}}};
static const float of_centre = .1f, of_size = .2f; // RetinaFace's variances

static int64_t cells(const struct head *h, int stride)
{
	return (int64_t)head_side(h->input_w, stride) * head_side(h->input_h, stride);
}

// The next output behind `after` of n rows of so many channels, as a level whose rows begin at `first`; -1: none.
static int find(struct field *f, const struct head *h, int after, int64_t n, int channels, int anchors, int64_t first)
{
	int64_t rows;
	for (int i = after + 1; i < h->n; i++) {
		if (!head_rows(f, &rows, h, i, channels) || rows != n)
			continue;
		f->at = first * f->cell;
		f->anchors = anchors;
		f->anchor = f->cell;
		f->cell *= anchors;
		return i;
	}
	*f = FIELD_NONE;
	return -1;
}

static struct source level(const struct head *h, int i, int anchors)
{
	return (struct source){.stride = strides[i], .w = head_side(h->input_w, strides[i]), .n = cells(h, strides[i]),
	    .anchors = anchors, .anchor = priors[i], .object = FIELD_NONE, .label = FIELD_NONE};
}

// Distances from the cell's corner and keypoints beside it, in strides.
bool face_bind_scrfd(struct bound *b, const struct head *h)
{
	int with_points = 0;
	*b = (struct bound){.n = LEVELS, .bins = 1, .reach = 1};
	for (int i = 0; i < LEVELS; i++) {
		int64_t n = cells(h, strides[i]) * PRIORS;
		struct source *s = &b->source[i];
		*s = level(h, i, PRIORS);
		if (!n || find(&s->score, h, -1, n, 1, PRIORS, 0) < 0 || find(&s->box, h, -1, n, 4, PRIORS, 0) < 0 ||
		    !head_ends(h, s->score.ends, END_LINEAR | END_SIGMOID))
			return false;
		with_points += find(&s->point, h, -1, n, 2 * POINTS, PRIORS, 0) >= 0;
	}
	b->points = with_points == LEVELS ? POINTS : 0;
	b->score = decode_squash(&b->source[0].score);
	return true;
}

// A class and an objectness, in any order: a score is the root of their product. Boxes are YOLOX's.
bool face_bind_yunet(struct bound *b, const struct head *h)
{
	*b = (struct bound){.n = LEVELS, .root = true, .points = POINTS, .reach = 1};
	for (int i = 0; i < LEVELS; i++) {
		int64_t n = cells(h, strides[i]);
		struct source *s = &b->source[i];
		*s = level(h, i, 1);
		int one = n ? find(&s->object, h, -1, n, 1, 1, 0) : -1;
		if (one < 0 || find(&s->score, h, one, n, 1, 1, 0) < 0 || find(&s->box, h, -1, n, 4, 1, 0) < 0 ||
		    find(&s->point, h, -1, n, 2 * POINTS, 1, 0) < 0 || !head_ends(h, s->box.ends, END_LINEAR))
			return false;
	}
	b->object = decode_squash(&b->source[0].object);
	b->score = decode_squash(&b->source[0].score);
	return true;
}

// Offsets from the centres of cells, in sizes of priors; of two scores the first is the background's.
bool face_bind_retinaface(struct bound *b, const struct head *h)
{
	int64_t n = 0, first = 0;
	for (int i = 0; i < LEVELS; i++)
		n += cells(h, strides[i]) * PRIORS;
	*b = (struct bound){.n = LEVELS, .background = 1, .priors = of_centre};
	for (int i = 0; i < LEVELS && n; i++) {
		struct source *s = &b->source[i];
		*s = level(h, i, PRIORS);
		if (find(&s->box, h, -1, n, 4, PRIORS, first) < 0 || find(&s->score, h, -1, n, 2, PRIORS, first) < 0 ||
		    !head_ends(h, s->box.ends, END_LINEAR))
			return false;
		b->points = find(&s->point, h, -1, n, 2 * POINTS, PRIORS, first) >= 0 ? POINTS : 0;
		first += s->n * PRIORS;
	}
	b->score = decode_squash(&b->source[0].score) == SQUASH_SIGMOID ? SQUASH_SOFTMAX : SQUASH_NONE;
	return n > 0;
}

// 16 x 16 cells of two anchors and 8 x 8 of six, which have no size: boxes and six keypoints are in pixels, from the cell's
// centre.
bool face_bind_blazeface(struct bound *b, const struct head *h)
{
	enum { MOST = 6, VALUES = 4 + 2 * MOST };
	static const struct {
		int cells, anchors; // a side; of a cell
	} grid[] = {{16, 2}, {8, MOST}};
	static const float one[MOST][2] = {{1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}};
	enum { GRIDS = sizeof grid / sizeof *grid };
	int64_t all = 0, first = 0;
	*b = (struct bound){.n = GRIDS, .points = MOST, .priors = 1};
	for (int i = 0; i < GRIDS; i++)
		all += (int64_t)grid[i].cells * grid[i].cells * grid[i].anchors;
	for (int i = 0; i < GRIDS; i++) {
		int side = grid[i].cells, anchors = grid[i].anchors;
		int64_t n = (int64_t)side * side * anchors;
		struct source *s = &b->source[i];
		struct field values;
		*s = (struct source){.stride = h->input_w / side, .w = side, .n = (int64_t)side * side, .anchors = anchors, .anchor = one,
		    .object = FIELD_NONE, .label = FIELD_NONE};
		bool apart = find(&s->score, h, -1, n, 1, anchors, 0) >= 0 && find(&values, h, -1, n, VALUES, anchors, 0) >= 0;
		if (!apart && (find(&s->score, h, -1, all, 1, anchors, first) < 0 || find(&values, h, -1, all, VALUES, anchors, first) < 0))
			return false;
		if (h->input_w < side || h->input_w % side || h->input_w != h->input_h || !head_ends(h, values.ends, END_LINEAR))
			return false;
		s->box = field_part(&values, 0, 4);
		s->point = field_part(&values, 4, 2 * MOST);
		first += n;
	}
	b->score = decode_squash(&b->source[0].score);
	return true;
}

void face_box_blazeface(
    float out[4], const struct head *h, const struct bound *b, const struct source *s, int anchor, int64_t cell)
{
	float v[4];
	(void)b;
	for (int c = 0; c < 4; c++)
		v[c] = field_get(h, &s->box, anchor, cell, c);
	decode_from_centre(
	    out, ((float)(cell % s->w) + .5f) * (float)s->stride + v[0], ((float)(cell / s->w) + .5f) * (float)s->stride + v[1], v[2], v[3]);
}

void face_box(
    float out[4], const struct head *h, const struct bound *b, const struct source *s, int anchor, int64_t cell)
{
	const float *size = s->anchor[anchor];
	float v[4];
	(void)b;
	for (int c = 0; c < 4; c++)
		v[c] = field_get(h, &s->box, anchor, cell, c);
	decode_from_centre(out, ((float)(cell % s->w) + .5f) * (float)s->stride + v[0] * of_centre * size[0],
	    ((float)(cell / s->w) + .5f) * (float)s->stride + v[1] * of_centre * size[1], size[0] * expf(v[2] * of_size),
	    size[1] * expf(v[3] * of_size));
}
