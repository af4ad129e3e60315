// ONNX Runtime's own attentions: MultiHeadAttention on given queries, keys and values, Attention and QAttention on one input that they
// project themselves, in floats or from codes.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "attention.h"
#include "element.h"
#include "matmulinteger.h"
#include "qlinear.h"
#include "rule.h"

enum { MH_QUERY, MH_KEY, MH_VALUE, MH_BIAS, MH_PADDING, MH_ADDED, MH_PAST_KEY, MH_PAST_VALUE };
enum { AT_INPUT, AT_WEIGHT, AT_BIAS, AT_MASK, AT_PAST, AT_ADDED };
enum { QA_INPUT, QA_WEIGHT, QA_BIAS, QA_INPUT_SCALE, QA_WEIGHT_SCALE, QA_MASK, QA_INPUT_ZERO, QA_WEIGHT_ZERO, QA_PAST };

struct job {
	int64_t batch, heads, queries, now, past, keys, size, v_size;
	struct heads q, k, v, past_k, past_v;
	const float *q_bias, *k_bias, *v_bias;
	const struct tensor *mask, *added;
	float *present_k, *present_v, *masked; // outputs; NULL: not wanted
};

// ---- masks

static bool mask_fits(const struct job *j, const struct shape *m)
{
	if (m->rank == 1)
		return m->dim[0] == j->batch || m->dim[0] == 2 * j->batch;
	if (m->rank == 2)
		return m->dim[0] == j->batch && m->dim[1] == j->keys;
	return m->rank == 3 && m->dim[0] == j->batch && m->dim[1] == j->queries && m->dim[2] == j->keys;
}

static enum status check_masks(const struct job *j, struct error *err)
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
static bool is_seen(const struct job *j, int64_t b, int64_t query, int64_t key)
{
	const struct tensor *m = j->mask;

	if (m->shape.rank == 1)
		return key < element_int(m, b) && (m->shape.dim[0] == j->batch || key >= element_int(m, j->batch + b));
	return element_int(m, ((m->shape.rank == 2 ? b : b * j->queries + query) * j->keys) + key) > 0;
}

static enum status mask_floats(float **out, struct attention *t, const struct job *j, float hidden, struct error *err)
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

// ---- what all three do once queries, keys and values are there

static enum status join(float **out, const struct job *j, const struct heads *now, const struct heads *past, int64_t size,
    const float *bias, struct error *err)
{
	struct attention_rows r = {j->batch, j->heads, size, j->past, j->now, *past, *now, bias};

	return attention_join(out, &r, err);
}

static enum status run(const struct job *j, const struct fused_attention_attrs *a, struct tensor *y, int width, struct error *err)
{
	float *made[4] = {NULL}; // keys, values, queries, mask
	struct attention t = {.batch = j->batch, .heads = j->heads, .kv_heads = j->heads, .queries = j->queries, .size = j->size,
	    .v_size = j->v_size, .before = j->past, .keys = j->keys, .q = j->q, .y = heads_of(y, j->heads),
	    .scale = a->scale == 0 ? 1 / sqrtf((float)j->size) : a->scale, .causal = a->causal != 0,
	    .kept[ATTENTION_MASKED] = j->masked};
	struct attention_rows biased = {j->batch, j->heads, j->size, 0, j->queries, j->q, j->q, j->q_bias};
	enum status s = join(&made[0], j, &j->k, &j->past_k, j->size, j->k_bias, err);

	if (s == STATUS_OK)
		s = join(&made[1], j, &j->v, &j->past_v, j->v_size, j->v_bias, err);
	if (s == STATUS_OK && j->q_bias) {
		s = attention_join(&made[2], &biased, err);
		t.q = (struct heads){made[2], j->heads * j->queries * j->size, j->queries * j->size, j->size};
	}
	if (s == STATUS_OK && j->mask)
		s = mask_floats(&made[3], &t, j, a->hidden, err);
	if (j->added)
		t.bias = addend_of(&j->added->shape, j->added->data);
	t.k = made[0];
	t.v = made[1];
	if (s == STATUS_OK && j->present_k)
		memcpy(j->present_k, t.k, (size_t)(j->batch * j->heads * j->keys * j->size) * sizeof(float));
	if (s == STATUS_OK && j->present_v)
		memcpy(j->present_v, t.v, (size_t)(j->batch * j->heads * j->keys * j->v_size) * sizeof(float));
	if (s == STATUS_OK)
		s = attention_run(&t, width, err);
	for (int i = 0; i < 4; i++)
		free(made[i]);
	return s;
}

