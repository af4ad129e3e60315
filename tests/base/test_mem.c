// Memory: what may be refused, what is left to those who cannot be,
// blocks that are used again; arenas and shared bytes.
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../../src/base/block.h"
#include "qtui/base/file.h"
#include "qtui/base/mem.h"

void test_mem__zero_sizes_give_a_pointer(void **state)
{
	void *p[] = {xmalloc(0), xcalloc(0, 8), xcalloc(8, 0), mem_try_array(0, 8), mem_try_resize(NULL, 0)};
	for (size_t i = 0; i < sizeof p / sizeof *p; i++) {
		assert_non_null(p[i]);
		free(p[i]);
	}
}

void test_mem__grow_doubles_and_keeps(void **state)
{
	int *a = NULL;
	size_t cap = 0;
	int moves = 0;
	for (int i = 0; i < 100000; i++) {
		size_t before = cap;
		a = xgrow(a, &cap, (size_t)i + 1, sizeof *a);
		moves += cap != before;
		a[i] = i;
	}
	assert_in_range(moves, 5, 20);
	for (int i = 0; i < 100000; i++)
		assert_int_equal(a[i], i);
	assert_ptr_equal(xgrow(a, &cap, 5, sizeof *a), a);
	a = xgrow(a, &cap, 10 * cap, sizeof *a);
	assert_int_equal(a[99999], 99999);
	free(a);
}

void test_mem__try_array_is_zeroed(void **state)
{
	uint8_t *p = mem_try_array(1000, 3);
	for (int i = 0; i < 3000; i++)
		assert_int_equal(p[i], 0);
	free(p);
}

void test_mem__try_array_refuses_what_is_not_there(void **state)
{
	assert_null(mem_try_array(SIZE_MAX, 2));
	assert_null(mem_try_array(SIZE_MAX / 2, 1));
	assert_null(mem_try_array((size_t)1 << 31, (size_t)1 << 33));
	assert_null(mem_try_array((size_t)1 << 46, 1));
}

void test_mem__try_resize_keeps_the_old_block(void **state)
{
	char *p = mem_try_array(8, 1), *bigger;
	strcpy(p, "kept");
	assert_null(mem_try_resize(p, SIZE_MAX));
	assert_string_equal(p, "kept");
	bigger = mem_try_resize(p, 100000);
	assert_non_null(bigger);
	assert_string_equal(bigger, "kept");
	free(bigger);
}

void test_mem__fail_at_counts_requests(void **state)
{
	void *first, *third;
	struct buf *b;
	mem_fail_at(2);
	first = mem_try_array(1, 1);
	b = buf_new(1, NULL);
	third = mem_try_array(1, 1);
	mem_fail_at(0);
	assert_non_null(first);
	assert_null(b);
	assert_non_null(third);
	free(first);
	free(third);
}

void test_mem__available_is_plausible(void **state)
{
	assert_in_range(mem_available(), 1 << 20, (uint64_t)1 << 46);
}

void test_mem__peak_follows_use(void **state)
{
	double before = mem_peak_rss_mib();
	size_t size = (size_t)(before + 40) << 20;
	volatile char *p = xmalloc(size);
	for (size_t i = 0; i < size; i += 512)
		p[i] = 1;
	assert_true(mem_peak_rss_mib() >= before + 30);
	free((void *)p);
}

// Below `root`, as /proc and /sys would show it.
static void put(const char *root, const char *name, const char *text)
{
	struct error e;
	char *path = file_join(root, name), *dir = file_dir(path);
	assert_int_equal(file_mkdirs(dir, &e), STATUS_OK);
	assert_int_equal(file_write(path, text, strlen(text), &e), STATUS_OK);
	free(dir);
	free(path);
}

void test_mem__available_reads_meminfo(void **state)
{
	const char *root = support_temp("meminfo");
	put(root, "proc/meminfo", "MemTotal: 9999 kB\nMemFree: 1 kB\nMemAvailable:    2048 kB\n");
	assert_int_equal(mem_available_under(root), 2048 * 1024);
}

void test_mem__available_of_an_unknown_system_is_unlimited(void **state)
{
	assert_true(mem_available_under(support_temp("nothing")) == SIZE_MAX);
}

