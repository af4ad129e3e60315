// The network, node by node: rows of the float network once, rows of the quantized one as it is by then, new weights, and on to what is
// downstream. Nodes that do not depend on one another share a pass.
#include "qtui/engine/tune.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "qtui/base/jobs.h"
#include "qtui/engine/linalg.h"
#include "tune_impl.h"

enum { ROWS = 8192, SAMPLE_ROWS = 256 }; // rows of a node, of all samples and of one
#define MEMORY ((size_t)1 << 30)

struct place { // of a node in the order
	struct tune_site site;
	int level;         // 1 + that of the last node upstream of it
	float *wanted;     // [samples * rows][groups * m] outputs of the float network
	// While the node is at hand:
	float *row;        // [samples * rows][groups * k] inputs of the quantized network
	struct tuned tuned;
	struct tune_row done;
};
struct tuner {
	struct engine *e;
	struct plan *plan;
	const struct graph *g;
	struct tune_options opt;
	struct place *place;
	int n;
	// The pass under way.
	enum sim sim;
	int first, last;
	pthread_mutex_t lock;
	struct error err;
};

// ---- what there is to tune

static int *levels_of(const struct graph *g, const bool *tuned)
{
	int *level = xcalloc((size_t)g->n_nodes + 1, sizeof *level);
	for (int n = 0; n < g->n_nodes; n++) {
		const struct node *node = &g->node[n];
		for (int i = 0; i < node->n_in; i++) {
			int from = node->in[i] >= 0 ? g->value[node->in[i]].producer : -1;
			if (from >= 0 && level[from] + tuned[from] > level[n])
				level[n] = level[from] + tuned[from];
		}
	}
	return level;
}

static size_t bytes_wanted(const struct tuner *t, const struct tune_site *s)
{
	return (size_t)t->opt.samples * (size_t)s->rows * (size_t)(s->groups * s->m) * sizeof(float);
}

// Rows of the input, the sums of two halves and of both, and what fit.c takes.
static size_t bytes_at_hand(const struct tuner *t, const struct tune_site *s)
{
	size_t rows = (size_t)t->opt.samples * (size_t)s->rows * (size_t)(s->groups * s->k) * sizeof(float);
	return rows + 5 * moments_bytes(s->k, s->m) + (size_t)(s->groups * s->m * s->k) * 3 * sizeof(double);
}

static int by_level(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	if (x->level != y->level)
		return x->level - y->level;
	return (x->site.node > y->site.node) - (x->site.node < y->site.node);
}

static void find_places(struct tuner *t)
{
	int64_t most = ROWS / t->opt.samples < SAMPLE_ROWS ? ROWS / t->opt.samples : SAMPLE_ROWS;
	size_t half = t->opt.memory / 2, wanted = 0;
	bool *tuned = xcalloc((size_t)t->g->n_nodes + 1, 1);
	t->place = xcalloc((size_t)t->g->n_nodes + 1, sizeof *t->place);
	for (int n = 0; n < t->g->n_nodes; n++) {
		struct place *p = &t->place[t->n];
		if (!site_find(&p->site, t->plan, n, most < 8 ? 8 : most) || bytes_at_hand(t, &p->site) > half ||
		    wanted + bytes_wanted(t, &p->site) > half)
			continue;
		wanted += bytes_wanted(t, &p->site);
		tuned[n] = true;
		t->n++;
	}
	int *level = levels_of(t->g, tuned);
	for (int i = 0; i < t->n; i++)
		t->place[i].level = level[t->place[i].site.node];
	qsort(t->place, (size_t)t->n, sizeof *t->place, by_level);
	free(level);
	free(tuned);
}

// ---- rows

static const struct tensor *weight_of(const struct tuner *t, const struct tune_site *s)
{
	return t->g->value[t->g->node[s->node].in[1]].constant;
}

// The weights of a group as a dense [m][k]; heap, NULL when there is no memory.
static float *group_weights(const struct tune_site *s, const struct tensor *w, int64_t group)
{
	float *to = mem_try_array((size_t)(s->m * s->k), sizeof *to);
	for (int64_t c = 0; to && c < s->m; c++)
		for (int64_t i = 0; i < s->k; i++)
			to[c * s->k + i] = ((const float *)w->data)[site_weight(s, group * s->m + c, i)];
	return to;
}

