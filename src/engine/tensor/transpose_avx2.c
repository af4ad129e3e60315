// Three rounds of interleaving turn rows into columns; each round doubles the run of elements that come from one
// column.
#include "transpose.h"

#ifdef __AVX2__
#include <immintrin.h>

#define EACH_TILE(tile)                                                                                                \
	for (; tiles > 0; tiles--, out += out_step, in += in_step)                                                     \
	tile(out, out_stride, in, in_stride)

static inline __m128i low8(const uint8_t *p)
{
	return _mm_loadl_epi64((const __m128i *)p);
}

static inline void store_halves(uint8_t *low, uint8_t *high, __m128i v)
{
	_mm_storel_epi64((__m128i *)low, v);
	_mm_storeh_pi((__m64 *)high, _mm_castsi128_ps(v));
}

static inline void tile1(uint8_t *out, size_t o, const uint8_t *in, size_t i)
{
	__m128i a = _mm_unpacklo_epi8(low8(in), low8(in + i)),
	        b = _mm_unpacklo_epi8(low8(in + 2 * i), low8(in + 3 * i));
	__m128i c = _mm_unpacklo_epi8(low8(in + 4 * i), low8(in + 5 * i)),
	        d = _mm_unpacklo_epi8(low8(in + 6 * i), low8(in + 7 * i));
	__m128i ab_low = _mm_unpacklo_epi16(a, b), ab_high = _mm_unpackhi_epi16(a, b);
	__m128i cd_low = _mm_unpacklo_epi16(c, d), cd_high = _mm_unpackhi_epi16(c, d);
	store_halves(out, out + o, _mm_unpacklo_epi32(ab_low, cd_low));
	store_halves(out + 2 * o, out + 3 * o, _mm_unpackhi_epi32(ab_low, cd_low));
	store_halves(out + 4 * o, out + 5 * o, _mm_unpacklo_epi32(ab_high, cd_high));
	store_halves(out + 6 * o, out + 7 * o, _mm_unpackhi_epi32(ab_high, cd_high));
}

static inline void tile2(uint8_t *out, size_t o, const uint8_t *in, size_t i)
{
	__m128i r[8], s[8];
	for (int k = 0; k < 8; k++)
		r[k] = _mm_loadu_si128((const __m128i *)(in + (size_t)k * i));
	for (int k = 0; k < 4; k++) {
		s[2 * k] = _mm_unpacklo_epi16(r[2 * k], r[2 * k + 1]);
		s[2 * k + 1] = _mm_unpackhi_epi16(r[2 * k], r[2 * k + 1]);
	}
	for (int half = 0; half < 2; half++) {
		r[4 * half] = _mm_unpacklo_epi32(s[4 * half], s[4 * half + 2]);
		r[4 * half + 1] = _mm_unpackhi_epi32(s[4 * half], s[4 * half + 2]);
		r[4 * half + 2] = _mm_unpacklo_epi32(s[4 * half + 1], s[4 * half + 3]);
		r[4 * half + 3] = _mm_unpackhi_epi32(s[4 * half + 1], s[4 * half + 3]);
	}
	for (int k = 0; k < 4; k++) {
		_mm_storeu_si128((__m128i *)(out + (size_t)(2 * k) * o), _mm_unpacklo_epi64(r[k], r[k + 4]));
		_mm_storeu_si128((__m128i *)(out + (size_t)(2 * k + 1) * o), _mm_unpackhi_epi64(r[k], r[k + 4]));
	}
}

static inline void tile4(uint8_t *out, size_t o, const uint8_t *in, size_t i)
{
	__m256 r[8], s[8];
	for (int k = 0; k < 4; k++) { // rows k and k + 4 side by side: each half of the registers is a 4 x 4 problem
		const float *top = (const float *)(in + (size_t)k * i),
		            *below = (const float *)(in + (size_t)(k + 4) * i);

		r[k] = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(top)), _mm_loadu_ps(below), 1);
		r[k + 4] =
		    _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(top + 4)), _mm_loadu_ps(below + 4), 1);
	}
	for (int k = 0; k < 4; k++) {
		s[2 * k] = _mm256_unpacklo_ps(r[2 * k], r[2 * k + 1]);
		s[2 * k + 1] = _mm256_unpackhi_ps(r[2 * k], r[2 * k + 1]);
	}
	for (int k = 0; k < 8; k++) {
		__m256 a = s[k / 4 * 4 + k % 4 / 2], b = s[k / 4 * 4 + k % 4 / 2 + 2];
		_mm256_storeu_ps((float *)(out + (size_t)k * o),
		    k % 2 ? _mm256_shuffle_ps(a, b, 0xee) : _mm256_shuffle_ps(a, b, 0x44));
	}
}

void transpose1_avx2(uint8_t *out, size_t out_stride, size_t out_step, const uint8_t *in, size_t in_stride,
    size_t in_step, int64_t tiles)
{
	EACH_TILE(tile1);
}

void transpose2_avx2(uint8_t *out, size_t out_stride, size_t out_step, const uint8_t *in, size_t in_stride,
    size_t in_step, int64_t tiles)
{
	EACH_TILE(tile2);
}

void transpose4_avx2(uint8_t *out, size_t out_stride, size_t out_step, const uint8_t *in, size_t in_stride,
    size_t in_step, int64_t tiles)
{
	EACH_TILE(tile4);
}
#endif
