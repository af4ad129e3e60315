// Greedy suppression. Within a class at most `most` boxes are kept, so that comparing with the kept ones alone is
// quick.
#include <math.h>
#include <stdlib.h>
#include "nms.h"
#include "../metric/rotated.h"
#include "qtui/base/mem.h"

enum { CONSIDERED = 30000 }; // of an image, the best; as Ultralytics' max_nms

void candidates_add(struct candidates *c, const struct candidate *one)
{
	c->at = xgrow(c->at, &c->cap, c->n + 1, sizeof *c->at);
	c->at[c->n++] = *one;
}

void candidates_done(struct candidates *c)
{
	free(c->at);
	*c = (struct candidates){0};
}

static double area_of(const struct candidate *c)
{
	return ((double)c->x2 - (double)c->x1) * ((double)c->y2 - (double)c->y1);
}

static struct spread spread_of(const struct candidate *c)
{
	return (struct spread){
	    ((double)c->x1 + (double)c->x2) / 2, ((double)c->y1 + (double)c->y2) / 2, (double)c->xx, (double)c->yy, (double)c->xy};
}

double candidate_iou(const struct candidate *a, const struct candidate *b)
{
	if (a->xx > 0 && b->xx > 0) {
		struct spread x = spread_of(a), y = spread_of(b);
		return rotated_overlap(&x, &y);
	}
	double w = fmin((double)a->x2, (double)b->x2) - fmax((double)a->x1, (double)b->x1);
	double h = fmin((double)a->y2, (double)b->y2) - fmax((double)a->y1, (double)b->y1);
	return w > 0 && h > 0 ? w * h / (area_of(a) + area_of(b) - w * h) : 0;
}

// Pointers into one array compare as positions.
static int by_score(const void *a, const void *b)
{
	const struct candidate *x = *(const struct candidate *const *)a, *y = *(const struct candidate *const *)b;
	if (x->score != y->score)
		return x->score > y->score ? -1 : 1;
	return (x > y) - (x < y);
}

// What is kept of each class, as chains through the list of all that is kept.
struct kept {
	const struct candidate **at;
	int *before; // [n] the one of the same class before it, -1
	int n;
	int *last; // [classes]
};

static bool overlaps(const struct kept *k, const struct candidate *c, double iou)
{
	for (int i = k->last[c->class]; i >= 0; i = k->before[i])
		if (candidate_iou(k->at[i], c) > iou)
			return true;
	return false;
}

static void suppress(struct kept *k, const struct candidate *const *order, size_t n, double iou, int most)
{
	for (size_t i = 0; i < n && k->n < most; i++) {
		if (iou > 0 && overlaps(k, order[i], iou))
			continue;
		k->at[k->n] = order[i];
		k->before[k->n] = k->last[order[i]->class];
		k->last[order[i]->class] = k->n++;
	}
}

static int count_classes(const struct candidates *c)
{
	int n = 0;
	for (size_t i = 0; i < c->n; i++)
		n = c->at[i].class >= n ? c->at[i].class + 1 : n;
	return n;
}

void nms_keep(struct candidates *c, double iou, int most)
{
	int classes = count_classes(c);
	const struct candidate **order = xcalloc(c->n + 1, sizeof *order);
	struct kept k = {.at = xcalloc((size_t)most + 1, sizeof *k.at),
	    .before = xcalloc((size_t)most + 1, sizeof *k.before),
	    .last = xcalloc((size_t)classes + 1, sizeof *k.last)};
	for (size_t i = 0; i < c->n; i++)
		order[i] = &c->at[i];
	for (int i = 0; i < classes; i++)
		k.last[i] = -1;
	qsort(order, c->n, sizeof *order, by_score);
	suppress(&k, order, c->n < CONSIDERED ? c->n : CONSIDERED, iou, most);
	struct candidates out = {0};
	for (int i = 0; i < k.n; i++)
		candidates_add(&out, k.at[i]);
	candidates_done(c);
	*c = out;
	free(order);
	free(k.at);
	free(k.before);
	free(k.last);
}
