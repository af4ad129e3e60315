// One row of norm.h, compiled once for every processor level;
// the including file defines NORM_ROW, the name of the function.
#include <math.h>
#include "../../tensor/vector.h"
#include "norm.h"

typedef float vquad __attribute__((vector_size(16)));

struct sums {
	vdouble low, high; // of the first and the last four of every eight
};

VINLINE void add_eight(struct sums *s, vfloat v)
{
	vquad half[2];
	memcpy(half, &v, sizeof half);
	s->low += __builtin_convertvector(half[0], vdouble);
	s->high += __builtin_convertvector(half[1], vdouble);
}

static double total(const struct sums *s)
{
	vdouble v = s->low + s->high;
	return v[0] + v[1] + (v[2] + v[3]);
}

static float mean_of(const float *x, int64_t n)
{
	struct sums s = {0};
	double rest = 0;
	int64_t i = 0;
	for (; i + 8 <= n; i += 8)
		add_eight(&s, vload(x + i));
	for (; i < n; i++)
		rest += (double)x[i];
	return (float)((total(&s) + rest) / (double)n);
}

// y = x - mean; the mean of its squares.
static float centre(const float *x, float *y, int64_t n, float mean)
{
	struct sums s = {0};
	double rest = 0;
	int64_t i = 0;
	for (; i + 8 <= n; i += 8) {
		vfloat d = vload(x + i) - vall(mean);
		memcpy(y + i, &d, sizeof d);
		add_eight(&s, d * d);
	}
	for (; i < n; i++) {
		y[i] = x[i] - mean;
		rest += (double)(y[i] * y[i]);
	}
	return (float)((total(&s) + rest) / (double)n);
}

void NORM_ROW(const struct norm *k, const float *x, float *y)
{
	const int64_t n = k->n;
	const float deviation = sqrtf(centre(x, y, n, mean_of(x, n)) + k->epsilon);
	const float *gain = k->gain, *shift = k->shift;
	SIMD_FOR(i, n) y[i] /= deviation;
	if (gain)
		SIMD_FOR(i, n) y[i] *= gain[i];
	if (shift)
		SIMD_FOR(i, n) y[i] += shift[i];
}