// ---- MultiHeadAttention

// [batch, rows, heads, parts, size], part `i`.
static struct heads packed(const struct tensor *t, int64_t i)
{
	const int64_t *d = t->shape.dim;

	return (struct heads){t->data ? (const float *)t->data + i * d[4] : NULL, d[1] * d[2] * d[3] * d[4], d[3] * d[4], d[2] * d[3] * d[4]};
}

// Where the queries, keys and values lie and how long they are; false: in none of the ways that are known.
static bool lay_out(struct job *j, const struct tensor *q, const struct tensor *k, const struct tensor *v)
{
	const int64_t *d = q->shape.dim, *e = k ? k->shape.dim : NULL;

	j->batch = d[0];
	j->queries = j->now = d[1];
	if (q->shape.rank == 5 && !k && !v && d[2] == j->heads && d[3] == 3) {
		j->size = j->v_size = d[4];
		j->q = packed(q, 0);
		j->k = packed(q, 1);
		j->v = packed(q, 2);
		return true;
	}
	if (q->shape.rank != 3 || !k || d[2] % j->heads || e[0] != j->batch)
		return false;
	j->size = d[2] / j->heads;
	j->q = heads_of(q, j->heads);
	if (k->shape.rank == 5) {
		j->now = e[1];
		j->v_size = j->size;
		j->k = packed(k, 0);
		j->v = packed(k, 1);
		return !v && e[2] == j->heads && e[3] == 2 && e[4] == j->size;
	}
	if (!v || v->shape.rank != k->shape.rank || (k->shape.rank != 3 && k->shape.rank != 4) || v->shape.dim[0] != j->batch)
		return false;
	j->k = heads_of(k, j->heads);
	j->v = heads_of(v, j->heads);
	if (k->shape.rank == 4) {
		j->now = e[2];
		j->v_size = v->shape.dim[3];
		return e[1] == j->heads && v->shape.dim[1] == j->heads && e[3] == j->size && v->shape.dim[2] == j->now;
	}
	j->now = e[1];
	j->v_size = v->shape.dim[2] / j->heads;
	return e[2] == d[2] && v->shape.dim[1] == j->now && v->shape.dim[2] % j->heads == 0;
}

static enum status read_past(struct job *j, const struct tensor *k, const struct tensor *v, struct error *err)
{
	j->past = k && k->shape.rank == 4 ? k->shape.dim[2] : 0;
	j->keys = j->past + j->now;
	if (!k != !v || (k && (!shape_equal(&k->shape, &(struct shape){4, {j->batch, j->heads, j->past, j->size}}) ||
	                          !shape_equal(&v->shape, &(struct shape){4, {j->batch, j->heads, j->past, j->v_size}}))))
		return error_set(err, STATUS_FORMAT, "past_key and past_value do not fit the keys and values");
	if (k) {
		j->past_k = heads_of(k, j->heads);
		j->past_v = heads_of(v, j->heads);
	}
	return STATUS_OK;
}

static enum status multihead_job(struct job *j, const struct node *n, const struct tensor *const *in, struct error *err)
{
	const struct tensor *bias = qlinear_input(n, in, MH_BIAS);
	enum status s;

	*j = (struct job){.heads = ((const struct fused_attention_attrs *)n->attrs)->heads, .mask = qlinear_input(n, in, MH_PADDING),
	    .added = qlinear_input(n, in, MH_ADDED)};
	if (j->heads < 1 || (in[0]->shape.rank != 3 && in[0]->shape.rank != 5) ||
	    !lay_out(j, in[0], qlinear_input(n, in, MH_KEY), qlinear_input(n, in, MH_VALUE)))
		return error_set(err, STATUS_UNSUPPORTED, "query, key and value do not fit each other or %lld heads", (long long)j->heads);
	s = read_past(j, qlinear_input(n, in, MH_PAST_KEY), qlinear_input(n, in, MH_PAST_VALUE), err);
	if (s == STATUS_OK && bias && tensor_count(bias) != j->heads * (2 * j->size + j->v_size))
		s = error_set(err, STATUS_FORMAT, "the bias must have %lld numbers", (long long)(j->heads * (2 * j->size + j->v_size)));
	if (s == STATUS_OK && bias && bias->data) {
		j->q_bias = bias->data;
		j->k_bias = j->q_bias + j->heads * j->size;
		j->v_bias = j->k_bias + j->heads * j->size;
	}
	return s == STATUS_OK ? check_masks(j, err) : s;
}

