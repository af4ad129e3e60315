// Scoring: precision over recall for each class, threshold, size and limit, read off at 101 recalls.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "coco_pool.h"
#include "qtui/base/mem.h"

static const struct figure {
	const char *name, *of_poses; // NULL: is no figure of boxes, or of poses
	bool recall;
	int area, limit, threshold; // threshold -1: mean over all
} figures[COCO_FIGURES] = {
    [COCO_AP] = {"AP", "AP", false, COCO_ALL, COCO_MAX_FOUND, -1},
    [COCO_AP50] = {"AP50", "AP50", false, COCO_ALL, COCO_MAX_FOUND, 0},
    [COCO_AP75] = {"AP75", "AP75", false, COCO_ALL, COCO_MAX_FOUND, 5},
    [COCO_AP_SMALL] = {"AP_small", NULL, false, COCO_SMALL, COCO_MAX_FOUND, -1},
    [COCO_AP_MEDIUM] = {"AP_medium", "AP_medium", false, COCO_MEDIUM, COCO_MAX_FOUND, -1},
    [COCO_AP_LARGE] = {"AP_large", "AP_large", false, COCO_LARGE, COCO_MAX_FOUND, -1},
    [COCO_AR_1] = {"AR_1", NULL, true, COCO_ALL, 1, -1},
    [COCO_AR_10] = {"AR_10", NULL, true, COCO_ALL, 10, -1},
    [COCO_AR_100] = {"AR_100", "AR", true, COCO_ALL, COCO_MAX_FOUND, -1},
    [COCO_AR50] = {NULL, "AR50", true, COCO_ALL, COCO_MAX_FOUND, 0},
    [COCO_AR75] = {NULL, "AR75", true, COCO_ALL, COCO_MAX_FOUND, 5},
    [COCO_AR_SMALL] = {"AR_small", NULL, true, COCO_SMALL, COCO_MAX_FOUND, -1},
    [COCO_AR_MEDIUM] = {"AR_medium", "AR_medium", true, COCO_MEDIUM, COCO_MAX_FOUND, -1},
    [COCO_AR_LARGE] = {"AR_large", "AR_large", true, COCO_LARGE, COCO_MAX_FOUND, -1},
};

const char *coco_figure_name(enum coco_figure f, bool poses)
{
	return poses ? figures[f].of_poses : figures[f].name;
}

static int by_class_and_score(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	if (x->m.class != y->m.class)
		return x->m.class < y->m.class ? -1 : 1;
	if (x->m.score != y->m.score)
		return x->m.score > y->m.score ? -1 : 1;
	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	return (x->m.rank > y->m.rank) - (x->m.rank < y->m.rank);
}

// Demands of the images go to their classes' spans: counted, then placed.
static void add_demands(struct coco_pool *p, const struct coco_image *const *image, int n_images)
{
	int at = 0;
	for (int i = 0; i < n_images; i++)
		for (int k = 0; image[i] && k < image[i]->n_counts; k++)
			if (image[i]->count[k].class >= 0 && image[i]->count[k].class < p->n_classes)
				p->wanted[image[i]->count[k].class].n++;
	for (int c = 0; c < p->n_classes; c++) {
		p->wanted[c].first = at;
		at += p->wanted[c].n;
		p->wanted[c].n = 0;
	}
	p->demand = xcalloc((size_t)at + 1, sizeof *p->demand);
	for (int i = 0; i < n_images; i++)
		for (int k = 0; image[i] && k < image[i]->n_counts; k++) {
			const struct coco_count *count = &image[i]->count[k];
			if (count->class < 0 || count->class >= p->n_classes)
				continue;
			struct span *s = &p->wanted[count->class];
			struct demand *d = &p->demand[s->first + s->n++];
			d->image = i;
			memcpy(d->truths, count->truths, sizeof d->truths);
		}
}

static int add_entries(struct coco_pool *p, const struct coco_image *const *image, int n_images)
{
	size_t n = 0, all = 0;
	for (int i = 0; i < n_images; i++)
		all += image[i] ? (size_t)image[i]->n_matches : 0;
	p->entry = xcalloc(all + 1, sizeof *p->entry);
	for (int i = 0; i < n_images; i++)
		for (int k = 0; image[i] && k < image[i]->n_matches; k++)
			if (image[i]->match[k].class >= 0 && image[i]->match[k].class < p->n_classes)
				p->entry[n++] = (struct entry){.m = image[i]->match[k], .image = i};
	qsort(p->entry, n, sizeof *p->entry, by_class_and_score);
	return (int)n;
}

