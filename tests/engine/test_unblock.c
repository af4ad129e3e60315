// Blocks in another order, against the same elements taken one by one from the plain tensor.
#include <stdlib.h>
#include <string.h>
#include "../../src/engine/tensor/unblock.h"
#include "support.h"

static struct tensor tensor_new(enum dtype type, enum layout layout, const struct shape *shape)
{
	struct error err = {0};
	struct tensor t = {.type = type, .layout = layout, .shape = *shape};
	assert_int_equal(tensor_alloc(&t, NULL, &err), STATUS_OK);
	return t;
}

// Element `to` of the result, in the plain tensor seen as `seen`.
static int64_t source(const struct shape *seen, const struct shape *result, const int64_t *perm, int64_t to)
{
	int64_t index[SHAPE_MAX_RANK], from = 0;
	for (int d = result->rank - 1; d >= 0; d--) {
		index[perm[d]] = to % result->dim[d];
		to /= result->dim[d];
	}
	for (int d = 0; d < seen->rank; d++)
		from = from * seen->dim[d] + index[d];
	return from;
}

static bool check(enum dtype type, struct shape x, struct shape seen, const int64_t *perm, int width)
{
	struct shape result = seen;
	struct unblock u;
	for (int i = 0; i < seen.rank; i++)
		result.dim[i] = seen.dim[perm[i]];
	struct tensor plain = tensor_new(type, LAYOUT_PLAIN, &x), blocked = tensor_new(type, LAYOUT_BLOCK, &x),
	              y = tensor_new(type, LAYOUT_PLAIN, &result);
	size_t size = dtype_size(type);
	for (size_t i = 0; i < tensor_bytes(&plain); i++)
		((uint8_t *)plain.data)[i] = (uint8_t)(i * 2654435761u >> 13);
	tensor_reorder(&blocked, &plain, 1);
	bool takes = unblock_of(&u, &blocked, &seen, perm);
	if (takes) {
		memset(y.data, 0x55, tensor_bytes(&y));
		unblock_run(&u, &y, &blocked, width);
	}
	for (int64_t i = 0; takes && i < tensor_count(&y); i++)
		if (memcmp((char *)y.data + (size_t)i * size, (char *)plain.data + (size_t)source(&seen, &result, perm, i) * size, size) != 0)
			fail_msg("element %lld of %lld", (long long)i, (long long)tensor_count(&y));
	tensor_drop(&plain);
	tensor_drop(&blocked);
	tensor_drop(&y);
	return takes;
}

#define SHAPE(...) shape_of((int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (int64_t[]){__VA_ARGS__})
#define PERM(...) ((int64_t[]){__VA_ARGS__})

void test_unblock__what_networks_write(void **state)
{
	static const enum dtype types[] = {DT_I8, DT_I16, DT_F32};
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		for (int width = 1; width <= SUPPORT_WIDTH(2); width++) {
			enum dtype t = types[i];
			assert_true(
			    check(t, SHAPE(1, 255, 20, 20), SHAPE(1, 3, 85, 20, 20), PERM(0, 1, 3, 4, 2), width)); // anchors of a detector
			assert_true(check(t, SHAPE(2, 24, 19, 7), SHAPE(2, 24, 19, 7), PERM(0, 2, 3, 1), width));          // channels last
			assert_true(check(t, SHAPE(2, 192, 14, 14), SHAPE(2, 192, 196), PERM(0, 2, 1), width));            // tokens
			assert_true(check(t, SHAPE(1, 40, 9), SHAPE(1, 40, 9), PERM(0, 2, 1), width));                     // over time
			assert_true(check(t, SHAPE(1, 24, 5, 5), SHAPE(1, 6, 4, 25), PERM(0, 2, 3, 1), width) == false); // every fourth channel
			assert_true(check(t, SHAPE(1, 24, 6, 6), SHAPE(1, 32, 27), PERM(0, 2, 1), width) == false); // channels and pixels mixed
			assert_true(check(t, SHAPE(1, 24, 6, 6), SHAPE(1, 24, 6, 6), PERM(0, 1, 3, 2), width) == false);   // pixels last
		}
}

// A number as up to three factors.
static int64_t factor(struct support_random *r, int64_t n)
{
	int64_t f = support_random_int(r, 1, (int)n);
	while (n % f)
		f--;
	return f;
}

void test_unblock__any_dimensions(void **state)
{
	struct support_random r = {41};
	int taken = 0;
	for (int i = 0; i < 400; i++) {
		int64_t n = support_random_int(&r, 1, 2), c = support_random_int(&r, 1, 70), h = support_random_int(&r, 1, 24),
		        w = support_random_int(&r, 1, 24), outer = factor(&r, c), top = factor(&r, h * w), perm[] = {0, 1, 2, 3, 4};
		for (int k = 4; k > 0; k--) {
			int other = (int)support_random_int(&r, 0, k);
			int64_t t = perm[k];
			perm[k] = perm[other];
			perm[other] = t;
		}
		enum dtype type = i % 3 == 0 ? DT_U8 : i % 3 == 1 ? DT_U16 : DT_F32;
		taken += check(type, SHAPE(n, c, h, w), SHAPE(n, outer, c / outer, top, h * w / top), perm, 1 + i % SUPPORT_WIDTH(2));
	}
	assert_true(taken > 40);
}
