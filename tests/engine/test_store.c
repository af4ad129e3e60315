// The store of computed tensors: what is kept, what goes when room is wanted, and what goes with its reading.
#include "support.h"
#include "../../src/engine/run/run_impl.h"

enum { FLOATS = 1000 };

static struct key named(int i)
{
	return key_add_int((struct key){0}, i);
}

// Keeps a tensor whose first element is i, at `worth` a byte of data.
static bool put(struct store *s, int i, double worth)
{
	struct rep r = {.t = {.type = DT_F32}};
	struct error err;
	r.t.shape = shape_of(1, (int64_t[]){FLOATS});
	assert_int_equal(tensor_alloc(&r.t, NULL, &err), STATUS_OK);
	((float *)r.t.data)[0] = (float)i;
	bool kept = store_put(s, named(i), &r, worth * 1.2 * FLOATS * sizeof(float)); // an entry counts a little more than its data
	rep_drop(&r);
	return kept;
}

static bool has(struct store *s, int i, double least)
{
	struct rep r = {0};
	if (!store_get(s, named(i), least, &r))
		return false;
	assert_true(((float *)r.t.data)[0] == (float)i);
	rep_drop(&r);
	return true;
}

void test_store__the_least_worthy_make_room(void **state)
{
	struct store *s = store_new(12 * FLOATS * sizeof(float), 1.0);
	(void)state;
	assert_false(put(s, 0, 0.5));
	for (int i = 1; i <= 30; i++)
		put(s, i, i * 7 % 31 + 1.0);
	for (int i = 1, kept = 0; i <= 30; i++) {
		bool there = has(s, i, 0);
		kept += there;
		assert_true(there || i * 7 % 31 < 22);
		assert_true(i < 30 || (kept >= 8 && kept <= 12));
	}
	assert_false(put(s, 31, 1.5));
	assert_in_range(store_bytes(s), 1, 12 * FLOATS * sizeof(float));
	store_free(&s);
}

void test_store__what_was_hardly_worth_it_goes_with_its_reading(void **state)
{
	struct store *s = store_new((size_t)1 << 24, 1.0);
	(void)state;
	for (int i = 0; i < 40; i++)
		assert_true(put(s, i, i % 2 ? 1.4 : 3.0));
	size_t all = store_bytes(s);
	for (int i = 0; i < 40; i++)
		assert_true(has(s, i, 0) && has(s, i, 2.0));
	assert_in_range(store_bytes(s), all / 2 - 64, all / 2 + 64);
	for (int i = 0; i < 40; i++)
		assert_true(has(s, i, 2.0) == (i % 2 == 0));
	for (int i = 0; i < 40; i++)
		assert_true(put(s, i, 2.5));
	assert_int_equal(store_bytes(s), all);
	store_trim(s, all / 2);
	assert_in_range(store_bytes(s), all / 4, all / 2);
	store_free(&s);
}
