// The usual end of an integer kernel in AVX2: sums to 8-bit codes, half to even. Included by the files of both vector levels.
#include <immintrin.h>
#include <math.h>
#include "qfast.h"

struct simple {
	__m256 scale[2], fbias[2], inverse, high;
	__m256i zero, low, order;
	bool fused, is_signed;
};

// Limits of codes as bytes. Rounding keeps the order, so that clamping after it is the same.
static inline __m256i simple_limit(float limit, const struct qscaling *s)
{
	return _mm256_set1_epi8((char)((int32_t)rintf(limit) + s->out.zero));
}

static inline struct simple simple_of(const struct qscaling *s, const float *scale, const float *fbias)
{
	return (struct simple) {
		.scale = { _mm256_loadu_ps(scale), _mm256_loadu_ps(scale + 8) },
		.fbias = { _mm256_loadu_ps(fbias), _mm256_loadu_ps(fbias + 8) },
		.inverse = _mm256_set1_ps(s->out.inverse),
		.high = _mm256_set1_ps(s->code_high),
		.low = simple_limit(s->code_low, s),
		.zero = _mm256_set1_epi16((int16_t)s->out.zero),
		.order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7),
		.fused = s->fused,
		.is_signed = s->type == DT_I8,
	};
}

// What is too low for int32 becomes INT32_MIN; what is too high would as well.
static inline __m256i simple_steps(__m256 v, const struct simple *s, int half)
{
	v = _mm256_mul_ps(v, s->scale[half]);
	if (!s->fused)
		v = _mm256_mul_ps(_mm256_add_ps(v, s->fbias[half]), s->inverse);
	return _mm256_cvtps_epi32(_mm256_min_ps(v, s->high));
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

static inline void simple_store(uint8_t *y, __m256 a0, __m256 a1, __m256 b0, __m256 b1, const struct simple *s)
{
	__m256i codes = simple_codes(a0, a1, b0, b1, s);
	_mm256_storeu_si256((__m256i *)y, _mm256_permutevar8x32_epi32(codes, s->order));
}

static inline __m256 simple_load(const int32_t *acc)
{
	return _mm256_cvtepi32_ps(_mm256_loadu_si256((const __m256i *)acc));
}

static void finish(void *y, const int32_t *acc, const struct qscaling *scaling, const float *scale, const float *fbias, int rows)
{
	if (!scaling->simple) {
		finish_any(y, acc, scaling, scale, fbias, rows);
		return;
	}
	const struct simple s = simple_of(scaling, scale, fbias);
	for (int r = 0; r < rows; r += 2, acc += 2 * QLANES)
		simple_store((uint8_t *)y + r * QLANES, simple_load(acc), simple_load(acc + 8), simple_load(acc + 16),
		    simple_load(acc + 24), &s);
}

static void finish_wide(void *y, const float *v, const struct qscaling *scaling, const float *scale, const float *fbias, int rows)
{
	if (!scaling->simple) {
		finish_wide_any(y, v, scaling, scale, fbias, rows);
		return;
	}
	const struct simple s = simple_of(scaling, scale, fbias);
	for (int r = 0; r < rows; r += 2, v += 2 * QLANES)
		simple_store((uint8_t *)y + r * QLANES, _mm256_loadu_ps(v), _mm256_loadu_ps(v + 8), _mm256_loadu_ps(v + 16),
		    _mm256_loadu_ps(v + 24), &s);
}
