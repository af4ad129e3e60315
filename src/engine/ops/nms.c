// NonMaxSuppression: per batch and class, boxes in the order of their scores, each kept unless it overlaps a kept one
// too much.
#include <stdlib.h>
#include "element.h"
#include "rule.h"

struct limits {
	int64_t most; // boxes a class
	float iou, score;
	bool has_score, center;
};

static bool given(const struct node *n, const struct tensor *const *in, int i)
{
	return i < n->n_in && in[i] && shape_count(&in[i]->shape) > 0;
}

static enum status read_limits(
    struct limits *l, const struct node *n, const struct tensor *const *in, struct error *err)
{
	*l = (struct limits){.center = ((const struct nms_attrs *)n->attrs)->center_point_box != 0};
	for (int i = 2; i < n->n_in; i++)
		if (given(n, in, i) && !in[i]->data)
			return rule_pending(err);
	l->most = given(n, in, 2) ? element_int(in[2], 0) : 0;
	l->iou = given(n, in, 3) ? ((const float *)in[3]->data)[0] : 0;
	l->has_score = given(n, in, 4);
	l->score = l->has_score ? ((const float *)in[4]->data)[0] : 0;
	return STATUS_OK;
}

struct box {
	float x1, y1, x2, y2, area;
};

static struct box make_box(const float *b, bool center)
{
	struct box r;

	if (center)
		r = (struct box){b[0] - b[2] / 2, b[1] - b[3] / 2, b[0] + b[2] / 2, b[1] + b[3] / 2, 0};
	else // y1, x1, y2, x2, corners in any order
		r = (struct box){b[1] < b[3] ? b[1] : b[3], b[0] < b[2] ? b[0] : b[2], b[1] < b[3] ? b[3] : b[1],
		    b[0] < b[2] ? b[2] : b[0], 0};
	r.area = (r.x2 - r.x1) * (r.y2 - r.y1);
	return r;
}

static bool overlaps(const struct box *a, const struct box *b, float limit)
{
	float w = (a->x2 < b->x2 ? a->x2 : b->x2) - (a->x1 > b->x1 ? a->x1 : b->x1);
	float h = (a->y2 < b->y2 ? a->y2 : b->y2) - (a->y1 > b->y1 ? a->y1 : b->y1);

	if (!(w > 0) || !(h > 0) || !(a->area > 0) || !(b->area > 0))
		return false;
	return w * h / (a->area + b->area - w * h) > limit;
}

struct candidate {
	float score;
	int64_t index;
	struct box box;
};

static int by_score(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->score != y->score)
		return x->score > y->score ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

// The boxes that remain, at the front of `c`, in order; returns their number.
static int64_t suppress(struct candidate *c, const struct limits *l, const float *boxes, const float *scores, int64_t n)
{
	int64_t found = 0, kept = 0;

	for (int64_t i = 0; i < n; i++)
		if (scores[i] == scores[i] && (!l->has_score || scores[i] > l->score))
			c[found++] = (struct candidate){scores[i], i, make_box(boxes + 4 * i, l->center)};
	qsort(c, (size_t)found, sizeof *c, by_score);
	for (int64_t i = 0; i < found && kept < l->most; i++) {
		bool clear = true;
		for (int64_t k = 0; k < kept && clear; k++)
			clear = !overlaps(&c[i].box, &c[k].box, l->iou);
		if (clear)
			c[kept++] = c[i];
	}
	return kept;
}

// Writes the chosen [batch, class, box] triples to y unless it is NULL; *total is their number.
static enum status run(
    int64_t *total, int64_t *y, const struct node *n, const struct tensor *const *in, struct error *err)
{
	int64_t batches = in[1]->shape.dim[0], classes = in[1]->shape.dim[1], boxes = in[1]->shape.dim[2];
	struct candidate *c = mem_try_array((size_t)boxes + 1, sizeof *c);
	struct limits l;
	enum status s = read_limits(&l, n, in, err);

	*total = 0;
	if (!c)
		return error_set(err, STATUS_NOMEM, "no memory for %lld boxes", (long long)boxes);
	for (int64_t p = 0; s == STATUS_OK && p < batches * classes; p++) {
		int64_t kept = suppress(c, &l, (const float *)in[0]->data + p / classes * boxes * 4,
		    (const float *)in[1]->data + p * boxes, boxes);
		for (int64_t i = 0; y && i < kept; i++) {
			y[(*total + i) * 3] = p / classes;
			y[(*total + i) * 3 + 1] = p % classes;
			y[(*total + i) * 3 + 2] = c[i].index;
		}
		*total += kept;
	}
	free(c);
	return s;
}

enum status nms_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	const struct shape *boxes = &in[0]->shape, *scores = &in[1]->shape;
	struct shape y = {.rank = 2, .dim = {0, 3}};
	enum status s;

	if (boxes->rank != 3 || scores->rank != 3 || boxes->dim[2] != 4 || boxes->dim[0] != scores->dim[0] ||
	    boxes->dim[1] != scores->dim[2])
		return error_set(
		    err, STATUS_FORMAT, "boxes must be [batch, boxes, 4] and scores [batch, classes, boxes]");
	if (!rule_known(in[0]) || !rule_known(in[1]))
		return rule_pending(err);
	s = run(&y.dim[0], NULL, n, in, err);
	if (s == STATUS_OK)
		rule_set(&out[0], DT_I64, &y);
	return s;
}

enum status nms_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	int64_t total;

	(void)width;
	return run(&total, out[0].data, n, in, err);
}
