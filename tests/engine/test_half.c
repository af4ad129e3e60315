// Floats of 16 bits: every code, and every number halfway between two.
#include <math.h>
#include "support.h"
#include "qtui/engine/half.h"

enum { INFINITE = 0x7c00, QUIET = 0x7e00, SIGN = 0x8000 };

void test_half__every_code_comes_back(void **state)
{
	for (unsigned h = 0; h <= INFINITE; h++) {
		assert_int_equal(half_of_float(half_to_float((uint16_t)h)), h);
		assert_int_equal(half_of_float(half_to_float((uint16_t)(h | SIGN))), h | SIGN);
	}
	for (unsigned h = INFINITE + 1; h < SIGN; h++) {
		assert_true(isnan(half_to_float((uint16_t)h)));
		assert_int_equal(half_of_float(half_to_float((uint16_t)h)), QUIET);
	}
}

void test_half__halfway_goes_to_the_even_code(void **state)
{
	for (unsigned h = 0; h + 1 < INFINITE; h++) {
		float low = half_to_float((uint16_t)h), high = half_to_float((uint16_t)(h + 1)), middle = (low + high) / 2;
		assert_true(low < high);
		assert_int_equal(half_of_float(middle), h + h % 2);
		assert_int_equal(half_of_float(nextafterf(middle, 0)), h);
		assert_int_equal(half_of_float(nextafterf(-middle, -INFINITY)), (h + 1) | SIGN);
	}
	assert_int_equal(half_of_float(nextafterf(65520, 0)), INFINITE - 1); // 65520: halfway to what would be the next
	assert_int_equal(half_of_float(65520), INFINITE);
}
