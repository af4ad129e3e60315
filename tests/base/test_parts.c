// Loops that are shared by threads.
#include "support.h"

#include <stdatomic.h>
#include <stdbool.h>
#include "qtui/base/parts.h"

#ifdef __SANITIZE_THREAD__
enum { THREADS = 1 }; // to it a team of libgomp is a race
#else
enum { THREADS = 3 };
#endif
enum { PARTS = 100 };
struct seen {
	atomic_int calls[PARTS];
	atomic_int by[THREADS]; // calls under way in the name of a thread
	atomic_bool wrong;
};

static void note(void *arg, int64_t i, int thread)
{
	struct seen *s = arg;
	atomic_fetch_add(&s->calls[i], 1);
	if (thread < 0 || thread >= THREADS) {
		atomic_store(&s->wrong, true);
		return;
	}
	if (atomic_fetch_add(&s->by[thread], 1) != 0)
		atomic_store(&s->wrong, true);
	atomic_fetch_sub(&s->by[thread], 1);
}

void test_parts__each_once_and_one_a_thread(void **state)
{
	static void (*const run[])(int64_t n, int width, part_fn *fn, void *arg) = {parts_share, parts_deal};
	for (size_t r = 0; r < sizeof run / sizeof *run; r++)
		for (int width = 0; width <= THREADS; width++)
			for (int n = 0; n <= PARTS; n += n < 4 ? 1 : 32) {
				struct seen s = {.wrong = false};
				run[r](n, width, note, &s);
				for (int i = 0; i < PARTS; i++)
					assert_int_equal(atomic_load(&s.calls[i]), i < n);
				assert_false(atomic_load(&s.wrong));
			}
}

struct covered {
	atomic_int times[PARTS];
	int total, piece;
	atomic_bool wrong;
};

static void cover(void *arg, int64_t at, int64_t n)
{
	struct covered *c = arg;
	if (at % c->piece != 0 || n < 1 || n > c->piece || (n < c->piece && at + n != c->total))
		atomic_store(&c->wrong, true);
	for (int64_t i = at; i < at + n && i < PARTS; i++)
		atomic_fetch_add(&c->times[i], 1);
}

void test_parts__a_cut_covers_all_and_its_last_piece_is_what_is_left(void **state)
{
	for (int width = 0; width <= THREADS; width++)
		for (int piece = 1; piece <= 40; piece += 13)
			for (int total = 0; total <= PARTS; total += 5) {
				struct covered c = {.total = total, .piece = piece};
				parts_cut(total, piece, width, cover, &c);
				for (int i = 0; i < PARTS; i++)
					assert_int_equal(atomic_load(&c.times[i]), i < total);
				assert_false(atomic_load(&c.wrong));
			}
}
