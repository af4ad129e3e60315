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

static bool is_behind(const struct equalize_group *group, int node)
{
	for (int i = 0; i < group->n_behind; i++)
		if (group->behind[i] == node)
			return true;
	return false;
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

static bool find_front(struct around *a, const struct graph *g, int node, bool sums)
{
	struct equalize_group *group;
	int n = groups_find(&group, g, &(struct reaching){.sums = sums, .wide = true});
	bool found = false;
	for (int i = 0; i < n; i++) {
		found = found || (is_behind(&group[i], node) && raise_group(a, g, &group[i]));
		group_done(&group[i]);
	}
	free(group);
	return found;
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

bool equalize_outlier(struct equalize_outlier *out, const struct graph *g, int node)
{
	struct layer l;
	*out = (struct equalize_outlier){.maker = -1, .front = NAN, .channel = -1};
	if (!layer_find(&l, g, node, true) || l.addend || l.in < 0 || l.columns < 2)
		return false;
	struct around a = {.channels = l.columns, .behind = xcalloc((size_t)l.columns, sizeof *a.behind), .maker = -1};
	if (raise(a.behind, g, node, false)) {
		out->sums = !find_front(&a, g, node, false) && find_front(&a, g, node, true);
		out->value = l.in;
		out->channels = a.channels;
		out->maker = a.maker;
		choose(out, &a);
	}
	free(a.front);
	free(a.behind);
	return out->channel >= 0;
}
