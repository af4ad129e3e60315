// Gemm: alpha * op(A) * op(B) + beta * C, C broadcast to the result.
#include "gemm.h"

#include <string.h>
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

enum status gemm_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	struct matmul t;
	enum status s = gemm_resolve(&t, n->attrs, in[0], in[1], rule_input(n, in, 2), err);
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

enum status gemm_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	const struct gemm_attrs *g = n->attrs;
	struct matmul t;
	float *y = out[0].data;
	enum status s = gemm_resolve(&t, g, in[0], in[1], rule_input(n, in, 2), err);
	if (s != STATUS_OK)
		return s;
	memset(y, 0, tensor_bytes(&out[0]));
	product_floats(&t.one, in[0]->data, in[1]->data, y, width);
	for (int64_t i = 0; g->alpha != 1 && i < tensor_count(&out[0]); i++)
		y[i] *= g->alpha;
	if (n->n_in > 2 && in[2])
		add_bias(g, in[2], &out[0]);
	return STATUS_OK;
}
