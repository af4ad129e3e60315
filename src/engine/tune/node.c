// One node: the grid of its outputs, sums of what its float weights leave undone on the quantized
// network's rows, and what the fit gives.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "qtui/engine/linalg.h"
#include "tune_impl.h"

// The grid of every output of a group. What sets the range of a scale
// (the extremes; of a symmetric grid the largest magnitude) stays.
struct range {
	double lo, hi;
	int64_t at[2]; // place of the extremes in the weights
};

static struct range range_of(const float *w, const struct tune_site *s, int64_t first, int64_t last, bool symmetric)
{
	struct range r = {.lo = INFINITY, .hi = -INFINITY, .at = {-1, -1}};
	for (int64_t c = first; c < last; c++)
		for (int64_t i = 0; i < s->k; i++) {
			double v = (double)w[site_weight(s, c, i)];
			if (v < r.lo)
				r.lo = v, r.at[0] = c * s->k + i;
			if (v > r.hi)
				r.hi = v, r.at[1] = c * s->k + i;
		}
	if (symmetric && -r.lo > r.hi)
		r.hi = -r.lo, r.at[1] = -1;
	else if (symmetric)
		r.lo = -r.hi, r.at[0] = -1;
	return r;
}

static struct fit_grid grid_of(const struct quantizer *q, int64_t channel, const struct range *r, const struct tune_site *s)
{
	int at = q->n > 1 ? (int)channel : 0;
	struct fit_grid g = {.scale = q->scale[at], .zero = q->zero ? q->zero[at] : 0, .held = {-1, -1}};
	g.lo = quantize_one(q, at, (float)r->lo);
	g.hi = quantize_one(q, at, (float)r->hi);
	for (int i = 0; i < 2; i++)
		if (r->at[i] >= 0 && r->at[i] / s->k == channel)
			g.held[i] = r->at[i] % s->k;
	return g;
}

// Everything that is in hand for a node.
struct bench {
	const struct tune_site *s;
	const struct quantizer *q;
	struct range *range;      // [groups * m]
	struct fit_grid *grid;    // [m] of a group
	double *weight, *now;     // [m][k] of a group
	double *bias;             // [m]
	struct tuned tuned;       // what comes of it
	float *left;              // [rows][m] of one sample: what the weights leave undone
	struct moments half[2];
};

static void bench_done(struct bench *b)
{
	free(b->range);
	free(b->grid);
	free(b->weight);
	free(b->now);
	free(b->bias);
	free(b->left);
	moments_done(&b->half[0]);
	moments_done(&b->half[1]);
	tuned_drop(&b->tuned);
}

static void find_ranges(struct bench *b, const float *w)
{
	int64_t outputs = b->s->groups * b->s->m;
	struct range whole = {0};
	if (b->q->n == 1)
		whole = range_of(w, b->s, 0, outputs, b->q->symmetric);
	for (int64_t c = 0; c < outputs; c++)
		b->range[c] = b->q->n == 1 ? whole : range_of(w, b->s, c, c + 1, b->q->symmetric);
}

// The grid in force may have come with weights that were tuned before.
static void keep_grid(struct tuned *out, const struct tuned *now)
{
	if (!now || !key_equal(now->grid, out->grid))
		return;
	out->scale = tensor_share(&now->scale);
	out->zero = tensor_share(&now->zero);
}

static enum status bench_open(struct bench *b, const struct tuner *t, const struct place *p, struct error *err)
{
	const struct tune_site *s = &p->site;
	size_t m = (size_t)s->m, table = (size_t)(s->m * s->k);
	int in = t->plan->first_in[s->node];
	*b = (struct bench){.s = s, .q = slot_quantizer(plan_in(t->plan, s->node, 1))};
	b->range = mem_try_array((size_t)(s->groups * s->m), sizeof *b->range);
	b->grid = mem_try_array(m, sizeof *b->grid);
	b->weight = mem_try_array(table, sizeof *b->weight);
	b->now = mem_try_array(table, sizeof *b->now);
	b->bias = mem_try_array(m, sizeof *b->bias);
	b->left = mem_try_array((size_t)s->rows * m, sizeof *b->left);
	if (!b->range || !b->grid || !b->weight || !b->now || !b->bias || !b->left || !moments_alloc(&b->half[0], s->k, s->m) ||
	    !moments_alloc(&b->half[1], s->k, s->m))
		return tuner_no_memory(t, p, err);
	find_ranges(b, tuner_weight(t, s)->data);
	b->tuned.node = s->node;
	b->tuned.grid = quantizer_key(b->q);
	keep_grid(&b->tuned, tuning_of(t->plan->tuning, s->node));
	enum status st = tensor_copy(&b->tuned.weight, plan_constant(t->plan, in + 1), err);
	if (st == STATUS_OK && s->bias)
		st = tensor_copy(&b->tuned.bias, plan_constant(t->plan, in + 2), err);
	return st;
}

