// MatMulInteger and QLinearMatMul.
#include "matmulinteger.h"

#include <stdlib.h>
#include <string.h>
#include "../element.h"
#include "../rule.h"
#include "../strided.h"
#include "qlinear.h"

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

static void subtract(int16_t *y, const struct tensor *codes, int64_t from, const int16_t *zero, int step, int64_t n)
{
	const uint8_t *u = (const uint8_t *)codes->data + from;
	const int8_t *i = (const int8_t *)codes->data + from;
	if (codes->type == DT_U8)
		_Pragma("omp simd") for (int64_t k = 0; k < n; k++)
			y[k] = (int16_t)(u[k] - zero[step * k]);
	else
		_Pragma("omp simd") for (int64_t k = 0; k < n; k++)
			y[k] = (int16_t)(i[k] - zero[step * k]);
}

// Codes of 8 bits less their zero points, of which element i has number i / run modulo their
// count (zero NULL: 0). NULL when there is no memory.
static struct buf *centred(const struct tensor *codes, const struct tensor *zero, int64_t run)
{
	int64_t count = tensor_count(codes), zeros = zero ? tensor_count(zero) : 1;
	struct buf *out = buf_new((size_t)(count + zeros) * sizeof(int16_t), NULL);
	if (!out)
		return NULL;
	int16_t *y = out->data, *own = y + count;
	for (int64_t i = 0; i < zeros; i++)
		own[i] = (int16_t)(zero ? element_int(zero, i) : 0);
	if (run == 1 && zeros > 1)
		for (int64_t i = 0; i < count; i += zeros)
			subtract(y + i, codes, i, own, 1, zeros);
	else
		for (int64_t i = 0, n = zeros > 1 ? run : count; i < count; i += n)
			subtract(y + i, codes, i, own + i / n % zeros, 0, n);
	return out;
}

// A matrix b that all batches share takes their rows as those of one.
static int64_t fold(struct matrices *c, const struct integer_product *p)
{
	int64_t batches = matmul_batches(&p->t);
	if (batches == 0 || p->trans_a || tensor_count(p->b) != c->n * c->k)
		return batches;
	c->m *= batches;
	return 1;
}

// Adds the product to sums[batch, m, n].
static enum status add_product(uint32_t *sums, const struct integer_product *p, int width, struct error *err)
{
	const struct matrices *one = &p->t.one;
	struct matrices c = {one->m, one->n, one->k, one->a_row, one->a_col, one->b_row, one->b_col};
	int64_t batches = fold(&c, p);
	struct buf *a = centred(p->a, p->a_zero, p->trans_a ? 1 : one->k), *b = centred(p->b, p->b_zero, p->trans_b ? one->k : 1);
	struct buf *scratch = buf_new(product_codes_scratch(&c), NULL);
	enum status s = a && b && scratch ? STATUS_OK : error_set(err, STATUS_NOMEM, "no memory for the codes of both matrices");
	for (int64_t i = 0; s == STATUS_OK && i < batches; i++) {
		int64_t from_a, from_b;
		matmul_offsets(&p->t, i, &from_a, &from_b);
		product_codes(
		    &c, (const int16_t *)a->data + from_a, (const int16_t *)b->data + from_b, sums + i * c.m * c.n, scratch->data, width);
	}
	buf_drop(&a);
	buf_drop(&b);
	buf_drop(&scratch);
	return s;
}

static void start_with(uint32_t *sums, const struct tensor *addend, const struct shape *y)
{
	struct strided s;
	if (!addend) {
		memset(sums, 0, (size_t)shape_count(y) * sizeof *sums);
		return;
	}
	strided_broadcast(&s, y, (const struct shape *const[]){&addend->shape}, 1);
	strided_copy(&s, sums, addend->data, sizeof *sums);
}

static void rescale(float *y, const uint32_t *sums, const struct matmul *t, const struct product_scales *s)
{
	const float *b = s->b->data;
	int64_t a_scales = tensor_count(s->a), b_scales = tensor_count(s->b), rows = matmul_batches(t) * t->one.m, n = t->one.n;
	for (int64_t r = 0; r < rows && b_scales > 0; r++, y += n, sums += n) { // none: no columns
		const float a = ((const float *)s->a->data)[r % t->one.m % a_scales], one = a * b[0] / s->y;
		if (b_scales == 1)
			_Pragma("omp simd") for (int64_t i = 0; i < n; i++) y[i] = (float)(int32_t)sums[i] * one;
		else
			_Pragma("omp simd") for (int64_t i = 0; i < n; i++) y[i] = (float)(int32_t)sums[i] * (a * b[i] / s->y);
	}
}

enum status matmulinteger_floats(float *y, const struct integer_product *p, const struct tensor *addend,
    const struct product_scales *s, int width, struct error *err)
{
	struct buf *sums = buf_new((size_t)shape_count(&p->t.y) * sizeof(uint32_t), NULL);
	enum status st = sums ? STATUS_OK : error_set(err, STATUS_NOMEM, "no memory for the sums");
	if (st == STATUS_OK) {
		start_with(sums->data, addend, &p->t.y);
		st = add_product(sums->data, p, width, err);
	}
	if (st == STATUS_OK)
		rescale(y, sums->data, &p->t, s);
	buf_drop(&sums);
	return st;
}

static struct integer_product plain_product(const struct node *n, const struct tensor *const *in)
{
	return (struct integer_product){.a = in[MI_A],
	    .b = in[MI_B],
	    .a_zero = rule_input(n, in, MI_A_ZERO),
	    .b_zero = rule_input(n, in, MI_B_ZERO)};
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
	return add_product(out[0].data, &p, width, err);
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
	enum status s = matmulinteger_resolve(&p, err);
	(void)n;
	if (s == STATUS_OK)
		s = tensor_alloc(&steps, NULL, err);
	if (s == STATUS_OK)
		s = matmulinteger_floats(steps.data, &p, NULL, &scales, width, err);
	if (s == STATUS_OK)
		qlinear_encode(&out[0], &steps, &unit, width);
	tensor_drop(&steps);
	return s;
}
