// Matching in one image, class by class, as pycocotools does it: found boxes by falling score, each takes the object
// that it overlaps most among those still free, and objects that count go before those that do not.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "coco.h"
#include "qtui/base/mem.h"
#include "rotated.h"

static const double area_low[COCO_AREAS] = {0, 0, 32 * 32, 96 * 96};
static const double area_high[COCO_AREAS] = {1e10, 32 * 32, 96 * 96, 1e10};

double coco_iou(const struct coco_box *found, const struct coco_box *truth, bool crowd)
{
	double w = fmin(found->x + found->w, truth->x + truth->w) - fmax(found->x, truth->x);
	double h = fmin(found->y + found->h, truth->y + truth->h) - fmax(found->y, truth->y);
	if (!(w > 0) || !(h > 0))
		return 0;
	double shared = w * h, own = found->w * found->h;
	return shared / (crowd ? own : own + truth->w * truth->h - shared);
}

static double outside(double at, double low, double size)
{
	return fmax(0, fmax(low - size - at, at - (low + 2 * size)));
}

double coco_oks(const struct coco_found *found, const struct coco_truth *truth, const struct skeleton *s)
{
	if (truth->point && keypoints_marked(truth->point, s->n))
		return keypoints_similarity(s, found->point, truth->point, 0, truth->area);
	double sum = 0;
	for (int i = 0; i < s->n; i++) {
		double dx = outside((double)found->point[i].x, truth->box.x, truth->box.w);
		double dy = outside((double)found->point[i].y, truth->box.y, truth->box.h);
		sum += keypoints_term(dx, dy, s->sigma[i], truth->area);
	}
	return sum / s->n;
}

// numpy.linspace(.5, .95, 10), to the bit.
static double threshold(int t)
{
	return t == COCO_THRESHOLDS - 1 ? .95 : t * ((.95 - .5) / (COCO_THRESHOLDS - 1)) + .5;
}

static bool of_area(double area, int a)
{
	return area >= area_low[a] && area <= area_high[a];
}

// The boxes of one class in one image.
struct group {
	const struct coco_rule *rule;
	const struct coco_found **found; // by falling score
	const struct coco_truth **truth;
	int n_found, n_truths;
	double *like; // [n_found][n_truths] by coco_likeness
	int *order;  // [n_truths] those that count first
	bool *taken; // [n_truths]
};

static bool counts(const struct group *g, const struct coco_truth *t, int area)
{
	const struct skeleton *poses = g->rule->poses;
	bool marked = !poses || (t->point && keypoints_marked(t->point, poses->n));
	return !t->crowd && marked && of_area(t->area, area);
}

// A pose is as large as the box around its keypoints.
static double found_area(const struct group *g, const struct coco_found *f)
{
	double box[4] = {0, 0, f->box.w, f->box.h};
	if (g->rule->masks)
		return (double)rle_area(f->mask);
	if (g->rule->rotated)
		return rotated_area(f->point);
	if (g->rule->poses)
		keypoints_box(box, f->point, g->rule->poses->n);
	return box[2] * box[3];
}

// Returns how many count.
static int order_truths(struct group *g, int area)
{
	int n = 0, rest;
	for (int i = 0; i < g->n_truths; i++)
		if (counts(g, g->truth[i], area))
			g->order[n++] = i;
	rest = n;
	for (int i = 0; i < g->n_truths; i++)
		if (!counts(g, g->truth[i], area))
			g->order[rest++] = i;
	return n;
}

// The object that found box d takes at this threshold, or -1. The last of equals wins; a crowd can be taken again.
static int best_truth(const struct group *g, int d, int n_counting, double least)
{
	int best = -1;
	double most = fmin(least, 1 - 1e-10);
	for (int i = 0; i < g->n_truths; i++) {
		int t = g->order[i];
		if (i == n_counting && best >= 0)
			break;
		if (g->taken[t] && !g->truth[t]->crowd)
			continue;
		double like = g->like[d * g->n_truths + t];
		if (like < most)
			continue;
		most = like;
		best = t;
	}
	return best;
}

static void match_at(struct group *g, struct coco_match *out, int area, int t, int n_counting)
{
	memset(g->taken, 0, (size_t)g->n_truths);
	for (int d = 0; d < g->n_found; d++) {
		int best = best_truth(g, d, n_counting, threshold(t));
		bool skip = best >= 0 ? !counts(g, g->truth[best], area) : !of_area(found_area(g, g->found[d]), area);
		if (best >= 0)
			g->taken[best] = true;
		out[d].hit[area] |= (uint16_t)((best >= 0 && !skip) << t);
		out[d].skip[area] |= (uint16_t)(skip << t);
	}
}

