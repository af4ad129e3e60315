// Data of the tests of operators along an axis: three sizes that are no power of two, and random floats.
#ifndef QTUI_TESTS_ENGINE_ALONG_CASE_H
#define QTUI_TESTS_ENGINE_ALONG_CASE_H

#include <math.h>
#include "node_run.h"

enum { A = 5, B = 7, C = 300 };

// n of them from -2 to 2; the caller frees them.
static inline float *floats(uint64_t seed, int64_t n)
{
	struct support_random random = {seed};
	float *x = malloc((size_t)n * sizeof *x);
	support_random_floats(&random, x, (size_t)n, -2, 2);
	return x;
}

#endif
