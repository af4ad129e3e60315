// What ONNX Runtime's own attentions do once queries, keys and values are there: masks, what went before, the products.
#include "attention_ms.h"
#include <math.h>
#include <stdlib.h>
#include "../element.h"
#include "../rule.h"

// ---- masks

static bool mask_fits(const struct attention_ms *j, const struct shape *m)
{
	if (m->rank == 1)
		return m->dim[0] == j->batch || m->dim[0] == 2 * j->batch;
	if (m->rank == 2)
		return m->dim[0] == j->batch && m->dim[1] == j->keys;
	return m->rank == 3 && m->dim[0] == j->batch && m->dim[1] == j->queries && m->dim[2] == j->keys;
}

enum status attention_ms_check(const struct attention_ms *j, struct error *err)
{
	struct shape whole = {4, {j->batch, j->heads, j->queries, j->keys}}, sum;
	enum status s = attention_check(j->batch, j->heads, j->queries, j->keys, err);
	if (s != STATUS_OK)
		return s;
	if (j->mask && !mask_fits(j, &j->mask->shape))
		return error_set(err, STATUS_UNSUPPORTED,
		    "a mask must be [batch], [2 * batch], [batch, keys] or [batch, queries, keys] of %lld queries and %lld keys",
		    (long long)j->queries, (long long)j->keys);
	if (j->added && (rule_broadcast(&sum, &whole, &j->added->shape, err) != STATUS_OK || !shape_equal(&sum, &whole)))
		return error_set(err, STATUS_FORMAT, "what is added does not fit %lld queries and %lld keys", (long long)j->queries,
		    (long long)j->keys);
	return STATUS_OK;
}

// One number: where the keys end; two: and where they begin; else one for each key, 0 where it is hidden.
static bool is_seen(const struct attention_ms *j, int64_t b, int64_t query, int64_t key)
{
	const struct tensor *m = j->mask;
	if (m->shape.rank == 1)
		return key < element_int(m, b) && (m->shape.dim[0] == j->batch || key >= element_int(m, j->batch + b));
	return element_int(m, ((m->shape.rank == 2 ? b : b * j->queries + query) * j->keys) + key) > 0;
}

static enum status mask_floats(float **out, struct attention *t, const struct attention_ms *j, float hidden, struct error *err)
{
	struct shape shape = {4, {j->batch, 1, j->queries, j->keys}};
	int64_t n = shape_count(&shape);
	float *y = *out = mem_try_array((size_t)n + 1, sizeof *y);
	if (!y)
		return error_set(err, STATUS_NOMEM, "no memory for a mask of %lld numbers", (long long)n);
	for (int64_t i = 0; i < n; i++)
		y[i] = is_seen(j, i / j->keys / j->queries, i / j->keys % j->queries, i % j->keys) ? 0 : hidden;
	t->mask = addend_of(&shape, y);
	return STATUS_OK;
}

// ---- running

enum status attention_ms_run(const struct attention_ms *j, const struct fused_attention_attrs *a, struct tensor *y, int width, struct error *err)
{
	const struct attention_rows k = {j->batch, j->heads, j->size, j->past, j->now, j->past_k, j->k, j->k_bias};
	const struct attention_rows v = {j->batch, j->heads, j->v_size, j->past, j->now, j->past_v, j->v, j->v_bias};
	const struct attention_rows q = {
	    .batch = j->batch, .heads = j->heads, .size = j->size, .now_rows = j->queries, .now = j->q, .bias = j->q_bias};
	float *made[4] = {NULL}; // keys, values, queries, mask
	struct attention t = {.batch = j->batch, .heads = j->heads, .kv_heads = j->heads, .queries = j->queries, .size = j->size,
	    .v_size = j->v_size, .before = j->past, .keys = j->keys, .y = heads_of(y, j->heads),
	    .scale = a->scale == 0 ? 1 / sqrtf((float)j->size) : a->scale, .causal = a->causal != 0,
	    .kept[ATTENTION_MASKED] = j->masked};
	enum status s = attention_place(&t.k, &made[0], &k, err);
	if (s == STATUS_OK)
		s = attention_place(&t.v, &made[1], &v, err);
	if (s == STATUS_OK)
		s = attention_place(&t.q, &made[2], &q, err);
	if (s == STATUS_OK && j->mask)
		s = mask_floats(&made[3], &t, j, a->hidden, err);
	if (j->added)
		t.bias = addend_of(&j->added->shape, j->added->data);
	if (s == STATUS_OK && j->present_k)
		heads_copy(j->present_k, &t.k, j->batch, j->heads, j->keys, j->size);
	if (s == STATUS_OK && j->present_v)
		heads_copy(j->present_v, &t.v, j->batch, j->heads, j->keys, j->v_size);
	if (s == STATUS_OK)
		s = attention_run(&t, width, err);
	for (int i = 0; i < 4; i++)
		free(made[i]);
	return s;
}
