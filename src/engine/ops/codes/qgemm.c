// QGemm: alpha * (A * B + C) of codes, C in steps of both scales; codes again where an output scale is given, else
// floats.
#include "../element.h"
#include "../product/gemm.h"
#include "../rule.h"
#include "matmulinteger.h"
#include "qlinear.h"

enum { QG_A, QG_A_SCALE, QG_A_ZERO, QG_B, QG_B_SCALE, QG_B_ZERO, QG_C, QG_Y_SCALE, QG_Y_ZERO };

static enum status resolve(
    struct integer_product *p, const struct node *n, const struct tensor *const *in, struct error *err)
{
	const struct gemm_attrs *a = n->attrs;
	const struct tensor *c = rule_input(n, in, QG_C);
	enum status s;
	if (c && c->type != DT_I32)
		return error_set(err, STATUS_UNSUPPORTED, "C is %s, must be int32", dtype_name(c->type));
	*p = (struct integer_product){.a = in[QG_A],
	    .a_zero = in[QG_A_ZERO],
	    .b = in[QG_B],
	    .b_zero = in[QG_B_ZERO],
	    .trans_a = a->trans_a != 0,
	    .trans_b = a->trans_b != 0};
	s = gemm_resolve(&p->t, a, in[QG_A], in[QG_B], c, err);
	return s == STATUS_OK ? matmulinteger_resolve(p, err) : s;
}

enum status qgemm_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	const struct tensor *y_scale = rule_input(n, in, QG_Y_SCALE), *y_zero = rule_input(n, in, QG_Y_ZERO);
	struct integer_product p;
	enum status s = resolve(&p, n, in, err);
	if (s == STATUS_OK)
		s = qlinear_counts(n, in, (const int[]){QG_A_SCALE, QG_A_ZERO, QG_Y_SCALE, QG_Y_ZERO}, 4, 0, err);
	if (s == STATUS_OK)
		s = qlinear_counts(n, in, (const int[]){QG_B_SCALE}, 1, p.t.one.n, err);
	if (s == STATUS_OK)
		rule_set(&out[0], !y_scale ? DT_F32 : y_zero ? y_zero->type : in[QG_A]->type, &p.t.y);
	return s;
}

// Where the product is rounded to codes, `steps` is a tensor of its own; else it is the output.
static enum status product(struct tensor *steps, const struct node *n, const struct tensor *const *in, float y_scale,
    int width, struct error *err)
{
	struct product_scales scales = {
	    in[QG_A_SCALE], in[QG_B_SCALE], y_scale / ((const struct gemm_attrs *)n->attrs)->alpha};
	struct integer_product p;
	enum status s = resolve(&p, n, in, err);
	return s == STATUS_OK ? matmulinteger_floats(steps->data, &p, rule_input(n, in, QG_C), &scales, width, err) : s;
}

enum status qgemm_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	const struct tensor *y_scale = rule_input(n, in, QG_Y_SCALE), *y_zero = rule_input(n, in, QG_Y_ZERO);
	struct qlinear unit = {1, y_zero ? (int32_t)element_int(y_zero, 0) : 0};
	struct tensor steps = {.type = DT_F32, .shape = out[0].shape};
	enum status s;
	if (!y_scale)
		return product(&out[0], n, in, 1, width, err);
	s = tensor_alloc(&steps, NULL, err);
	if (s == STATUS_OK)
		s = product(&steps, n, in, *(const float *)y_scale->data, width, err);
	if (s == STATUS_OK)
		qlinear_encode(&out[0], &steps, &unit, width);
	tensor_drop(&steps);
	return s;
}
