// The loops of rows.h, compiled once for every processor level; the including file defines ROWS_TABLE.
#include "../../tensor/vector.h"
#include "rows.h"

#define LARGER(a, b) ((a) > (b) ? (a) : (b))

static float most(const float *x, int64_t n)
{
	float m = x[0];
	int64_t i = 0;
	if (n >= 8) {
		vfloat v = vload(x);
		for (i = 8; i + 8 <= n; i += 8)
			v = vmax(vload(x + i), v);
		m = v[0];
		for (int l = 1; l < 8; l++)
			m = LARGER(v[l], m);
	}
	for (; i < n; i++)
		m = LARGER(x[i], m);
	return m;
}

static float sum(const float *x, int64_t n)
{
	vfloat v = vall(0);
	float rest = 0;
	int64_t i = 0;
	for (; i + 8 <= n; i += 8)
		v += vload(x + i);
	for (; i < n; i++)
		rest += x[i];
	return (v[0] + v[4]) + (v[1] + v[5]) + ((v[2] + v[6]) + (v[3] + v[7])) + rest;
}

static void less(float *y, const float *x, float m, int64_t n)
{
	SIMD_FOR(i, n) y[i] = x[i] - m;
}

static void over(float *y, float s, int64_t n)
{
	SIMD_FOR(i, n) y[i] /= s;
}

static void most_each(float *m, const float *x, int64_t n)
{
	SIMD_FOR(i, n) m[i] = LARGER(x[i], m[i]);
}

static void less_each(float *y, const float *x, const float *m, int64_t n)
{
	SIMD_FOR(i, n) y[i] = x[i] - m[i];
}

static void sum_each(float *s, const float *x, int64_t n)
{
	SIMD_FOR(i, n) s[i] += x[i];
}

static void over_each(float *y, const float *s, int64_t n)
{
	SIMD_FOR(i, n) y[i] /= s[i];
}

const struct rows_loops ROWS_TABLE = {.most = most, .sum = sum, .less = less, .over = over, .most_each = most_each, .less_each = less_each,
	.sum_each = sum_each, .over_each = over_each};
