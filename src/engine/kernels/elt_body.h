// The element-wise loops, compiled once for every processor level: the including file defines ELT_TABLE, the name of the
// table that it exports. The loops are marked for vectorisation, which then does not depend on the optimisation level.
#include "elt.h"
#include "elt_math.h"

#define ACT_LOOP(name, expr)                                                                                           \
	static void name(const struct act *act, const float *in, float *y, int64_t n)                                  \
	{                                                                                                              \
		const float a = act->a, b = act->b;                                                                    \
		(void)a, (void)b;                                                                                      \
		_Pragma("omp simd") for (int64_t i = 0; i < n; i++)                                                    \
		{                                                                                                      \
			float x = in[i];                                                                               \
			y[i] = (expr);                                                                                 \
		}                                                                                                      \
	}

ACT_LOOP(act_none, x)
ACT_LOOP(act_relu, math_max(x, 0.0f))
ACT_LOOP(act_clip, math_min(math_max(x, a), b))
ACT_LOOP(act_leaky, x < 0.0f ? x * a : x)
ACT_LOOP(act_sigmoid, math_sigmoid(x))
ACT_LOOP(act_swish, math_swish(x))
ACT_LOOP(act_hardswish, math_hardswish(x))
ACT_LOOP(act_hardsigmoid, math_hardsigmoid(x, a, b))
ACT_LOOP(act_tanh, math_tanh(x))
ACT_LOOP(act_mish, math_mish(x))

#define BINARY_LOOPS(name, op)                                                                                         \
	static void name(const float *a, const float *b, float *y, int64_t n)                                          \
	{                                                                                                              \
		_Pragma("omp simd") for (int64_t i = 0; i < n; i++) y[i] = a[i] op b[i];                               \
	}                                                                                                              \
	static void name##_scalar(const float *a, float b, float *y, int64_t n)                                        \
	{                                                                                                              \
		_Pragma("omp simd") for (int64_t i = 0; i < n; i++) y[i] = a[i] op b;                                  \
	}

BINARY_LOOPS(binary_add, +)
BINARY_LOOPS(binary_sub, -)
BINARY_LOOPS(binary_mul, *)
BINARY_LOOPS(binary_div, /)

static void exp_loop(const float *x, float *y, int64_t n)
{
	_Pragma("omp simd") for (int64_t i = 0; i < n; i++) y[i] = math_exp(x[i]);
}

const struct elt_table ELT_TABLE = {
	.act = {
		[ACT_NONE] = act_none, [ACT_RELU] = act_relu, [ACT_CLIP] = act_clip, [ACT_LEAKY] = act_leaky,
		[ACT_SIGMOID] = act_sigmoid, [ACT_SWISH] = act_swish, [ACT_HARDSWISH] = act_hardswish,
		[ACT_HARDSIGMOID] = act_hardsigmoid, [ACT_TANH] = act_tanh, [ACT_MISH] = act_mish,
	},
	.binary = {
		[ELT_ADD] = binary_add, [ELT_SUB] = binary_sub, [ELT_MUL] = binary_mul, [ELT_DIV] = binary_div,
	},
	.binary_scalar = {
		[ELT_ADD] = binary_add_scalar, [ELT_SUB] = binary_sub_scalar,
		[ELT_MUL] = binary_mul_scalar, [ELT_DIV] = binary_div_scalar,
	},
	.exp = exp_loop,
};
