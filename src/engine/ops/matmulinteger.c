// MatMulInteger and QLinearMatMul.
#include "matmulinteger.h"

#include <stdlib.h>
#include <string.h>
#include "element.h"
#include "qlinear.h"
#include "rule.h"

enum { MI_A, MI_B, MI_A_ZERO, MI_B_ZERO };
enum { QM_A, QM_A_SCALE, QM_A_ZERO, QM_B, QM_B_SCALE, QM_B_ZERO, QM_Y_SCALE, QM_Y_ZERO };

static bool fits(const struct tensor *t, int64_t count)
{
	int64_t n = t ? shape_count(&t->shape) : 1;

	return n == 1 || n == count;
}

enum status matmulinteger_resolve(struct integer_product *p, struct error *err)
{
	enum status s = matmul_resolve(&p->t, &p->a->shape, &p->b->shape, p->trans_a, p->trans_b, err);

	if (s != STATUS_OK)
		return s;
	if (!fits(p->a_zero, p->t.one.m))
		return error_set(
		    err, STATUS_UNSUPPORTED, "the zero point of A must be one number, or one for each row");
	if (!fits(p->b_zero, p->t.one.n))
		return error_set(
		    err, STATUS_UNSUPPORTED, "the zero point of B must be one number, or one for each column");
	return STATUS_OK;
}

enum status matmulinteger_add(uint32_t *acc, const struct integer_product *p, int width, struct error *err)
{
	const struct matrices *one = &p->t.one;
	uint32_t *a = qlinear_centred(p->a, p->a_zero, p->trans_a ? 1 : one->k);
	uint32_t *b = qlinear_centred(p->b, p->b_zero, p->trans_b ? one->k : 1);
	enum status s = a && b ? STATUS_OK : error_set(err, STATUS_NOMEM, "no memory for the codes of both matrices");

	for (int64_t i = 0; s == STATUS_OK && i < matmul_batches(&p->t); i++) {
		int64_t from_a, from_b;
		matmul_offsets(&p->t, i, &from_a, &from_b);
		matmul_int32(one, a + from_a, b + from_b, acc + i * one->m * one->n, width);
	}
	free(a);
	free(b);
	return s;
}

void matmulinteger_rescale(float *y, const uint32_t *acc, const struct matmul *t, const struct product_scales *s)
{
	int64_t a_scales = tensor_count(s->a), b_scales = tensor_count(s->b), rows = matmul_batches(t) * t->one.m,
	        n = t->one.n;

	for (int64_t r = 0; r < rows; r++) {
		float a = ((const float *)s->a->data)[r % t->one.m % a_scales];
		for (int64_t i = 0; i < n; i++) {
			float b = ((const float *)s->b->data)[b_scales == 1 ? 0 : i];
			y[r * n + i] = (float)(int32_t)acc[r * n + i] * (a * b / s->y);
		}
	}
}

static struct integer_product plain_product(const struct node *n, const struct tensor *const *in)
{
	return (struct integer_product){.a = in[MI_A],
	    .b = in[MI_B],
	    .a_zero = qlinear_input(n, in, MI_A_ZERO),
	    .b_zero = qlinear_input(n, in, MI_B_ZERO)};
}

enum status matmulinteger_shape(
    const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	struct integer_product p = plain_product(n, in);
	enum status s = matmulinteger_resolve(&p, err);

	if (s == STATUS_OK)
		rule_set(&out[0], DT_I32, &p.t.y);
	return s;
}

enum status matmulinteger_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	struct integer_product p = plain_product(n, in);
	enum status s = matmulinteger_resolve(&p, err);

	if (s != STATUS_OK)
		return s;
	memset(out[0].data, 0, tensor_bytes(&out[0]));
	return matmulinteger_add(out[0].data, &p, width, err);
}

static struct integer_product linear_product(const struct tensor *const *in)
{
	return (struct integer_product){.a = in[QM_A], .b = in[QM_B], .a_zero = in[QM_A_ZERO], .b_zero = in[QM_B_ZERO]};
}

enum status qlinearmatmul_shape(
    const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	struct integer_product p = linear_product(in);
	enum status s = matmulinteger_resolve(&p, err);

	if (s == STATUS_OK)
		s = qlinear_counts(n, in, (const int[]){QM_A_SCALE}, 1, p.t.one.m, err);
	if (s == STATUS_OK)
		s = qlinear_counts(n, in, (const int[]){QM_B_SCALE}, 1, p.t.one.n, err);
	if (s == STATUS_OK)
		s = qlinear_counts(n, in, (const int[]){QM_Y_SCALE, QM_Y_ZERO}, 2, 0, err);
	if (s == STATUS_OK)
		rule_set(&out[0], in[QM_Y_ZERO]->type, &p.t.y);
	return s;
}

enum status qlinearmatmul_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	struct integer_product p = linear_product(in);
	struct product_scales scales = {in[QM_A_SCALE], in[QM_B_SCALE], *(const float *)in[QM_Y_SCALE]->data};
	struct tensor steps = {.type = DT_F32, .shape = out[0].shape};
	struct qlinear unit = {1, (int32_t)element_int(in[QM_Y_ZERO], 0)};
	uint32_t *acc = mem_try_array((size_t)tensor_count(&out[0]) + 1, sizeof *acc);
	enum status s = matmulinteger_resolve(&p, err);

	(void)n;
	if (s == STATUS_OK && !acc)
		s = error_set(err, STATUS_NOMEM, "no memory for the sums");
	if (s == STATUS_OK)
		s = tensor_alloc(&steps, NULL, err);
	if (s == STATUS_OK)
		s = matmulinteger_add(acc, &p, width, err);
	if (s == STATUS_OK) {
		matmulinteger_rescale(steps.data, acc, &p.t, &scales);
		qlinear_encode(&out[0], &steps, &unit, width);
	}
	tensor_drop(&steps);
	free(acc);
	return s;
}
