// Rounds of ranges and factors, in float as PPQ has them: a weight that lies on the edge of a code then lies where it lies there.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "equalize_impl.h"

static const float LEAST_FACTOR = 0.1f, MOST_FACTOR = 10; // of one round

struct equalizer {
	const struct graph *g;
	const struct equalize_options *opt;
	struct layer *layer; // [n_nodes] of those in groups
};
struct ranges {
	float *front, *behind; // [channels]
};

// ---- layers

// The weights of one first index: stretches of `inner`, one a second index.
struct stripe {
	float *w;
	int64_t row, column;          // of the first stretch
	int64_t next_row, next_column; // from one stretch to the next: 0 or 1
};

static struct stripe stripe_of(const struct layer *l, int64_t first)
{
	int64_t other = first / (l->first / l->groups) * l->second;
	float *w = (float *)l->w.data + first * l->second * l->inner;
	return l->rows_first ? (struct stripe){w, first, other, 0, 1} : (struct stripe){w, other, first, 1, 0};
}

static enum status copy_constant(struct tensor *out, const struct tensor *x, struct error *err)
{
	*out = (struct tensor){.type = DT_F32, .shape = x->shape};
	enum status st = tensor_alloc(out, NULL, err);
	if (st == STATUS_OK)
		memcpy(out->data, x->data, tensor_bytes(x));
	return st;
}

static enum status layer_open(struct layer *l, const struct graph *g, struct error *err)
{
	enum status st = copy_constant(&l->w, l->weight, err);
	if (st == STATUS_OK && l->bias)
		st = copy_constant(&l->b, l->bias, err);
	return st == STATUS_OK ? st : error_prefix(err, "node %s", g->node[l->node].name);
}

static bool is_finite(const struct layer *l)
{
	const float *w = l->w.data;
	for (int64_t i = 0; i < tensor_count(&l->w); i++)
		if (!isfinite(w[i]))
			return false;
	return true;
}

// top[c] becomes at least the largest weight of row (or column) c.
static void raise_tops(float *top, const struct layer *l, bool rows)
{
	for (int64_t a = 0; a < l->first; a++) {
		struct stripe s = stripe_of(l, a);
		for (int64_t b = 0; b < l->second; b++, s.w += l->inner) {
			float *most = &top[rows ? s.row + b * s.next_row : s.column + b * s.next_column], m = *most;
			for (int64_t k = 0; k < l->inner; k++)
				m = fabsf(s.w[k]) > m ? fabsf(s.w[k]) : m;
			*most = m;
		}
	}
}

static void multiply_rows(struct layer *l, const float *factor)
{
	for (int64_t a = 0; a < l->first; a++) {
		struct stripe s = stripe_of(l, a);
		for (int64_t b = 0; b < l->second; b++, s.w += l->inner)
			for (int64_t k = 0; k < l->inner; k++)
				s.w[k] *= factor[s.row + b * s.next_row];
	}
	for (int64_t r = 0; l->bias && r < l->rows; r++)
		((float *)l->b.data)[r] *= factor[r];
}

static void divide_columns(struct layer *l, const float *factor)
{
	for (int64_t a = 0; a < l->first; a++) {
		struct stripe s = stripe_of(l, a);
		for (int64_t b = 0; b < l->second; b++, s.w += l->inner)
			for (int64_t k = 0; k < l->inner; k++)
				s.w[k] /= factor[s.column + b * s.next_column];
	}
}

// ---- groups

static enum status take_ranges(struct ranges *r, const struct equalizer *e, const struct equalize_group *g, struct error *err)
{
	r->front = mem_try_array((size_t)g->channels, sizeof *r->front);
	r->behind = mem_try_array((size_t)g->channels, sizeof *r->behind);
	if (!r->front || !r->behind)
		return error_set(err, STATUS_NOMEM, "no memory for the ranges of %lld channels", (long long)g->channels);
	for (int i = 0; i < g->n_front; i++)
		raise_tops(r->front, &e->layer[g->front[i]], true);
	for (int i = 0; i < g->n_behind; i++)
		raise_tops(r->behind, &e->layer[g->behind[i]], false);
	return STATUS_OK;
}

