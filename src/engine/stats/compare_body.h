// Comparison of the floats with SIDES codings of them, side by side in a register:
// one in the 32 bytes that every level has, two in the halves of 64 bytes.
// Each side runs in STATS_LANES lanes of its own, and so all forms give the same bits.
#include <math.h>
#include "../tensor/vector.h"
#include "stats_impl.h"

enum { SIDES = VLANES / STATS_LANES };

#if VBYTES == 64
#define EIGHT_BYTES(q) _mm_unpacklo_epi64(_mm_loadl_epi64((const __m128i *)(q)[0]), _mm_loadl_epi64((const __m128i *)(q)[1]))
#define EIGHT_WORDS(q)                                                                                                 \
	_mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)(q)[0])), _mm_loadu_si128((const __m128i *)(q)[1]), 1)
#define SIDES_I8(q)  ((vint)_mm512_cvtepi8_epi32(EIGHT_BYTES(q)))
#define SIDES_U8(q)  ((vint)_mm512_cvtepu8_epi32(EIGHT_BYTES(q)))
#define SIDES_I16(q) ((vint)_mm512_cvtepi16_epi32(EIGHT_WORDS(q)))
#define SIDES_U16(q) ((vint)_mm512_cvtepu16_epi32(EIGHT_WORDS(q)))
#define SIDES_F32(q) ((vfloat)_mm512_insertf32x8(_mm512_castps256_ps512(_mm256_loadu_ps((q)[0])), _mm256_loadu_ps((q)[1]), 1))
#define SIDES_SAME(f) ((vfloat)_mm512_broadcast_f32x8(_mm256_loadu_ps(f)))
#else
#define SIDES_I8(q)   vcodes_i8((q)[0])
#define SIDES_U8(q)   vcodes_u8((q)[0])
#define SIDES_I16(q)  vcodes_i16((q)[0])
#define SIDES_U16(q)  vcodes_u16((q)[0])
#define SIDES_F32(q)  vload((q)[0])
#define SIDES_SAME(f) vload(f)
#endif

struct codings {
	vfloat scale, low, high;
	vint zero;
};
#define VALUES(codes, by) (__builtin_convertvector((codes) - (by)->zero, vfloat) * (by)->scale)
#define FLOATS(floats, by) ((void)(by), (floats))

struct ends {
	vfloat fmin, fmax, qmin, qmax, error;
	vint clipped;
};

static double side_sum(vfloat v, int side, int valid)
{
	double s = 0;
	for (int i = 0; i < valid; i++)
		s += (double)v[side * STATS_LANES + i];
	return s;
}

// Of two numbers; fminf and fmaxf are calls.
VINLINE float lesser(float a, float b)
{
	return a < b ? a : b;
}
VINLINE float greater(float a, float b)
{
	return a > b ? a : b;
}

static void ends_store(struct tensor_sums *out, const struct ends *e, int side, int valid)
{
	float error = 0;
	for (int i = side * STATS_LANES; i < side * STATS_LANES + valid; i++) {
		out->fmin = lesser(out->fmin, e->fmin[i]);
		out->fmax = greater(out->fmax, e->fmax[i]);
		out->qmin = lesser(out->qmin, e->qmin[i]);
		out->qmax = greater(out->qmax, e->qmax[i]);
		error = greater(error, e->error[i]);
		out->clipped += e->clipped[i];
	}
	out->max_error = fmax(out->max_error, (double)error);
}

static struct codings codings_of(const struct compare_by *const by[])
{
	struct codings c;
	for (int i = 0; i < VLANES; i++) {
		c.scale[i] = by[i / STATS_LANES]->scale;
		c.zero[i] = by[i / STATS_LANES]->zero;
		c.low[i] = by[i / STATS_LANES]->low;
		c.high[i] = by[i / STATS_LANES]->high;
	}
	return c;
}

// Sums of one chunk; `ends` collects over the chunks of a strip. Codes are counted between:
// the processor computes while its stores of counts, one a cycle, are what it waits for.
#define COMPARE(name, type, sides, values)                                                                             \
	static void name##_chunk(struct tensor_sums *const out[], struct ends *ends, const float *f, const void *const q[], \
	    int64_t at, struct strip strip, const struct codings *by, uint32_t *count)                                 \
	{                                                                                                              \
		vfloat f2 = vall(0), q2 = vall(0), fq = vall(0), e2 = vall(0);                                         \
		struct ends e = *ends;                                                                                 \
		for (int64_t v = 0; v < strip.vectors; v++) {                                                          \
			int64_t i = at + v * strip.step;                                                               \
			const type *codes[SIDES];                                                                      \
			for (int k = 0; k < SIDES; k++)                                                                \
				codes[k] = (const type *)q[k] + i;                                                     \
			if (count)                                                                                     \
				count_eight(count, codes[0], sizeof(type));                                            \
			vfloat x = SIDES_SAME(f + i), y = values(sides(codes), by), d = y - x;                         \
			f2 += x * x;                                                                                   \
			q2 += y * y;                                                                                   \
			fq += x * y;                                                                                   \
			e2 += d * d;                                                                                   \
			e.fmin = vmin(x, e.fmin);                                                                      \
			e.fmax = vmax(x, e.fmax);                                                                      \
			e.qmin = vmin(y, e.qmin);                                                                      \
			e.qmax = vmax(y, e.qmax);                                                                      \
			e.error = vmax(vabs(d), e.error);                                                              \
			e.clipped -= (x < by->low) | (x > by->high);                                                   \
		}                                                                                                      \
		*ends = e;                                                                                             \
		for (int k = 0; k < SIDES; k++) {                                                                      \
			out[k]->f2 += side_sum(f2, k, strip.valid);                                                    \
			out[k]->q2 += side_sum(q2, k, strip.valid);                                                    \
			out[k]->fq += side_sum(fq, k, strip.valid);                                                    \
			out[k]->e2 += side_sum(e2, k, strip.valid);                                                    \
		}                                                                                                      \
	}                                                                                                              \
	static void name(struct tensor_sums *const out[], const float *f, const void *const q[], struct strip strip,   \
	    const struct compare_by *const by[], uint32_t *count)                                                      \
	{                                                                                                              \
		const struct codings codings = codings_of(by);                                                         \
		struct ends ends = {vall(INFINITY), vall(-INFINITY), vall(INFINITY), vall(-INFINITY), vall(0), {0}}; \
		for (int64_t v = 0; v < strip.vectors; v += STATS_CHUNK)                                               \
			name##_chunk(out, &ends, f, q, v * strip.step, chunk_of(strip, v), &codings, count);           \
		for (int k = 0; k < SIDES; k++) {                                                                      \
			ends_store(out[k], &ends, k, strip.valid);                                                     \
			out[k]->n += (double)(strip.vectors * strip.valid);                                            \
		}                                                                                                      \
	}
COMPARE(compare_f32, float, SIDES_F32, FLOATS)
COMPARE(compare_i8, int8_t, SIDES_I8, VALUES)
COMPARE(compare_u8, uint8_t, SIDES_U8, VALUES)
COMPARE(compare_i16, int16_t, SIDES_I16, VALUES)
COMPARE(compare_u16, uint16_t, SIDES_U16, VALUES)

#define COMPARE_LOOPS                                                                                                  \
	{                                                                                                              \
		[DT_F32] = compare_f32, [DT_I8] = compare_i8, [DT_U8] = compare_u8, [DT_I16] = compare_i16,            \
		[DT_U16] = compare_u16,                                                                                \
	}
