// The passes of scan.c, a vector of floats at a time; what is left over goes one by one.
// The including file says VBYTES, the bytes of a vector, and SCAN_OPS, the name of the table.
#include <math.h>
#include <string.h>
#include "../tensor/vector.h"
#include "scan_impl.h"

#if VBYTES == 64
// a <= b ? x : y, lane by lane; y beside a NaN.
VINLINE vfloat where_le(vfloat a, vfloat b, vfloat x, vfloat y)
{
	return (vfloat)_mm512_mask_blend_ps(_mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_LE_OQ), (__m512)y, (__m512)x);
}
// A bit for each lane with lo < v < hi; one for each with a == b.
VINLINE unsigned lanes_inside(vfloat v, vfloat lo, vfloat hi)
{
	return _mm512_mask_cmp_ps_mask(_mm512_cmp_ps_mask((__m512)v, (__m512)lo, _CMP_GT_OQ), (__m512)v, (__m512)hi, _CMP_LT_OQ);
}
VINLINE unsigned lanes_equal(vfloat a, vfloat b)
{
	return _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_EQ_OQ);
}
VINLINE vfloat rounded(vfloat v)
{
	return (vfloat)_mm512_roundscale_ps((__m512)v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
// Both as 16 bits each, in some order.
VINLINE void store_bins(uint16_t *out, vint a, vint b)
{
	_mm512_storeu_si512(out, _mm512_packus_epi32((__m512i)a, (__m512i)b));
}
#else
VINLINE vfloat where_le(vfloat a, vfloat b, vfloat x, vfloat y)
{
	return (vfloat)_mm256_blendv_ps((__m256)y, (__m256)x, _mm256_cmp_ps((__m256)a, (__m256)b, _CMP_LE_OQ));
}
VINLINE unsigned lanes_inside(vfloat v, vfloat lo, vfloat hi)
{
	__m256 above = _mm256_cmp_ps((__m256)v, (__m256)lo, _CMP_GT_OQ), below = _mm256_cmp_ps((__m256)v, (__m256)hi, _CMP_LT_OQ);
	return (unsigned)_mm256_movemask_ps(_mm256_and_ps(above, below));
}
VINLINE unsigned lanes_equal(vfloat a, vfloat b)
{
	return (unsigned)_mm256_movemask_ps(_mm256_cmp_ps((__m256)a, (__m256)b, _CMP_EQ_OQ));
}
VINLINE vfloat rounded(vfloat v)
{
	return (vfloat)_mm256_round_ps((__m256)v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
VINLINE void store_bins(uint16_t *out, vint a, vint b)
{
	_mm256_storeu_si256((__m256i *)out, _mm256_packus_epi32((__m256i)a, (__m256i)b));
}
#endif

static float lowest(vfloat v)
{
	float m = v[0];
	for (int i = 1; i < VLANES; i++)
		m = v[i] < m ? v[i] : m;
	return m;
}

static void range(struct range *r, const float *x, int64_t n)
{
	const vfloat most = vall(FLT_MAX), inf = vall(INFINITY);
	vfloat lo = inf, neg = inf; // of x and of -x
	int64_t i = 0;
	for (; i + VLANES <= n; i += VLANES) {
		vfloat v = vload(x + i), size = vabs(v);
		lo = vmin(lo, where_le(size, most, v, inf));
		neg = vmin(neg, where_le(size, most, -v, inf));
	}
	float low = lowest(lo), high = -lowest(neg);
	for (; i < n; i++)
		scan_range_one(&low, &high, x[i]);
	*r = (struct range){.lo = low, .hi = high, .seen = low <= high};
}

// Bins are computed like the plain form: (v - lo) * bins / width, each step in float; `spill` outside.
struct bins {
	vfloat lo, hi, width, count, last;
	vint kept, spill; // bits of x that count: without the sign for magnitudes
};

static struct bins bins_of(int bins, bool absolute, float lo, float hi)
{
	vint none = {0};
	return (struct bins){vall(lo), vall(hi), vall(hi - lo), vall((float)bins), vall((float)(bins - 1)), none + (absolute ? 0x7fffffff : -1),
		none + bins};
}

VINLINE vint bins_at(const struct bins *b, const float *x)
{
	vfloat v = (vfloat)((vint)vload(x) & b->kept), bin = (v - b->lo) * b->count / b->width;
	vfloat index = (vfloat)__builtin_convertvector(vmin(bin, b->last), vint), spill = (vfloat)b->spill; // infinite for the largest floats
	return (vint)where_le(v, b->hi, where_le(b->lo, v, index, spill), spill);
}

// Where tables are small, four of them take turns, so that values that come again soon (zeros behind a ReLU)
// do not wait for their own increments, and four bins of 16 bits are read at a time.
// Bins are computed AHEAD elements before they are counted: the processor divides while its stores, one a cycle,
// are what it waits for. Its own fetching ends with the page, so it is asked for the next one.
enum { SMALL_BINS = 4096, TABLES = 4, PAIR = 2 * VLANES, AHEAD = 128, LINE = 16, PAGE = 1024 };
typedef uint32_t counts[SMALL_BINS + 1];

VINLINE void count_pair(uint32_t *hist, counts *more, const uint16_t *bin)
{
	for (int i = 0; i < PAIR; i += TABLES) {
		uint64_t four;
		memcpy(&four, bin + i, sizeof four);
		hist[four & 0xffff]++;
		more[0][four >> 16 & 0xffff]++;
		more[1][four >> 32 & 0xffff]++;
		more[2][four >> 48]++;
	}
}

VINLINE void fetch_pair(const float *x)
{
	for (int i = 0; i < PAIR; i += LINE)
		__builtin_prefetch(x + i);
}

// Elements that make whole pairs of vectors; returns how many.
static int64_t small_hist(uint32_t *hist, int bins, const struct bins *by, const float *x, int64_t n)
{
	const struct bins b = *by;
	counts more[TABLES - 1];
	uint16_t bin[AHEAD];
	int64_t at = 0;
	for (int t = 0; t < TABLES - 1; t++)
		memset(more[t], 0, ((size_t)bins + 1) * sizeof more[t][0]);
	for (; at + PAIR <= n; at += PAIR) {
		uint16_t *slot = bin + at % AHEAD;
		if (at >= AHEAD)
			count_pair(hist, more, slot);
		fetch_pair(x + at + PAGE);
		store_bins(slot, bins_at(&b, x + at), bins_at(&b, x + at + VLANES));
	}
	for (int64_t i = at > AHEAD ? at - AHEAD : 0; i < at; i += PAIR)
		count_pair(hist, more, bin + i % AHEAD);
	for (int k = 0; k <= bins; k++)
		hist[k] += more[0][k] + more[1][k] + more[2][k];
	return at;
}

static int64_t large_hist(uint32_t *hist, const struct bins *b, const float *x, int64_t n)
{
	int64_t i = 0;
	for (; i + VLANES <= n; i += VLANES) {
		int32_t at[VLANES];
		vint bin = bins_at(b, x + i);
		memcpy(at, &bin, sizeof at);
		for (int k = 0; k < VLANES; k++)
			hist[at[k]]++;
	}
	return i;
}

static void hist(uint32_t *hist, int bins, bool absolute, float lo, float hi, const float *x, int64_t n)
{
	struct bins b = bins_of(bins, absolute, lo, hi);
	int64_t i = bins <= SMALL_BINS ? small_hist(hist, bins, &b, x, n) : large_hist(hist, &b, x, n);
	for (; i < n; i++)
		scan_hist_one(hist, bins, absolute, lo, hi, x[i]);
}

// Most vectors have no element outside the limits and none that is equal to one.
static bool tails(struct tails *t, const float *x, int64_t n)
{
	const unsigned all = (1u << VLANES) - 1;
	const vfloat lo = vall(t->lo), hi = vall(t->hi);
	int64_t i = 0, equal_lo = 0;
	for (; i + VLANES <= n; i += VLANES) {
		vfloat v = vload(x + i);
		unsigned out = ~lanes_inside(v, lo, hi) & all; // also a NaN
		if (!out)
			continue;
		unsigned same = lanes_equal(v, lo);
		equal_lo += __builtin_popcount(same);
		for (out &= ~same; out; out &= out - 1)
			if (!tails_add(t, x[i + __builtin_ctz(out)]))
				return false;
	}
	t->equal_lo += equal_lo;
	for (; i < n; i++)
		if (!tails_add(t, x[i]))
			return false;
	return true;
}

// Sums in lanes would differ from the plain order: the errors are vectorised, their sum is in order.
static double squared_error(float scale, float zero, float qmin, float qmax, const float *x, int64_t n)
{
	const vfloat s = vall(scale), z = vall(zero), lo = vall(qmin), hi = vall(qmax);
	double sum = 0;
	int64_t i = 0;
	for (; i + VLANES <= n; i += VLANES) {
		float e[VLANES];
		vfloat v = vload(x + i), q = vmin(vmax(rounded(v / s) + z, lo), hi);
		vstore(e, (q - z) * s - v);
		for (int k = 0; k < VLANES; k++)
			sum += e[k] - e[k] == 0 ? (double)e[k] * (double)e[k] : 0;
	}
	for (; i < n; i++)
		sum += scan_squared_error_one(scale, zero, qmin, qmax, x[i]);
	return sum;
}

static double weighted(const double *weight, const double *x, int n)
{
	return scan_weighted_in_lanes(weight, x, n);
}

const struct scan_ops SCAN_OPS = {range, hist, tails, squared_error, weighted};
