// DynamicQuantizeMatMul and MatMulIntegerToFloat: products of codes as floats. The first quantizes its left side
// itself.
#include "../rule.h"
#include "matmulinteger.h"
#include "qlinear.h"
#include "quantize_dynamic.h"

enum { DM_A, DM_B, DM_B_SCALE, DM_B_ZERO, DM_BIAS };
enum { MF_A, MF_B, MF_A_SCALE, MF_B_SCALE, MF_A_ZERO, MF_B_ZERO, MF_BIAS };

struct operands {
	struct integer_product p;
	const struct tensor *a_scale, *b_scale, *bias; // a_scale NULL: of the left side's own range
};

static struct operands operands_of(const struct node *n, const struct tensor *const *in)
{
	if (n->op->id == OP_DynamicQuantizeMatMul)
		return (struct operands){.p = {.a = in[DM_A], .b = in[DM_B], .b_zero = rule_input(n, in, DM_B_ZERO)},
		    .b_scale = in[DM_B_SCALE],
		    .bias = rule_input(n, in, DM_BIAS)};
	return (struct operands){.p = {.a = in[MF_A],
	                             .b = in[MF_B],
	                             .a_zero = rule_input(n, in, MF_A_ZERO),
	                             .b_zero = rule_input(n, in, MF_B_ZERO)},
	    .a_scale = in[MF_A_SCALE],
	    .b_scale = in[MF_B_SCALE],
	    .bias = rule_input(n, in, MF_BIAS)};
}

static bool is_count(const struct tensor *t, int64_t one, int64_t other)
{
	return !t || shape_count(&t->shape) == one || shape_count(&t->shape) == other;
}

enum status dynamicmatmul_shape(
    const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	struct operands o = operands_of(n, in);
	enum status s = matmulinteger_resolve(&o.p, err);
	int64_t columns = o.p.t.one.n;
	if (s != STATUS_OK)
		return s;
	if (!is_count(o.a_scale, 1, o.p.t.one.m) || !is_count(o.b_scale, 1, columns) ||
	    !is_count(o.bias, columns, columns))
		return error_set(err, STATUS_UNSUPPORTED,
		    "scales must be one number, or one for each row of A and column of B; "
		    "the bias must have one for each column");
	rule_set(&out[0], DT_F32, &o.p.t.y);
	return STATUS_OK;
}

static enum status multiply(struct tensor *y, const struct operands *o, int width, struct error *err)
{
	struct product_scales scales = {o->a_scale, o->b_scale, 1};
	enum status s = matmulinteger_floats(y->data, &o->p, NULL, &scales, width, err);
	if (s == STATUS_OK && o->bias)
		matmul_add_row(y->data, tensor_count(y), o->bias->data, o->p.t.one.n);
	return s;
}

// The same with the left side made codes first.
static enum status quantize_and_multiply(struct tensor *y, struct operands *o, int width, struct error *err)
{
	struct tensor codes = {.type = DT_U8, .shape = o->p.a->shape};
	struct qlinear q;
	uint8_t zero;
	struct tensor scale = {.type = DT_F32, .data = &q.scale}, zero_point = {.type = DT_U8, .data = &zero};
	enum status s = tensor_alloc(&codes, NULL, err);
	if (s != STATUS_OK)
		return s;
	quantize_dynamic_range(&q.scale, &q.zero, o->p.a->data, tensor_count(o->p.a));
	zero = (uint8_t)q.zero;
	qlinear_encode(&codes, o->p.a, &q, width);
	o->p.a = &codes;
	o->p.a_zero = &zero_point;
	o->a_scale = &scale;
	s = multiply(y, o, width, err);
	tensor_drop(&codes);
	return s;
}

enum status dynamicmatmul_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	struct operands o = operands_of(n, in);
	enum status s = matmulinteger_resolve(&o.p, err);
	if (s != STATUS_OK)
		return s;
	return o.a_scale ? multiply(&out[0], &o, width, err) : quantize_and_multiply(&out[0], &o, width, err);
}