struct coco_pool *coco_pool_new(const struct coco_image *const *image, int n_images, int n_classes)
{
	struct coco_pool *p = xcalloc(1, sizeof *p);
	size_t classes = (size_t)n_classes + 1;
	p->n_classes = n_classes;
	p->found = xcalloc(classes, sizeof *p->found);
	p->wanted = xcalloc(classes, sizeof *p->wanted);
	int n = add_entries(p, image, n_images), most = 0;
	for (int i = 0; i < n; i++) {
		struct span *s = &p->found[p->entry[i].m.class];
		s->first = s->n ? s->first : i;
		s->n++;
		most = s->n > most ? s->n : most;
	}
	add_demands(p, image, n_images);
	p->recall = xcalloc((size_t)most + 1, sizeof *p->recall);
	p->precision = xcalloc((size_t)most + 1, sizeof *p->precision);
	return p;
}

void coco_pool_free(struct coco_pool **pp)
{
	struct coco_pool *p = *pp;
	if (!p)
		return;
	free(p->entry);
	free(p->demand);
	free(p->found);
	free(p->wanted);
	free(p->recall);
	free(p->precision);
	free(p);
	*pp = NULL;
}

static long wanted(const struct coco_pool *p, int class, int area, const int *weight)
{
	const struct demand *d = p->demand + p->wanted[class].first;
	long n = 0;
	for (int i = 0; i < p->wanted[class].n; i++)
		n += (long)d[i].truths[area] * (weight ? weight[d[i].image] : 1);
	return n;
}

// One curve: a class at one size, limit and threshold.
struct curve {
	int class, area, limit, threshold;
	const int *weight;
	long wanted; // > 0
};

// Fills recall and precision behind each hit; returns how many there are. Between hits precision only falls, so the
// envelope needs no other points.
static int trace(const struct coco_pool *p, const struct curve *c)
{
	const struct entry *e = p->entry + p->found[c->class].first;
	long hits = 0, misses = 0;
	int n = 0;
	for (int i = 0; i < p->found[c->class].n; i++) {
		int times = c->weight ? c->weight[e[i].image] : 1;
		if (e[i].m.rank >= c->limit || !times || e[i].m.skip[c->area] >> c->threshold & 1)
			continue;
		if (!(e[i].m.hit[c->area] >> c->threshold & 1)) {
			misses += times;
			continue;
		}
		hits += times;
		p->recall[n] = (double)hits / (double)c->wanted;
		p->precision[n++] = (double)hits / ((double)(hits + misses) + 0x1p-52);
	}
	return n;
}

double coco_average_precision(const double *recall, const double *precision, int n)
{
	double sum = 0, best = 0;
	int r = COCO_RECALLS - 1;
	while (n && r * .01 > recall[n - 1])
		r--;
	for (int i = n - 1; i >= 0; i--) {
		best = fmax(best, precision[i]);
		for (; r >= 0 && (i == 0 || r * .01 > recall[i - 1]); r--)
			sum += best;
	}
	return sum / COCO_RECALLS;
}

static double curve_value(const struct coco_pool *p, struct curve *c, bool recall, int threshold)
{
	double sum = 0;
	int first = threshold < 0 ? 0 : threshold, last = threshold < 0 ? COCO_THRESHOLDS - 1 : threshold;
	for (c->threshold = first; c->threshold <= last; c->threshold++) {
		int n = trace(p, c);
		sum += recall ? (n ? p->recall[n - 1] : 0) : coco_average_precision(p->recall, p->precision, n);
	}
	return sum / (last - first + 1);
}

// The mean over the classes that have objects; what it is for each goes to per_class where that is wanted.
static double figure_value(const struct coco_pool *p, const struct figure *f, const int *weight, double *per_class)
{
	double sum = 0;
	int n = 0;
	for (int class = 0; class < p->n_classes; class++) {
		struct curve c = {.class = class, .area = f->area, .limit = f->limit, .weight = weight};
		c.wanted = wanted(p, class, f->area, weight);
		double v = c.wanted ? curve_value(p, &c, f->recall, f->threshold) : NAN;
		if (per_class)
			per_class[class] = v;
		if (c.wanted) {
			sum += v;
			n++;
		}
	}
	return n ? sum / n : NAN;
}

void coco_pool_score(const struct coco_pool *p, const int *weight, struct coco_scores *out)
{
	for (int f = 0; f < COCO_FIGURES; f++)
		out->figure[f] = figure_value(p, &figures[f], weight, f == COCO_AP ? out->ap : NULL);
	for (int c = 0; out->truths && c < p->n_classes; c++)
		out->truths[c] = (int)wanted(p, c, COCO_ALL, weight);
}

double coco_pool_ap(const struct coco_pool *p, const int *weight)
{
	return figure_value(p, &figures[COCO_AP], weight, NULL);
}
