// What other element-wise operators take from binary.c.
#ifndef QTUI_ENGINE_OPS_ELEMENTWISE_BINARY_H
#define QTUI_ENGINE_OPS_ELEMENTWISE_BINARY_H

#include "../ops.h"
#include "../strided.h"

// The output's shape and b's after the alignment that operators had before opset 7.
MUST_CHECK enum status binary_shapes(
    struct shape *y, struct shape *b, const struct node *n, const struct tensor *const *in, struct error *err);
// y = f(a, b) over arrays 1 and 2 of `s` into array 0. Floats: Add, Sub, Mul, Div, Max, Min, Mod, Pow, Sum, Mean (which
// adds).
void binary_floats(enum op_id id, const struct strided *s, const float *a, const float *b, float *y, int width);
void binary_ints(
    const struct node *n, const struct strided *s, const struct tensor *a, const struct tensor *b, struct tensor *y);

// y[i] = value, for i < n.
#define EACH(value)                                                                                                    \
	_Pragma("omp simd") for (int64_t i = 0; i < n; i++)                                                            \
	{                                                                                                              \
		y[i] = value;                                                                                          \
	}
// y = f(a, b) of n elements each, of type `from`, sa and sb apart: one loop for each pair of steps,
// so that the usual ones (both 1, or one a scalar) become vectors.
#define PAIR_RUN(name, from, type, f)                                                                                  \
	static void name(const from *a, int64_t sa, const from *b, int64_t sb, type *y, int64_t n)                     \
	{                                                                                                              \
		const from a0 = *a, b0 = *b;                                                                           \
		if (sa == 1 && sb == 1)                                                                                \
			EACH(f(a[i], b[i]))                                                                            \
		else if (sa == 1 && sb == 0)                                                                           \
			EACH(f(a[i], b0))                                                                              \
		else if (sa == 0 && sb == 1)                                                                           \
			EACH(f(a0, b[i]))                                                                              \
		else                                                                                                   \
			EACH(f(a[i * sa], b[i * sb]))                                                                  \
	}

#endif
