// y = f(x), element by element: which function serves which operator, and the integer types of the few that have them.
#include <float.h>
#include <math.h>
#include <string.h>
#include "../../kernels/elementwise/unary.h"
#include "../element.h"
#include "../rule.h"
#include "qtui/base/parts.h"

#define CHUNK 16384 // elements that a thread takes at a time

static const enum unary_fn functions[OP_COUNT] = {
    [OP_Abs] = FN_abs,
    [OP_Acos] = FN_acos,
    [OP_Acosh] = FN_acosh,
    [OP_Asin] = FN_asin,
    [OP_Asinh] = FN_asinh,
    [OP_Atan] = FN_atan,
    [OP_Atanh] = FN_atanh,
    [OP_Ceil] = FN_ceil,
    [OP_Celu] = FN_celu,
    [OP_Clip] = FN_clip,
    [OP_Cos] = FN_cos,
    [OP_Cosh] = FN_cosh,
    [OP_Elu] = FN_elu,
    [OP_Erf] = FN_erf,
    [OP_Exp] = FN_exp,
    [OP_Floor] = FN_floor,
    [OP_Gelu] = FN_gelu,
    [OP_HardSigmoid] = FN_hardsigmoid,
    [OP_HardSwish] = FN_hardswish,
    [OP_LeakyRelu] = FN_leakyrelu,
    [OP_Log] = FN_log,
    [OP_Mish] = FN_mish,
    [OP_Neg] = FN_neg,
    [OP_QuickGelu] = FN_swish,
    [OP_Reciprocal] = FN_reciprocal,
    [OP_Relu] = FN_relu,
    [OP_Round] = FN_round,
    [OP_Selu] = FN_selu,
    [OP_Shrink] = FN_shrink,
    [OP_Sigmoid] = FN_sigmoid,
    [OP_Sign] = FN_sign,
    [OP_Sin] = FN_sin,
    [OP_Sinh] = FN_sinh,
    [OP_Softplus] = FN_softplus,
    [OP_Softsign] = FN_softsign,
    [OP_Sqrt] = FN_sqrt,
    [OP_Swish] = FN_swish,
    [OP_Tan] = FN_tan,
    [OP_Tanh] = FN_tanh,
    [OP_ThresholdedRelu] = FN_threshold,
    [OP_QLinearSigmoid] = FN_sigmoid,
    [OP_QLinearLeakyRelu] = FN_leakyrelu,
};

static bool present(const struct node *n, const struct tensor *const *in, int i)
{
	return i < n->n_in && in[i] && in[i]->data;
}

// The function of a node and its parameters, from wherever its version keeps them.
static enum unary_fn resolve(struct act_attrs *a, const struct node *n, const struct tensor *const *in)
{
	*a = (struct act_attrs){.alpha = 1, .low = -FLT_MAX, .high = FLT_MAX}; // a Clip without limits has these: it leaves no infinity
	if (n->op->id == OP_Gelu && n->op->attrs_size == sizeof(struct gelu_attrs))
		return strcmp(((const struct gelu_attrs *)n->attrs)->approximate, "tanh") ? FN_gelu : FN_gelu_tanh;
	if (n->op->attrs_size == sizeof(struct act_attrs))
		*a = *(const struct act_attrs *)n->attrs;
	else if (n->op->id == OP_Clip) {
		a->low = present(n, in, 1) ? (float)element_double(in[1], 0) : a->low;
		a->high = present(n, in, 2) ? (float)element_double(in[2], 0) : a->high;
	}
	return functions[n->op->id];
}

void op_unary(const struct node *n, const struct tensor *const *in, const float *x, float *y, int64_t count)
{
	struct act_attrs a;
	enum unary_fn fn = resolve(&a, n, in);
	unary_apply(fn, &a, x, y, count);
}

enum status unary_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	for (int i = 1; n->op->id == OP_Clip && i < n->n_in; i++)
		if (in[i] && shape_count(&in[i]->shape) != 1)
			return error_set(err, STATUS_FORMAT, "input %d must hold one number", i);
	rule_set(&out[0], in[0]->type, &in[0]->shape);
	return STATUS_OK;
}

// Of limits that exclude each other the upper one holds.
static int64_t clip_int(int64_t v, int64_t low, int64_t high, bool is_unsigned)
{
	if (is_unsigned) {
		v = (uint64_t)v < (uint64_t)low ? low : v;
		return (uint64_t)v > (uint64_t)high ? high : v;
	}
	v = v < low ? low : v;
	return v > high ? high : v;
}

static int64_t unary_int(enum op_id id, int64_t v, bool is_unsigned)
{
	switch (id) {
	case OP_Abs:
		return v < 0 && !is_unsigned ? (int64_t) - (uint64_t)v : v;
	case OP_Neg:
		return (int64_t) - (uint64_t)v;
	case OP_Sign:
		return v == 0 ? 0 : v < 0 && !is_unsigned ? -1 : 1;
	case OP_Relu:
		return v < 0 ? 0 : v;
	default:
		return v;
	}
}

static void eval_ints(const struct node *n, const struct tensor *const *in, struct tensor *out)
{
	int64_t v[ELEMENTS_CHUNK], count = tensor_count(&out[0]), low, high;
	enum dtype t = in[0]->type;
	bool is_unsigned = elements_unsigned(t);
	elements_range(t, &low, &high);
	high = t == DT_U64 ? -1 : high;
	low = present(n, in, 1) ? element_int(in[1], 0) : low;
	high = present(n, in, 2) ? element_int(in[2], 0) : high;
	for (int64_t at = 0; at < count; at += ELEMENTS_CHUNK) {
		int64_t m = count - at < ELEMENTS_CHUNK ? count - at : ELEMENTS_CHUNK;
		elements_load(v, t, in[0]->data, at, 1, m);
		for (int64_t i = 0; i < m; i++)
			v[i] = n->op->id == OP_Clip ? clip_int(v[i], low, high, is_unsigned)
			                            : unary_int(n->op->id, v[i], is_unsigned);
		elements_store(out[0].data, t, at, v, m);
	}
}

struct unary_call {
	const struct node *node;
	const struct tensor *const *in;
	const float *x;
	float *y;
};

static void unary_chunk(void *arg, int64_t at, int64_t n)
{
	const struct unary_call *c = arg;
	op_unary(c->node, c->in, c->x + at, c->y + at, n);
}

enum status unary_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	(void)err;
	if (in[0]->type != DT_F32) {
		eval_ints(n, in, out);
		return STATUS_OK;
	}
	parts_cut(tensor_count(&out[0]), CHUNK, width, unary_chunk, &(struct unary_call){n, in, in[0]->data, out[0].data});
	return STATUS_OK;
}