// y = W x + b with the float weights.
static bool outputs(const struct tuner *t, const struct tune_site *s, const float *x, float *y)
{
	int64_t m = s->groups * s->m, k = s->groups * s->k;
	for (int64_t g = 0; g < s->groups; g++) {
		float *w = group_weights(s, weight_of(t, s), g);
		if (!w)
			return false;
		linalg_apply(&(struct linalg_rows){.x = x + g * s->k, .w = w, .y = y + g * s->m, .rows = s->rows, .k = s->k, .m = s->m, .x_row = k, .w_row = s->k, .y_row = m});
		free(w);
	}
	for (int64_t j = 0; s->bias && j < s->rows; j++)
		for (int64_t c = 0; c < m; c++)
			y[j * m + c] += s->bias[c];
	return true;
}

// The input as the node reads it, as floats; matrix products read rows, which want the plain layout.
static enum status input_of(struct tensor *out, const struct tuner *t, const struct tune_site *s, struct rep *seen, int width, struct error *err)
{
	const struct quantizer *q = t->sim == SIM_FULL ? slot_quantizer(plan_in(t->plan, s->node, 0)) : NULL;
	struct rep a = {0}, f = {0}, p = {0};
	enum status st = STATUS_OK;
	if (q && q->kind != QUANT_NONE)
		st = rep_apply(&a, seen, q, width, err);
	else
		a = rep_share(seen);
	if (st == STATUS_OK)
		st = rep_to_float(&f, &a, width, err);
	if (st == STATUS_OK && !s->conv)
		st = rep_to_layout(&p, &f, LAYOUT_PLAIN, width, err);
	else if (st == STATUS_OK)
		p = rep_share(&f);
	*out = p.t;
	rep_drop(&a);
	rep_drop(&f);
	return st;
}

static enum status see_float(const struct tuner *t, struct place *p, const struct tensor *x, int sample, struct error *err)
{
	const struct tune_site *s = &p->site;
	float *row = mem_try_array((size_t)(s->rows * s->groups * s->k), sizeof *row);
	bool ok = row != NULL;
	if (ok) {
		site_rows(s, x, sample, row);
		ok = outputs(t, s, row, p->wanted + (int64_t)sample * s->rows * s->groups * s->m);
	}
	free(row);
	return ok ? STATUS_OK : error_set(err, STATUS_NOMEM, "node %s: no memory for its rows", t->g->node[s->node].name);
}

static enum status see_place(struct tuner *t, struct place *p, const struct sighting *s, struct error *err)
{
	struct tensor x = {0};
	int sample = s->sample - t->opt.first;
	enum status st = input_of(&x, t, &p->site, s->rep[t->sim], s->width, err);
	if (st != STATUS_OK)
		return st;
	if (t->sim == SIM_FLOAT)
		st = see_float(t, p, &x, sample, err);
	else
		site_rows(&p->site, &x, sample, p->row + (int64_t)sample * p->site.rows * p->site.groups * p->site.k);
	tensor_drop(&x);
	return st;
}

static void see(void *arg, const struct sighting *s)
{
	struct tuner *t = arg;
	struct error err = {0};
	for (int i = t->first; i < t->last; i++) {
		if (t->place[i].site.value != s->value || see_place(t, &t->place[i], s, &err) == STATUS_OK)
			continue;
		pthread_mutex_lock(&t->lock);
		t->err = err;
		pthread_mutex_unlock(&t->lock);
	}
}

static enum status look(struct tuner *t, enum sim sim, int first, int last, struct error *err)
{
	bool *want = xcalloc((size_t)t->g->n_values + 1, 1);
	struct pass p = {.plan = t->plan, .first = t->opt.first, .last = t->opt.first + t->opt.samples, .visit = see, .arg = t, .cancel = t->opt.cancel, .transient = sim == SIM_FLOAT};
	for (int i = first; i < last; i++)
		want[t->place[i].site.value] = true;
	p.want[sim] = want;
	t->sim = sim;
	t->first = first;
	t->last = last;
	t->err = (struct error){0};
	enum status st = engine_pass(t->e, &p, err);
	if (st == STATUS_OK && t->err.status != STATUS_OK) {
		*err = t->err;
		st = err->status;
	}
	free(want);
	return st;
}

