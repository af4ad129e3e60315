// The loops of row_folds.h, compiled once for every processor level; the including file says the table's NAME.
#include <math.h>
#include "row_folds.h"
#include "row_sums.h"

typedef int64_t vlong __attribute__((vector_size(VBYTES)));

VINLINE vdouble value(vdouble v, double mean)
{
	(void)mean;
	return v;
}

VINLINE vdouble magnitude(vdouble v, double mean)
{
	(void)mean;
	return (vdouble)((vlong)v & INT64_MAX);
}

VINLINE vdouble squared(vdouble v, double mean)
{
	(void)mean;
	return v * v;
}

static double sum_values(const float *x, int64_t n)
{
	return sum(x, n, value, 0);
}

static double sum_magnitudes(const float *x, int64_t n)
{
	return sum(x, n, magnitude, 0);
}

static double sum_squares(const float *x, int64_t n)
{
	return sum(x, n, squared, 0);
}

// The maximum of x * sign. No maximum keeps a NaN: it is found by its bits. Without the sign they are those
// of infinity and more, so that the difference is not below 0 as every other element's is.
VINLINE float furthest(const float *x, int64_t n, float sign)
{
	enum { SIDE_BY_SIDE = 4, STEP = SIDE_BY_SIDE * VLANES };
	const int32_t above = 0x7f800001; // infinity's bits and one
	vfloat m[SIDE_BY_SIDE];
	vint below[SIDE_BY_SIDE];
	float far = -INFINITY;
	int64_t i = 0;
	_Pragma("GCC unroll 4") for (int k = 0; k < SIDE_BY_SIDE; k++)
	{
		m[k] = vall(-INFINITY);
		below[k] = (vint){0} - 1;
	}
	for (; i + STEP <= n; i += STEP)
		_Pragma("GCC unroll 4") for (int k = 0; k < SIDE_BY_SIDE; k++)
		{
			vfloat v = vload(x + i + k * VLANES);
			m[k] = vmax(v * sign, m[k]);
			below[k] &= (vint)vabs(v) - above;
		}
	_Pragma("GCC unroll 4") for (int k = 1; k < SIDE_BY_SIDE; k++)
	{
		m[0] = vmax(m[k], m[0]);
		below[0] &= below[k];
	}
	for (int k = 0; k < VLANES; k++) {
		if (below[0][k] >= 0)
			return NAN;
		far = m[0][k] > far ? m[0][k] : far;
	}
	for (; i < n; i++) {
		if (isnan(x[i]))
			return NAN;
		far = x[i] * sign > far ? x[i] * sign : far;
	}
	return far * sign;
}

static float most(const float *x, int64_t n)
{
	return furthest(x, n, 1);
}

static float least(const float *x, int64_t n)
{
	return furthest(x, n, -1);
}

const struct row_folds NAME = {sum_values, sum_magnitudes, sum_squares, most, least};
