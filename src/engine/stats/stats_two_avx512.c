// Comparison of the floats with two codings of them at once, side by side in the halves of a register of 64 bytes: each half does what
// the loops of stats_body.h do, and so gives their bits.
#if defined(__x86_64__)
#define VBYTES 64
#include <math.h>
#include "stats_impl.h"
#include "../vector.h"

struct two_by {
	vfloat scale;
	vint zero;
};
struct two_ends {
	vfloat qmin, qmax, error;
};

#define LOAD_TWO(name, type, codes)                                                                                    \
	VINLINE vfloat name(const void *a, const void *b, int64_t at, const struct two_by *by)                         \
	{                                                                                                              \
		vint both = (vint)codes((const __m128i *)((const type *)a + at), (const __m128i *)((const type *)b + at)); \
		return __builtin_convertvector(both - by->zero, vfloat) * by->scale;                                   \
	}
#define EIGHT_BYTES(a, b) _mm_unpacklo_epi64(_mm_loadl_epi64(a), _mm_loadl_epi64(b))
#define EIGHT_WORDS(a, b) _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128(a)), _mm_loadu_si128(b), 1)
#define TWO_I8(a, b)  _mm512_cvtepi8_epi32(EIGHT_BYTES(a, b))
#define TWO_U8(a, b)  _mm512_cvtepu8_epi32(EIGHT_BYTES(a, b))
#define TWO_I16(a, b) _mm512_cvtepi16_epi32(EIGHT_WORDS(a, b))
#define TWO_U16(a, b) _mm512_cvtepu16_epi32(EIGHT_WORDS(a, b))
LOAD_TWO(two_i8, int8_t, TWO_I8)
LOAD_TWO(two_u8, uint8_t, TWO_U8)
LOAD_TWO(two_i16, int16_t, TWO_I16)
LOAD_TWO(two_u16, uint16_t, TWO_U16)

VINLINE vfloat two_f32(const void *a, const void *b, int64_t at, const struct two_by *by)
{
	__m512 low = _mm512_castps256_ps512(_mm256_loadu_ps((const float *)a + at));
	(void)by;
	return (vfloat)_mm512_insertf32x8(low, _mm256_loadu_ps((const float *)b + at), 1);
}

static double half_sum(vfloat v, int half, int valid)
{
	double s = 0;
	for (int i = 0; i < valid; i++)
		s += (double)v[half * STATS_LANES + i];
	return s;
}

static void half_ends(struct tensor_sums *out, const struct two_ends *e, int half, int valid)
{
	for (int i = half * STATS_LANES; i < half * STATS_LANES + valid; i++) {
		out->qmin = fminf(out->qmin, e->qmin[i]);
		out->qmax = fmaxf(out->qmax, e->qmax[i]);
		out->max_error = fmax(out->max_error, (double)e->error[i]);
	}
}

static struct two_by two_by_of(const struct compare_by *const by[2])
{
	struct two_by two;
	for (int i = 0; i < VLANES; i++) {
		two.scale[i] = by[i / STATS_LANES]->scale;
		two.zero[i] = by[i / STATS_LANES]->zero;
	}
	return two;
}

#define COMPARE_TWO(name, load_two)                                                                                    \
	static void name##_chunk(struct tensor_sums *const out[2], struct two_ends *ends, const float *f, const void *const q[2], \
	    int64_t at, struct strip strip, const struct two_by *by)                                                   \
	{                                                                                                              \
		vfloat q2 = vall(0), fq = vall(0), e2 = vall(0);                                                       \
		struct two_ends e = *ends;                                                                             \
		for (int64_t v = 0; v < strip.vectors; v++) {                                                          \
			int64_t i = at + v * strip.step;                                                               \
			vfloat x = (vfloat)_mm512_broadcast_f32x8(_mm256_loadu_ps(f + i)), y = load_two(q[0], q[1], i, by);   \
			vfloat d = y - x;                                                                              \
			q2 += y * y;                                                                                   \
			fq += x * y;                                                                                   \
			e2 += d * d;                                                                                   \
			e.qmin = vmin(y, e.qmin);                                                                      \
			e.qmax = vmax(y, e.qmax);                                                                      \
			e.error = vmax(vabs(d), e.error);                                                              \
		}                                                                                                      \
		*ends = e;                                                                                             \
		for (int k = 0; k < 2; k++) {                                                                          \
			out[k]->q2 += half_sum(q2, k, strip.valid);                                                    \
			out[k]->fq += half_sum(fq, k, strip.valid);                                                    \
			out[k]->e2 += half_sum(e2, k, strip.valid);                                                    \
		}                                                                                                      \
	}                                                                                                              \
	static void name(struct tensor_sums *const out[2], const float *f, const void *const q[2], struct strip strip, \
	    const struct compare_by *const by[2])                                                                      \
	{                                                                                                              \
		struct two_by two = two_by_of(by);                                                                     \
		struct two_ends ends = { vall(INFINITY), vall(-INFINITY), vall(0) };                                   \
		for (int64_t v = 0; v < strip.vectors; v += STATS_CHUNK)                                               \
			name##_chunk(out, &ends, f, q, v * strip.step, chunk_of(strip, v), &two);                      \
		for (int k = 0; k < 2; k++) {                                                                          \
			half_ends(out[k], &ends, k, strip.valid);                                                      \
			out[k]->n += (double)(strip.vectors * strip.valid);                                            \
		}                                                                                                      \
	}
COMPARE_TWO(compare_two_f32, two_f32)
COMPARE_TWO(compare_two_i8, two_i8)
COMPARE_TWO(compare_two_u8, two_u8)
COMPARE_TWO(compare_two_i16, two_i16)
COMPARE_TWO(compare_two_u16, two_u16)

compare_two_fn *const stats_two_avx512[DT_COUNT] = {
	[DT_F32] = compare_two_f32, [DT_I8] = compare_two_i8, [DT_U8] = compare_two_u8, [DT_I16] = compare_two_i16,
	[DT_U16] = compare_two_u16,
};
#endif
