// Rounds of ranges and factors, in float as PPQ has them:
// a weight that lies on the edge of a code then lies where it lies there.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "equalize_impl.h"

static const float LEAST_FACTOR = 0.1f, MOST_FACTOR = 10; // of one round

struct equalizer {
	const struct graph *g;
	const struct equalize_options *opt;
	struct layer *layer; // [n_nodes] of those in groups
	double **reach;      // [n_values] as opt->reach, with the factors so far; NULL without
};
struct ranges {
	float *front, *behind, *reach; // [channels]
};

// ---- groups

// What behind[i] reads, or -1: another one before it reads that too.
static int read_first(const struct equalizer *e, const struct equalize_group *g, int i)
{
	int value = e->layer[g->behind[i]].in;
	for (int k = 0; k < i; k++)
		if (e->layer[g->behind[k]].in == value)
			return -1;
	return value;
}

static void raise_reach(float *top, const struct equalizer *e, const struct equalize_group *g)
{
	for (int i = 0; i < g->n_behind; i++) {
		const double *reach = e->reach[e->layer[g->behind[i]].in];
		for (int64_t c = 0; reach && c < g->channels; c++)
			top[c] = fmaxf(top[c], (float)reach[c]);
	}
}

static void drop_ranges(struct ranges *r)
{
	free(r->front);
	free(r->behind);
	free(r->reach);
}

static enum status take_ranges(struct ranges *r, const struct equalizer *e, const struct equalize_group *g, struct error *err)
{
	r->front = mem_try_array((size_t)g->channels, sizeof *r->front);
	r->behind = mem_try_array((size_t)g->channels, sizeof *r->behind);
	r->reach = mem_try_array((size_t)g->channels, sizeof *r->reach);
	if (!r->front || !r->behind || !r->reach)
		return error_set(err, STATUS_NOMEM, "no memory for the ranges of %lld channels", (long long)g->channels);
	for (int i = 0; i < g->n_front; i++)
		if (!e->layer[g->front[i]].addend) {
			layer_raise(r->front, &e->layer[g->front[i]], true);
			layer_raise_by_bias(r->front, &e->layer[g->front[i]], e->opt->bias);
		}
	for (int i = 0; i < g->n_behind; i++)
		layer_raise(r->behind, &e->layer[g->behind[i]], false);
	if (e->reach)
		raise_reach(r->reach, e, g);
	return STATUS_OK;
}

static float limited(float factor)
{
	return fminf(fmaxf(factor, LEAST_FACTOR), MOST_FACTOR);
}

static void factors_by_weights(float *factor, const struct ranges *r, int64_t n, double threshold)
{
	for (int64_t c = 0; c < n; c++) {
		float both = r->front[c] + r->behind[c];
		factor[c] = both > 0 && (double)both >= threshold ? limited(1 / sqrtf(r->front[c] / r->behind[c])) : 1;
	}
}

// The mean keeps the tensor's own scale where it was. A channel that is 0 on either side wants nothing, and stays.
// Logarithms, since the quotient of what is next to nothing is no float.
static void factors_by_reach(float *factor, const struct ranges *r, int64_t n)
{
	double sum = 0;
	int64_t wanting = 0;
	for (int64_t c = 0; c < n; c++) {
		bool wants = r->behind[c] > 0 && r->reach[c] > 0;
		factor[c] = wants ? 0.5f * (logf(r->behind[c]) - logf(r->reach[c])) : NAN;
		sum += wants ? (double)factor[c] : 0;
		wanting += wants;
	}
	for (int64_t c = 0; c < n; c++)
		factor[c] = isnan(factor[c]) ? 1 : limited((float)exp((double)factor[c] - sum / (double)wanting));
}

static void move_factors(struct equalizer *e, const struct equalize_group *g, const float *factor)
{
	for (int i = 0; i < g->n_front; i++)
		layer_multiply_rows(&e->layer[g->front[i]], factor);
	for (int i = 0; i < g->n_behind; i++) {
		int value = read_first(e, g, i);
		layer_divide_columns(&e->layer[g->behind[i]], factor);
		for (int64_t c = 0; e->reach && value >= 0 && e->reach[value] && c < g->channels; c++)
			e->reach[value][c] *= (double)factor[c];
	}
}

static enum status equalize_group(struct equalizer *e, const struct equalize_group *g, struct error *err)
{
	if (e->opt->rules == EQUALIZE_QUARK)
		return quark_move(e->layer, g, e->opt->threshold, err);
	struct ranges r;
	enum status st = take_ranges(&r, e, g, err);
	float *factor = r.front;
	if (st == STATUS_OK) {
		if (e->reach)
			factors_by_reach(factor, &r, g->channels);
		else
			factors_by_weights(factor, &r, g->channels, e->opt->threshold);
		move_factors(e, g, factor);
	}
	drop_ranges(&r);
	return st;
}

static double unused_bits(const float *top, int64_t n)
{
	double most = 0, bits = 0;
	int64_t counted = 0;
	for (int64_t c = 0; c < n; c++)
		most = fmax(most, (double)top[c]);
	for (int64_t c = 0; c < n; c++)
		if (top[c] > 0) {
			bits += log2(most / (double)top[c]);
			counted++;
		}
	return counted ? bits / (double)counted : 0;
}

struct unused {
	double *front, *behind, *reach;
};

static enum status tell_bits(const struct unused *out, const struct equalizer *e, const struct equalize_group *g, struct error *err)
{
	struct ranges r;
	enum status st = take_ranges(&r, e, g, err);
	if (st == STATUS_OK) {
		*out->front = unused_bits(r.front, g->channels);
		*out->behind = unused_bits(r.behind, g->channels);
		*out->reach = unused_bits(r.reach, g->channels);
	}
	drop_ranges(&r);
	return st;
}

