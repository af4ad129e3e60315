// Comparison of the floats with SIDES codings of them, side by side in a register:
// one in the 32 bytes that every level has, two in the halves of 64 bytes.
// Each side runs in STATS_LANES lanes of its own, and so all forms give the same bits.
#include <math.h>
#include "../tensor/vector.h"
#include "stats_impl.h"

enum { SIDES = VLANES / STATS_LANES };

// Codings as they are read, a vint each: codes, or the bits of floats.
#if VBYTES == 64
#define EIGHT_BYTES(q) _mm_unpacklo_epi64(_mm_loadl_epi64((const __m128i *)(q)[0]), _mm_loadl_epi64((const __m128i *)(q)[1]))
#define EIGHT_WORDS(q)                                                                                                 \
	_mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)(q)[0])), _mm_loadu_si128((const __m128i *)(q)[1]), 1)
#define SIDES_I8(q)  ((vint)_mm512_cvtepi8_epi32(EIGHT_BYTES(q)))
#define SIDES_U8(q)  ((vint)_mm512_cvtepu8_epi32(EIGHT_BYTES(q)))
#define SIDES_I16(q) ((vint)_mm512_cvtepi16_epi32(EIGHT_WORDS(q)))
#define SIDES_U16(q) ((vint)_mm512_cvtepu16_epi32(EIGHT_WORDS(q)))
#define SIDES_F32(q) ((vint)_mm512_insertf32x8(_mm512_castps256_ps512(_mm256_loadu_ps((q)[0])), _mm256_loadu_ps((q)[1]), 1))
#define SIDES_SAME(f) ((vfloat)_mm512_broadcast_f32x8((__m256)(f)))
#else
#define SIDES_I8(q)   vcodes_i8((q)[0])
#define SIDES_U8(q)   vcodes_u8((q)[0])
#define SIDES_I16(q)  vcodes_i16((q)[0])
#define SIDES_U16(q)  vcodes_u16((q)[0])
#define SIDES_F32(q)  (vint)vload((q)[0])
#define SIDES_SAME(f) (f)
#endif

// The floats themselves, which all sides share.
typedef float eight __attribute__((vector_size(STATS_LANES * sizeof(float))));
VINLINE eight eight_load(const float *f)
{
	eight x;
	memcpy(&x, f, sizeof x);
	return x;
}
#if VBYTES == 64
#define EIGHT_LESSER(a, b)  ((eight)_mm256_min_ps((__m256)(a), (__m256)(b)))
#define EIGHT_GREATER(a, b) ((eight)_mm256_max_ps((__m256)(a), (__m256)(b)))
#define EIGHT_ALL(x)        ((eight)_mm256_set1_ps(x))
#else
#define EIGHT_LESSER(a, b)  vmin(a, b)
#define EIGHT_GREATER(a, b) vmax(a, b)
#define EIGHT_ALL(x)        vall(x)
#endif

struct codings {
	vfloat scale, low, high;
	vint zero;
};
// What is read, as values; and the lesser and the greater of two.
#define CODE_VALUES(codes, by)  (__builtin_convertvector((codes) - (by)->zero, vfloat) * (by)->scale)
#define CODE_LESSER(a, b)       vintmin(a, b)
#define CODE_GREATER(a, b)      vintmax(a, b)
#define FLOAT_VALUES(bits, by)  ((void)(by), (vfloat)(bits))
#define FLOAT_LESSER(a, b)      ((vint)vmin((vfloat)(a), (vfloat)(b)))
#define FLOAT_GREATER(a, b)     ((vint)vmax((vfloat)(a), (vfloat)(b)))

struct ends {
	eight fmin, fmax;
	vint qmin, qmax, clipped; // q as it is read
	vfloat error;
};

static double eight_sum(eight v, int valid)
{
	double s = 0;
	for (int i = 0; i < valid; i++)
		s += (double)v[i];
	return s;
}

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

