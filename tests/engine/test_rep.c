// Tensors of codes in another layout, and what is beside their channels.
#include <string.h>
#include "support.h"
#include "../../src/engine/run/run_impl.h"

// What is read of a channel that does not exist must stand for 0.0: a code that is not 0 where the zero point is not.
void test_rep__padding_stands_for_zero(void **state)
{
	static const float scale = 0.5f;
	static const int32_t zero = 7;
	const struct quantizer q = {.kind = QUANT_LINEAR, .bits = 8, .qmin = 0, .qmax = 255, .axis = -1, .n = 1, .scale = &scale, .zero = &zero};
	const struct shape shape = shape_of(4, (int64_t[]){2, 3, 2, 2});
	struct rep plain = {0}, blocked = {0}, floats = {0};
	struct error err;
	assert_int_equal(rep_alloc(&plain, DT_U8, LAYOUT_PLAIN, &shape, &err), STATUS_OK);
	rep_set_quantizer(&plain, &q);
	for (int i = 0; i < 24; i++)
		((uint8_t *)plain.t.data)[i] = (uint8_t)(100 + i);
	assert_int_equal(rep_to_layout(&blocked, &plain, LAYOUT_BLOCK, 1, &err), STATUS_OK);
	assert_int_equal(rep_to_float(&floats, &blocked, 1, &err), STATUS_OK);
	for (int64_t i = 0; i < tensor_stored(&blocked.t); i++) {
		bool exists = i % layout_block() < 3;
		assert_int_equal(((uint8_t *)blocked.t.data)[i] >= 100, exists);
		assert_true(exists || (((uint8_t *)blocked.t.data)[i] == zero && ((float *)floats.t.data)[i] == 0.0f));
	}
	rep_drop(&plain);
	rep_drop(&blocked);
	rep_drop(&floats);
}

static int64_t element(const struct tensor *t, int64_t i)
{
	const uint8_t *x = t->data;
	return t->type == DT_U8 ? x[i] : t->type == DT_I16 ? ((const int16_t *)t->data)[i] : (int64_t)((const float *)t->data)[i];
}

// Whole groups of pixels and what is left over, for elements of every size.
void test_rep__padding_is_cleared_and_nothing_else(void **state)
{
	static const float scale = 0.5f;
	static const int32_t zero = 7;
	static const enum dtype types[] = {DT_U8, DT_I16, DT_F32};
	struct quantizer q = {.kind = QUANT_LINEAR, .bits = 8, .qmin = 0, .qmax = 255, .axis = -1, .n = 1, .scale = &scale, .zero = &zero};
	for (int i = 0; i < 60; i++) {
		const int64_t block = layout_block(), c = 1 + i % 20, plane = 1 + i / 3, blocks = (c + block - 1) / block;
		const struct shape shape = shape_of(4, (int64_t[]){2, c, plane, 1});
		struct rep r = {0};
		struct error err;
		assert_int_equal(rep_alloc(&r, types[i % 3], LAYOUT_BLOCK, &shape, &err), STATUS_OK);
		if (types[i % 3] != DT_F32)
			rep_set_quantizer(&r, &q);
		memset(r.t.data, 64, tensor_bytes(&r.t));
		int64_t before = element(&r.t, 0);
		rep_clear_padding(&r);
		for (int64_t e = 0; e < tensor_stored(&r.t); e++) {
			bool exists = e / (block * plane) % blocks * block + e % block < c;
			assert_int_equal(element(&r.t, e), exists ? before : r.coded ? zero : 0);
		}
		rep_drop(&r);
	}
}