enum status multihead_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	struct job j;
	enum status s = multihead_job(&j, n, in, err);

	if (s != STATUS_OK)
		return s;
	const struct shape shapes[] = {
	    {3, {j.batch, j.queries, j.heads * j.v_size}},
	    {4, {j.batch, j.heads, j.keys, j.size}},
	    {4, {j.batch, j.heads, j.keys, j.v_size}},
	    {4, {j.batch, j.heads, j.queries, j.keys}},
	};

	for (int i = 0; i < n->n_out; i++)
		rule_set(&out[i], DT_F32, &shapes[i]);
	return STATUS_OK;
}

enum status multihead_eval(const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	struct job j;
	enum status s = multihead_job(&j, n, in, err);
	float **to[] = {NULL, &j.present_k, &j.present_v, &j.masked};

	for (int i = 1; i < n->n_out; i++)
		*to[i] = out[i].data;
	return s == STATUS_OK ? run(&j, n->attrs, &out[0], width, err) : s;
}

// ---- Attention, QAttention

struct projection {
	struct integer_product p; // of floats in Attention
	const struct tensor *bias, *past;
	int64_t q_width, v_width;
	struct product_scales scales; // of QAttention
};

static struct projection projection_of(struct job *j, const struct node *n, const struct tensor *const *in)
{
	if (n->op->id == OP_Attention) {
		j->mask = qlinear_input(n, in, AT_MASK);
		j->added = qlinear_input(n, in, AT_ADDED);
		return (struct projection){.p = {.a = in[AT_INPUT], .b = in[AT_WEIGHT]}, .bias = qlinear_input(n, in, AT_BIAS),
		    .past = qlinear_input(n, in, AT_PAST)};
	}
	j->mask = qlinear_input(n, in, QA_MASK);
	return (struct projection){.p = {.a = in[QA_INPUT], .b = in[QA_WEIGHT], .a_zero = qlinear_input(n, in, QA_INPUT_ZERO),
	                               .b_zero = qlinear_input(n, in, QA_WEIGHT_ZERO)},
	    .bias = in[QA_BIAS], .past = qlinear_input(n, in, QA_PAST), .scales = {in[QA_INPUT_SCALE], in[QA_WEIGHT_SCALE], 1}};
}

static enum status projected_widths(struct projection *p, const struct node *n, struct error *err)
{
	const struct fused_attention_attrs *a = n->attrs;
	int64_t columns = p->p.t.one.n;

	p->q_width = p->v_width = columns / 3;
	if (a->widths.n == 3) {
		p->q_width = a->widths.at[0];
		p->v_width = a->widths.at[2];
	}
	if (a->rotary || a->share_buffer)
		return error_set(err, STATUS_UNSUPPORTED, "do_rotary and past_present_share_buffer are not supported");
	if (a->heads < 1 || p->q_width < 0 || p->v_width < 0 || p->q_width > columns || p->v_width > columns ||
	    2 * p->q_width + p->v_width != columns || p->q_width % a->heads || p->v_width % a->heads)
		return error_set(err, STATUS_FORMAT, "weights of %lld columns do not make %lld heads", (long long)columns, (long long)a->heads);
	if ((p->bias && tensor_count(p->bias) != columns) || (p->scales.b && tensor_count(p->scales.b) != 1 && tensor_count(p->scales.b) != columns) ||
	    (p->scales.a && tensor_count(p->scales.a) != 1))
		return error_set(err, STATUS_FORMAT, "bias and scales do not fit weights of %lld columns", (long long)columns);
	return STATUS_OK;
}

static enum status projected_job(
    struct job *j, struct projection *p, const struct node *n, const struct tensor *const *in, struct error *err)
{
	enum status s = rule_rank_at_least(in[0], 0, 3, err);

