// Keys, against published test vectors, and the tables by key and by text.
#include "support.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "qtui/base/file.h"
#include "qtui/base/hash.h"

// From the published test vectors: XXH3_128bits of nothing is 99aa06d3014798d86001c324468d497f.
void test_key__is_xxh3(void **state)
{
	char text[33];
	key_text(key_of("", 0), text);
	assert_string_equal(text, "99aa06d3014798d86001c324468d497f");
}

// Of a large file in pieces, of a small one and of the heap at once.
void test_key__of_a_file_is_that_of_its_bytes(void **state)
{
	static const size_t sizes[] = {0, 1, (4 << 20) - 1, 4 << 20, (4 << 20) + 1, (9 << 20) + 77};
	struct error err = {0};
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		uint8_t *data = calloc(sizes[i] + 1, 1);
		for (size_t k = 0; k < sizes[i]; k++)
			data[k] = (uint8_t)(k * 7 + k / 1000);
		struct bytes b = {.data = data, .size = sizes[i]}, mapped;
		struct key want = key_of(data, sizes[i]);
		assert_true(key_equal(key_of_bytes(&b), want));
		if (sizes[i] > 0) {
			assert_int_equal(file_map(&mapped, support_temp_file("key.bin", data, sizes[i]), &err), STATUS_OK);
			assert_true(key_equal(key_of_bytes(&mapped), want));
			assert_memory_equal(mapped.data, data, sizes[i]);
			bytes_done(&mapped);
		}
		free(data);
	}
}

void test_key__of_a_mapped_file_leaves_it_out_of_memory(void **state)
{
	enum { SIZE = 32 << 20 };
	struct error err = {0};
	struct bytes b;
	char *data = calloc(SIZE, 1);
	const char *path = support_temp_file("large.bin", data, SIZE);
	free(data);
	assert_int_equal(file_map(&b, path, &err), STATUS_OK);
	size_t before = support_mapped_bytes();
	assert_false(key_is_zero(key_of_bytes(&b)));
	assert_true(support_mapped_bytes() < before + ((size_t)12 << 20));
	bytes_done(&b);
}

void test_key__depends_on_order_and_borders(void **state)
{
	const struct key zero = {0};
	struct key ab = key_add_text(key_add_text(zero, "a"), "b");
	assert_true(key_equal(ab, key_add_text(key_add_text(zero, "a"), "b")));
	assert_false(key_equal(ab, key_add_text(key_add_text(zero, "b"), "a")));
	assert_false(key_equal(ab, key_add_text(zero, "ab")));
	assert_false(key_equal(ab, key_add_text(key_add_text(zero, "ab"), "")));
	assert_false(key_equal(key_add_int(zero, 1), key_add_int(zero, -1)));
	assert_false(key_equal(key_add_text(zero, ""), zero));
	assert_false(key_equal(key_add_key(zero, ab), ab));
	assert_false(key_equal(key_add(zero, "\0", 1), key_add(zero, "\0\0", 2)));
}

void test_key__zero(void **state)
{
	assert_true(key_is_zero((struct key){0}));
	assert_false(key_is_zero((struct key){.hi = 1}));
	assert_false(key_is_zero((struct key){.lo = 1}));
}

void test_key__text_round_trip(void **state)
{
	struct support_random r = {3};
	struct key k = {0, 0}, back;
	char text[33];
	for (int i = 0; i < 1000; i++) {
		key_text(k, text);
		assert_int_equal(strlen(text), 32);
		assert_true(key_parse(&back, text));
		assert_true(key_equal(k, back));
		k = (struct key){support_random_bits(&r), support_random_bits(&r)};
	}
}

void test_key__parse_refuses_other_text(void **state)
{
	struct key k;
	assert_false(key_parse(&k, ""));
	assert_false(key_parse(&k, "0123456789abcdef0123456789abcde"));
	assert_false(key_parse(&k, "0123456789abcdef0123456789abcdef0"));
	assert_false(key_parse(&k, "0123456789abcdef0123456789abcdeg"));
	assert_false(key_parse(&k, "0123456789ABCDEF0123456789ABCDEF"));
	assert_true(key_parse(&k, "0123456789abcdef0123456789abcdef"));
	assert_true(k.hi == 0x0123456789abcdef && k.lo == k.hi);
}

