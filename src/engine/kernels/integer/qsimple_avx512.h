// The usual end of an integer kernel in AVX-512 (private): 16 sums to the nearest 8-bit codes in registers.
#ifndef QTUI_ENGINE_KERNELS_INTEGER_QSIMPLE_AVX512_H
#define QTUI_ENGINE_KERNELS_INTEGER_QSIMPLE_AVX512_H

#include <immintrin.h>
#include "qfast.h"

struct simple512 {
	__m512 scale, fbias, step, low, high; // step: the output's scale, or its inverse where that does as well
	__m512i zero;
	bool fused, divides, up;
};

static inline struct simple512 simple512_of(const struct qscaling *s, const float *scale, const float *fbias)
{
	return (struct simple512){
		.scale = _mm512_loadu_ps(scale), .fbias = _mm512_loadu_ps(fbias),
		.step = _mm512_set1_ps(s->out.inverse != 0.0f ? s->out.inverse : s->out.scale),
		.low = _mm512_set1_ps(s->code_low), .high = _mm512_set1_ps(s->code_high), .zero = _mm512_set1_epi32(s->out.zero),
		.fused = s->fused, .divides = s->out.inverse == 0.0f, .up = s->up,
	};
}

// Limits are those of the codes, so that nothing is lost on the way to a byte.
static inline __m128i simple512_codes(__m512 v, const struct simple512 *s)
{
	v = _mm512_mul_ps(v, s->scale);
	if (!s->fused) {
		v = _mm512_add_ps(v, s->fbias);
		v = s->divides ? _mm512_div_ps(v, s->step) : _mm512_mul_ps(v, s->step);
	}
	v = _mm512_min_ps(_mm512_max_ps(v, s->low), s->high);
	v = s->up ? _mm512_floor_ps(_mm512_add_ps(v, _mm512_set1_ps(0.5f))) : v;
	return _mm512_cvtepi32_epi8(_mm512_add_epi32(_mm512_cvtps_epi32(v), s->zero));
}

// Where the two halves of a row of codes belong, in registers: codes that are stored might be what is in memory.
struct dest512 {
	int64_t lane[2];
	bool whole, both;
};
static inline struct dest512 dest512_of(const struct qdest *d)
{
	return (struct dest512){.lane = {d->lane[0], d->lane[8]}, .whole = d->whole, .both = d->lanes > 8};
}

static inline void simple512_store(uint8_t *y, const struct dest512 *d, __m128i codes)
{
	if (d->whole) {
		_mm_storeu_si128((__m128i *)(y + d->lane[0]), codes);
		return;
	}
	_mm_storel_epi64((__m128i *)(y + d->lane[0]), codes);
	if (d->both)
		_mm_storel_epi64((__m128i *)(y + d->lane[1]), _mm_unpackhi_epi64(codes, codes));
}

#endif
