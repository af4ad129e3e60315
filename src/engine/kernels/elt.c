// Element-wise kernels: the portable level, and the choice of a level.
#include <assert.h>
#include <stddef.h>
#include "cpu.h"
#define ELT_TABLE elt_plain
#include "elt_body.h"

static const struct elt_table *table(void)
{
#if defined(__x86_64__)
	static const struct elt_table *const levels[CPU_LEVELS] = {
		[CPU_PLAIN] = &elt_plain, [CPU_AVX2] = &elt_avx2, [CPU_AVX512] = &elt_avx512,
	};
	return levels[cpu_level()];
#else
	return &elt_plain;
#endif
}

static enum elt_binary binary_of(enum op_id op)
{
	switch (op) {
	case OP_Add: return ELT_ADD;
	case OP_Sub: return ELT_SUB;
	case OP_Mul: return ELT_MUL;
	default: break;
	}
	assert(op == OP_Div);
	return ELT_DIV;
}

void elt_act(const struct act *a, const float *x, float *y, int64_t n)
{
	if (a->kind != ACT_NONE || x != y)
		table()->act[a->kind](a, x, y, n);
}

void elt_binary(enum op_id op, const float *a, const float *b, float *y, int64_t n)
{
	table()->binary[binary_of(op)](a, b, y, n);
}

void elt_binary_scalar(enum op_id op, const float *a, float b, float *y, int64_t n)
{
	table()->binary_scalar[binary_of(op)](a, b, y, n);
}

void elt_exp(const float *x, float *y, int64_t n)
{
	table()->exp(x, y, n);
}
