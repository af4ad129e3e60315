// AVX2 forms of the passes in scan.c, eight floats at a time; what is left over goes one by one.
#if defined(__x86_64__)
#include <immintrin.h>
#include <math.h>
#include <string.h>
#include "scan_impl.h"

static __m256 magnitude(__m256 x)
{
	return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), x);
}

static float lowest(__m256 v)
{
	__m128 m = _mm_min_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
	m = _mm_min_ps(m, _mm_movehl_ps(m, m));
	return _mm_cvtss_f32(_mm_min_ss(m, _mm_shuffle_ps(m, m, 1)));
}

static void avx2_range(struct range *r, const float *x, int64_t n)
{
	const __m256 most = _mm256_set1_ps(FLT_MAX), inf = _mm256_set1_ps(INFINITY);
	__m256 lo = inf, neg = inf; // of x and of -x
	int64_t i = 0;
	for (; i + 8 <= n; i += 8) {
		__m256 v = _mm256_loadu_ps(x + i);
		__m256 finite = _mm256_cmp_ps(magnitude(v), most, _CMP_LE_OQ);
		lo = _mm256_min_ps(lo, _mm256_blendv_ps(inf, v, finite));
		neg = _mm256_min_ps(neg, _mm256_blendv_ps(inf, _mm256_xor_ps(v, _mm256_set1_ps(-0.0f)), finite));
	}
	float low = lowest(lo), high = -lowest(neg);
	for (; i < n; i++) {
		if (fabsf(x[i]) <= FLT_MAX) {
			low = x[i] < low ? x[i] : low;
			high = x[i] > high ? x[i] : high;
		}
	}
	*r = (struct range){ low, high, low <= high };
}

// Bins are computed like the plain form: (v - lo) * bins / width, each step in float; `spill` outside.
struct bins {
	__m256 sign, lo, hi, width, count, last;
	__m256i spill;
};

static struct bins bins_of(int bins, bool absolute, float lo, float hi)
{
	return (struct bins){_mm256_set1_ps(absolute ? -0.0f : 0.0f), _mm256_set1_ps(lo), _mm256_set1_ps(hi), _mm256_set1_ps(hi - lo),
	    _mm256_set1_ps((float)bins), _mm256_set1_ps((float)(bins - 1)), _mm256_set1_epi32(bins)};
}

static __m256i bins_at(const struct bins *b, const float *x)
{
	__m256 v = _mm256_andnot_ps(b->sign, _mm256_loadu_ps(x));
	__m256 inside = _mm256_and_ps(_mm256_cmp_ps(v, b->lo, _CMP_GE_OQ), _mm256_cmp_ps(v, b->hi, _CMP_LE_OQ));
	__m256 bin = _mm256_div_ps(_mm256_mul_ps(_mm256_sub_ps(v, b->lo), b->count), b->width);
	__m256i index = _mm256_cvttps_epi32(_mm256_min_ps(bin, b->last)); // infinite for the largest floats
	return _mm256_blendv_epi8(b->spill, index, _mm256_castps_si256(inside));
}

// Where a table fits the first-level cache twice, two tables take turns, so that runs of equal values (zeros behind a ReLU)
// do not wait for their own increments, and four bins of 16 bits are read at a time.
enum { SMALL_BINS = 4096, PIECE = 1024 };

static void count_bins(uint32_t *even, uint32_t *odd, const uint16_t *bin, int n)
{
	for (int i = 0; i < n; i += 4) {
		uint64_t four;
		memcpy(&four, bin + i, sizeof four);
		even[four & 0xffff]++;
		odd[four >> 16 & 0xffff]++;
		even[four >> 32 & 0xffff]++;
		odd[four >> 48]++;
	}
}