static enum status may_go_on(const struct equalizer *e, struct error *err)
{
	return e->opt->cancel && atomic_load(e->opt->cancel) ? error_set(err, STATUS_CANCELLED, "cancelled") : STATUS_OK;
}

static int *order_of(int *n, const struct equalizer *e, const struct equalization *out)
{
	if (e->opt->rules == EQUALIZE_QUARK)
		return quark_order(n, out->group, out->n_groups);
	int *order = xcalloc((size_t)out->n_groups + 1, sizeof *order);
	for (*n = 0; *n < out->n_groups; (*n)++)
		order[*n] = *n;
	return order;
}

static enum status go_round(struct equalizer *e, struct equalization *out, struct error *err)
{
	int n, *order = order_of(&n, e, out);
	struct equalize_group *g = out->group;
	enum status st = may_go_on(e, err); // also where there is no group
	for (int i = 0; i < out->n_groups && st == STATUS_OK; i++)
		st = tell_bits(&(struct unused){&g[i].front_before, &g[i].behind_before, &g[i].reach_before}, e, &g[i], err);
	for (int round = 0; round < e->opt->rounds && st == STATUS_OK; round++)
		for (int i = 0; i < n && st == STATUS_OK; i++)
			if ((st = may_go_on(e, err)) == STATUS_OK)
				st = equalize_group(e, &g[order[i]], err);
	free(order);
	for (int i = 0; i < out->n_groups && st == STATUS_OK; i++)
		st = tell_bits(&(struct unused){&g[i].front_after, &g[i].behind_after, &g[i].reach_after}, e, &g[i], err);
	return st;
}

// ---- the network

static bool are_finite(const struct equalizer *e, const int *node, int n)
{
	for (int i = 0; i < n; i++)
		if (!layer_is_finite(&e->layer[node[i]]))
			return false;
	return true;
}

// No factor is had from weights that are not numbers: their groups are left as they are.
static void leave_infinite(struct equalizer *e, struct equalization *out)
{
	int n = 0;
	for (int i = 0; i < out->n_groups; i++) {
		struct equalize_group *g = &out->group[i];
		if (are_finite(e, g->front, g->n_front) && are_finite(e, g->behind, g->n_behind))
			out->group[n++] = *g;
		else
			group_done(g);
	}
	out->n_groups = n;
}

static enum status open_layers(struct equalizer *e, const int *node, int n, struct error *err)
{
	enum status st = STATUS_OK;
	for (int i = 0; i < n && st == STATUS_OK; i++) {
		struct layer *l = &e->layer[node[i]];
		if (!l->weight && layer_find(l, e->g, node[i], e->opt->reach))
			st = layer_open(l, e->g, err);
	}
	return st;
}

static enum status open_groups(struct equalizer *e, const struct equalization *out, struct error *err)
{
	enum status st = STATUS_OK;
	for (int i = 0; i < out->n_groups && st == STATUS_OK; i++) {
		st = open_layers(e, out->group[i].front, out->group[i].n_front, err);
		if (st == STATUS_OK)
			st = open_layers(e, out->group[i].behind, out->group[i].n_behind, err);
	}
	return st;
}

// The caller's lists stay as they are: what factors move is a copy.
static enum status open_reach(struct equalizer *e, const struct equalization *out, struct error *err)
{
	if (!e->opt->reach)
		return STATUS_OK;
	e->reach = xcalloc((size_t)e->g->n_values + 1, sizeof *e->reach);
	for (int i = 0; i < out->n_groups; i++)
		for (int k = 0; k < out->group[i].n_behind; k++) {
			int value = e->layer[out->group[i].behind[k]].in;
			size_t n = (size_t)out->group[i].channels;
			if (e->reach[value] || !e->opt->reach[value])
				continue;
			e->reach[value] = mem_try_array(n, sizeof(double));
			if (!e->reach[value])
				return error_set(err, STATUS_NOMEM, "no memory for the ranges of %zu channels", n);
			memcpy(e->reach[value], e->opt->reach[value], n * sizeof(double));
		}
	return STATUS_OK;
}

static void close_layers(struct equalizer *e)
{
	for (int i = 0; i < e->g->n_nodes; i++)
		layer_close(&e->layer[i]);
	free(e->layer);
	if (e->reach)
		equalize_reach_free(&e->reach, e->g);
}

enum status equalize(struct equalization *out, const struct graph *g, const struct equalize_options *opt, struct error *err)
{
	struct equalizer e = {.g = g, .opt = opt, .layer = xcalloc((size_t)g->n_nodes + 1, sizeof *e.layer)};
	*out = (struct equalization){.by_reach = opt->reach, .weights = tuning_new()};
	out->n_groups = opt->rules == EQUALIZE_QUARK ? quark_groups(&out->group, g) :
	    groups_find(&out->group, g, &(struct reaching){.sums = opt->sums, .wide = opt->reach});
	enum status st = open_groups(&e, out, err);
	if (st == STATUS_OK) {
		leave_infinite(&e, out);
		st = open_reach(&e, out, err);
	}
	if (st == STATUS_OK)
		st = go_round(&e, out, err);
	for (int i = 0; i < g->n_nodes && st == STATUS_OK; i++)
		if (e.layer[i].weight)
			layer_put(out->weights, &e.layer[i]);
	close_layers(&e);
	if (st != STATUS_OK)
		equalization_done(out);
	return st;
}

void equalization_done(struct equalization *e)
{
	for (int i = 0; i < e->n_groups; i++)
		group_done(&e->group[i]);
	free(e->group);
	tuning_drop(&e->weights);
	*e = (struct equalization){0};
}
