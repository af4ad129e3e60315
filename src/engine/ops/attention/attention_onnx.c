// Attention of ai.onnx: 3D or 4D queries, keys and values, with a mask, a past,
// and from opset 24 on keys that are padding.
#include <math.h>
#include <stdlib.h>
#include "../element.h"
#include "../rule.h"
#include "attention.h"

enum { Q, K, V, MASK, PAST_KEY, PAST_VALUE, NONPAD, INPUTS };
enum { PRESENT_KEY = 1, PRESENT_VALUE, PRODUCTS };

struct sizes {
	int64_t batch, heads, kv_heads, queries, now, past, keys, size, v_size;
	bool flat; // [batch, rows, heads * size]
	const struct tensor *in[INPUTS];
};

static enum status read_layout(struct sizes *s, const struct attention_attrs *a, struct error *err)
{
	const struct shape *q = &s->in[Q]->shape, *k = &s->in[K]->shape, *v = &s->in[V]->shape;
	s->flat = q->rank == 3;
	if ((q->rank != 3 && q->rank != 4) || k->rank != q->rank || v->rank != q->rank)
		return error_set(err, STATUS_FORMAT, "Q, K and V must be of rank 3, or all of rank 4");
	s->heads = s->flat ? a->heads : q->dim[1];
	s->kv_heads = s->flat ? a->kv_heads : k->dim[1];
	if (s->heads < 1 || s->kv_heads < 1 || s->heads % s->kv_heads)
		return error_set(err, STATUS_FORMAT, "%lld heads of Q and %lld of K: q_num_heads and kv_num_heads must be multiples",
		    (long long)s->heads, (long long)s->kv_heads);
	if (s->flat && (q->dim[2] % s->heads || k->dim[2] % s->kv_heads || v->dim[2] % s->kv_heads))
		return error_set(err, STATUS_FORMAT, "the last dimensions are no multiples of the numbers of heads");
	s->batch = q->dim[0];
	s->queries = q->dim[s->flat ? 1 : 2];
	s->now = k->dim[s->flat ? 1 : 2];
	s->size = s->flat ? q->dim[2] / s->heads : q->dim[3];
	s->v_size = s->flat ? v->dim[2] / s->kv_heads : v->dim[3];
	if (k->dim[0] != s->batch || v->dim[0] != s->batch || v->dim[s->flat ? 1 : 2] != s->now ||
	    (s->flat ? k->dim[2] / s->kv_heads : k->dim[3]) != s->size || (!s->flat && v->dim[1] != s->kv_heads))
		return error_set(err, STATUS_FORMAT, "Q, K and V do not fit each other");
	return STATUS_OK;
}

static enum status read_past(struct sizes *s, struct error *err)
{
	const struct tensor *k = s->in[PAST_KEY], *v = s->in[PAST_VALUE];
	if (!k != !v)
		return error_set(err, STATUS_FORMAT, "past_key and past_value must be given together");
	s->past = k && k->shape.rank == 4 ? k->shape.dim[2] : 0;
	s->keys = s->past + s->now;
	if (k && (!shape_equal(&k->shape, &(struct shape){4, {s->batch, s->kv_heads, s->past, s->size}}) ||
	             !shape_equal(&v->shape, &(struct shape){4, {s->batch, s->kv_heads, s->past, s->v_size}})))
		return error_set(err, STATUS_FORMAT, "the past does not fit K and V");
	if (s->in[NONPAD] && (s->in[NONPAD]->shape.rank != 1 || s->in[NONPAD]->shape.dim[0] != s->batch))
		return error_set(err, STATUS_FORMAT, "nonpad_kv_seqlen must have a number for each of the batch");
	return STATUS_OK;
}

// The mask's last dimension may be shorter than the keys: the rest is hidden.
static enum status check_mask(const struct sizes *s, struct error *err)
{
	struct shape whole = {4, {s->batch, s->heads, s->queries, s->keys}}, sum;
	struct shape mask = s->in[MASK] ? s->in[MASK]->shape : (struct shape){0};
	int last = mask.rank - 1;
	if (!s->in[MASK])
		return STATUS_OK;
	if (last >= 0 && mask.dim[last] > 1 && mask.dim[last] < s->keys)
		mask.dim[last] = s->keys;
	if (last < 0 || rule_broadcast(&sum, &whole, &mask, err) != STATUS_OK || !shape_equal(&sum, &whole))
		return error_set(err, STATUS_FORMAT, "the mask does not fit %lld queries and %lld keys", (long long)s->queries,
		    (long long)s->keys);
	return STATUS_OK;
}

static enum status resolve(struct sizes *s, const struct node *n, const struct tensor *const *in, struct error *err)
{
	enum status st;
	*s = (struct sizes){0};
	for (int i = 0; i < n->n_in; i++)
		s->in[i] = in[i];
	st = read_layout(s, n->attrs, err);
	if (st == STATUS_OK)
		st = read_past(s, err);
	if (st == STATUS_OK)
		st = attention_check(s->batch, s->heads, s->queries, s->keys, err);
	return st == STATUS_OK ? check_mask(s, err) : st;
}

