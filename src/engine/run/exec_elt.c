// Element by element: unary functions (a 256-entry table on 8-bit codes) and binary operators on equal shapes, in any layout.
#include <string.h>
#include "exec.h"

static void apply(const struct exec *x, const float *in, float *out, int64_t n)
{
	struct act a;
	if (x->step->swish)
		elt_act(&(struct act){.kind = ACT_SWISH}, in, out, n);
	else if (step_act(x->g, x->node, &a))
		elt_act(&a, in, out, n);
	else
		op_unary(x->node, NULL, in, out, n);
	if (x->step->epi.act.kind != ACT_NONE)
		elt_act(&x->step->epi.act, out, out, n);
}

static bool is_unary(const struct exec *x)
{
	struct act a;
	if (!is_float_value(x->g, x->node->in[0]))
		return false;
	return x->step->swish || step_act(x->g, x->node, &a) || ((x->node->op->flags & OPF_UNARY) && x->node->n_in == 1);
}

// All 256 codes of the input's grid through the function and onto the output's grid.
static void fill_table(struct exec *x, const struct quantizer *oq, uint8_t lut[256])
{
	const struct quantizer *iq = rep_quantizer(x->in[0]);
	float v[256];
	for (int i = 0; i < 256; i++) {
		int code = x->in[0]->t.type == DT_I8 ? (int8_t)i : i;
		v[i] = (float)(code - x->in[0]->zero) * iq->scale[0];
	}
	apply(x, v, v, 256);
	for (int i = 0; i < 256; i++)
		lut[i] = (uint8_t)quantize_one(oq, 0, v[i]);
}

static enum status unary_codes(struct exec *x, const struct quantizer *oq)
{
	uint8_t lut[256];
	fill_table(x, oq, lut);
	const struct tensor *in = &x->in[0]->t;
	enum status st = rep_alloc(&x->out[0], quantizer_dtype(oq), in->layout, &in->shape, x->err);
	if (st != STATUS_OK)
		return st;
	rep_set_quantizer(&x->out[0], oq);
	elt_lut8(lut, in->data, x->out[0].t.data, tensor_stored(in));
	rep_clear_padding(&x->out[0]);
	return STATUS_OK;
}

static enum status unary_float(struct exec *x)
{
	struct rep in = {0}, y = {0};
	enum status st = rep_to_float(&in, x->in[0], x->width, x->err);
	if (st == STATUS_OK)
		st = rep_alloc(&y, DT_F32, in.t.layout, &in.t.shape, x->err);
	if (st == STATUS_OK) {
		apply(x, in.t.data, y.t.data, tensor_stored(&in.t));
		rep_clear_padding(&y);
		st = exec_finish(x, 0, &y);
	}
	rep_drop(&in);
	rep_drop(&y);
	return st;
}

enum status exec_unary(struct exec *x)
{
	if (!is_unary(x))
		return STATUS_UNSUPPORTED;
	const struct quantizer *oq = exec_out_quantizer(x, 0);
	bool table = x->in[0]->coded && x->in[0]->q.bits == 8 && oq && quantizer_has_codes(oq) && oq->bits == 8;
	return table ? unary_codes(x, oq) : unary_float(x);
}

static bool has_fast_binary(enum op_id op)
{
	return op == OP_Add || op == OP_Sub || op == OP_Mul || op == OP_Div;
}

static bool scalar_of(const struct exec *x, int i, float *out)
{
	if (x->in[i]->coded || x->in[i]->t.type != DT_F32 || tensor_count(&x->in[i]->t) != 1)
		return false;
	*out = *(const float *)x->in[i]->t.data;
	return true;
}

static enum status binary_scalar(struct exec *x, float b)
{
	struct rep a = {0}, y = {0};
	enum status st = rep_to_float(&a, x->in[0], x->width, x->err);
	if (st == STATUS_OK)
		st = rep_alloc(&y, DT_F32, a.t.layout, &a.t.shape, x->err);
	if (st == STATUS_OK) {
		elt_binary_scalar(x->node->op->id, a.t.data, b, y.t.data, tensor_stored(&a.t));
		if (x->step->epi.act.kind != ACT_NONE)
			elt_act(&x->step->epi.act, y.t.data, y.t.data, tensor_stored(&y.t));
		rep_clear_padding(&y);
		st = exec_finish(x, 0, &y);
	}
	rep_drop(&a);
	rep_drop(&y);
	return st;
}

static enum status binary_same(struct exec *x)
{
	struct rep a = {0}, b = {0}, b_moved = {0}, y = {0};
	enum status st = rep_to_float(&a, x->in[0], x->width, x->err);
	if (st == STATUS_OK)
		st = rep_to_float(&b, x->in[1], x->width, x->err);
	if (st == STATUS_OK)
		st = rep_to_layout(&b_moved, &b, a.t.layout, x->width, x->err);
	if (st == STATUS_OK)
		st = rep_alloc(&y, DT_F32, a.t.layout, &a.t.shape, x->err);
	if (st == STATUS_OK) {
		elt_binary(x->node->op->id, a.t.data, b_moved.t.data, y.t.data, tensor_stored(&a.t));
		if (x->step->epi.act.kind != ACT_NONE)
			elt_act(&x->step->epi.act, y.t.data, y.t.data, tensor_stored(&y.t));
		rep_clear_padding(&y);
		st = exec_finish(x, 0, &y);
	}
	rep_drop(&a);
	rep_drop(&b);
	rep_drop(&b_moved);
	rep_drop(&y);
	return st;
}

enum status exec_binary(struct exec *x)
{
	float b;
	if (!has_fast_binary(x->node->op->id) || !is_float_value(x->g, x->node->in[0]) || !is_float_value(x->g, x->node->in[1]))
		return STATUS_UNSUPPORTED;
	const struct shape *s0 = &x->in[0]->t.shape, *s1 = &x->in[1]->t.shape;
	if (shape_equal(s0, s1))
		return binary_same(x);
	if (s1->rank <= s0->rank && scalar_of(x, 1, &b))
		return binary_scalar(x, b);
	return STATUS_UNSUPPORTED;
}
