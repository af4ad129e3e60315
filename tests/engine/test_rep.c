// Tensors of codes in another layout.
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
