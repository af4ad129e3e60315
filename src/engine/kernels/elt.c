// Element-wise kernels: the portable level of the arithmetic, the choice of a level, and the activations. These are the
// functions of the operators: an activation fused into a kernel gives the bits of the operator on its own.
#include <assert.h>
#include <stddef.h>
#include "../tensor/cpu.h"
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

void elt_scale(float *y, float gain, float shift, int64_t n)
{
	table()->scale(y, gain, shift, n);
}
