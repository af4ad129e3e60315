// Data movement in the blocked layout, where a pixel is a run of layout_block() elements.
#include <assert.h>
#include <string.h>
#include "qtui/base/parts.h"
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

struct enlarging {
	const struct blk_nearest *r;
	const char *x;
	char *y;
	int64_t pixel; // bytes
};

static void resize_block(void *arg, int64_t b, int thread)
{
	const struct enlarging *e = arg;
	const struct blk_nearest *r = e->r;
	int64_t line = r->ow * e->pixel;
	copy_row_fn *copy_row = copy_row_for((size_t)e->pixel);
	const char *src = e->x + b * r->h * r->w * e->pixel;
	char *dst = e->y + b * r->oh * line;
	(void)thread;
	for (int64_t i = 0; i < r->oh; i++, dst += line) {
		if (i > 0 && r->row[i] == r->row[i - 1])
			memcpy(dst, dst - line, (size_t)line);
		else
			copy_row(dst, src + r->row[i] * r->w * e->pixel, r->col, r->ow);
	}
}

void blk_resize_nearest(const struct blk_nearest *r, const void *x, void *y, int width)
{
	struct enlarging e = {r, x, y, (int64_t)r->elem * layout_block()};
	assert(e.pixel == 8 || e.pixel == 16 || e.pixel == 32 || e.pixel == 64);
	parts_share(r->blocks, width, resize_block, &e);
}
