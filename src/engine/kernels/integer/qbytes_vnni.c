// Values of 8 bits on AVX-512 VNNI: unsigned inputs, signed weights.
#ifdef __x86_64__
#include <immintrin.h>

static inline __m512i dot(__m512i sums, __m512i inputs, __m512i weights)
{
	return _mm512_dpbusd_epi32(sums, inputs, weights);
}

#include "qmicro_vnni_body.h"

static void take(void *to, int64_t step, const void *from, int64_t from_step, int64_t n, int32_t shift)
{
	const __m128i by = _mm_set1_epi8((char)shift);
	const char *x = from;
	char *y = to;
	for (int64_t i = 0; i < n; i++, x += from_step, y += step)
		_mm_storeu_si128((__m128i *)y, _mm_sub_epi8(_mm_loadu_si128((const __m128i *)x), by));
}

// Codes of constants are of 16 bits, whatever weights they are.
static void take_constant(void *to, int64_t step, const void *from, int64_t from_step, int64_t n, int32_t shift)
{
	const __m256i by = _mm256_set1_epi16((int16_t)shift);
	const int16_t *x = from;
	char *y = to;
	for (int64_t i = 0; i < n; i++, x += from_step, y += step)
		_mm_storeu_si128((__m128i *)y, _mm256_cvtepi16_epi8(_mm256_sub_epi16(_mm256_loadu_si256((const __m256i *)x), by)));
}

// Where byte j of the vector `out` of three comes from in the source `of`; -128: from another one.
#define FROM(out, of, j) (16 * (out) + (j)) % 3 == (of) ? (16 * (out) + (j)) / 3 : -128
#define FROM4(out, of, j) FROM(out, of, j), FROM(out, of, j + 1), FROM(out, of, j + 2), FROM(out, of, j + 3)
#define FROM16(out, of) {FROM4(out, of, 0), FROM4(out, of, 4), FROM4(out, of, 8), FROM4(out, of, 12)}
#define FROM48(out) {FROM16(out, 0), FROM16(out, 1), FROM16(out, 2)}

static void interleave3_bytes(void *to, const void *from_a, const void *from_b, const void *from_c, int64_t n)
{
	static const int8_t places[3][3][16] = {FROM48(0), FROM48(1), FROM48(2)};
	const char *const from[3] = {from_a, from_b, from_c};
	char *y = to;
	int64_t i = 0;
	for (; i + 16 <= n; i += 16)
		for (int out = 0; out < 3; out++, y += 16) {
			__m128i v = _mm_setzero_si128();
			for (int of = 0; of < 3; of++)
				v = _mm_or_si128(v, _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(from[of] + i)),
				    _mm_loadu_si128((const __m128i *)places[out][of])));
			_mm_storeu_si128((__m128i *)y, v);
		}
	for (; i < n; i++, y += 3)
		for (int of = 0; of < 3; of++)
			y[of] = from[of][i];
}

const struct qmicro qmicro_bytes_vnni = {
	VNNI_COMMON, .size = 1, .lot = 16, .widen = {[DT_I8] = take, [DT_U8] = take, [DT_I16] = take_constant},
	.interleave3 = interleave3_bytes,
};
#endif
