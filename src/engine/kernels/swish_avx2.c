#include "swish.h"

#if defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>

// Below this e^-x is not a finite float, and swish is as good as 0.
#define LEAST (-88.0f)

// 1 + e^-x for x >= LEAST. With n the integer nearest to -x / ln 2 and r = x + n ln 2, e^-x is 2^n e^-r; n stands in the low bits of t once
// 1.5 * 2^23 has been added. The polynomial is a minimax fit of e^-r on |r| <= ln 2 / 2. NaN passes through the clamp.
static inline __m256 one_plus_exp(__m256 x)
{
	static const float fit[] = {-0.0083690183f, 0.041666202f, -0.16666518f, 0.5f, -1.0f, 1.0f};
	const __m256 round = _mm256_set1_ps(12582912.0f), one = _mm256_set1_ps(1.0f);
	__m256 clamped = _mm256_min_ps(_mm256_set1_ps(87.0f), x);
	__m256 t = _mm256_fmadd_ps(clamped, _mm256_set1_ps(-1.44269504f), round), n = _mm256_sub_ps(t, round);
	__m256 r = _mm256_fmadd_ps(n, _mm256_set1_ps(0.693359375f), clamped), p = _mm256_set1_ps(0.0013950708f);
	r = _mm256_fmadd_ps(n, _mm256_set1_ps(-2.12194440e-4f), r);
	for (int i = 0; i < 6; i++)
		p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(fit[i]));
	__m256i power = _mm256_add_epi32(_mm256_slli_epi32(_mm256_castps_si256(t), 23), _mm256_castps_si256(one));
	return _mm256_fmadd_ps(p, _mm256_castsi256_ps(power), one);
}

// Called with constants for `kind` and `add`, which makes a loop for each pair.
static inline void loop(enum act_kind kind, enum add_kind add, const float *from, float *y, const float *residual, int64_t n)
{
	for (int64_t i = 0; i < n; i += 8) {
		__m256 x = _mm256_loadu_ps(from + i);
		if (add == ADD_BEFORE)
			x = _mm256_add_ps(x, _mm256_loadu_ps(residual + i));
		x = _mm256_max_ps(_mm256_set1_ps(LEAST), x); // the second operand where one is NaN
		__m256 v = _mm256_div_ps(kind == ACT_SWISH ? x : _mm256_set1_ps(1.0f), one_plus_exp(x));
		if (add == ADD_AFTER)
			v = _mm256_add_ps(v, _mm256_loadu_ps(residual + i));
		_mm256_storeu_ps(y + i, v);
	}
}

void swish_avx2(const struct epilogue *e, const float *x, float *y, const float *residual, int64_t n)
{
	const enum act_kind kind = e->act.kind == ACT_SWISH ? ACT_SWISH : ACT_SIGMOID;
	if (kind == ACT_SWISH && e->add == ADD_NONE)
		loop(ACT_SWISH, ADD_NONE, x, y, residual, n);
	else if (kind == ACT_SWISH && e->add == ADD_BEFORE)
		loop(ACT_SWISH, ADD_BEFORE, x, y, residual, n);
	else if (kind == ACT_SWISH)
		loop(ACT_SWISH, ADD_AFTER, x, y, residual, n);
	else
		loop(ACT_SIGMOID, e->add, x, y, residual, n);
}
#else
#include <string.h>
#include "../backend/kept.h"

void swish_avx2(const struct epilogue *e, const float *x, float *y, const float *residual, int64_t n)
{
	if (x != y)
		memcpy(y, x, (size_t)n * sizeof *y);
	kept_epilogue(e, y, residual, n);
}
#endif