	*j = (struct job){.heads = ((const struct fused_attention_attrs *)n->attrs)->heads};
	*p = projection_of(j, n, in);
	if (s == STATUS_OK && (in[0]->shape.rank != 3 || in[1]->shape.rank != 2))
		s = error_set(err, STATUS_FORMAT, "the input must be of rank 3 and the weights of rank 2");
	if (s == STATUS_OK)
		s = matmulinteger_resolve(&p->p, err);
	if (s == STATUS_OK)
		s = projected_widths(p, n, err);
	if (s == STATUS_OK && shape_count(&p->p.t.y) < 0) // it need not be an output
		s = error_set(err, STATUS_UNSUPPORTED, "the projected queries, keys and values are too many");
	if (s != STATUS_OK)
		return s;
	j->batch = in[0]->shape.dim[0];
	j->queries = j->now = in[0]->shape.dim[1];
	j->size = p->q_width / j->heads;
	j->v_size = p->v_width / j->heads;
	j->past = p->past && p->past->shape.rank == 5 ? p->past->shape.dim[3] : 0;
	j->keys = j->past + j->now;
	if (p->past && (j->size != j->v_size || !shape_equal(&p->past->shape, &(struct shape){5, {2, j->batch, j->heads, j->past, j->size}})))
		return error_set(err, STATUS_FORMAT, "the past does not fit the heads");
	return check_masks(j, err);
}

enum status projected_attention_shape(
    const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	struct job j;
	struct projection p;
	enum status s = projected_job(&j, &p, n, in, err);

	if (s == STATUS_OK && n->n_out > 1 && j.size != j.v_size)
		s = error_set(err, STATUS_FORMAT, "keys and values of different sizes cannot be one output");
	if (s != STATUS_OK)
		return s;
	rule_set(&out[0], DT_F32, &(struct shape){3, {j.batch, j.queries, p.v_width}});
	if (n->n_out > 1)
		rule_set(&out[1], DT_F32, &(struct shape){5, {2, j.batch, j.heads, j.keys, j.size}});
	return STATUS_OK;
}

// y = input * weights + bias, rows of queries, keys and values.
static enum status project(float *y, const struct projection *p, int width, struct error *err)
{
	int64_t columns = p->p.t.one.n, count = shape_count(&p->p.t.y);
	const float *bias = p->bias ? p->bias->data : NULL;
	uint32_t *sums = NULL;
	enum status s = STATUS_OK;

	if (p->scales.a) {
		sums = mem_try_array((size_t)count + 1, sizeof *sums);
		s = sums ? matmulinteger_add(sums, &p->p, width, err) : error_set(err, STATUS_NOMEM, "no memory for the sums");
		if (s == STATUS_OK)
			matmulinteger_rescale(y, sums, &p->p.t, &p->scales);
		free(sums);
	} else {
		struct matrices all = p->p.t.one;
		all.m *= matmul_batches(&p->p.t);
		matmul_float(&all, p->p.a->data, p->p.b->data, y, width);
	}
	for (int64_t i = 0; bias && i < count; i++)
		y[i] += bias[i % columns];
	return s;
}

enum status projected_attention_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	struct job j;
	struct projection p;
	enum status s = projected_job(&j, &p, n, in, err);
	int64_t columns = s == STATUS_OK ? p.p.t.one.n : 0, rows = j.now * columns, half = j.batch * j.heads;
	float *y = mem_try_array((size_t)(j.batch * rows) + 1, sizeof *y);

	if (s == STATUS_OK)
		s = y ? project(y, &p, width, err) : error_set(err, STATUS_NOMEM, "no memory for queries, keys and values");
	j.q = (struct heads){y, rows, j.size, columns};
	j.k = (struct heads){y + p.q_width, rows, j.size, columns};
	j.v = (struct heads){y + 2 * p.q_width, rows, j.v_size, columns};
	if (s == STATUS_OK && p.past) {
		j.past_k = (struct heads){p.past->data, j.heads * j.past * j.size, j.past * j.size, j.size};
		j.past_v = j.past_k;
		j.past_v.at += half * j.past * j.size;
	}
	if (s == STATUS_OK && n->n_out > 1) {
		j.present_k = out[1].data;
		j.present_v = j.present_k + half * j.keys * j.size;
	}
	if (s == STATUS_OK)
		s = run(&j, n->attrs, &out[0], width, err);
	free(y);
	return s;
}
