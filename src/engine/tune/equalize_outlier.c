// Channels that weights tell to reach much farther than the others of their tensor.
#include <math.h>
#include <stdlib.h>
#include "equalize_impl.h"

// [channels] the largest weights in front of the tensor (NULL: there are none to tell by) and behind it.
struct around {
	float *front, *behind;
	int64_t channels;
	int maker;
};

static int by_value(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;
	return (x > y) - (x < y);
}

// Of those above 0; NAN: there are none.
static double median(const float *x, int64_t n)
{
	float *sorted = xmalloc((size_t)n * sizeof *sorted);
	int64_t kept = 0;
	for (int64_t i = 0; i < n; i++)
		if (x[i] > 0)
			sorted[kept++] = x[i];
	qsort(sorted, (size_t)kept, sizeof *sorted, by_value);
	double middle = kept ? (double)sorted[kept / 2] : NAN;
	free(sorted);
	return middle;
}

static bool raise(float *top, const struct graph *g, int node, bool rows)
{
	struct layer l;
	struct error ignored;
	bool ok = layer_find(&l, g, node, true) && layer_open(&l, g, &ignored) == STATUS_OK;
	if (ok && !l.addend)
		layer_raise(top, &l, rows);
	if (ok)
		layer_close(&l);
	return ok;
}

// The tensor's other readers count as well: what factors can be moved to.
static bool raise_group(struct around *a, const struct graph *g, const struct equalize_group *group)
{
	a->front = xcalloc((size_t)a->channels, sizeof *a->front);
	a->maker = group->front[0];
	bool ok = group->channels == a->channels;
	for (int i = 0; i < group->n_front && ok; i++)
		ok = raise(a->front, g, group->front[i], true);
	for (int i = 0; i < group->n_behind && ok; i++)
		ok = raise(a->behind, g, group->behind[i], false);
	if (!ok) {
		free(a->front);
		a->front = NULL;
		a->maker = -1;
	}
	return ok;
}

// ---- groups, found once for all nodes that are asked about

enum { STRAIGHT, SUMS, WAYS }; // through Relu and its kin, and through Add and Sub too
struct equalize_fronts {
	const struct graph *g;
	struct equalize_group *group[WAYS];
	int n[WAYS];
	int *behind[WAYS]; // [n_nodes] the group that the node is behind, -1: none
};

struct equalize_fronts *equalize_fronts_new(const struct graph *g)
{
	struct equalize_fronts *f = xcalloc(1, sizeof *f);
	f->g = g;
	for (int way = 0; way < WAYS; way++) {
		f->n[way] = groups_find(&f->group[way], g, &(struct reaching){.sums = way == SUMS, .wide = true});
		f->behind[way] = xmalloc(((size_t)g->n_nodes + 1) * sizeof *f->behind[way]);
		for (int node = 0; node < g->n_nodes; node++)
			f->behind[way][node] = -1;
		for (int i = 0; i < f->n[way]; i++)
			for (int k = 0; k < f->group[way][i].n_behind; k++)
				f->behind[way][f->group[way][i].behind[k]] = i;
	}
	return f;
}

void equalize_fronts_free(struct equalize_fronts **fp)
{
	struct equalize_fronts *f = *fp;
	for (int way = 0; f && way < WAYS; way++) {
		for (int i = 0; i < f->n[way]; i++)
			group_done(&f->group[way][i]);
		free(f->group[way]);
		free(f->behind[way]);
	}
	free(f);
	*fp = NULL;
}

static bool find_front(struct around *a, const struct equalize_fronts *f, int node, int way)
{
	int i = f->behind[way][node];
	return i >= 0 && raise_group(a, f->g, &f->group[way][i]);
}

static void choose(struct equalize_outlier *out, const struct around *a)
{
	double front = a->front ? median(a->front, a->channels) : NAN, behind = median(a->behind, a->channels), best = 0;
	for (int64_t c = 0; c < a->channels; c++) {
		double made = a->front ? (double)a->front[c] / front : NAN, read = a->behind[c] > 0 ? behind / (double)a->behind[c] : 0;
		double both = fmin(made, read); // of one that is not known the other
		if (both > best) {
			best = both;
			out->channel = c;
			out->front = made;
			out->behind = read;
		}
	}
}

bool equalize_outlier(struct equalize_outlier *out, const struct equalize_fronts *f, int node)
{
	const struct graph *g = f->g;
	struct layer l;
	*out = (struct equalize_outlier){.maker = -1, .front = NAN, .channel = -1};
	if (!layer_find(&l, g, node, true) || l.addend || l.in < 0 || l.columns < 2)
		return false;
	struct around a = {.channels = l.columns, .behind = xcalloc((size_t)l.columns, sizeof *a.behind), .maker = -1};
	if (raise(a.behind, g, node, false)) {
		out->sums = !find_front(&a, f, node, STRAIGHT) && find_front(&a, f, node, SUMS);
		out->value = l.in;
		out->channels = a.channels;
		out->maker = a.maker;
		choose(out, &a);
	}
	free(a.front);
	free(a.behind);
	return out->channel >= 0;
}