// Elements that make whole pairs of vectors; returns how many.
static int64_t small_hist(uint32_t *hist, int bins, const struct bins *b, const float *x, int64_t n)
{
	uint32_t second[SMALL_BINS + 1] = {0};
	uint16_t bin[PIECE];
	int64_t at = 0;
	while (at + 16 <= n) {
		int m = n - at < PIECE ? (int)((n - at) / 16 * 16) : PIECE;
		for (int i = 0; i < m; i += 16)
			_mm256_storeu_si256((__m256i *)(bin + i), _mm256_packus_epi32(bins_at(b, x + at + i), bins_at(b, x + at + i + 8)));
		count_bins(hist, second, bin, m);
		at += m;
	}
	for (int k = 0; k <= bins; k++)
		hist[k] += second[k];
	return at;
}

static int64_t large_hist(uint32_t *hist, const struct bins *b, const float *x, int64_t n)
{
	int64_t i = 0;
	for (; i + 8 <= n; i += 8) {
		_Alignas(32) uint32_t at[8];
		_mm256_store_si256((__m256i *)at, bins_at(b, x + i));
		for (int k = 0; k < 8; k++)
			hist[at[k]]++;
	}
	return i;
}

static void avx2_hist(uint32_t *hist, int bins, bool absolute, float lo, float hi, const float *x, int64_t n)
{
	struct bins b = bins_of(bins, absolute, lo, hi);
	int64_t i = bins <= SMALL_BINS ? small_hist(hist, bins, &b, x, n) : large_hist(hist, &b, x, n);
	for (; i < n; i++)
		scan_hist_one(hist, bins, absolute, lo, hi, x[i]);
}

// Most groups of eight have no element outside the limits and none that is equal to one.
static bool avx2_tails(struct tails *t, const float *x, int64_t n)
{
	const __m256 lo = _mm256_set1_ps(t->lo), hi = _mm256_set1_ps(t->hi);
	int64_t i = 0, equal_lo = 0;
	for (; i + 8 <= n; i += 8) {
		__m256 v = _mm256_loadu_ps(x + i);
		// Not inside: also true for NaN.
		__m256 in = _mm256_and_ps(_mm256_cmp_ps(v, lo, _CMP_GT_OQ), _mm256_cmp_ps(v, hi, _CMP_LT_OQ));
		int out = ~_mm256_movemask_ps(in) & 0xff;
		if (!out)
			continue;
		int same = _mm256_movemask_ps(_mm256_cmp_ps(v, lo, _CMP_EQ_OQ));
		equal_lo += __builtin_popcount((unsigned)same);
		for (out &= ~same; out; out &= out - 1)
			if (!tails_add(t, x[i + __builtin_ctz((unsigned)out)]))
				return false;
	}
	t->equal_lo += equal_lo;
	for (; i < n; i++)
		if (!tails_add(t, x[i]))
			return false;
	return true;
}

// Sums in eight lanes of double pairs would differ from the plain order: the errors are vectorised, their sum is in order.
static double avx2_squared_error(float scale, float zero, float qmin, float qmax, const float *x, int64_t n)
{
	const __m256 s = _mm256_set1_ps(scale), z = _mm256_set1_ps(zero), lo = _mm256_set1_ps(qmin), hi = _mm256_set1_ps(qmax);
	double sum = 0;
	int64_t i = 0;
	for (; i + 8 <= n; i += 8) {
		_Alignas(32) float e[8];
		__m256 v = _mm256_loadu_ps(x + i);
		__m256 q = _mm256_round_ps(_mm256_div_ps(v, s), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
		q = _mm256_min_ps(_mm256_max_ps(_mm256_add_ps(q, z), lo), hi);
		_mm256_store_ps(e, _mm256_sub_ps(_mm256_mul_ps(_mm256_sub_ps(q, z), s), v));
		for (int k = 0; k < 8; k++)
			sum += e[k] - e[k] == 0 ? (double)e[k] * (double)e[k] : 0;
	}
	for (; i < n; i++) {
		float q = fminf(fmaxf(rintf(x[i] / scale) + zero, qmin), qmax);
		float e = (q - zero) * scale - x[i];
		sum += e - e == 0 ? (double)e * (double)e : 0;
	}
	return sum;
}

const struct scan_ops scan_avx2 = { avx2_range, avx2_hist, avx2_tails, avx2_squared_error };
#endif