void test_mem__available_respects_cgroup_v1(void **state)
{
	const char *root = support_temp("v1");
	put(root, "proc/meminfo", "MemAvailable: 1000000 kB\n");
	put(root, "proc/self/cgroup", "9:name=systemd:/x\n4:memory:/docker/abc\n");
	put(root, "sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
	assert_int_equal(mem_available_under(root), 1000000 * 1024);
	put(root, "sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes", "100000\n");
	put(root, "sys/fs/cgroup/memory/docker/abc/memory.usage_in_bytes", "70000\n");
	assert_int_equal(mem_available_under(root), 30000);
	put(root, "sys/fs/cgroup/memory/docker/abc/memory.stat", "cache 1\ntotal_inactive_file 5000\n");
	assert_int_equal(mem_available_under(root), 35000);
}

void test_mem__available_respects_every_ancestor_of_cgroup_v2(void **state)
{
	const char *root = support_temp("v2");
	put(root, "proc/self/cgroup", "0::/user.slice/a/b\n");
	put(root, "sys/fs/cgroup/user.slice/a/b/memory.max", "max\n");
	assert_true(mem_available_under(root) == SIZE_MAX);
	put(root, "sys/fs/cgroup/user.slice/memory.max", "4096\n");
	put(root, "sys/fs/cgroup/user.slice/memory.current", "96\n");
	assert_int_equal(mem_available_under(root), 4000);
	put(root, "sys/fs/cgroup/memory.max", "50\n");
	put(root, "sys/fs/cgroup/memory.current", "60\n");
	assert_int_equal(mem_available_under(root), 0);
}

void test_mem__available_survives_nonsense(void **state)
{
	const char *root = support_temp("nonsense");
	put(root, "proc/self/cgroup", "\n:\n::\n4:memory\n0::relative\n0::/../../..\n");
	put(root, "proc/meminfo", "MemAvailable: many kB\n");
	assert_true(mem_available_under(root) == SIZE_MAX);
}

void test_mem__available_respects_the_address_space_limit(void **state)
{
	const size_t spare = (size_t)16 << 20;
	struct rlimit before, small;
	unsigned long long pages;
	size_t have;
	FILE *f = fopen("/proc/self/statm", "r");
	assert_int_equal(fscanf(f, "%llu", &pages), 1);
	fclose(f);
	getrlimit(RLIMIT_AS, &before);
	small = before;
	small.rlim_cur = pages * 4096 + spare;
	assert_int_equal(setrlimit(RLIMIT_AS, &small), 0);
	have = mem_available();
	setrlimit(RLIMIT_AS, &before);
	assert_in_range(have, spare / 2, spare);
}

void test_arena__gives_zeroed_aligned_pieces(void **state)
{
	struct arena *a = arena_new();
	struct support_random r = {2};
	for (int i = 0; i < 5000; i++) {
		size_t size = (size_t)support_random_int(&r, 0, i % 100 ? 300 : 300000);
		uint8_t *p = arena_alloc(a, size);
		assert_int_equal((uintptr_t)p % 16, 0);
		for (size_t k = 0; k < size; k++)
			assert_int_equal(p[k], 0);
		memset(p, 0xff, size);
	}
	arena_free(&a);
	assert_null(a);
	arena_free(&a);
}

void test_arena__pieces_do_not_overlap(void **state)
{
	struct arena *a = arena_new();
	char *s[500];
	for (int i = 0; i < 500; i++) {
		char text[16];
		snprintf(text, sizeof text, "text %d", i);
		s[i] = arena_strdup(a, text);
		memset(arena_alloc(a, (size_t)i), 'x', (size_t)i);
	}
	for (int i = 0; i < 500; i++)
		assert_int_equal(atoi(s[i] + 5), i);
	arena_free(&a);
}

void test_arena__copies(void **state)
{
	struct arena *a = arena_new();
	assert_string_equal(arena_strdup(a, ""), "");
	assert_string_equal(arena_strndup(a, "abcdef", 3), "abc");
	assert_string_equal(arena_strndup(a, "ab", 10), "ab");
	assert_memory_equal(arena_memdup(a, "a\0b", 3), "a\0b", 3);
	assert_non_null(arena_memdup(a, NULL, 0));
	arena_free(&a);
}

void test_buf__is_aligned_and_padded(void **state)
{
	for (size_t size = 0; size < 200; size++) {
		struct buf *b = buf_new(size, NULL);
		const uint8_t *p = b->data;
		assert_int_equal((uintptr_t)p % 64, 0);
		assert_int_equal(b->size, size);
		for (size_t i = size; i < size + 64; i++)
			assert_int_equal(p[i], 0);
		memset(b->data, 1, size);
		buf_drop(&b);
		assert_null(b);
	}
}

void test_buf__counts_holders_and_bytes(void **state)
{
	atomic_size_t account = 10;
	struct buf *b = buf_new(1000, &account), *other;
	assert_int_equal(account, 1010);
	assert_true(buf_is_unique(b));
	other = buf_take(b);
	assert_ptr_equal(other, b);
	assert_false(buf_is_unique(b));
	buf_drop(&other);
	assert_true(buf_is_unique(b));
	assert_int_equal(account, 1010);
	buf_drop(&b);
	assert_int_equal(account, 10);
	buf_drop(&b);
}

void test_buf__refuses_what_is_not_there(void **state)
{
	atomic_size_t account = 0;
	assert_null(buf_new(SIZE_MAX, &account));
	assert_null(buf_new(SIZE_MAX - 100, &account));
	assert_null(buf_new((size_t)1 << 46, &account));
	assert_int_equal(account, 0);
}

void test_mem__large_blocks_are_used_again(void **state)
{
	enum { N = 40 };
	struct buf *b[N];
	size_t size = BLOCK_KEPT / 16;
	for (int i = 0; i < N; i++)
		b[i] = buf_new(size + (size_t)i * 5000, NULL);
	for (int i = 0; i < N; i++)
		buf_drop(&b[i * 7 % N]);
	size_t kept = block_kept();
	assert_in_range(kept, 0, BLOCK_KEPT);
	if (kept == 0)
		skip(); // a sanitizer watches
	assert_true(kept > BLOCK_KEPT / 2);
	b[0] = buf_new(size, NULL);
	b[1] = buf_new(size / 3, NULL);
	assert_true(block_kept() <= kept - size - size / 3);
	memset(b[0]->data, 1, size);
	memset(b[1]->data, 2, size / 3);
	assert_int_equal(((uint8_t *)b[0]->data)[size - 1], 1);
	buf_drop(&b[0]);
	buf_drop(&b[1]);
	assert_int_equal(block_kept(), kept);
}

void test_mem__more_pages_are_kept_on_demand(void **state)
{
	enum { N = 24 };
	struct buf *b[N];
	mem_keep_more((ptrdiff_t)BLOCK_KEPT);
	for (int i = 0; i < N; i++)
		b[i] = buf_new(BLOCK_KEPT / 16, NULL);
	for (int i = 0; i < N; i++)
		buf_drop(&b[i]);
	size_t kept = block_kept();
	mem_keep_more(-(ptrdiff_t)BLOCK_KEPT);
	assert_in_range(block_kept(), 0, BLOCK_KEPT);
	if (kept == 0)
		skip(); // a sanitizer watches
	assert_in_range(kept, BLOCK_KEPT + 1, 2 * BLOCK_KEPT);
}

// The system takes whole pages back, however many bytes are too much.
void test_mem__pages_go_back_whole(void **state)
{
	enum { N = 24, ODD = 100, PAGE = 4096 };
	struct buf *b[N];
	mem_keep_more(ODD);
	for (int i = 0; i < N; i++)
		b[i] = buf_new(BLOCK_KEPT / 16, NULL);
	for (int i = 0; i < N; i++)
		buf_drop(&b[i]);
	size_t kept = block_kept();
	mem_keep_more(-ODD);
	assert_int_equal(kept % PAGE, 0);
	assert_int_equal(block_kept() % PAGE, 0);
}

// A process of its own, which may then have 64 MiB more; the sanitizers' memory lies where no limit allows it.
static bool in_small_space(bool (*holds)(void))
{
	pid_t child = fork();
	int status = 1;
	if (!child) {
		size_t left;
		struct rlimit most = {(rlim_t)1 << 40, (rlim_t)1 << 40};
		block_release(); // what other tests have left
		setrlimit(RLIMIT_AS, &most);
		left = (size_t)most.rlim_cur - mem_address_space_left() + ((size_t)64 << 20);
		setrlimit(RLIMIT_AS, &(struct rlimit){left, left});
		_exit(holds() ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// What cannot be refused finds memory when what can has none any more.
static bool leaves_a_reserve(void)
{
	size_t n = 0;
	while (n < 64 && mem_try_array((size_t)1 << 20, 1))
		n++;
	for (int i = 0; i < 80; i++)
		if (!malloc(100000))
			return false;
	return n > 30 && n < 64 && !buf_new((size_t)1 << 20, NULL) && !mem_try_resize(NULL, (size_t)1 << 20);
}

static bool releases_what_is_kept(void)
{
	struct buf *b = buf_new((size_t)40 << 20, NULL);
	void *p;
	if (!b)
		return false;
	buf_drop(&b);
	p = mem_try_array((size_t)40 << 20, 1);
	return p && block_kept() == 0;
}

// Pages that are kept are the program's already: whoever wants them need not ask the system, which has none.
static bool takes_what_is_kept(void)
{
	struct buf *b = buf_new((size_t)40 << 20, NULL);
	if (b)
		memset(b->data, 7, b->size);
	buf_drop(&b);
	b = buf_new((size_t)40 << 20, NULL);
	return b && ((char *)b->data)[b->size / 2] == 7; // not given back in between, to be taken again as zeros
}

void test_mem__under_a_limit_on_address_space_a_reserve_is_left(void **state)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	skip();
#endif
	assert_true(in_small_space(leaves_a_reserve));
}

void test_mem__what_is_kept_is_given_back_before_anything_is_refused(void **state)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	skip();
#endif
	assert_true(in_small_space(releases_what_is_kept));
}

void test_mem__what_is_kept_serves_where_nothing_new_is_left(void **state)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	skip();
#endif
	assert_true(in_small_space(takes_what_is_kept));
}
