// Shapes, element types and the blocked layout.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>
#include "../../src/engine/tensor/cpu.h"
#include "qtui/engine/tensor.h"
#include "support.h"

void test_shape__count_is_bounded(void **state)
{
	struct shape scalar = {.rank = 0}, unknown = {.rank = -1};
	struct shape huge = {.rank = 3, .dim = {(int64_t)1 << 30, (int64_t)1 << 30, 16}};
	struct shape huge_but_empty = {.rank = 2, .dim = {0, (int64_t)1 << 62}};
	struct shape negative = {.rank = 2, .dim = {3, -1}};
	assert_int_equal(shape_count(&scalar), 1);
	assert_int_equal(shape_count(&unknown), -1);
	assert_int_equal(shape_count(&huge), -1);
	assert_int_equal(shape_count(&negative), -1);
	assert_int_equal(shape_count(&huge_but_empty), -1); // others multiply the extents
}

void test_shape__text(void **state)
{
	struct shape s = {.rank = 4, .dim = {1, 3, 640, 640}}, unknown = {.rank = -1};
	char text[64], small[8];
	assert_string_equal(shape_text(&s, text, sizeof text), "[1, 3, 640, 640]");
	assert_string_equal(shape_text(&unknown, text, sizeof text), "[?]");
	assert_int_equal(strlen(shape_text(&s, small, sizeof small)), 7);
}

static void fill_counting(struct tensor *t)
{
	for (size_t i = 0; i < tensor_bytes(t); i++)
		((uint8_t *)t->data)[i] = (uint8_t)(i * 37 + 11);
}

// The element of a blocked tensor at (n, c, pixel).
static const uint8_t *blocked_at(const struct tensor *t, int64_t n, int64_t c, int64_t pixel, int64_t pixels)
{
	int64_t block = layout_block(), blocks = (t->shape.dim[1] + block - 1) / block;
	return (uint8_t *)t->data +
	       (size_t)((((n * blocks + c / block) * pixels + pixel) * block + c % block)) * dtype_size(t->type);
}

static void check_reorder(enum dtype type, int64_t c, int64_t h, int64_t w)
{
	struct error err;
	struct shape s = {.rank = 4, .dim = {2, c, h, w}};
	struct tensor plain = {.type = type, .shape = s}, blocked = {.type = type, .shape = s, .layout = LAYOUT_BLOCK};
	struct tensor back = plain;
	size_t size = dtype_size(type);
	uint8_t zero[4] = {0};
	assert_int_equal(tensor_alloc(&plain, NULL, &err), STATUS_OK);
	assert_int_equal(tensor_alloc(&blocked, NULL, &err), STATUS_OK);
	assert_int_equal(tensor_alloc(&back, NULL, &err), STATUS_OK);
	fill_counting(&plain);
	memset(blocked.data, 0xee, tensor_bytes(&blocked));
	tensor_reorder(&blocked, &plain, 1);
	for (int64_t n = 0; n < 2; n++)
		for (int64_t k = 0; k < tensor_stored(&blocked) / (2 * h * w); k++)
			for (int64_t p = 0; p < h * w; p++)
				assert_memory_equal(blocked_at(&blocked, n, k, p, h * w),
				    k < c ? (uint8_t *)plain.data + (size_t)((n * c + k) * h * w + p) * size : zero,
				    size);
	tensor_reorder(&back, &blocked, 1);
	assert_memory_equal(back.data, plain.data, tensor_bytes(&plain));
	tensor_drop(&plain);
	tensor_drop(&blocked);
	tensor_drop(&back);
}

void test_tensor__reorder_blocks_and_back(void **state)
{
	static const enum dtype types[] = {DT_I8, DT_I16, DT_F32};
	for (size_t t = 0; t < 6; t++) {
		cpu_limit(t < 3 ? CPU_LEVELS : CPU_PLAIN);
		check_reorder(types[t % 3], 3, 5, 7);
		check_reorder(types[t % 3], 3, 13, 17);
		check_reorder(types[t % 3], 16, 9, 11);
		check_reorder(types[t % 3], 21, 3, 1);
		check_reorder(types[t % 3], 8, 13, 17);
	}
	cpu_limit(CPU_LEVELS);
}

void test_tensor__alloc_refuses_what_is_not_known(void **state)
{
	struct error err;
	struct tensor t = {.type = DT_F32, .shape = {.rank = -1}};
	assert_int_equal(tensor_alloc(&t, NULL, &err), STATUS_UNSUPPORTED);
}
