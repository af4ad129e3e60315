#include "retrieval.h"

#include <math.h>
#include <stdlib.h>
#include "qtui/base/mem.h"

static float dot(const float *a, const float *b, int n)
{
	float sum = 0;
	_Pragma("omp simd reduction(+ : sum)") for (int i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

// The greatest of many numbers: a heap with the least of them at its root.
struct greatest {
	float *at;
	size_t n, most;
};

static void sift_down(struct greatest *g, float moved)
{
	size_t i = 0;
	for (size_t child; (child = 2 * i + 1) < g->n; i = child) {
		child += child + 1 < g->n && g->at[child + 1] < g->at[child];
		if (g->at[child] >= moved)
			break;
		g->at[i] = g->at[child];
	}
	g->at[i] = moved;
}

static void sift_up(struct greatest *g, float moved)
{
	size_t i = g->n++;
	for (; i > 0 && g->at[(i - 1) / 2] > moved; i = (i - 1) / 2)
		g->at[i] = g->at[(i - 1) / 2];
	g->at[i] = moved;
}

static void greatest_add(struct greatest *g, float x)
{
	if (g->n < g->most)
		sift_up(g, x);
	else if (x > g->at[0])
		sift_down(g, x);
}

struct holding {
	const int *class;
	int n;
	float *near;            // [n] of the query at hand to all
	float *like;            // [n] those of its class, falling
	int *before;            // [n + 1] how many of other classes come before the k-th of them, and behind its predecessor
	float *pair;            // of one class
	size_t n_pairs, cap;
	struct greatest others; // pairs of two classes
};

static int by_falling(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;
	return (x < y) - (x > y);
}

// How many of the n falling numbers are above x.
static int above(const float *falling, int n, float x)
{
	int low = 0, high = n;
	while (low < high) {
		int middle = (low + high) / 2;
		if (falling[middle] > x)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static double average_precision(struct holding *h, int query)
{
	int n = 0, others = 0;
	double sum = 0;
	for (int i = 0; i < h->n; i++)
		if (i != query && h->class[i] == h->class[query])
			h->like[n++] = h->near[i];
	qsort(h->like, (size_t)n, sizeof *h->like, by_falling);
	for (int k = 0; k <= n; k++)
		h->before[k] = 0;
	for (int i = 0; i < h->n; i++)
		if (h->class[i] != h->class[query])
			h->before[above(h->like, n, h->near[i])]++;
	for (int k = 0; k < n; k++) {
		others += h->before[k];
		sum += (double)(k + 1) / (k + 1 + others);
	}
	return n ? sum / n : NAN;
}

static void holding_init(struct holding *h, const int *class, int n)
{
	size_t room = (size_t)n + 1;
	*h = (struct holding){.class = class, .n = n, .near = xcalloc(room, sizeof *h->near), .like = xcalloc(room, sizeof *h->like),
	    .before = xcalloc(room + 1, sizeof *h->before)};
}

static void holding_done(struct holding *h)
{
	free(h->near);
	free(h->like);
	free(h->before);
	free(h->pair);
	free(h->others.at);
}

static struct query ask(struct holding *h, const float *const *vector, int length, int query)
{
	for (int i = 0; i < h->n; i++)
		h->near[i] = dot(vector[query], vector[i], length);
	struct query q = {.first = -1, .ap = average_precision(h, query)};
	for (int i = 0; i < h->n; i++) {
		bool other = h->class[i] != h->class[query];
		if (i != query && (q.first < 0 || h->near[i] > q.near || (h->near[i] == q.near && other && h->class[q.first] == h->class[query]))) {
			q.first = i;
			q.near = h->near[i];
		}
	}
	return q;
}

static void add_pairs(struct holding *h, int query)
{
	for (int i = query + 1; i < h->n; i++) {
		if (h->class[i] != h->class[query]) {
			greatest_add(&h->others, h->near[i]);
			continue;
		}
		h->pair = xgrow(h->pair, &h->cap, h->n_pairs + 1, sizeof *h->pair);
		h->pair[h->n_pairs++] = h->near[i];
	}
}

static double true_accepts(const struct holding *h)
{
	size_t accepted = 0;
	if (!h->n_pairs || !h->others.n)
		return NAN;
	for (size_t i = 0; i < h->n_pairs; i++)
		accepted += h->pair[i] > h->others.at[0];
	return (double)accepted / (double)h->n_pairs;
}

static size_t count_others(const int *class, int n)
{
	size_t pairs = 0;
	for (int i = 0; i < n; i++)
		for (int k = i + 1; k < n; k++)
			pairs += class[i] != class[k];
	return pairs;
}

struct query retrieval_query(const float *const *vector, const int *class, int n, int length, int query)
{
	struct holding h;
	holding_init(&h, class, n);
	struct query q = ask(&h, vector, length, query);
	holding_done(&h);
	return q;
}

struct retrieval *retrieval_new(const float *const *vector, const int *class, int n, int length)
{
	struct retrieval *out = xcalloc(1, sizeof *out);
	struct holding h;
	holding_init(&h, class, n);
	h.others.most = (size_t)(RETRIEVAL_FAR * (double)count_others(class, n)) + 1;
	h.others.at = xcalloc(h.others.most, sizeof *h.others.at);
	*out = (struct retrieval){.n = n, .of = xcalloc((size_t)n + 1, sizeof *out->of)};
	for (int i = 0; i < n; i++) {
		out->of[i] = ask(&h, vector, length, i);
		add_pairs(&h, i);
	}
	out->tar = true_accepts(&h);
	holding_done(&h);
	return out;
}

void retrieval_free(struct retrieval **n)
{
	if (*n)
		free((*n)->of);
	free(*n);
	*n = NULL;
}
