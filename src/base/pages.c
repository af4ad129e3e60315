#include "pages.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include "qtui/base/mem.h"

// All of it will be written: where the system can give the pages at once,
// that takes two thirds of the time of a fault each.
#ifndef MAP_POPULATE
#define MAP_POPULATE 0
#endif

static size_t unit = PAGE; // both are set before main
static bool dear;

size_t pages_unit(void)
{
	return unit;
}

bool mem_pages_dear(void)
{
	return dear;
}

static void *map(size_t size, int flags)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
	return p == MAP_FAILED ? NULL : p;
}

#if defined(MADV_HUGEPAGE) && defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

#define HUGE ((size_t)2 << 20)
enum { ROUNDS = 4, TOUCHES = 16 };
static const double DEAR = 2e-6; // seconds of a touch; a page that is there costs some 10^-8

// The end of the heap as far as the system was told that it shall be in huge pages; NULL: it shall not.
static _Atomic(char *) heap_end;

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Seconds that the first touch of a page takes which the kernel has given and filled already, at the best.
static double touch(void)
{
	double least = 1;
	volatile char *p = map(ROUNDS * TOUCHES * PAGE, MAP_POPULATE);
	for (int r = 0; p && r < ROUNDS; r++) {
		double begin = now();
		for (int i = 0; i < TOUCHES; i++)
			p[(size_t)(r * TOUCHES + i) * PAGE] = 1;
		double each = (now() - begin) / TOUCHES;
		least = each < least ? each : least;
	}
	if (p)
		munmap((void *)p, ROUNDS * TOUCHES * PAGE);
	return p ? least : 0;
}

static bool has_huge_pages(void)
{
	char text[64] = "";
	FILE *f = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "re");
	bool read = f && fgets(text, sizeof text, f);
	if (f)
		fclose(f);
	return read && !strstr(text, "[never]");
}

// The heap grows by whole huge pages and keeps what it has.
void pages_take_huge(void)
{
	enum { GROW = 16 << 20, KEEP = 64 << 20, LARGEST = 32 << 20 }; // malloc takes no more than that in its heap
	if (!has_huge_pages())
		return;
	unit = HUGE;
	mallopt(M_TOP_PAD, GROW);
	mallopt(M_TRIM_THRESHOLD, KEEP);
	mallopt(M_MMAP_THRESHOLD, LARGEST);
	atomic_store(&heap_end, sbrk(0));
}

// What is only set aside counts under a limit on address space.
__attribute__((constructor)) static void look_at_pages(void)
{
	dear = mem_address_space_left() == SIZE_MAX && touch() > DEAR;
	if (dear)
		pages_take_huge();
}

void pages_follow_heap(void)
{
	char *known = atomic_load_explicit(&heap_end, memory_order_relaxed), *end;
	if (!known || (end = sbrk(0)) == known)
		return;
	uintptr_t from = (uintptr_t)known & ~(PAGE - 1);
	if (end > known)
		(void)madvise((void *)from, (size_t)((uintptr_t)end - from), MADV_HUGEPAGE); // advice
	atomic_store_explicit(&heap_end, end, memory_order_relaxed);
}

static void *map_huge(size_t size)
{
	char *p = map(size + HUGE, 0);
	if (!p)
		return NULL;
	size_t before = (HUGE - (uintptr_t)p % HUGE) % HUGE;
	if (before)
		munmap(p, before);
	munmap(p + before + size, HUGE - before);
	(void)madvise(p + before, size, MADV_HUGEPAGE); // advice
	return p + before;
}

#else

void pages_take_huge(void)
{
}

void pages_follow_heap(void)
{
}

static void *map_huge(size_t size)
{
	return map(size, 0);
}

#endif

// Elsewhere huge pages are not asked for: where memory is fragmented the kernel first moves what lies in the way, and
// where the host takes free ones back they cost several times what ordinary pages do.
void *pages_map(size_t size)
{
	return unit == PAGE ? map(size, MAP_POPULATE) : map_huge(size);
}
