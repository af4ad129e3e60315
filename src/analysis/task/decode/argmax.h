// The first of the greatest, as numpy.argmax has it, but that NaN is never the greatest.
#ifndef QTUI_ANALYSIS_TASK_DECODE_ARGMAX_H
#define QTUI_ANALYSIS_TASK_DECODE_ARGMAX_H

#include <math.h>
#include <stdint.h>

// Of n elements, one at the least, `step` apart. All NaN: 0.
static inline int64_t argmax(const float *x, int64_t n, int64_t step)
{
	int64_t best = 0;
	for (int64_t i = 1; i < n; i++)
		if (x[i * step] > x[best * step] || isnan(x[best * step]))
			best = i;
	return best;
}

#endif
