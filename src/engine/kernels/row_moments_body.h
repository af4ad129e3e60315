// The loops of row_moments.h, compiled once for every processor level; the including file makes a table of them.
#include "row_moments.h"

enum { SUMS = 32 }; // side by side: so many additions need not wait for each other

#define SIMD_FOR(i, n) _Pragma("omp simd") for (int64_t i = 0; i < (n); i++)

static double fold(double *sum)
{
	for (int half = SUMS / 2; half > 0; half /= 2)
		SIMD_FOR(i, half) sum[i] += sum[i + half];
	return sum[0];
}

static inline double square(double v)
{
	return v * v;
}

#define SUM_OF(sum, x, n, term)                                                                                        \
	do {                                                                                                           \
		int64_t at_ = 0;                                                                                       \
		for (; at_ + SUMS <= (n); at_ += SUMS)                                                                 \
			SIMD_FOR(j, SUMS) sum[j] += term((double)(x)[at_ + j]);                                        \
		for (int64_t j = 0; at_ + j < (n); j++)                                                                \
			sum[j] += term((double)(x)[at_ + j]);                                                          \
	} while (0)

static struct row_moments of(const float *x, int64_t n)
{
	double sum[SUMS] = {0}, squares[SUMS] = {0};
	struct row_moments m = {0};

	if (n == 0)
		return m;
	SUM_OF(sum, x, n, );
	m.mean = fold(sum) / (double)n;
	const double mean = m.mean;
#define APART(v) square((v) - mean)
	SUM_OF(squares, x, n, APART);
#undef APART
	m.variance = fold(squares) / (double)n;
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