static enum status no_memory(const struct tuner *t, const struct place *p, struct error *err)
{
	return error_set(err, STATUS_NOMEM, "node %s: no memory to tune it", t->g->node[p->site.node].name);
}

enum status tuner_open(struct tuner **out, struct engine *e, struct plan *p, const struct tune_options *opt, struct error *err)
{
	struct tuner *t = xcalloc(1, sizeof *t);
	enum status st = STATUS_OK;
	*t = (struct tuner){.e = e, .plan = p, .g = p->g, .opt = *opt};
	pthread_mutex_init(&t->lock, NULL);
	t->opt.memory = opt->memory ? opt->memory : MEMORY;
	if (opt->samples < 2)
		st = error_set(err, STATUS_REFUSED, "weights are tuned on two samples at least: one half fits, the other judges");
	else
		find_places(t);
	for (int i = 0; i < t->n && st == STATUS_OK; i++) {
		t->place[i].wanted = mem_try_array(bytes_wanted(t, &t->place[i].site), 1);
		if (!t->place[i].wanted)
			st = no_memory(t, &t->place[i], err);
	}
	if (st == STATUS_OK && t->n > 0)
		st = look(t, SIM_FLOAT, 0, t->n, err);
	if (st == STATUS_OK)
		*out = t;
	else
		tuner_free(&t);
	return st;
}

void tuner_free(struct tuner **tp)
{
	struct tuner *t = *tp;
	if (!t)
		return;
	for (int i = 0; i < t->n; i++)
		free(t->place[i].wanted);
	pthread_mutex_destroy(&t->lock);
	free(t->place);
	free(t);
	*tp = NULL;
}

int tuner_nodes(const struct tuner *t)
{
	return t->n;
}

int tuner_node(const struct tuner *t, int i)
{
	return t->place[i].site.node;
}

struct tuning *tuner_state(const struct tuner *t)
{
	return tuning_copy(t->plan->tuning);
}

void tuner_go_back(struct tuner *t, struct tuning *to)
{
	struct tuning *old = t->plan->tuning;
	t->plan->tuning = tuning_take(to);
	tuning_drop(&old);
}

// ---- one node

// The grid of every output of a group. What sets the range of a scale (the extremes; of a symmetric grid the largest magnitude) stays.
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
	tensor_drop(&b->tuned.weight);
	tensor_drop(&b->tuned.bias);
}

static enum status copy_constant(struct tensor *out, const struct tensor *from, struct error *err)
{
	*out = *from;
	out->buf = NULL;
	enum status st = tensor_alloc(out, NULL, err);
	if (st == STATUS_OK)
		memcpy(out->data, from->data, tensor_bytes(from));
	else
		*out = (struct tensor){0};
	return st;
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
		return no_memory(t, p, err);
	find_ranges(b, weight_of(t, s)->data);
	b->tuned.node = s->node;
	b->tuned.grid = quantizer_key(b->q);
	enum status st = copy_constant(&b->tuned.weight, plan_constant(t->plan, in + 1), err);
	if (st == STATUS_OK && s->bias)
		st = copy_constant(&b->tuned.bias, plan_constant(t->plan, in + 2), err);
	return st;
}

// The group's weights as they are in the file, and as they are in force, on the grid.
static void load_group(struct bench *b, const struct tuner *t, int64_t group)
{
	const struct tune_site *s = b->s;
	const float *file = weight_of(t, s)->data, *now = b->tuned.weight.data, *bias = b->tuned.bias.data;
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
	float *w = group_weights(s, weight_of(t, s), group);
	if (!w)
		return no_memory(t, p, err);
	for (int half = 0; half < 2; half++) {
		memset(b->half[half].xx, 0, moments_bytes(s->k, s->m));
		b->half[half].n = 0;
	}
	for (int i = 0; i < t->opt.samples; i++) {
		const float *x = p->row + i * s->rows * k + group * s->k, *y = p->wanted + i * s->rows * m + group * s->m;
		linalg_apply(&(struct linalg_rows){.x = x, .w = w, .y = b->left, .rows = s->rows, .k = s->k, .m = s->m, .x_row = k, .w_row = s->k, .y_row = s->m});
		for (int64_t j = 0; j < s->rows; j++)
			for (int64_t c = 0; c < s->m; c++)
				b->left[j * s->m + c] = y[j * m + c] - b->left[j * s->m + c] - (s->bias ? s->bias[group * s->m + c] : 0.0f);
		moments_add_rows(&b->half[i % 2], x, k, b->left, s->m, s->rows);
	}
	free(w);
	return STATUS_OK;
}

