// The store of computed tensors: what is kept, what goes when room is wanted, and what goes with its reading.
#include "support.h"
#include "../../src/engine/run/run_impl.h"

enum { FLOATS = 1000 };

static struct key named(int i)
{
	return key_add_int((struct key){0}, i);
}

// Keeps a tensor whose first element is i, at `worth` a byte of data, or holds it.
static bool put_until(struct store *s, int i, double worth, int until)
{
	struct rep r = {.t = {.type = DT_F32}};
	struct error err;
	r.t.shape = shape_of(1, (int64_t[]){FLOATS});
	assert_int_equal(tensor_alloc(&r.t, NULL, &err), STATUS_OK);
	((float *)r.t.data)[0] = (float)i;
	bool kept = store_put(s, named(i), &r, worth * 1.2 * FLOATS * sizeof(float), 1, until); // an entry counts a little more than its data
	rep_drop(&r);
	return kept;
}

static bool put(struct store *s, int i, double worth)
{
	return put_until(s, i, worth, 0);
}

static bool has(struct store *s, int i, double least)
{
	struct rep r = {0};
	double owed;
	if (!store_get(s, named(i), least, &r, &owed))
		return false;
	assert_true(((float *)r.t.data)[0] == (float)i);
	rep_drop(&r);
	return true;
}

void test_store__the_least_worthy_make_room(void **state)
{
	struct store *s = store_new(12 * FLOATS * sizeof(float), 1.0);
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
	store_set_budget(s, all / 4);
	for (int i = 0; i < 80; i++) {
		assert_in_range(store_bytes(s), all / 8, all / 4);
		put(s, i, 2.5);
	}
	store_free(&s);
}

// Whatever they are worth, until then; those that are worth it stay.
void test_store__what_is_held_stays_until_it_is_released(void **state)
{
	struct store *s = store_new(12 * FLOATS * sizeof(float), 1.0);
	for (int i = 0; i < 6; i++)
		assert_true(put_until(s, i, i % 2 ? 3.0 : 0.1, 1 + i / 2) == (i % 2 == 1));
	for (int i = 10; i < 40; i++)
		put(s, i, 100.0);
	store_trim(s, 6 * FLOATS * sizeof(float));
	for (int until = 0; until <= 3; until++) {
		store_release(s, until);
		for (int i = 0; i < 6; i++)
			assert_true(has(s, i, 2.0) == (i % 2 == 1 || 1 + i / 2 > until));
	}
	store_trim(s, 0);
	assert_int_equal(store_bytes(s), 0);
	store_free(&s);
}

// The parts of one block of memory are counted once, and it is there until the last has gone.
void test_store__shared_memory_counts_once(void **state)
{
	struct store *s = store_new((size_t)1 << 24, 1.0);
	struct rep whole = {.t = {.type = DT_F32}};
	struct error err;
	whole.t.shape = shape_of(1, (int64_t[]){FLOATS});
	assert_int_equal(tensor_alloc(&whole.t, NULL, &err), STATUS_OK);
	for (int i = 0; i < 3; i++)
		assert_true(store_put(s, named(i), &whole, 1e9 * (i + 1), 1, 0));
	rep_drop(&whole);
	size_t all = store_bytes(s);
	assert_in_range(all, FLOATS * sizeof(float), 2 * FLOATS * sizeof(float));
	store_trim(s, all - 1);
	assert_in_range(store_bytes(s), FLOATS * sizeof(float), all - 1);
	assert_false(store_get(s, named(0), 0, &whole, &(double){0}));
	store_trim(s, FLOATS * sizeof(float) - 1);
	assert_int_equal(store_bytes(s), 0);
	store_free(&s);
}
