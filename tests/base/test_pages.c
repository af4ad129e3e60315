// Memory in huge pages, as it is taken where others are dear: blocks of it are used again and given back in whole pages.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "../../src/base/block.h"
#include "../../src/base/pages.h"
#include "qtui/base/mem.h"

// Systems without huge pages, and sanitizers, go on with small ones: then these tests are of those.
static size_t unit_of_huge(void)
{
	pages_take_huge();
	return pages_unit();
}

void test_pages__come_at_multiples_of_the_unit(void **state)
{
	size_t unit = unit_of_huge();
	assert_true(unit >= PAGE && (unit & (unit - 1)) == 0);
	for (int n = 1; n < 5; n++) {
		char *p = pages_map((size_t)n * unit);
		assert_non_null(p);
		assert_int_equal((uintptr_t)p % unit, 0);
		memset(p, n, (size_t)n * unit);
		assert_int_equal(munmap(p, (size_t)n * unit), 0);
	}
}

static uint64_t draw(uint64_t *x)
{
	*x = *x * 6364136223846793005u + 1442695040888963407u;
	return *x >> 33;
}

// Blocks of all sizes, taken and given back in no order: none lies over another, and what is kept stays within bounds.
void test_pages__blocks_do_not_overlap(void **state)
{
	enum { BLOCKS = 64, TURNS = 4000 };
	static unsigned char *block[BLOCKS];
	static size_t size[BLOCKS];
	uint64_t seed = 1;
	size_t unit = unit_of_huge();
	for (int t = 0; t < TURNS; t++) {
		int i = (int)(draw(&seed) % BLOCKS);
		if (block[i]) {
			assert_int_equal(block[i][0], (unsigned char)i);
			assert_int_equal(block[i][size[i] - 1], (unsigned char)i);
			block_give(block[i], size[i]);
			block[i] = NULL;
			// A rest of less than a unit may lie between any two blocks.
			assert_in_range(block_kept(), 0, BLOCK_KEPT + (BLOCKS + 1) * 2 * unit);
			continue;
		}
		size[i] = BLOCK_LEAST + draw(&seed) % (t % 16 ? (size_t)1 << 20 : (size_t)12 << 20);
		block[i] = block_take(size[i]);
		assert_non_null(block[i]);
		assert_int_equal((uintptr_t)block[i] % 64, 0);
		block[i][0] = block[i][size[i] - 1] = (unsigned char)i;
	}
	for (int i = 0; i < BLOCKS; i++)
		if (block[i])
			block_give(block[i], size[i]);
	block_release();
	assert_int_equal(block_kept(), 0);
}

// What lies around a block that is in use stays: the system gets whole pages.
void test_pages__what_is_in_use_stays(void **state)
{
	enum { PARTS = 24 };
	size_t part = (size_t)512 << 10;
	unsigned char *at[PARTS];
	unit_of_huge();
	for (int i = 0; i < PARTS; i++) {
		at[i] = block_take(part);
		assert_non_null(at[i]);
		memset(at[i], i + 1, part);
	}
	for (int i = 0; i < PARTS; i++)
		if (i % 6)
			block_give(at[i], part);
	block_release();
	for (int i = 0; i < PARTS; i += 6)
		for (size_t k = 0; k < part; k++)
			assert_true(at[i][k] == i + 1);
	for (int i = 0; i < PARTS; i += 6)
		block_give(at[i], part);
	block_release();
	assert_int_equal(block_kept(), 0);
}

// The heap may grow and shrink: malloc is malloc.
void test_pages__the_heap_serves_as_before(void **state)
{
	enum { BLOCKS = 500 };
	static char *block[BLOCKS];
	unit_of_huge();
	for (int i = 0; i < BLOCKS; i++) {
		block[i] = xcalloc((size_t)i + 1, 1000);
		assert_true(block[i][(size_t)i * 1000] == 0);
		memset(block[i], i, ((size_t)i + 1) * 1000);
	}
	for (int i = 0; i < BLOCKS; i++) {
		assert_true(block[i][(size_t)(i + 1) * 1000 - 1] == (char)i);
		free(block[i]);
	}
	mem_trim();
	char *again = xmalloc((size_t)40 << 20);
	memset(again, 1, (size_t)40 << 20);
	free(again);
}
