// AP of many draws. What does not depend on the draw is arranged once: where the hits of each class and threshold are.
// The walk over all found boxes, by far the longest, then only adds up weights, once for the ten thresholds together;
// and it ends at a class's last hit, since what is found behind it changes no precision.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "coco_pool.h"
#include "qtui/base/mem.h"

struct drawn { // a class
	struct span found, wanted;                           // of image and demand
	struct span hit[COCO_THRESHOLDS], skip[COCO_THRESHOLDS]; // of at: positions among `found`
};
struct coco_draws {
	int n_classes;
	struct drawn *class;
	int *image;             // of each found box
	struct demand *demand;
	int *at;
	long *sum;              // scratch: weights up to each found box
	double *recall, *precision; // likewise
};

static bool bit(uint16_t bits, int t)
{
	return bits >> t & 1;
}

// Found boxes of the class up to its last hit.
static int useful(const struct coco_pool *p, int class)
{
	const struct entry *e = p->entry + p->found[class].first;
	int n = p->found[class].n;
	while (n && !e[n - 1].m.hit[COCO_ALL])
		n--;
	return n;
}

static struct span list(struct coco_draws *d, const struct entry *e, int n, int t, bool skip, int *used)
{
	struct span s = {.first = *used};
	for (int i = 0; i < n; i++)
		if (bit(skip ? e[i].m.skip[COCO_ALL] : e[i].m.hit[COCO_ALL], t))
			d->at[s.first + s.n++] = i;
	*used += s.n;
	return s;
}

static int count_bits(const struct coco_pool *p, int class, int n)
{
	const struct entry *e = p->entry + p->found[class].first;
	int bits = 0;
	for (int i = 0; i < n; i++)
		for (int t = 0; t < COCO_THRESHOLDS; t++)
			bits += bit(e[i].m.skip[COCO_ALL], t) + bit(e[i].m.hit[COCO_ALL], t);
	return bits;
}

static void arrange(struct coco_draws *d, const struct coco_pool *p, int class, int *boxes, int *used)
{
	const struct entry *e = p->entry + p->found[class].first;
	struct drawn *c = &d->class[class];
	c->found = (struct span){*boxes, useful(p, class)};
	c->wanted = p->wanted[class];
	for (int i = 0; i < c->found.n; i++)
		d->image[c->found.first + i] = e[i].image;
	*boxes += c->found.n;
	for (int t = 0; t < COCO_THRESHOLDS; t++) {
		c->hit[t] = list(d, e, c->found.n, t, false, used);
		c->skip[t] = list(d, e, c->found.n, t, true, used);
	}
}

struct coco_draws *coco_draws_new(const struct coco_pool *p)
{
	struct coco_draws *d = xcalloc(1, sizeof *d);
	size_t boxes = 0, bits = 0, most = 0, demands = 0;
	for (int c = 0; c < p->n_classes; c++) {
		size_t n = (size_t)useful(p, c);
		boxes += n;
		bits += (size_t)count_bits(p, c, (int)n);
		demands += (size_t)p->wanted[c].n;
		most = n > most ? n : most;
	}
	*d = (struct coco_draws){.n_classes = p->n_classes,
	    .class = xcalloc((size_t)p->n_classes + 1, sizeof *d->class),
	    .image = xcalloc(boxes + 1, sizeof *d->image),
	    .demand = xcalloc(demands + 1, sizeof *d->demand),
	    .at = xcalloc(bits + 1, sizeof *d->at),
	    .sum = xcalloc(most + 1, sizeof *d->sum),
	    .recall = xcalloc(most + 1, sizeof *d->recall),
	    .precision = xcalloc(most + 1, sizeof *d->precision)};
	memcpy(d->demand, p->demand, demands * sizeof *d->demand);
	int at = 0, used = 0;
	for (int c = 0; c < p->n_classes; c++)
		arrange(d, p, c, &at, &used);
	return d;
}

void coco_draws_free(struct coco_draws **dp)
{
	struct coco_draws *d = *dp;
	if (!d)
		return;
	free(d->class);
	free(d->image);
	free(d->demand);
	free(d->at);
	free(d->sum);
	free(d->recall);
	free(d->precision);
	free(d);
	*dp = NULL;
}

static int times(const int *weight, int image)
{
	return weight ? weight[image] : 1;
}

static long wanted(const struct coco_draws *d, const struct drawn *c, const int *weight)
{
	long n = 0;
	for (int i = c->wanted.first; i < c->wanted.first + c->wanted.n; i++)
		n += (long)d->demand[i].truths[COCO_ALL] * times(weight, d->demand[i].image);
	return n;
}

static double curve(struct coco_draws *d, const struct drawn *c, int t, long all, const int *weight)
{
	const int *image = d->image + c->found.first, *skip = d->at + c->skip[t].first;
	long hits = 0, skipped = 0;
	int n = 0, k = 0;
	for (int i = 0; i < c->hit[t].n; i++) {
		int at = d->at[c->hit[t].first + i], w = times(weight, image[at]);
		if (!w)
			continue;
		for (; k < c->skip[t].n && skip[k] < at; k++)
			skipped += times(weight, image[skip[k]]);
		hits += w;
		d->recall[n] = (double)hits / (double)all;
		d->precision[n++] = (double)hits / ((double)(d->sum[at] - skipped) + 0x1p-52);
	}
	return coco_average_precision(d->recall, d->precision, n);
}

static double class_ap(struct coco_draws *d, const struct drawn *c, long all, const int *weight)
{
	double sum = 0;
	long weights = 0;
	for (int i = 0; i < c->found.n; i++)
		d->sum[i] = weights += times(weight, d->image[c->found.first + i]);
	for (int t = 0; t < COCO_THRESHOLDS; t++)
		sum += curve(d, c, t, all, weight);
	return sum / COCO_THRESHOLDS;
}

double coco_draws_ap(struct coco_draws *d, const int *weight)
{
	double sum = 0;
	int n = 0;
	for (int i = 0; i < d->n_classes; i++) {
		long all = wanted(d, &d->class[i], weight);
		if (!all)
			continue;
		sum += class_ap(d, &d->class[i], all, weight);
		n++;
	}
	return n ? sum / n : NAN;
}
