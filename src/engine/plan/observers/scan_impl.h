// The passes of scan.c as a table, one a processor level, and what they do to one element.
// All levels give the same bits.
#ifndef QTUI_ENGINE_PLAN_OBSERVERS_SCAN_IMPL_H
#define QTUI_ENGINE_PLAN_OBSERVERS_SCAN_IMPL_H

#include <float.h>
#include <math.h>
#include "observer_impl.h"

struct scan_ops {
	void (*range)(struct range *r, const float *x, int64_t n);
	void (*hist)(uint32_t *hist, int bins, bool absolute, float lo, float hi, const float *x, int64_t n);
	bool (*tails)(struct tails *t, const float *x, int64_t n);
	double (*squared_error)(float scale, float zero, float qmin, float qmax, const float *x, int64_t n);
	double (*weighted)(const double *weight, const double *x, int n);
};
extern const struct scan_ops scan_avx2, scan_avx512;

// In so many lanes on every level, which sets the order of the sum.
static inline double scan_weighted_in_lanes(const double *weight, const double *x, int n)
{
	enum { LANES = 16 };
	double lane[LANES] = {0}, sum = 0;
	int i = 0;
	for (; i + LANES <= n; i += LANES)
		for (int k = 0; k < LANES; k++)
			lane[k] += weight[i + k] * x[i + k];
	for (; i < n; i++)
		sum += weight[i] * x[i];
	for (int k = 0; k < LANES; k++)
		sum += lane[k];
	return sum;
}

static inline void scan_range_one(float *lo, float *hi, float x)
{
	if (fabsf(x) <= FLT_MAX) {
		*lo = x < *lo ? x : *lo;
		*hi = x > *hi ? x : *hi;
	}
}

static inline double scan_squared_error_one(float scale, float zero, float qmin, float qmax, float x)
{
	float q = fminf(fmaxf(rintf(x / scale) + zero, qmin), qmax), e = (q - zero) * scale - x;
	return e - e == 0 ? (double)e * (double)e : 0;
}

static inline void scan_hist_one(uint32_t *hist, int bins, bool absolute, float lo, float hi, float x)
{
	float v = absolute ? fabsf(x) : x;
	if (!(v >= lo && v <= hi)) {
		hist[bins]++;
		return;
	}
	float t = (v - lo) * (float)bins / (hi - lo), last = (float)(bins - 1); // t is infinite for the largest floats
	hist[t < last ? (int)t : bins - 1]++;
}

// False when there is no room left, or for a value that is not finite: ranks then need another count.
static inline bool tails_add(struct tails *t, float x)
{
	if (!(x - x == 0))
		return false;
	if (x <= t->lo) {
		if (x == t->lo)
			t->equal_lo++;
		else if (t->n_low < t->max)
			t->low[t->n_low++] = x;
		else
			return false;
	} else if (x >= t->hi) {
		if (x == t->hi)
			t->equal_hi++;
		else if (t->n_high < t->max)
			t->high[t->n_high++] = x;
		else
			return false;
	}
	return true;
}

#endif
