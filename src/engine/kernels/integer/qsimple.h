// The usual end of an integer kernel in AVX2 (private): sums to the nearest 8-bit codes in registers.
#ifndef QTUI_ENGINE_KERNELS_INTEGER_QSIMPLE_H
#define QTUI_ENGINE_KERNELS_INTEGER_QSIMPLE_H

#include <immintrin.h>
#include "qfast.h"

struct simple {
	__m256 scale[2], fbias[2], step, high; // step: the output's scale, or its inverse where that does as well
	__m256i zero, low, order;
	bool fused, divides, up, is_signed;
};

// Limits of codes as bytes. Rounding keeps the order, so that clamping after it is the same.
static inline __m256i simple_limit(float limit, const struct qscaling *s)
{
	return _mm256_set1_epi8((char)((int32_t)qscaling_nearest(s, limit) + s->out.zero));
}

static inline struct simple simple_of(const struct qscaling *s, const float *scale, const float *fbias)
{
	return (struct simple){
		.scale = {_mm256_loadu_ps(scale), _mm256_loadu_ps(scale + 8)},
		.fbias = {_mm256_loadu_ps(fbias), _mm256_loadu_ps(fbias + 8)},
		.step = _mm256_set1_ps(s->out.inverse != 0.0f ? s->out.inverse : s->out.scale),
		.high = _mm256_set1_ps(s->code_high),
		.low = simple_limit(s->code_low, s),
		.zero = _mm256_set1_epi16((int16_t)s->out.zero),
		.order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7),
		.fused = s->fused,
		.divides = s->out.inverse == 0.0f,
		.up = s->up,
		.is_signed = s->type == DT_I8,
	};
}

// What is too low for int32 becomes INT32_MIN; what is too high would as well.
static inline __m256i simple_steps(__m256 v, const struct simple *s, int half)
{
	v = _mm256_mul_ps(v, s->scale[half]);
	if (!s->fused) {
		v = _mm256_add_ps(v, s->fbias[half]);
		v = s->divides ? _mm256_div_ps(v, s->step) : _mm256_mul_ps(v, s->step);
	}
	v = _mm256_min_ps(v, s->high);
	return _mm256_cvtps_epi32(s->up ? _mm256_floor_ps(_mm256_add_ps(v, _mm256_set1_ps(0.5f))) : v);
}

// The codes of two rows, each in two halves, as the quarters 0 2 4 6, 1 3 5 7. Every step down to a byte saturates.
static inline __m256i simple_codes(__m256 a0, __m256 a1, __m256 b0, __m256 b1, const struct simple *s)
{
	__m256i a = _mm256_packs_epi32(simple_steps(a0, s, 0), simple_steps(a1, s, 1));
	__m256i b = _mm256_packs_epi32(simple_steps(b0, s, 0), simple_steps(b1, s, 1));
	a = _mm256_adds_epi16(a, s->zero);
	b = _mm256_adds_epi16(b, s->zero);
	return s->is_signed ? _mm256_max_epi8(_mm256_packs_epi16(a, b), s->low) : _mm256_max_epu8(_mm256_packus_epi16(a, b), s->low);
}

static inline __m256 simple_load(const int32_t *acc)
{
	return _mm256_cvtepi32_ps(_mm256_loadu_si256((const __m256i *)acc));
}

// The codes of two rows where they belong: first halves to y[0], second ones to y[1] if
// it is there; those of row i at + at[i].
static inline void simple_store_apart(uint8_t *const y[2], const int64_t *at, __m256i codes)
{
	__m256i order = _mm256_setr_epi32(0, 4, 2, 6, 1, 5, 3, 7); // first halves, second halves
	codes = _mm256_permutevar8x32_epi32(codes, order);
	__m128i half[2] = {_mm256_castsi256_si128(codes), _mm256_extracti128_si256(codes, 1)};
	for (int h = 0; h < 2 && y[h]; h++) {
		_mm_storel_epi64((__m128i *)(y[h] + at[0]), half[h]);
		_mm_storel_epi64((__m128i *)(y[h] + at[1]), _mm_unpackhi_epi64(half[h], half[h]));
	}
}

#endif
