// GroupQueryAttention of com.microsoft: causal, several heads of queries for one of keys and values,
// which follow those of the past.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "../element.h"
#include "../rule.h"
#include "attention.h"
#include "rotary.h"

enum { QUERY, KEY, VALUE, PAST_KEY, PAST_VALUE, LENGTHS, TOTAL, COS, SIN, POSITIONS, ADDED, SINK };
enum { PRESENT_KEY = 1, PRESENT_VALUE };
enum { MADE_Q, MADE_K, MADE_V, MADE_MASK, MADE_SINKS, MADE }; // arrays that an evaluation makes

struct group {
	int64_t batch, heads, kv_heads, queries, size, past, present; // past, present: rows of the caches
	int64_t entry;        // of the batch, where this is the group of one alone
	int64_t before, keys; // rows of its past that count, and with those of now; known when it runs
	struct heads q, k, v, past_k, past_v;
	const struct tensor *cos, *sin, *positions, *added, *sink;
};

// Queries, keys and values in each row of one tensor.
static bool lay_out_packed(struct group *g, const struct tensor *t)
{
	int64_t row = t->shape.dim[2], all = g->heads + 2 * g->kv_heads;
	const float *at = t->data;
	g->size = row / all;
	g->q = (struct heads){at, g->queries * row, g->size, row};
	g->k = g->v = g->q;
	if (at) {
		g->k.at = at + g->heads * g->size;
		g->v.at = g->k.at + g->kv_heads * g->size;
	}
	return row % all == 0 && g->size > 0;
}

static bool lay_out(struct group *g, const struct tensor *q, const struct tensor *k, const struct tensor *v)
{
	struct shape kv = {3, {g->batch, g->queries, 0}};
	if (!k && !v)
		return lay_out_packed(g, q);
	g->size = q->shape.dim[2] / g->heads;
	kv.dim[2] = g->kv_heads * g->size;
	if (!k || !v || q->shape.dim[2] % g->heads || g->size < 1 || !shape_equal(&k->shape, &kv) || !shape_equal(&v->shape, &kv))
		return false;
	g->q = heads_of(q, g->heads);
	g->k = heads_of(k, g->kv_heads);
	g->v = heads_of(v, g->kv_heads);
	return true;
}

static enum status read_caches(struct group *g, const struct node *n, const struct tensor *const *in, struct error *err)
{
	const struct tensor *k = rule_input(n, in, PAST_KEY), *v = rule_input(n, in, PAST_VALUE);
	const struct tensor *lengths = rule_input(n, in, LENGTHS), *total = rule_input(n, in, TOTAL);
	g->past = k && k->shape.rank == 4 ? k->shape.dim[2] : 0;
	if (!k != !v || (k && (!shape_equal(&k->shape, &(struct shape){4, {g->batch, g->kv_heads, g->past, g->size}}) ||
	                          !shape_equal(&v->shape, &k->shape))))
		return error_set(err, STATUS_FORMAT, "past_key and past_value do not fit the keys and values");
	if (!lengths || !total || shape_count(&lengths->shape) != g->batch || shape_count(&total->shape) != 1)
		return error_set(err, STATUS_FORMAT, "seqlens_k must be one for each of the batch, total_sequence_length one number");
	if (k) {
		g->past_k = heads_of(k, g->kv_heads);
		g->past_v = heads_of(v, g->kv_heads);
	}
	if (!rule_known(total))
		return rule_pending(err);
	g->present = element_int(total, 0);
	if (!rule_within(g->present, g->queries, RULE_MAX_DIM))
		return error_set(err, STATUS_FORMAT, "total_sequence_length is %lld, with %lld queries", (long long)g->present,
		    (long long)g->queries);
	return STATUS_OK;
}

