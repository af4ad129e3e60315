// Tables of 256 entries over arrays of codes.
#include "../../tensor/cpu.h"
#include "qlut.h"
#include "qtui/base/parts.h"

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

enum { PIECE = 1 << 15 }; // codes
struct lookup {
	const uint8_t *lut, *x;
	uint8_t *y;
};

static void one_piece(void *arg, int64_t at, int64_t n)
{
	const struct lookup *l = arg;
	lut_piece(l->lut, l->x + at, l->y + at, n);
}

void elt_lut8(const uint8_t lut[256], const uint8_t *x, uint8_t *y, int64_t n, int width)
{
	int64_t pieces = (n + PIECE - 1) / PIECE;
	parts_cut(n, PIECE, pieces >= 2 * width ? width : 1, one_piece, &(struct lookup){lut, x, y});
}
