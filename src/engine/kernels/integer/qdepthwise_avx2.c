#ifdef __x86_64__
#include "qdepthwise_body.h"
#include "qsimple.h"

enum { PIECE = 64 };  // pixels whose sums stay in the first-level cache

// Four pixels from their sums, in order.
static inline __m256i codes_of(const int32_t *acc, const struct simple *s)
{
	__m256i codes = simple_codes(simple_load(acc), simple_load(acc + 8), simple_load(acc + 16), simple_load(acc + 24), s);
	return _mm256_permutevar8x32_epi32(codes, s->order);
}

static void store_apart(uint8_t *y, int64_t step, __m256i codes, int64_t n)
{
	uint8_t four[QDW_ROUND * LANES];
	_mm256_storeu_si256((__m256i *)four, codes);
	for (int64_t i = 0; i < n; i++)
		memcpy(y + i * step, four + i * LANES, LANES);
}

// n pixels from their sums. Where pixels are neighbours in memory the last four may be some of those before them again.
static void store_row(uint8_t *y, int64_t step, const int32_t *acc, int64_t n, const struct simple *s)
{
	bool dense = step == LANES && n >= QDW_ROUND;
	for (int64_t p = 0; p < n; p += QDW_ROUND) {
		int64_t left = n - p < QDW_ROUND ? n - p : QDW_ROUND, from = dense ? p + left - QDW_ROUND : p;
		__m256i codes = codes_of(acc + from * LANES, s);
		if (dense)
			_mm256_storeu_si256((__m256i *)(y + from * step), codes);
		else
			store_apart(y + from * step, step, codes, left);
	}
}

// The sums go through memory: with what scales them beside them, registers do not suffice.
static void direct(uint8_t *const y[QDW_ROWS], int64_t step, const struct qdw_band *band, int64_t n, const struct qscaling *scaling,
    const float *scale, const float *fbias)
{
	const struct simple s = simple_of(scaling, scale, fbias);
	_Alignas(32) int32_t acc[QDW_ROWS][PIECE][LANES];

	for (int64_t p = 0; p < n; p += PIECE) {
		int64_t some = n - p < PIECE ? n - p : PIECE;
		pair_taps(acc, PIECE, band, p, some);
		for (int r = 0; r < band->rows; r++)
			store_row(y[r] + p * step, step, acc[r][0], some, &s);
	}
}

const struct qdw_table qdw_avx2 = {.narrow = {QDW_NARROW, .direct = direct}, .wide = {QDW_WIDE}};
#endif
