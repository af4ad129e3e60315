// Data movement in the blocked layout, where a pixel is a run of layout_block() elements.
#include <assert.h>
#include <string.h>
#include "qtui/engine/kernel.h"

typedef void copy_row_fn(char *y, const char *x, const int32_t *col, int64_t n);

// With the size of a pixel constant, a copy is one or two moves of a register.
#define COPY_ROW(size)                                                                                                 \
	static void copy_row_##size(char *y, const char *x, const int32_t *col, int64_t n)                             \
	{                                                                                                              \
		for (int64_t i = 0; i < n; i++)                                                                        \
			memcpy(y + i * (size), x + (int64_t)col[i] * (size), size);                                    \
	}
COPY_ROW(8)
COPY_ROW(16)
COPY_ROW(32)
COPY_ROW(64)

static copy_row_fn *copy_row_for(size_t pixel)
{
	return pixel == 8 ? copy_row_8 : pixel == 16 ? copy_row_16 : pixel == 32 ? copy_row_32 : copy_row_64;
}

void blk_resize_nearest(const struct blk_nearest *r, const void *x, void *y, int width)
{
	int64_t pixel = (int64_t)r->elem * layout_block(), line = r->ow * pixel;
	copy_row_fn *copy_row = copy_row_for((size_t)pixel);
	assert(pixel == 8 || pixel == 16 || pixel == 32 || pixel == 64);
#pragma omp parallel for num_threads(width) if (width > 1)
	for (int64_t b = 0; b < r->blocks; b++) {
		const char *src = (const char *)x + b * r->h * r->w * pixel;
		char *dst = (char *)y + b * r->oh * line;
		for (int64_t i = 0; i < r->oh; i++, dst += line) {
			if (i > 0 && r->row[i] == r->row[i - 1])
				memcpy(dst, dst - line, (size_t)line);
			else
				copy_row(dst, src + r->row[i] * r->w * pixel, r->col, r->ow);
		}
	}
}