static void ends_store(struct tensor_sums *out, const struct ends *e, vfloat qmin, vfloat qmax, int side, int valid)
{
	float error = 0;
	for (int i = 0; i < valid; i++) {
		out->fmin = lesser(out->fmin, e->fmin[i]);
		out->fmax = greater(out->fmax, e->fmax[i]);
	}
	for (int i = side * STATS_LANES; i < side * STATS_LANES + valid; i++) {
		out->qmin = lesser(out->qmin, qmin[i]);
		out->qmax = greater(out->qmax, qmax[i]);
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

VINLINE vint is_clipped(eight low, eight high, const struct codings *by)
{
	return (SIDES_SAME(low) < by->low) | (SIDES_SAME(high) > by->high);
}

// The floats of CLIP_SPAN vectors, or the rest of a strip, go to the ends: most have no element that is clipped,
// which their own ends tell, and are not gone through again to count them.
enum { CLIP_SPAN = 16 };
VINLINE void ends_of_span(struct ends *e, eight low, eight high, const float *f, int64_t step, int64_t vectors, const struct codings *by)
{
	e->fmin = EIGHT_LESSER(low, e->fmin);
	e->fmax = EIGHT_GREATER(high, e->fmax);
	if (!vany(is_clipped(low, high, by)))
		return;
	for (int64_t v = 0; v < vectors; v++) {
		eight x = eight_load(f + v * step);
		e->clipped -= is_clipped(x, x, by);
	}
}

// Sums of one chunk; `ends` collects over the chunks of a strip. Codes are counted between:
// the processor computes while its stores of counts, one a cycle, are what it waits for.
// Products and comparisons of floats share their units, so that ends of codes are found by integer instructions.
#define COMPARE(name, type, sides, kind)                                                                               \
	static void name##_chunk(struct tensor_sums *const out[], struct ends *ends, const float *f, const void *const q[], \
	    int64_t at, struct strip strip, const struct codings *by, uint32_t *count)                                 \
	{                                                                                                              \
		eight f2 = {0};                                                                                        \
		vfloat q2 = vall(0), fq = vall(0), e2 = vall(0);                                                       \
		struct ends e = *ends;                                                                                 \
		for (int64_t v = 0; v < strip.vectors;) {                                                              \
			int64_t first = v, end = v + CLIP_SPAN < strip.vectors ? v + CLIP_SPAN : strip.vectors;        \
			eight low = EIGHT_ALL(INFINITY), high = EIGHT_ALL(-INFINITY);                                  \
			for (; v < end; v++) {                                                                         \
				int64_t i = at + v * strip.step;                                                       \
				const type *codes[SIDES];                                                              \
				for (int k = 0; k < SIDES; k++)                                                        \
					codes[k] = (const type *)q[k] + i;                                             \
				if (count)                                                                             \
					count_eight(count, codes[0], sizeof(type));                                    \
				vint c = sides(codes);                                                                 \
				eight own = eight_load(f + i);                                                         \
				vfloat x = SIDES_SAME(own), y = kind##_VALUES(c, by), d = y - x;                       \
				f2 += own * own;                                                                       \
				q2 += y * y;                                                                           \
				fq += x * y;                                                                           \
				e2 += d * d;                                                                           \
				low = EIGHT_LESSER(own, low);                                                          \
				high = EIGHT_GREATER(own, high);                                                       \
				e.qmin = kind##_LESSER(c, e.qmin);                                                     \
				e.qmax = kind##_GREATER(c, e.qmax);                                                    \
				e.error = vabsmax(d, e.error);                                                         \
			}                                                                                              \
			ends_of_span(&e, low, high, f + at + first * strip.step, strip.step, end - first, by);         \
		}                                                                                                      \
		*ends = e;                                                                                             \
		for (int k = 0; k < SIDES; k++) {                                                                      \
			out[k]->f2 += eight_sum(f2, strip.valid);                                                       \
			out[k]->q2 += side_sum(q2, k, strip.valid);                                                    \
			out[k]->fq += side_sum(fq, k, strip.valid);                                                    \
			out[k]->e2 += side_sum(e2, k, strip.valid);                                                    \
		}                                                                                                      \
	}                                                                                                              \
	static void name(struct tensor_sums *const out[], const float *f, const void *const q[], struct strip strip,   \
	    const struct compare_by *const by[], uint32_t *count)                                                      \
	{                                                                                                              \
		const struct codings codings = codings_of(by);                                                         \
		const vint begin = sides((const type *const *)q);                                                      \
		struct ends ends = {EIGHT_ALL(INFINITY), EIGHT_ALL(-INFINITY), begin, begin, {0}, {0}};                \
		for (int64_t v = 0; v < strip.vectors; v += STATS_CHUNK)                                               \
			name##_chunk(out, &ends, f, q, v * strip.step, chunk_of(strip, v), &codings, count);           \
		vfloat qmin = kind##_VALUES(ends.qmin, &codings), qmax = kind##_VALUES(ends.qmax, &codings);           \
		for (int k = 0; k < SIDES; k++) {                                                                      \
			ends_store(out[k], &ends, qmin, qmax, k, strip.valid);                                         \
			out[k]->n += (double)(strip.vectors * strip.valid);                                            \
		}                                                                                                      \
	}
COMPARE(compare_f32, float, SIDES_F32, FLOAT)
COMPARE(compare_i8, int8_t, SIDES_I8, CODE)
COMPARE(compare_u8, uint8_t, SIDES_U8, CODE)
COMPARE(compare_i16, int16_t, SIDES_I16, CODE)
COMPARE(compare_u16, uint16_t, SIDES_U16, CODE)

#define COMPARE_LOOPS                                                                                                  \
	{                                                                                                              \
		[DT_F32] = compare_f32, [DT_I8] = compare_i8, [DT_U8] = compare_u8, [DT_I16] = compare_i16,            \
		[DT_U16] = compare_u16,                                                                                \
	}
