// Gemm: alpha * op(A) * op(B) + beta * C, C broadcast to the result.
#include "gemm.h"

#include <math.h>
#include <string.h>
#include "../element.h"
#include "../rule.h"
#include "../strided.h"

enum status gemm_resolve(struct matmul *t, const struct gemm_attrs *g, const struct tensor *a, const struct tensor *b,
    const struct tensor *c, struct error *err)
{
	struct shape y;
	enum status s;
	if (a->shape.rank != 2 || b->shape.rank != 2)
		return error_set(
		    err, STATUS_FORMAT, "the matrices have ranks %d and %d, need 2", a->shape.rank, b->shape.rank);
	s = matmul_resolve(t, &a->shape, &b->shape, g->trans_a != 0, g->trans_b != 0, err);
	if (s != STATUS_OK || !c)
		return s;
	s = rule_broadcast(&y, &t->y, &c->shape, err);
	if (s == STATUS_OK && !shape_equal(&y, &t->y))
		s = error_set(err, STATUS_FORMAT, "the bias does not broadcast to the result");
	return s;
}

// Factors of integers.
static enum status check_whole(const struct gemm_attrs *g, struct error *err)
{
	const float factor[2] = {g->alpha, g->beta};
	for (int i = 0; i < 2; i++)
		if (!(fabsf(factor[i]) < 0x1p31f) || factor[i] != truncf(factor[i]))
			return error_set(err, STATUS_UNSUPPORTED, "%s is %g, of integers it must be a whole number", i ? "beta" : "alpha",
			    (double)factor[i]);
	return STATUS_OK;
}

enum status gemm_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	struct matmul t;
	enum status s = gemm_resolve(&t, n->attrs, in[0], in[1], rule_input(n, in, 2), err);
	if (s == STATUS_OK && in[0]->type != DT_F32)
		s = check_whole(n->attrs, err);
	if (s == STATUS_OK)
		rule_set(&out[0], in[0]->type, &t.y);
	return s;
}

static void add_bias(const struct gemm_attrs *g, const struct tensor *c, struct tensor *y)
{
	struct strided s;
	float *to = y->data;
	const float *from = c->data;
	strided_broadcast(&s, &y->shape, (const struct shape *const[]){&c->shape}, 1);
	for (int64_t r = 0; r < strided_rows(&s); r++) {
		int64_t at[STRIDED_MAX], step = strided_step(&s, 1);
		strided_at(&s, r, at);
		for (int64_t i = 0; i < strided_run(&s); i++)
			to[at[0] + i] += g->beta * from[at[1] + i * step];
	}
}

// alpha AB + beta C of integers; y holds AB.
static void finish_ints(const struct gemm_attrs *g, const struct tensor *c, struct tensor *y)
{
	const uint64_t alpha = (uint64_t)(int64_t)g->alpha, beta = (uint64_t)(int64_t)g->beta;
	const struct shape one = {0};
	struct strided s;
	strided_broadcast(&s, &y->shape, (const struct shape *const[]){c ? &c->shape : &one}, 1);
	for (int64_t r = 0; r < strided_rows(&s); r++) {
		int64_t at[STRIDED_MAX], step = strided_step(&s, 1);
		strided_at(&s, r, at);
		for (int64_t i = 0; i < strided_run(&s); i++) {
			uint64_t v = alpha * (uint64_t)element_int(y, at[0] + i) + (c ? beta * (uint64_t)element_int(c, at[1] + i * step) : 0);
			elements_store(y->data, y->type, at[0] + i, (const int64_t *)&v, 1);
		}
	}
}

enum status gemm_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	const struct gemm_attrs *g = n->attrs;
	struct matmul t;
	float *y = out[0].data;
	enum status s = gemm_resolve(&t, g, in[0], in[1], rule_input(n, in, 2), err);
	if (s != STATUS_OK)
		return s;
	if (out[0].type != DT_F32) {
		matmul_ints(&t, in[0], in[1], &out[0]);
		finish_ints(g, rule_input(n, in, 2), &out[0]);
		return STATUS_OK;
	}
	memset(y, 0, tensor_bytes(&out[0]));
	product_floats(&t.one, in[0]->data, in[1]->data, y, width);
	for (int64_t i = 0; g->alpha != 1 && i < tensor_count(&out[0]); i++)
		y[i] *= g->alpha;
	if (n->n_in > 2 && in[2])
		add_bias(g, in[2], &out[0]);
	return STATUS_OK;
}