static void drop_ranges(struct ranges *r)
{
	free(r->front);
	free(r->behind);
}

static float factor_of(float front, float behind, double threshold)
{
	float both = front + behind;
	if (!(both > 0) || (double)both < threshold)
		return 1;
	return fminf(fmaxf(1 / sqrtf(front / behind), LEAST_FACTOR), MOST_FACTOR);
}

static enum status equalize_group(struct equalizer *e, const struct equalize_group *g, struct error *err)
{
	struct ranges r;
	enum status st = take_ranges(&r, e, g, err);
	float *factor = r.front;
	for (int64_t c = 0; st == STATUS_OK && c < g->channels; c++)
		factor[c] = factor_of(r.front[c], r.behind[c], e->opt->threshold);
	for (int i = 0; st == STATUS_OK && i < g->n_front; i++)
		multiply_rows(&e->layer[g->front[i]], factor);
	for (int i = 0; st == STATUS_OK && i < g->n_behind; i++)
		divide_columns(&e->layer[g->behind[i]], factor);
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

static enum status tell_bits(double *front, double *behind, const struct equalizer *e, const struct equalize_group *g, struct error *err)
{
	struct ranges r;
	enum status st = take_ranges(&r, e, g, err);
	if (st == STATUS_OK) {
		*front = unused_bits(r.front, g->channels);
		*behind = unused_bits(r.behind, g->channels);
	}
	drop_ranges(&r);
	return st;
}

static enum status go_round(struct equalizer *e, struct equalization *out, struct error *err)
{
	struct equalize_group *g = out->group;
	enum status st = STATUS_OK;
	for (int i = 0; i < out->n_groups && st == STATUS_OK; i++)
		st = tell_bits(&g[i].front_before, &g[i].behind_before, e, &g[i], err);
	for (int round = 0; round < e->opt->rounds; round++)
		for (int i = 0; i < out->n_groups && st == STATUS_OK; i++)
			st = equalize_group(e, &g[i], err);
	for (int i = 0; i < out->n_groups && st == STATUS_OK; i++)
		st = tell_bits(&g[i].front_after, &g[i].behind_after, e, &g[i], err);
	return st;
}

// ---- the network

static bool are_finite(const struct equalizer *e, const int *node, int n)
{
	for (int i = 0; i < n; i++)
		if (!is_finite(&e->layer[node[i]]))
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
		if (!l->weight && layer_find(l, e->g, node[i]))
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

// The layer's copies become tuned constants, if they are others than the graph's.
static void put_weights(struct tuning *t, struct layer *l)
{
	struct tuned one = {.node = l->node};
	if (memcmp(l->w.data, l->weight->data, tensor_bytes(l->weight)) == 0)
		return;
	one.weight = tensor_share(&l->w);
	one.weight_key = tensor_key(&one.weight);
	if (l->b.data) {
		one.bias = tensor_share(&l->b);
		one.bias_key = tensor_key(&one.bias);
	}
	tuning_put(t, &one);
}

enum status equalize(struct equalization *out, const struct graph *g, const struct equalize_options *opt, struct error *err)
{
	struct equalizer e = {.g = g, .opt = opt, .layer = xcalloc((size_t)g->n_nodes + 1, sizeof *e.layer)};
	*out = (struct equalization){.weights = tuning_new()};
	out->n_groups = groups_find(&out->group, g, opt->sums);
	enum status st = open_groups(&e, out, err);
	if (st == STATUS_OK) {
		leave_infinite(&e, out);
		st = go_round(&e, out, err);
	}
	for (int i = 0; i < g->n_nodes; i++) {
		if (st == STATUS_OK && e.layer[i].weight)
			put_weights(out->weights, &e.layer[i]);
		tensor_drop(&e.layer[i].w);
		tensor_drop(&e.layer[i].b);
	}
	free(e.layer);
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