// A value on the grid may lie beyond the range by less than half a step: there the range's end stands for the same code.
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
		return no_memory(t, p, err);
	if (r.changed)
		store_group(b, &r, group);
	p->done.before += r.before;
	p->done.after += r.after;
	p->done.changed += r.changed;
	fit_done(&r);
	return STATUS_OK;
}

static enum status tune_place(struct tuner *t, struct place *p, struct error *err)
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
		b.tuned.weight = b.tuned.bias = (struct tensor){0};
	}
	bench_done(&b);
	return st;
}

static void tune_one(void *arg, int i, int worker, int width)
{
	struct tuner *t = arg;
	struct error err = {0};
	(void)worker, (void)width;
	if (tune_place(t, &t->place[t->first + i], &err) == STATUS_OK)
		return;
	pthread_mutex_lock(&t->lock);
	t->err = err;
	pthread_mutex_unlock(&t->lock);
}

static void put_tuned(struct tuner *t, int first, int last)
{
	struct tuning *next = tuning_copy(t->plan->tuning);
	for (int i = first; i < last; i++) {
		struct tuned *one = &t->place[i].tuned;
		if (!one->weight.data)
			continue;
		one->weight_key = tensor_key(&one->weight);
		one->bias_key = one->bias.data ? tensor_key(&one->bias) : (struct key){0};
		tuning_put(next, one);
		*one = (struct tuned){0};
	}
	tuner_go_back(t, next);
	tuning_drop(&next);
}

// How many of first..last-1 can share a pass: of one level, and together within the memory.
static int batch_end(const struct tuner *t, int first, int last)
{
	size_t bytes = bytes_at_hand(t, &t->place[first].site);
	int end = first + 1;
	while (end < last && t->place[end].level == t->place[first].level &&
	       bytes + bytes_at_hand(t, &t->place[end].site) <= t->opt.memory / 2)
		bytes += bytes_at_hand(t, &t->place[end++].site);
	return end;
}

static enum status take_rows(struct tuner *t, int first, int last, struct error *err)
{
	for (int i = first; i < last; i++) {
		const struct tune_site *s = &t->place[i].site;
		t->place[i].row = mem_try_array((size_t)(t->opt.samples * s->rows) * (size_t)(s->groups * s->k), sizeof(float));
		if (!t->place[i].row)
			return no_memory(t, &t->place[i], err);
	}
	return look(t, SIM_FULL, first, last, err);
}

static void drop_batch(struct tuner *t, int first, int last)
{
	for (int i = first; i < last; i++) {
		struct place *p = &t->place[i];
		free(p->row);
		p->row = NULL;
		tensor_drop(&p->tuned.weight);
		tensor_drop(&p->tuned.bias);
	}
}

static enum status run_batch(struct tuner *t, int first, int last, struct error *err)
{
	enum status st = take_rows(t, first, last, err);
	if (st == STATUS_OK) {
		jobs_run(engine_jobs(t->e), last - first, tune_one, t, t->opt.cancel);
		*err = t->err;
		st = err->status;
	}
	if (st == STATUS_OK && t->opt.cancel && atomic_load(t->opt.cancel))
		st = error_set(err, STATUS_CANCELLED, "cancelled");
	if (st == STATUS_OK)
		put_tuned(t, first, last);
	drop_batch(t, first, last);
	return st;
}

enum status tuner_run(struct tuner *t, int first, int last, struct tune_row *row, struct error *err)
{
	enum status st = STATUS_OK;
	for (int at = first; at < last && st == STATUS_OK;) {
		int end = batch_end(t, at, last);
		if (t->opt.tell)
			t->opt.tell(t->opt.tell_arg, t->g->node[t->place[at].site.node].name, (double)at / t->n);
		st = run_batch(t, at, end, err);
		for (int i = at; i < end && st == STATUS_OK && row; i++)
			row[i - first] = t->place[i].done;
		at = end;
	}
	return st;
}