double coco_likeness(const struct coco_found *found, const struct coco_truth *truth, const struct coco_rule *rule)
{
	if (rule->masks)
		return rle_iou(found->mask, truth->mask, truth->crowd);
	if (rule->rotated) {
		struct spread a = rotated_spread(found->point), b = rotated_spread(truth->point);
		return rotated_overlap(&a, &b);
	}
	return rule->poses ? coco_oks(found, truth, rule->poses) : coco_iou(&found->box, &truth->box, truth->crowd);
}

static void match_group(struct group *g, struct coco_match *out, struct coco_count *count)
{
	for (int d = 0; d < g->n_found; d++) {
		out[d] = (struct coco_match){.score = g->found[d]->score, .class = g->found[d]->class, .rank = d};
		for (int t = 0; t < g->n_truths; t++)
			g->like[d * g->n_truths + t] = coco_likeness(g->found[d], g->truth[t], g->rule);
	}
	for (int area = 0; area < COCO_AREAS; area++) {
		count->truths[area] = order_truths(g, area);
		for (int t = 0; t < COCO_THRESHOLDS; t++)
			match_at(g, out, area, t, count->truths[area]);
	}
}

// Pointers into one array compare as positions: equal scores keep their order.
static int by_class_and_score(const void *a, const void *b)
{
	const struct coco_found *x = *(const struct coco_found *const *)a, *y = *(const struct coco_found *const *)b;
	if (x->class != y->class)
		return x->class < y->class ? -1 : 1;
	if (x->score != y->score)
		return x->score > y->score ? -1 : 1;
	return (x > y) - (x < y);
}

static int by_class(const void *a, const void *b)
{
	const struct coco_truth *x = *(const struct coco_truth *const *)a, *y = *(const struct coco_truth *const *)b;
	return x->class != y->class ? (x->class < y->class ? -1 : 1) : (x > y) - (x < y);
}

static int found_of_class(const struct coco_found *const *f, int n, int class)
{
	int k = 0;
	while (k < n && f[k]->class == class)
		k++;
	return k;
}

static int truths_of_class(const struct coco_truth *const *t, int n, int class)
{
	int k = 0;
	while (k < n && t[k]->class == class)
		k++;
	return k;
}

static int next_class(const struct coco_found *const *f, int n_found, const struct coco_truth *const *t, int n_truths)
{
	if (!n_found || !n_truths)
		return n_found ? f[0]->class : t[0]->class;
	return f[0]->class < t[0]->class ? f[0]->class : t[0]->class;
}

void coco_image_match(struct coco_image *out, const struct coco_truth *truth, int n_truths,
    const struct coco_found *found, int n_found, const struct coco_rule *rule)
{
	const int most = rule->poses ? COCO_MAX_POSES : COCO_MAX_FOUND;
	const struct coco_found **f = xcalloc((size_t)n_found + 1, sizeof *f);
	const struct coco_truth **t = xcalloc((size_t)n_truths + 1, sizeof *t);
	struct group g = {.rule = rule,
	    .like = xcalloc((size_t)n_truths + 1, COCO_MAX_FOUND * sizeof *g.like),
	    .order = xcalloc((size_t)n_truths + 1, sizeof *g.order),
	    .taken = xcalloc((size_t)n_truths + 1, sizeof *g.taken)};
	for (int i = 0; i < n_found; i++)
		f[i] = &found[i];
	for (int i = 0; i < n_truths; i++)
		t[i] = &truth[i];
	qsort(f, (size_t)n_found, sizeof *f, by_class_and_score);
	qsort(t, (size_t)n_truths, sizeof *t, by_class);
	*out = (struct coco_image){.match = xcalloc((size_t)n_found + 1, sizeof *out->match),
	    .count = xcalloc((size_t)n_found + (size_t)n_truths + 1, sizeof *out->count)};
	for (int d = 0, o = 0; d < n_found || o < n_truths; d += g.n_found, o += g.n_truths) {
		int class = next_class(f + d, n_found - d, t + o, n_truths - o),
		    all = found_of_class(f + d, n_found - d, class);
		g.found = f + d;
		g.truth = t + o;
		g.n_found = all < most ? all : most;
		g.n_truths = truths_of_class(t + o, n_truths - o, class);
		out->count[out->n_counts].class = class;
		match_group(&g, out->match + out->n_matches, &out->count[out->n_counts++]);
		out->n_matches += g.n_found;
		d += all - g.n_found;
	}
	free(g.like);
	free(g.order);
	free(g.taken);
	free(f);
	free(t);
}

void coco_image_done(struct coco_image *image)
{
	free(image->match);
	free(image->count);
	*image = (struct coco_image){0};
}
