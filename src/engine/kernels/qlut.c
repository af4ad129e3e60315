// Tables of 256 entries over arrays of codes.
#include "cpu.h"
#include "qlut.h"

static void lut_plain(const uint8_t lut[256], const uint8_t *x, uint8_t *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = lut[x[i]];
}

static void lut_piece(const uint8_t lut[256], const uint8_t *x, uint8_t *y, int64_t n)
{
	int64_t done = 0;

#if defined(__x86_64__)
	enum cpu_level level = cpu_level();
	if (level >= CPU_AVX2)
		done = (level >= CPU_VBMI ? qlut_vbmi : qlut_avx2)(lut, x, y, n);
#endif
	lut_plain(lut, x + done, y + done, n - done);
}

void elt_lut8(const uint8_t lut[256], const uint8_t *x, uint8_t *y, int64_t n, int width)
{
	enum { PIECE = 1 << 15 };
	int64_t pieces = (n + PIECE - 1) / PIECE;

#pragma omp parallel for num_threads(width) if (width > 1 && pieces >= 2 * width)
	for (int64_t i = 0; i < pieces; i++)
		lut_piece(lut, x + i * PIECE, y + i * PIECE, n - i * PIECE < PIECE ? n - i * PIECE : PIECE);
}