static enum status check_rotary(struct group *g, const struct group_attention_attrs *a, struct error *err)
{
	if (!a->rotary)
		return STATUS_OK;
	if (!g->cos || !g->sin || g->cos->shape.rank != 2 || !shape_equal(&g->cos->shape, &g->sin->shape) || 2 * g->cos->shape.dim[1] > g->size)
		return error_set(err, STATUS_FORMAT, "cos_cache and sin_cache do not fit heads of %lld", (long long)g->size);
	if (!g->positions && g->present > g->cos->shape.dim[0])
		return error_set(err, STATUS_FORMAT, "total_sequence_length is %lld, cos_cache has %lld rows", (long long)g->present,
		    (long long)g->cos->shape.dim[0]);
	if (g->positions && shape_count(&g->positions->shape) != g->batch * g->queries)
		return error_set(err, STATUS_FORMAT, "position_ids must be one for each query");
	return STATUS_OK;
}

static enum status resolve(struct group *g, const struct node *n, const struct tensor *const *in, struct error *err)
{
	const struct group_attention_attrs *a = n->attrs;
	const struct tensor *q = in[QUERY];
	enum status s;
	if (q->shape.rank != 3 || !rule_within(a->heads, 1, RULE_MAX_DIM) || !rule_within(a->kv_heads, 1, a->heads) || a->heads % a->kv_heads)
		return error_set(err, STATUS_FORMAT, "the query must be of rank 3, num_heads (%lld) a multiple of kv_num_heads (%lld)",
		    (long long)a->heads, (long long)a->kv_heads);
	*g = (struct group){.batch = q->shape.dim[0], .heads = a->heads, .kv_heads = a->kv_heads, .queries = q->shape.dim[1],
	    .cos = rule_input(n, in, COS), .sin = rule_input(n, in, SIN), .positions = rule_input(n, in, POSITIONS),
	    .added = rule_input(n, in, ADDED), .sink = rule_input(n, in, SINK)};
	if (g->sink && shape_count(&g->sink->shape) != a->heads)
		return error_set(err, STATUS_FORMAT, "head_sink must be one for each of %lld heads", (long long)a->heads);
	if (!lay_out(g, q, rule_input(n, in, KEY), rule_input(n, in, VALUE)))
		return error_set(err, STATUS_FORMAT, "query, key and value do not fit each other or %lld and %lld heads", (long long)a->heads,
		    (long long)a->kv_heads);
	s = read_caches(g, n, in, err);
	return s == STATUS_OK ? check_rotary(g, a, err) : s;
}

enum status groupattention_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	struct group g;
	enum status s = resolve(&g, n, in, err);
	if (s != STATUS_OK)
		return s;
	rule_set(&out[0], DT_F32, &(struct shape){3, {g.batch, g.queries, g.heads * g.size}});
	for (int i = 1; i < n->n_out; i++)
		rule_set(&out[i], DT_F32, &(struct shape){4, {g.batch, g.kv_heads, g.present > g.past ? g.present : g.past, g.size}});
	return STATUS_OK;
}

// One entry of the batch by itself, as each has a past of its own length.
static struct group entry_of(const struct group *all, int64_t entry)
{
	struct group g = *all;
	struct heads *const of_batch[] = {&g.q, &g.k, &g.v, &g.past_k, &g.past_v};
	for (size_t i = 0; i < sizeof of_batch / sizeof *of_batch; i++)
		if (of_batch[i]->at)
			of_batch[i]->at += entry * of_batch[i]->batch;
	g.batch = 1;
	g.entry = entry;
	return g;
}

// The bias of a shorter past has columns for the longest.
static bool bias_fits(const struct group *g, int64_t batch)
{
	const struct shape *s = &g->added->shape;
	return s->rank == 4 && (s->dim[0] == 1 || s->dim[0] == batch) && (s->dim[1] == 1 || s->dim[1] == g->heads) &&
	    s->dim[2] == g->queries && (s->dim[3] == g->keys || (s->dim[3] == g->present && g->present > g->keys));
}

