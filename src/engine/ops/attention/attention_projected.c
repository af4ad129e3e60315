// Attention and QAttention of ONNX Runtime: one input, of floats or of codes,
// which they project to queries, keys and values themselves.
#include <stdlib.h>
#include "../codes/matmulinteger.h"
#include "../rule.h"
#include "attention_ms.h"

enum { AT_INPUT, AT_WEIGHT, AT_BIAS, AT_MASK, AT_PAST, AT_ADDED };
enum { QA_INPUT, QA_WEIGHT, QA_BIAS, QA_INPUT_SCALE, QA_WEIGHT_SCALE, QA_MASK, QA_INPUT_ZERO, QA_WEIGHT_ZERO, QA_PAST };

struct projection {
	struct integer_product p; // of floats in Attention
	const struct tensor *bias, *past;
	int64_t q_width, v_width;
	struct product_scales scales; // of QAttention
};

static struct projection projection_of(struct attention_ms *j, const struct node *n, const struct tensor *const *in)
{
	if (n->op->id == OP_Attention) {
		j->mask = rule_input(n, in, AT_MASK);
		j->added = rule_input(n, in, AT_ADDED);
		return (struct projection){.p = {.a = in[AT_INPUT], .b = in[AT_WEIGHT]}, .bias = rule_input(n, in, AT_BIAS),
		    .past = rule_input(n, in, AT_PAST)};
	}
	j->mask = rule_input(n, in, QA_MASK);
	return (struct projection){.p = {.a = in[QA_INPUT], .b = in[QA_WEIGHT], .a_zero = rule_input(n, in, QA_INPUT_ZERO),
	                               .b_zero = rule_input(n, in, QA_WEIGHT_ZERO)},
	    .bias = in[QA_BIAS], .past = rule_input(n, in, QA_PAST), .scales = {in[QA_INPUT_SCALE], in[QA_WEIGHT_SCALE], 1}};
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
	if ((p->bias && tensor_count(p->bias) != columns) ||
	    (p->scales.b && tensor_count(p->scales.b) != 1 && tensor_count(p->scales.b) != columns) ||
	    (p->scales.a && tensor_count(p->scales.a) != 1))
		return error_set(err, STATUS_FORMAT, "bias and scales do not fit weights of %lld columns", (long long)columns);
	return STATUS_OK;
}

static enum status projected_job(
    struct attention_ms *j, struct projection *p, const struct node *n, const struct tensor *const *in, struct error *err)
{
	enum status s = rule_rank_at_least(in[0], 0, 3, err);
	*j = (struct attention_ms){.heads = ((const struct fused_attention_attrs *)n->attrs)->heads};
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
	return attention_ms_check(j, err);
}

enum status projected_attention_shape(
    const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	struct attention_ms j;
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
	enum status s = STATUS_OK;
	if (p->scales.a) {
		s = matmulinteger_floats(y, &p->p, NULL, &p->scales, width, err);
	} else {
		struct matrices all = p->p.t.one;
		all.m *= matmul_batches(&p->p.t);
		product_floats(&all, p->p.a->data, p->p.b->data, y, width);
	}
	if (s == STATUS_OK && p->bias)
		matmul_add_row(y, shape_count(&p->p.t.y), p->bias->data, p->p.t.one.n);
	return s;
}

enum status projected_attention_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	struct attention_ms j;
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
		s = attention_ms_run(&j, n->attrs, &out[0], width, err);
	free(y);
	return s;
}
