// The loops of row_moments.h, compiled once for every processor level; the including file makes a table of them.
#include "row_moments.h"
#include "row_sums.h"

VINLINE vdouble value(vdouble v, double mean)
{
	(void)mean;
	return v;
}

VINLINE vdouble squared_distance(vdouble v, double mean)
{
	return (v - mean) * (v - mean);
}

static struct row_moments of(const float *x, int64_t n)
{
	struct row_moments m = {0};
	if (n == 0)
		return m;
	m.mean = sum(x, n, value, 0) / (double)n;
	m.variance = sum(x, n, squared_distance, m.mean) / (double)n;
	return m;
}

static void apply(const float *x, float *y, int64_t n, double mean, double inverse, const float *scale, const float *shift)
{
	if (scale && shift)
		SIMD_FOR(i, n) y[i] = (float)(((double)x[i] - mean) * inverse * (double)scale[i] + (double)shift[i]);
	else if (scale)
		SIMD_FOR(i, n) y[i] = (float)(((double)x[i] - mean) * inverse * (double)scale[i]);
	else
		SIMD_FOR(i, n) y[i] = (float)(((double)x[i] - mean) * inverse + (shift ? (double)shift[i] : 0));
}