// A first prompt is all there is; else the queries are the last rows, and the past what lies before them.
static enum status read_length(struct group *g, const struct tensor *lengths, struct error *err)
{
	int64_t last = element_int(lengths, g->entry); // row of the keys
	if (!rule_within(last, -1, RULE_MAX_DIM))
		return error_set(err, STATUS_FORMAT, "seqlens_k is %lld", (long long)last);
	g->before = g->queries == g->present ? 0 : last + 1 - g->queries;
	g->keys = g->before + g->queries;
	if (g->before < 0 || g->before > g->past)
		return error_set(err, STATUS_FORMAT, "seqlens_k says that %lld rows of the past count, of %lld", (long long)g->before,
		    (long long)g->past);
	if (g->keys > g->present && g->keys > g->past)
		return error_set(err, STATUS_FORMAT, "seqlens_k says that there are %lld rows, total_sequence_length %lld", (long long)g->keys,
		    (long long)g->present);
	if (g->added && !bias_fits(g, shape_count(&lengths->shape)))
		return error_set(err, STATUS_FORMAT, "attention_bias does not fit %lld queries and %lld keys", (long long)g->queries,
		    (long long)g->keys);
	return attention_check(1, g->heads, g->queries, g->keys, err);
}

// Turns the last g->queries of `rows` rows of each head.
static enum status turn(float *x, const struct group *g, int64_t heads, int64_t rows, bool interleaved, struct error *err)
{
	int64_t pairs = g->cos->shape.dim[1];
	struct rotary_pairs how = {g->size, pairs, interleaved};
	for (int64_t i = 0; i < heads * g->queries; i++) {
		int64_t row = i % g->queries, at = g->positions ? element_int(g->positions, g->entry * g->queries + row) : g->before + row;
		float *own = x + (i / g->queries * rows + rows - g->queries + row) * g->size;
		if (!rule_within(at, 0, g->cos->shape.dim[0] - 1))
			return error_set(err, STATUS_FORMAT, "position %lld is not one of %lld", (long long)at, (long long)g->cos->shape.dim[0]);
		rotary_turn(own, own, &how, (const float *)g->cos->data + at * pairs, (const float *)g->sin->data + at * pairs);
	}
	return STATUS_OK;
}

// The scores that join the softmax of each head: those given, or 0 if it is to be smooth.
static enum status read_sinks(struct attention *t, float **made, const struct group *g, bool smooth, struct error *err)
{
	if (g->sink)
		t->sink = g->sink->data;
	if (g->sink || !smooth)
		return STATUS_OK;
	t->sink = *made = mem_try_array((size_t)g->heads, sizeof **made);
	return *made ? STATUS_OK : error_set(err, STATUS_NOMEM, "no memory for %lld heads", (long long)g->heads);
}

// What lies `window` keys and more behind a query is hidden.
static enum status hide_far(float **out, const struct group *g, int64_t window, struct error *err)
{
	float *y = *out = mem_try_array((size_t)(g->queries * g->keys) + 1, sizeof *y);
	if (!y)
		return error_set(err, STATUS_NOMEM, "no memory for a mask of %lld x %lld", (long long)g->queries, (long long)g->keys);
	for (int64_t i = 0; i < g->queries; i++)
		for (int64_t k = 0; k < g->keys; k++)
			y[i * g->keys + k] = k <= g->before + i - window ? ATTENTION_HIDDEN : 0;
	return STATUS_OK;
}

// The rows that count, then what the cache held behind them.
static void keep_present(struct tensor *to, const struct group *g, const float *rows, const struct heads *past)
{
	int64_t all = to->shape.dim[2];
	for (int64_t i = 0; i < g->kv_heads; i++) {
		float *y = (float *)to->data + (g->entry * g->kv_heads + i) * all * g->size;
		memcpy(y, rows + i * g->keys * g->size, (size_t)(g->keys * g->size) * sizeof *y);
		for (int64_t r = g->keys; r < all; r++)
			if (r < g->past)
				memcpy(y + r * g->size, past->at + (i * g->past + r) * g->size, (size_t)g->size * sizeof *y);
			else
				memset(y + r * g->size, 0, (size_t)g->size * sizeof *y);
	}
}

