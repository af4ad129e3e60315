// Evaluations that give the bits of ONNX Runtime's CPU kernels: the same approximations,
// the same order of sums. They serve files that are quantized already (see op_eval_ordered):
// there the last bit of a float decides which code it becomes.
#ifndef QTUI_ENGINE_OPS_ORDERED_ORDERED_H
#define QTUI_ENGINE_OPS_ORDERED_ORDERED_H

#include "../ops.h"

// The terms of the two sums over codes below, which say what each is.
struct codes_by {
	float a, b, ratio, rest, low, high;
};
// The loops, compiled for each processor level; fused multiply-adds are part of what they compute,
// with or without an instruction for it. x and y may be the same array.
struct ordered_loops {
	void (*sigmoid)(const float *x, float *y, int64_t n);
	float (*sum_exp)(const float *x, float minus_max, float *y, int64_t n); // y = exp(x + minus_max), and their sum
	// Of codes: a * by->a + (b * by->b + by->rest), fused, of which one may be NULL;
	// (a - by->a) * (b - by->b) * by->ratio + by->rest. Both rounded to the nearest code from by->low to by->high.
	void (*add_codes)(const float *a, const float *b, const struct codes_by *by, float *y, int64_t n);
	void (*multiply_codes)(const float *a, const float *b, const struct codes_by *by, float *y, int64_t n);
};
extern const struct ordered_loops ordered_plain, ordered_avx2;
const struct ordered_loops *ordered_here(void);

// The sum of a plane of n floats, in four running sums.
float ordered_plane_sum(const float *x, int64_t n);

#endif