// The group's weights as they are in the file, and as they are in force, on the grid.
static void load_group(struct bench *b, const struct tuner *t, int64_t group)
{
	const struct tune_site *s = b->s;
	const float *file = tuner_weight(t, s)->data, *now = b->tuned.weight.data, *bias = b->tuned.bias.data;
	for (int64_t c = 0; c < s->m; c++) {
		int64_t channel = group * s->m + c;
		int at = b->q->n > 1 ? (int)channel : 0;
		b->grid[c] = grid_of(b->q, channel, &b->range[channel], s);
		for (int64_t i = 0; i < s->k; i++) {
			int64_t code = quantize_one(b->q, at, now[site_weight(s, channel, i)]) - b->grid[c].zero;
			b->weight[c * s->k + i] = (double)file[site_weight(s, channel, i)];
			b->now[c * s->k + i] = (double)((float)code * b->grid[c].scale);
		}
		b->bias[c] = bias ? (double)bias[channel] - (double)s->bias[channel] : 0;
	}
}

// Sums of what the float weights leave undone on the quantized network's rows.
static enum status sum_group(struct bench *b, const struct tuner *t, const struct place *p, int64_t group, struct error *err)
{
	const struct tune_site *s = b->s;
	int64_t k = s->groups * s->k, m = s->groups * s->m;
	float *w = tuner_group_weights(s, tuner_weight(t, s), group);
	if (!w)
		return tuner_no_memory(t, p, err);
	for (int half = 0; half < 2; half++) {
		memset(b->half[half].xx, 0, moments_bytes(s->k, s->m));
		b->half[half].n = 0;
	}
	for (int i = 0; i < t->opt.samples; i++) {
		const float *x = p->row + i * s->rows * k + group * s->k, *y = p->wanted + i * s->rows * m + group * s->m;
		linalg_apply(&(struct linalg_rows){
		    .x = x, .w = w, .y = b->left, .rows = s->rows, .k = s->k, .m = s->m, .x_row = k, .w_row = s->k, .y_row = s->m});
		for (int64_t j = 0; j < s->rows; j++)
			for (int64_t c = 0; c < s->m; c++)
				b->left[j * s->m + c] = y[j * m + c] - b->left[j * s->m + c] - (s->bias ? s->bias[group * s->m + c] : 0.0f);
		moments_add_rows(&b->half[i % 2], x, k, b->left, s->m, s->rows);
	}
	free(w);
	return STATUS_OK;
}

// A value on the grid may lie beyond the range by less than half a step:
// there the range's end stands for the same code.
static void store_group(struct bench *b, const struct fit_result *r, int64_t group)
{
	const struct tune_site *s = b->s;
	float *w = b->tuned.weight.data, *bias = b->tuned.bias.data;
	for (int64_t c = 0; c < s->m; c++) {
		int64_t channel = group * s->m + c;
		const struct range *range = &b->range[channel];
		for (int64_t i = 0; i < s->k; i++)
			if (i != b->grid[c].held[0] && i != b->grid[c].held[1])
				w[site_weight(s, channel, i)] = (float)fmin(fmax(r->weight[c * s->k + i], range->lo), range->hi);
		if (bias)
			bias[channel] = (float)((double)s->bias[channel] + r->bias[c]);
	}
}

// Energy of the wanted outputs about their means, on the judging half.
static double signal_of(const struct tuner *t, const struct place *p)
{
	int64_t m = p->site.groups * p->site.m;
	double energy = 0;
	for (int64_t c = 0; c < m; c++) {
		double sum = 0, squares = 0, n = 0;
		for (int i = 1; i < t->opt.samples; i += 2)
			for (int64_t j = 0; j < p->site.rows; j++, n++) {
				double v = (double)p->wanted[(i * p->site.rows + j) * m + c];
				sum += v;
				squares += v * v;
			}
		energy += squares - sum * sum / n;
	}
	return energy;
}

static enum status tune_group(struct bench *b, struct tuner *t, struct place *p, int64_t group, struct error *err)
{
	struct fit_result r;
	load_group(b, t, group);
	enum status st = sum_group(b, t, p, group, err);
	if (st != STATUS_OK)
		return st;
	struct fit_task task = {.fit = &b->half[0], .judge = &b->half[1], .grid = b->grid, .weight = b->weight, .now = b->now,
	    .bias = b->s->bias ? b->bias : NULL};
	if (!fit_weights(&r, &task))
		return tuner_no_memory(t, p, err);
	if (r.changed)
		store_group(b, &r, group);
	p->done.before += r.before;
	p->done.after += r.after;
	p->done.changed += r.changed;
	fit_done(&r);
	return STATUS_OK;
}

enum status tuner_fit(struct tuner *t, struct place *p, struct error *err)
{
	struct bench b;
	p->done = (struct tune_row){.node = p->site.node, .outputs = (int)(p->site.groups * p->site.m), .signal = signal_of(t, p)};
	enum status st = bench_open(&b, t, p, err);
	for (int64_t g = 0; g < p->site.groups && st == STATUS_OK; g++) {
		if (t->opt.cancel && atomic_load(t->opt.cancel))
			st = error_set(err, STATUS_CANCELLED, "cancelled");
		else
			st = tune_group(&b, t, p, g, err);
	}
	if (st == STATUS_OK && p->done.changed) {
		p->tuned = b.tuned;
		b.tuned = (struct tuned){0};
	}
	bench_done(&b);
	return st;
}