static struct key numbered(int i)
{
	return key_add_int((struct key){0}, i);
}

void test_keymap__grows(void **state)
{
	struct keymap *m = keymap_new();
	static int value[20000];
	for (int i = 0; i < 20000; i++)
		keymap_put(m, numbered(i), &value[i]);
	assert_int_equal(keymap_count(m), 20000);
	for (int i = 0; i < 20000; i++)
		assert_ptr_equal(keymap_get(m, numbered(i)), &value[i]);
	assert_null(keymap_get(m, numbered(20000)));
	keymap_free(&m);
	assert_null(m);
	keymap_free(&m);
}

void test_keymap__replaces_removes_and_takes_null_as_absent(void **state)
{
	struct keymap *m = keymap_new();
	const struct key zero = {0};
	int a, b;
	keymap_put(m, zero, &a);
	keymap_put(m, zero, &b);
	assert_int_equal(keymap_count(m), 1);
	assert_ptr_equal(keymap_get(m, zero), &b);
	assert_ptr_equal(keymap_remove(m, zero), &b);
	assert_null(keymap_remove(m, zero));
	assert_int_equal(keymap_count(m), 0);
	keymap_put(m, zero, &a);
	keymap_put(m, zero, NULL);
	keymap_put(m, zero, NULL);
	assert_int_equal(keymap_count(m), 0);
	keymap_free(&m);
}

// Keys whose homes crowd in a few slots, at the end of the table too, so that runs wrap and holes are closed in them.
void test_keymap__agrees_with_a_plain_array(void **state)
{
	struct support_random r = {4};
	struct keymap *m = keymap_new();
	int *model[64] = {0}, value[64];
	size_t count = 0;
	for (int step = 0; step < 100000; step++) {
		int i = support_random_int(&r, 0, 63);
		struct key k = {(uint64_t)i, (uint64_t)(i % 5 + (i & 1 ? 13 : 61))};
		if (support_random_int(&r, 0, 1)) {
			count += model[i] == NULL;
			keymap_put(m, k, model[i] = &value[i]);
		} else {
			count -= model[i] != NULL;
			assert_ptr_equal(keymap_remove(m, k), model[i]);
			model[i] = NULL;
		}
		i = support_random_int(&r, 0, 63);
		k = (struct key){(uint64_t)i, (uint64_t)(i % 5 + (i & 1 ? 13 : 61))};
		assert_ptr_equal(keymap_get(m, k), model[i]);
		assert_int_equal(keymap_count(m), count);
	}
	keymap_free(&m);
}

static void add_value(struct key k, void *value, void *arg)
{
	assert_true(key_equal(k, numbered(*(int *)value)));
	*(int *)arg += *(int *)value;
}

void test_keymap__each_visits_all_once(void **state)
{
	struct keymap *m = keymap_new();
	int value[100], sum = 0;
	for (int i = 0; i < 100; i++) {
		value[i] = i;
		keymap_put(m, numbered(i), &value[i]);
	}
	keymap_each(m, add_value, &sum);
	assert_int_equal(sum, 4950);
	keymap_free(&m);
}

void test_namemap__grows_copies_and_replaces(void **state)
{
	struct namemap *m = namemap_new();
	char name[32];
	for (int i = 0; i < 10000; i++) {
		snprintf(name, sizeof name, "/model.%d/Conv", i);
		namemap_put(m, name, i);
	}
	for (int i = 0; i < 10000; i++) {
		snprintf(name, sizeof name, "/model.%d/Conv", i);
		assert_int_equal(namemap_get(m, name), i);
	}
	assert_int_equal(namemap_get(m, "/model.10000/Conv"), -1);
	assert_int_equal(namemap_get(m, ""), -1);
	namemap_put(m, "", 7);
	namemap_put(m, "/model.5/Conv", 8);
	assert_int_equal(namemap_get(m, ""), 7);
	assert_int_equal(namemap_get(m, "/model.5/Conv"), 8);
	namemap_free(&m);
	assert_null(m);
	namemap_free(&m);
}
