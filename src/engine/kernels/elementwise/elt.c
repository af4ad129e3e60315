// Element-wise kernels: the portable level of the arithmetic, the choice of a level, and the activations. These are the
// functions of the operators: an activation fused into a kernel gives the bits of the operator on its own.
#include <assert.h>
#include <math.h>
#include <stddef.h>
#include "../../tensor/cpu.h"
#include "unary.h"
#define ELT_TABLE elt_plain
#include "elt_body.h"

static const struct elt_table *table(void)
{
	enum cpu_level level = cpu_level();
	return level >= CPU_AVX512 ? &elt_avx512 : level >= CPU_AVX2 ? &elt_avx2 : &elt_plain;
}

static enum elt_binary binary_of(enum op_id op)
{
	switch (op) {
	case OP_Add: return ELT_ADD;
	case OP_Sub: return ELT_SUB;
	case OP_Mul: return ELT_MUL;
	case OP_PRelu: return ELT_PRELU;
	default: break;
	}
	assert(op == OP_Div);
	return ELT_DIV;
}

void elt_act(const struct act *a, const float *x, float *y, int64_t n)
{
	static const enum unary_fn function[] = {
		[ACT_NONE] = FN_copy, [ACT_RELU] = FN_relu, [ACT_CLIP] = FN_clip, [ACT_LEAKY] = FN_leakyrelu, [ACT_SIGMOID] = FN_sigmoid,
		[ACT_SWISH] = FN_swish, [ACT_HARDSWISH] = FN_hardswish, [ACT_HARDSIGMOID] = FN_hardsigmoid, [ACT_TANH] = FN_tanh,
		[ACT_MISH] = FN_mish, [ACT_GELU] = FN_gelu,
	};
	struct act_attrs attrs = {.alpha = a->kind == ACT_SWISH ? 1.0f : a->a, .beta = a->b, .low = a->a, .high = a->b};
	if (a->kind != ACT_NONE || x != y)
		unary_apply(function[a->kind], &attrs, x, y, n);
}

void elt_binary(enum op_id op, const float *a, const float *b, float *y, int64_t n)
{
	table()->binary[binary_of(op)](a, b, y, n);
}

bool elt_codes_of(struct elt_codes *c, enum op_id op, const struct quantizer *a, const struct quantizer *b, const struct quantizer *y, bool relu)
{
	const struct quantizer *in[2] = {a, b};
	struct qspan s = qspan_of(y, 0);
	bool served = (op == OP_Add || op == OP_Sub || op == OP_Mul) && y->bits == 8 && s.narrow && s.scale > 0.0f && isfinite(s.scale) &&
	    (s.rounding == ROUND_HALF_EVEN || s.rounding == ROUND_HALF_UP);
	*c = (struct elt_codes){.op = op, .inverse = s.inverse != 0.0f, .up = s.rounding == ROUND_HALF_UP, .zero = s.zero,
	    .step = s.inverse != 0.0f ? s.inverse : s.scale, .low = (float)(s.qmin - s.zero), .high = (float)(s.qmax - s.zero)};
	if (relu && c->low < 0.0f)
		c->low = 0.0f;
	for (int i = 0; i < 2; i++) {
		struct qspan from = qspan_of(in[i], 0);
		bool is_signed = quantizer_dtype(in[i]) == DT_I8;
		served = served && in[i]->bits == 8 && from.narrow && isfinite(from.scale * 8388608.0f); // no code's value is infinite
		c->in[i].turn = is_signed ? 0x80 : 0;
		c->in[i].zero = from.zero + (is_signed ? 128 : 0);
		c->in[i].scale = from.scale;
	}
	return served;
}

void elt_codes(const struct elt_codes *c, const uint8_t *a, const uint8_t *b, uint8_t *y, int64_t n)
{
	table()->codes[binary_of(c->op)][c->inverse][c->up](a, b, y, n, c);
}

void elt_scale(float *y, float gain, float shift, int64_t n)
{
	table()->scale(y, gain, shift, n);
}