static enum status attend(
    const struct group *g, const struct group_attention_attrs *a, struct tensor *out, int n_out, float *made[MADE], int width, struct error *err)
{
	const struct attention_rows q = {g->batch, g->heads, g->size, 0, g->queries, g->q, g->q, NULL};
	const struct attention_rows k = {g->batch, g->kv_heads, g->size, g->before, g->queries, g->past_k, g->k, NULL};
	const struct attention_rows v = {g->batch, g->kv_heads, g->size, g->before, g->queries, g->past_v, g->v, NULL};
	struct attention t = {.batch = g->batch, .heads = g->heads, .kv_heads = g->kv_heads, .queries = g->queries, .size = g->size,
	    .v_size = g->size, .before = g->before, .keys = g->keys, .y = heads_of(&out[0], g->heads), .causal = true, .softcap = a->softcap,
	    .scale = a->scale == 0 ? 1 / sqrtf((float)g->size) : a->scale};
	enum status s = attention_join(&made[MADE_Q], &q, err);
	t.y.at += g->entry * t.y.batch;
	if (s == STATUS_OK)
		s = attention_join(&made[MADE_K], &k, err);
	if (s == STATUS_OK)
		s = attention_join(&made[MADE_V], &v, err);
	if (s == STATUS_OK && a->rotary)
		s = turn(made[MADE_Q], g, g->heads, g->queries, a->interleaved != 0, err);
	if (s == STATUS_OK && a->rotary)
		s = turn(made[MADE_K], g, g->kv_heads, g->keys, a->interleaved != 0, err);
	if (s == STATUS_OK && a->window >= 0)
		s = hide_far(&made[MADE_MASK], g, a->window, err);
	if (s == STATUS_OK)
		s = read_sinks(&t, &made[MADE_SINKS], g, a->smooth != 0, err);
	if (s != STATUS_OK)
		return s;
	t.q = heads_dense(made[MADE_Q], g->heads, g->queries, g->size);
	t.k = heads_dense(made[MADE_K], g->kv_heads, g->keys, g->size);
	t.v = heads_dense(made[MADE_V], g->kv_heads, g->keys, g->size);
	if (made[MADE_MASK])
		t.mask = addend_of(&(struct shape){2, {g->queries, g->keys}}, made[MADE_MASK]);
	if (g->added) {
		t.bias = addend_of(&g->added->shape, g->added->data);
		t.bias.at += g->entry * t.bias.batch;
	}
	if (n_out > PRESENT_KEY && out[PRESENT_KEY].data)
		keep_present(&out[PRESENT_KEY], g, made[MADE_K], &g->past_k);
	if (n_out > PRESENT_VALUE && out[PRESENT_VALUE].data)
		keep_present(&out[PRESENT_VALUE], g, made[MADE_V], &g->past_v);
	return attention_run(&t, width, err);
}

static enum status attend_entry(
    struct group *g, const struct node *n, const struct tensor *lengths, struct tensor *out, int width, struct error *err)
{
	float *made[MADE] = {NULL};
	enum status s = read_length(g, lengths, err);
	if (s == STATUS_OK)
		s = attend(g, n->attrs, out, n->n_out, made, width, err);
	for (int i = 0; i < MADE; i++)
		free(made[i]);
	return s;
}

enum status groupattention_eval(const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	struct group all;
	enum status s = resolve(&all, n, in, err);
	for (int64_t b = 0; s == STATUS_OK && b < all.batch; b++) {
		struct group g = entry_of(&all, b);
		s = attend_entry(&g, n, in[LENGTHS], out, width, err);
	}
	return s;
}
