// Passes over floats for the observers, and the choice between plain C and what is compiled for the processor's level.
#include <math.h>
#include "../../tensor/cpu.h"
#include "scan_impl.h"

static void plain_range(struct range *r, const float *x, int64_t n)
{
	float lo = INFINITY, hi = -INFINITY;
	for (int64_t i = 0; i < n; i++)
		scan_range_one(&lo, &hi, x[i]);
	*r = (struct range){.lo = lo, .hi = hi, .seen = lo <= hi};
}

static void plain_hist(uint32_t *hist, int bins, bool absolute, float lo, float hi, const float *x, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		scan_hist_one(hist, bins, absolute, lo, hi, x[i]);
}

static bool plain_tails(struct tails *t, const float *x, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		if (!tails_add(t, x[i]))
			return false;
	return true;
}

static double plain_squared_error(float scale, float zero, float qmin, float qmax, const float *x, int64_t n)
{
	double sum = 0;
	for (int64_t i = 0; i < n; i++)
		sum += scan_squared_error_one(scale, zero, qmin, qmax, x[i]);
	return sum;
}

static const struct scan_ops plain = {plain_range, plain_hist, plain_tails, plain_squared_error, scan_weighted_in_lanes};

static const struct scan_ops *ops(void)
{
#if defined(__x86_64__)
	if (cpu_level() >= CPU_AVX512)
		return &scan_avx512;
	if (cpu_level() >= CPU_AVX2)
		return &scan_avx2;
#endif
	return &plain;
}

void scan_range(struct range *r, const float *x, int64_t n)
{
	ops()->range(r, x, n);
}

void scan_hist_abs(uint32_t *hist, int bins, float hi, const float *x, int64_t n)
{
	ops()->hist(hist, bins, true, 0, hi, x, n);
}

void scan_hist(uint32_t *hist, int bins, float lo, float hi, const float *x, int64_t n)
{
	if (hi > lo)
		ops()->hist(hist, bins, false, lo, hi, x, n);
}

bool scan_tails(struct tails *t, const float *x, int64_t n)
{
	return ops()->tails(t, x, n);
}

double scan_squared_error(float scale, float zero, float qmin, float qmax, const float *x, int64_t n)
{
	return ops()->squared_error(scale, zero, qmin, qmax, x, n);
}

double scan_weighted(const double *weight, const double *x, int n)
{
	return ops()->weighted(weight, x, n);
}
