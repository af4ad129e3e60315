// Data movement in the blocked layout.
#include "kernel_case.h"

static void check_resize(struct support_random *r, size_t elem, int width)
{
	int64_t blocks = support_random_int(r, 1, 3), h = support_random_int(r, 1, 7), w = support_random_int(r, 1, 7);
	int64_t oh = support_random_int(r, 1, 15), ow = support_random_int(r, 1, 15), pixel = (int64_t)elem * layout_block();
	int32_t row[16], col[16];
	for (int i = 0; i < 16; i++) {
		row[i] = support_random_int(r, 0, (int)h - 1);
		col[i] = support_random_int(r, 0, (int)w - 1);
	}
	size_t bytes = (size_t)(blocks * oh * ow * pixel);
	char *x = malloc((size_t)(blocks * h * w * pixel)), *y = guarded_new(bytes);
	for (int64_t i = 0; i < blocks * h * w * pixel; i++)
		x[i] = (char)support_random_int(r, -128, 127);
	struct blk_nearest nearest = {elem, blocks, h, w, oh, ow, row, col};
	blk_resize_nearest(&nearest, x, y, width);
	for (int64_t i = 0; i < blocks * oh * ow; i++) {
		int64_t b = i / ow / oh, oy = i / ow % oh, ox = i % ow;
		assert_memory_equal(y + i * pixel, x + ((b * h + row[oy]) * w + col[ox]) * pixel, (size_t)pixel);
	}
	guarded_free(y, bytes);
	free(x);
}

void test_blk__resize_takes_the_pixels_that_the_tables_say(void **state)
{
	struct support_random r = {41};
	for (int i = 0; i < 60; i++)
		check_resize(&r, (size_t)1 << (i % 3), 1 + i % 2);
}
