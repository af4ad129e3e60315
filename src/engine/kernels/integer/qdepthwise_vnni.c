// Sixteen channels at a time, a block of LAYOUT_BLOCK. A number holds four pixels of a column as bytes,
// which VPDPBUSD multiplies with four weights and adds to a sum; nothing saturates in it.
// Bytes have no sign: signed codes come in with 128 added, which the bias takes away again.
// So sums differ from the true ones while they grow, and may wrap; the last is the true one, and that fits int32.
#ifdef __x86_64__
#include "qdepthwise_taps.h"

enum { LANES = 16 };
#define ALL_OF(n) ((__mmask16)((1 << (4 * (n))) - 1)) // n pixels as the 32-bit parts of their codes

struct quad {
	uint8_t of[4];
};
typedef uint8_t vquads __attribute__((vector_size(64)));
typedef int32_t vsums __attribute__((vector_size(64)));

VINLINE vsums add_quads(vsums sum, vquads v, vquads w)
{
	return (vsums)_mm512_dpbusd_epi32((__m512i)sum, (__m512i)v, (__m512i)w);
}
TAPS(quad_taps, LANES, vquads, vsums, struct quad, int32_t, add_quads)

// Four pixels of sixteen channels with the same four channels of each side by side, and back.
static inline __m512i transposed(__m512i codes)
{
	return _mm512_permutexvar_epi32(_mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15), codes);
}

// Up to four pixels; those past the n-th are 0. Step 0: one pixel four times.
static inline __m512i pixels_at(const uint8_t *x, int64_t step, int64_t n, __m512i flip)
{
	__m512i codes = step ? n < QDW_ROUND ? _mm512_maskz_loadu_epi32(ALL_OF(n), x) : _mm512_loadu_si512(x)
	                     : _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)x));
	return _mm512_xor_si512(transposed(codes), flip);
}

// In every quarter: bytes of rows a, b, c, d in turn.
static void spread(void *y, const void *const *row, int64_t step, int64_t n, int32_t shift)
{
	const __m512i flip = _mm512_set1_epi8((char)shift);
	for (int64_t i = 0; i < n; i += QDW_ROUND) {
		int64_t some = n - i < QDW_ROUND ? n - i : QDW_ROUND;
		__m512i r[QDW_TOGETHER], quads[QDW_ROUND];
#pragma GCC unroll 4
		for (int k = 0; k < QDW_TOGETHER; k++)
			r[k] = pixels_at((const uint8_t *)row[k] + i * step, step, some, flip);
		__m512i ab = _mm512_unpacklo_epi8(r[0], r[1]), cd = _mm512_unpacklo_epi8(r[2], r[3]);
		quads[0] = _mm512_unpacklo_epi16(ab, cd);
		quads[1] = _mm512_unpackhi_epi16(ab, cd);
		ab = _mm512_unpackhi_epi8(r[0], r[1]);
		cd = _mm512_unpackhi_epi8(r[2], r[3]);
		quads[2] = _mm512_unpacklo_epi16(ab, cd);
		quads[3] = _mm512_unpackhi_epi16(ab, cd);
#pragma GCC unroll 4
		for (int k = 0; k < QDW_ROUND; k++)
			if (k < some)
				_mm512_storeu_si512((char *)y + (i + k) * LANES * (int64_t)sizeof(struct quad), quads[k]);
	}
}

// What turns sums into codes. Codes without a sign are made with 128 taken away,
// so that all are clamped as signed bytes.
struct ending {
	__m512 scale, fbias, step, high; // step: the output's scale, or its inverse where that does as well
	__m512i zero, low, flip;
	bool divides, up;
};

static struct ending ending_of(const struct qscaling *s, const float *scale, const float *fbias)
{
	int32_t offset = s->type == DT_I8 ? 0 : 128, zero = s->out.zero - offset;
	return (struct ending){
		.scale = _mm512_loadu_ps(scale),
		.fbias = _mm512_loadu_ps(fbias),
		.step = _mm512_set1_ps(s->out.inverse != 0.0f ? s->out.inverse : s->out.scale),
		.high = _mm512_set1_ps(s->code_high),
		.zero = _mm512_set1_epi16((int16_t)zero),
		.low = _mm512_set1_epi8((char)((int32_t)qscaling_nearest(s, s->code_low) + zero)),
		.flip = _mm512_set1_epi8((char)offset),
		.divides = s->out.inverse == 0.0f,
		.up = s->up,
	};
}

// What is too low for int32 becomes INT32_MIN; what is too high would as well.
VINLINE __m512i steps_of(vsums sum, const struct ending *e, bool fused)
{
	__m512 v = _mm512_mul_ps(_mm512_cvtepi32_ps((__m512i)sum), e->scale);
	if (!fused) {
		v = _mm512_add_ps(v, e->fbias);
		v = e->divides ? _mm512_div_ps(v, e->step) : _mm512_mul_ps(v, e->step);
	}
	v = _mm512_min_ps(v, e->high);
	return _mm512_cvtps_epi32(e->up ? _mm512_floor_ps(_mm512_add_ps(v, _mm512_set1_ps(0.5f))) : v);
}

// Every step down to a byte saturates. Rounding keeps the order, so that the lower limit holds after it as well.
VINLINE __m512i codes_of(const vsums a[QDW_ROUND], const struct ending *e, bool fused)
{
	__m512i steps[QDW_ROUND], codes;

#pragma GCC unroll 4
	for (int i = 0; i < QDW_ROUND; i++)
		steps[i] = steps_of(a[i], e, fused);
	codes = _mm512_packs_epi16(_mm512_adds_epi16(_mm512_packs_epi32(steps[0], steps[1]), e->zero),
	    _mm512_adds_epi16(_mm512_packs_epi32(steps[2], steps[3]), e->zero));
	return transposed(_mm512_xor_si512(_mm512_max_epi8(codes, e->low), e->flip));
}

VINLINE void direct_rows(uint8_t *const y[QDW_ROWS], const struct qdw_band *band, int64_t n, const struct ending *e, bool fused, int rows,
    bool shared)
{
	for (int64_t p = 0; p < n; p += QDW_ROUND) {
		__mmask16 inside = n - p < QDW_ROUND ? ALL_OF(n - p) : (__mmask16)-1;
		vsums a[QDW_ROWS][QDW_ROUND];
		quad_taps_round(a, band, p * band->step, 0, rows, shared);
#pragma GCC unroll 2
		for (int r = 0; r < rows; r++)
			_mm512_mask_storeu_epi32(y[r] + p * LANES, inside, codes_of(a[r], e, fused));
	}
}

VINLINE void direct_band(uint8_t *const y[QDW_ROWS], const struct qdw_band *band, int64_t n, const struct ending *e, bool fused)
{
	if (band->rows == 1)
		direct_rows(y, band, n, e, fused, 1, false);
	else if (band->shared)
		direct_rows(y, band, n, e, fused, QDW_ROWS, true);
	else
		direct_rows(y, band, n, e, fused, QDW_ROWS, false);
}

static void direct(uint8_t *const y[QDW_ROWS], int64_t step, const struct qdw_band *band, int64_t n, const struct qscaling *s,
    const float *scale, const float *fbias)
{
	const struct ending e = ending_of(s, scale, fbias);
	(void)step; // a vector is a block
	if (s->fused)
		direct_band(y, band, n, &e, true);
	else
		direct_band(y, band, n, &e, false);
}

const struct qdw_loops qdw_vnni = {.lanes = LANES, .size = sizeof(struct quad), .together = 4, .spread = {[DT_I8] = spread, [DT_U8] = spread},
	.taps = quad_taps, .direct = direct};
#endif