enum status attention_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	const struct attention_attrs *a = n->attrs;
	struct sizes s;
	enum status st = resolve(&s, n, in, err);
	if (st == STATUS_OK && !rule_within(a->output_mode, 0, ATTENTION_STAGES - 1))
		st = error_set(err, STATUS_FORMAT, "qk_matmul_output_mode is %lld", (long long)a->output_mode);
	if (st != STATUS_OK)
		return st;
	struct shape shapes[] = {
	    s.flat ? (struct shape){3, {s.batch, s.queries, s.heads * s.v_size}} : (struct shape){4, {s.batch, s.heads, s.queries, s.v_size}},
	    {4, {s.batch, s.kv_heads, s.keys, s.size}},
	    {4, {s.batch, s.kv_heads, s.keys, s.v_size}},
	    {4, {s.batch, s.heads, s.queries, s.keys}},
	};
	for (int i = 0; i < n->n_out; i++)
		rule_set(&out[i], DT_F32, &shapes[i]);
	return STATUS_OK;
}

// The mask as floats to add, as long as the keys, which the caller frees:
// true is 0, false and what is not there hidden, numbers are added.
static enum status mask_floats(float **out, struct addend *add, const struct sizes *s, struct error *err)
{
	const struct tensor *m = s->in[MASK];
	struct shape shape = m->shape;
	int64_t given = shape.dim[shape.rank - 1], keys = given == 1 ? 1 : s->keys, rows = rule_product(&shape, 0, shape.rank - 1);
	float *y = *out = mem_try_array((size_t)(rows * keys) + 1, sizeof *y);
	if (!y)
		return error_set(err, STATUS_NOMEM, "no memory for a mask of %lld rows", (long long)rows);
	for (int64_t r = 0; r < rows; r++)
		for (int64_t j = 0; j < keys; j++) {
			double v = j < given ? element_double(m, r * given + j) : 0;
			bool seen = j < given && (m->type != DT_BOOL || v != 0);
			y[r * keys + j] = !seen ? ATTENTION_HIDDEN : m->type == DT_BOOL ? 0 : (float)v;
		}
	shape.dim[shape.rank - 1] = keys;
	*add = addend_of(&shape, y);
	return STATUS_OK;
}

// What hides padding, and without a past, where only the queries' distance from the end
// of the keys is known, what follows a query.
static enum status padding_floats(float **out, struct attention *t, const struct sizes *s, struct error *err)
{
	struct shape shape = {4, {s->batch, 1, s->queries, s->keys}};
	bool causal = t->causal && !s->in[PAST_KEY];
	float *y = *out = mem_try_array((size_t)shape_count(&shape) + 1, sizeof *y);
	if (!y)
		return error_set(err, STATUS_NOMEM, "no memory for a mask of %lld rows", (long long)(s->batch * s->queries));
	for (int64_t r = 0; r < s->batch * s->queries; r++) {
		int64_t seen = ((const int64_t *)s->in[NONPAD]->data)[r / s->queries], last = r % s->queries + seen - s->queries;
		for (int64_t j = 0; j < s->keys; j++)
			y[r * s->keys + j] = j >= seen || (causal && j > last) ? ATTENTION_HIDDEN : 0;
	}
	t->causal = t->causal && !causal;
	t->bias = addend_of(&shape, y);
	return STATUS_OK;
}

static enum status place(struct heads *at, float **made, const struct sizes *s, int now, int past, int64_t size, struct error *err)
{
	struct attention_rows r = {.batch = s->batch, .heads = s->kv_heads, .size = size, .past_rows = s->past, .now_rows = s->now};
	r.now = heads_of(s->in[now], s->kv_heads);
	if (s->in[past])
		r.past = heads_of(s->in[past], s->kv_heads);
	return attention_place(at, made, &r, err);
}

enum status attention_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	const struct attention_attrs *a = n->attrs;
	struct sizes s;
	float *made[4] = {NULL}; // keys, values, mask, padding
	enum status st = resolve(&s, n, in, err);
	if (st != STATUS_OK)
		return st;
	struct attention t = {.batch = s.batch, .heads = s.heads, .kv_heads = s.kv_heads, .queries = s.queries, .size = s.size,
	    .v_size = s.v_size, .before = s.past, .keys = s.keys, .q = heads_of(in[Q], s.heads), .y = heads_of(&out[0], s.heads),
	    .scale = isnan(a->scale) ? 1 / sqrtf((float)s.size) : a->scale, .softcap = a->softcap, .causal = a->causal != 0};
	st = place(&t.k, &made[0], &s, K, PAST_KEY, s.size, err);
	if (st == STATUS_OK)
		st = place(&t.v, &made[1], &s, V, PAST_VALUE, s.v_size, err);
	if (st == STATUS_OK && s.in[MASK])
		st = mask_floats(&made[2], &t.mask, &s, err);
	if (st == STATUS_OK && s.in[NONPAD])
		st = padding_floats(&made[3], &t, &s, err);
	if (st == STATUS_OK && n->n_out > PRESENT_KEY && out[PRESENT_KEY].data)
		heads_copy(out[PRESENT_KEY].data, &t.k, s.batch, s.kv_heads, s.keys, s.size);
	if (st == STATUS_OK && n->n_out > PRESENT_VALUE && out[PRESENT_VALUE].data)
		heads_copy(out[PRESENT_VALUE].data, &t.v, s.batch, s.kv_heads, s.keys, s.v_size);
	if (n->n_out > PRODUCTS)
		t.kept[a->output_mode] = out[PRODUCTS].data;
	if (st == STATUS_OK)
		st = attention_run(&t, width, err);
	for (int i = 0; i < 4; i++)
		free(made[i]);
	return st;
}
