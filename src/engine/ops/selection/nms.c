// NonMaxSuppression: per batch and class, boxes in the order of their scores, each kept unless it overlaps a kept one
// too much.
#include <stdlib.h>
#include "../element.h"
#include "../rule.h"

enum { PIECE = 64 }; // boxes compared before it is asked whether one overlapped

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

// Kept boxes, a field an array, so that one box is held against many at once.
struct kept {
	float *x1, *y1, *x2, *y2, *area;
	int64_t n;
};

static int overlaps(const struct kept *k, int64_t i, const struct box *b, float limit)
{
	float w = (k->x2[i] < b->x2 ? k->x2[i] : b->x2) - (k->x1[i] > b->x1 ? k->x1[i] : b->x1);
	float h = (k->y2[i] < b->y2 ? k->y2[i] : b->y2) - (k->y1[i] > b->y1 ? k->y1[i] : b->y1);
	return (w > 0) & (h > 0) & (k->area[i] > 0) & (b->area > 0) & (w * h / (k->area[i] + b->area - w * h) > limit);
}

static bool overlaps_any(const struct kept *k, const struct box *b, float limit)
{
	for (int64_t at = 0; at < k->n; at += PIECE) {
		int64_t end = k->n - at < PIECE ? k->n : at + PIECE;
		int found = 0;
#pragma omp simd reduction(| : found)
		for (int64_t i = at; i < end; i++)
			found |= overlaps(k, i, b, limit);
		if (found)
			return true;
	}
	return false;
}

static void keep(struct kept *k, const struct box *b)
{
	k->x1[k->n] = b->x1;
	k->y1[k->n] = b->y1;
	k->x2[k->n] = b->x2;
	k->y2[k->n] = b->y2;
	k->area[k->n++] = b->area;
}

struct candidate {
	float score;
	int64_t index;
};

// Room for all boxes of a class.
struct room {
	struct candidate *c;
	float *fields;   // of struct kept
	int64_t *chosen; // the boxes that remain, in order
	int64_t boxes;
};

static bool room_init(struct room *r, int64_t boxes)
{
	*r = (struct room){.boxes = boxes};
	r->c = mem_try_array((size_t)boxes + 1, sizeof *r->c);
	r->fields = mem_try_array((size_t)boxes + 1, 5 * sizeof *r->fields);
	r->chosen = mem_try_array((size_t)boxes + 1, sizeof *r->chosen);
	return r->c && r->fields && r->chosen;
}

static void room_done(struct room *r)
{
	free(r->c);
	free(r->fields);
	free(r->chosen);
}

static bool goes_before(const struct candidate *a, const struct candidate *b)
{
	return a->score > b->score || (a->score == b->score && a->index < b->index);
}

// A heap of candidates, the best at its root: where few boxes remain, most are never put in order.
static void sift_down(struct candidate *heap, int64_t n, int64_t i)
{
	const struct candidate moved = heap[i];
	for (int64_t child; (child = 2 * i + 1) < n; i = child) {
		child += child + 1 < n && goes_before(&heap[child + 1], &heap[child]);
		if (!goes_before(&heap[child], &moved))
			break;
		heap[i] = heap[child];
	}
	heap[i] = moved;
}

static int64_t gather(struct room *r, const struct limits *l, const float *scores)
{
	int64_t found = 0;
	for (int64_t i = 0; i < r->boxes; i++)
		if (scores[i] == scores[i] && (!l->has_score || scores[i] > l->score))
			r->c[found++] = (struct candidate){scores[i], i};
	for (int64_t i = found / 2 - 1; i >= 0; i--)
		sift_down(r->c, found, i);
	return found;
}

// Chooses the boxes that remain; returns their number.
static int64_t suppress(struct room *r, const struct limits *l, const float *boxes, const float *scores)
{
	float *f = r->fields;
	struct kept k = {.x1 = f, .y1 = f + r->boxes, .x2 = f + 2 * r->boxes, .y2 = f + 3 * r->boxes, .area = f + 4 * r->boxes};
	int64_t left = gather(r, l, scores);
	while (left > 0 && k.n < l->most) {
		int64_t best = r->c[0].index;
		struct box b = make_box(boxes + 4 * best, l->center);
		r->c[0] = r->c[--left];
		sift_down(r->c, left, 0);
		if (overlaps_any(&k, &b, l->iou))
			continue;
		r->chosen[k.n] = best;
		keep(&k, &b);
	}
	return k.n;
}

// Writes the chosen [batch, class, box] triples to y unless it is NULL; *total is their number.
static enum status run(
    int64_t *total, int64_t *y, const struct node *n, const struct tensor *const *in, struct error *err)
{
	int64_t batches = in[1]->shape.dim[0], classes = in[1]->shape.dim[1], boxes = in[1]->shape.dim[2];
	struct room room;
	struct limits l;
	enum status s = read_limits(&l, n, in, err);
	*total = 0;
	if (!room_init(&room, boxes)) {
		room_done(&room);
		return error_set(err, STATUS_NOMEM, "no memory for %lld boxes", (long long)boxes);
	}
	for (int64_t p = 0; s == STATUS_OK && p < batches * classes; p++) {
		int64_t kept = suppress(&room, &l, (const float *)in[0]->data + p / classes * boxes * 4,
		    (const float *)in[1]->data + p * boxes);
		for (int64_t i = 0; y && i < kept; i++) {
			y[(*total + i) * 3] = p / classes;
			y[(*total + i) * 3 + 1] = p % classes;
			y[(*total + i) * 3 + 2] = room.chosen[i];
		}
		*total += kept;
	}
	room_done(&room);
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
