// The passes of scan.c, a vector of floats at a time; what is left over goes one by one.
// The including file says VBYTES, the bytes of a vector, and SCAN_OPS, the name of the table.
#include <math.h>
#include <string.h>
#include "../../tensor/vector.h"
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

// The processor's own fetching ends with the page, so it is asked for the next one.
enum { PAIR = 2 * VLANES, LINE = 16, PAGE = 1024 };
VINLINE void fetch_pair(const float *x)
{
	for (int i = 0; i < PAIR; i += LINE)
		__builtin_prefetch(x + i);
}

// Ends of pairs of vectors of floats, which take turns so as not to wait for each other.
struct two_ends {
	vfloat lo[2], hi[2];
};
VINLINE void two_ends_add(struct two_ends *e, int side, vfloat low, vfloat high)
{
	e->lo[side] = vmin(low, e->lo[side]);
	e->hi[side] = vmax(high, e->hi[side]);
}

static struct range range_of(const struct two_ends *e, const float *rest, int64_t n)
{
	vfloat least = vmin(e->lo[0], e->lo[1]), most = vmax(e->hi[0], e->hi[1]);
	float low = INFINITY, high = -INFINITY;
	for (int k = 0; k < VLANES; k++) {
		low = least[k] < low ? least[k] : low;
		high = most[k] > high ? most[k] : high;
	}
	for (int64_t i = 0; i < n; i++)
		scan_range_one(&low, &high, rest[i]);
	return (struct range){.lo = low, .hi = high, .seen = low <= high};
}

static struct two_ends no_ends(void)
{
	vfloat lo = vall(INFINITY), hi = vall(-INFINITY);
	return (struct two_ends){{lo, lo}, {hi, hi}};
}

// Of floats among which are infinities, which do not count.
static struct range range_of_finite(const float *x, int64_t n)
{
	const vfloat most = vall(FLT_MAX), inf = vall(INFINITY);
	struct two_ends e = no_ends();
	int64_t i = 0;
	for (; i + VLANES <= n; i += VLANES) {
		vfloat v = vload(x + i), size = vabs(v);
		two_ends_add(&e, 0, where_le(size, most, v, inf), where_le(size, most, v, -inf));
	}
	return range_of(&e, x + i, n - i);
}

// A NaN is passed over by the ends themselves.
static void range(struct range *r, const float *x, int64_t n)
{
	struct two_ends e = no_ends();
	int64_t i = 0;
	for (; i + PAIR <= n; i += PAIR) {
		vfloat a = vload(x + i), b = vload(x + i + VLANES);
		two_ends_add(&e, 0, a, a);
		two_ends_add(&e, 1, b, b);
	}
	*r = range_of(&e, x + i, n - i);
	if (r->lo < -FLT_MAX || (r->seen && r->hi > FLT_MAX))
		*r = range_of_finite(x, n);
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
// are what it waits for.
enum { SMALL_BINS = 4096, TABLES = 4, AHEAD = 128, MOST = TABLES * 65520 };
typedef uint16_t counts[SMALL_BINS + 1];

VINLINE void count_pair(counts *table, const uint16_t *bin)
{
	for (int i = 0; i < PAIR; i += TABLES) {
		uint64_t four;
		memcpy(&four, bin + i, sizeof four);
		table[0][four & 0xffff]++;
		table[1][four >> 16 & 0xffff]++;
		table[2][four >> 32 & 0xffff]++;
		table[3][four >> 48]++;
	}
}

// Elements that make whole pairs of vectors, of no more than the tables can count; returns how many.
static int64_t small_hist(uint32_t *hist, int bins, const struct bins *by, const float *x, int64_t n)
{
	const struct bins b = *by;
	counts table[TABLES];
	uint16_t bin[AHEAD];
	int64_t at = 0;
	n = n < MOST ? n : MOST;
	for (int t = 0; t < TABLES; t++)
		memset(table[t], 0, ((size_t)bins + 1) * sizeof table[t][0]);
	for (; at + PAIR <= n; at += PAIR) {
		uint16_t *slot = bin + at % AHEAD;
		if (at >= AHEAD)
			count_pair(table, slot);
		fetch_pair(x + at + PAGE);
		store_bins(slot, bins_at(&b, x + at), bins_at(&b, x + at + VLANES));
	}
	for (int64_t i = at > AHEAD ? at - AHEAD : 0; i < at; i += PAIR)
		count_pair(table, bin + i % AHEAD);
	for (int k = 0; k <= bins; k++)
		hist[k] += (uint32_t)table[0][k] + table[1][k] + table[2][k] + table[3][k];
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
	int64_t i = 0;
	if (bins > SMALL_BINS)
		i = large_hist(hist, &b, x, n);
	else
		while (n - i >= PAIR)
			i += small_hist(hist, bins, &b, x + i, n - i);
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
