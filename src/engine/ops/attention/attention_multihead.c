// MultiHeadAttention of ONNX Runtime: queries, keys and values are given, apart or packed.
#include "../rule.h"
#include "attention_ms.h"

enum { MH_QUERY, MH_KEY, MH_VALUE, MH_BIAS, MH_PADDING, MH_ADDED, MH_PAST_KEY, MH_PAST_VALUE };

// [batch, rows, heads, parts, size], part `i`.
static struct heads packed(const struct tensor *t, int64_t i)
{
	const int64_t *d = t->shape.dim;
	return (struct heads){t->data ? (const float *)t->data + i * d[4] : NULL, d[1] * d[2] * d[3] * d[4], d[3] * d[4], d[2] * d[3] * d[4]};
}

// Where the queries, keys and values lie and how long they are; false: in none of the ways that are known.
static bool lay_out(struct attention_ms *j, const struct tensor *q, const struct tensor *k, const struct tensor *v)
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

static enum status read_past(struct attention_ms *j, const struct tensor *k, const struct tensor *v, struct error *err)
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

static enum status multihead_job(struct attention_ms *j, const struct node *n, const struct tensor *const *in, struct error *err)
{
	const struct tensor *bias = rule_input(n, in, MH_BIAS), *key = rule_input(n, in, MH_KEY);
	const bool have_bias = key && key->shape.rank == 4; // keys and values that an encoder has made ready
	enum status s;
	*j = (struct attention_ms){.heads = ((const struct fused_attention_attrs *)n->attrs)->heads, .mask = rule_input(n, in, MH_PADDING),
	    .added = rule_input(n, in, MH_ADDED)};
	if (j->heads < 1 || (in[0]->shape.rank != 3 && in[0]->shape.rank != 5) ||
	    !lay_out(j, in[0], rule_input(n, in, MH_KEY), rule_input(n, in, MH_VALUE)))
		return error_set(err, STATUS_UNSUPPORTED, "query, key and value do not fit each other or %lld heads", (long long)j->heads);
	s = read_past(j, rule_input(n, in, MH_PAST_KEY), rule_input(n, in, MH_PAST_VALUE), err);
	if (s == STATUS_OK && bias && tensor_count(bias) != j->heads * (2 * j->size + j->v_size))
		s = error_set(err, STATUS_FORMAT, "the bias must have %lld numbers", (long long)(j->heads * (2 * j->size + j->v_size)));
	if (s == STATUS_OK && bias && bias->data) {
		j->q_bias = bias->data;
		if (!have_bias) {
			j->k_bias = j->q_bias + j->heads * j->size;
			j->v_bias = j->k_bias + j->heads * j->size;
		}
	}
	return s == STATUS_OK ? attention_ms_check(j, err) : s;
}

enum status multihead_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	struct attention_ms j;
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
	struct attention_ms j;
	enum status s = multihead_job(&j, n, in, err);
	float **to[] = {NULL, &j.present_k, &j.present_v, &j.masked};
	for (int i = 1; i < n->n_out; i++)
		*to[i] = out[i].data;
	return s == STATUS_OK ? attention_ms_run(&j, n->attrs, &out[0], width, err) : s;
}
