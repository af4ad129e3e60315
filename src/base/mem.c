#include "qtui/base/mem.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include "block.h"
#include "pages.h"
#include "qtui/base/error.h"

// Above this size a request is compared with what the system has: Linux grants more than there is, and kills later.
#define BIG ((size_t)64 << 20)
// Under a limit on address space a request above SMALL is refused unless RESERVE stays free:
// for small allocations, which cannot be refused, and for the code that oneDNN writes, without which it faults.
#define SMALL ((size_t)64 << 10)
#define RESERVE ((size_t)16 << 20)

static atomic_long fail_countdown;

// One heap for all threads: of its own each would keep what it has freed, up to 64 MiB, and sets as much address space aside.
#ifdef __GLIBC__
__attribute__((constructor)) static void one_arena(void)
{
	mallopt(M_ARENA_MAX, 1);
}
#endif

void mem_exhausted(void)
{
	struct rlimit r;
	if (getrlimit(RLIMIT_AS, &r) == 0 && r.rlim_cur != RLIM_INFINITY)
		error_end("out of memory: the limit on address space (ulimit -v) is %llu MB", (unsigned long long)(r.rlim_cur >> 20));
	error_end("out of memory");
}

static void *checked(void *p)
{
	if (!p)
		mem_exhausted();
	pages_follow_heap();
	return p;
}

void *xmalloc(size_t size)
{
	return checked(malloc(size ? size : 1));
}

void *xcalloc(size_t n, size_t size)
{
	size_t total;
	if (__builtin_mul_overflow(n, size, &total))
		checked(NULL);
	return checked(calloc(1, total ? total : 1));
}

void *xrealloc(void *p, size_t size)
{
	return checked(realloc(p, size ? size : 1));
}

char *xstrdup(const char *s)
{
	return s ? checked(strdup(s)) : NULL;
}

void *xgrow(void *array, size_t *cap, size_t need, size_t size)
{
	size_t want = *cap < 4 ? 8 : *cap, bytes;
	if (need <= *cap)
		return array;
	if (__builtin_mul_overflow(want, 2, &want) || want < need)
		want = need;
	if (__builtin_mul_overflow(want, size, &bytes))
		checked(NULL);
	array = xrealloc(array, bytes);
	*cap = want;
	return array;
}

void mem_fail_at(long n)
{
	atomic_store(&fail_countdown, n);
}

bool mem_told_to_fail(void)
{
	return atomic_load(&fail_countdown) > 0 && atomic_fetch_sub(&fail_countdown, 1) == 1;
}

static bool leaves_reserve(size_t size)
{
	size_t left;
	if (size < SMALL)
		return true;
	left = size < BIG ? mem_address_space_left() : mem_available();
	return left > RESERVE && size < left - RESERVE;
}

// Blocks that are kept for later use are given back before a request is refused.
bool mem_has_room(size_t size)
{
	return leaves_reserve(size) || (block_release() > 0 && leaves_reserve(size));
}

bool mem_may_take(size_t size)
{
	return !mem_told_to_fail() && mem_has_room(size);
}

void *mem_try_array(size_t n, size_t size)
{
	size_t total;
	if (__builtin_mul_overflow(n, size, &total) || total > PTRDIFF_MAX || !mem_may_take(total))
		return NULL;
	return calloc(1, total ? total : 1);
}

void *mem_try_resize(void *p, size_t size)
{
	if (size > PTRDIFF_MAX || !mem_may_take(size))
		return NULL;
	return realloc(p, size ? size : 1);
}

void mem_trim(void)
{
#ifdef __GLIBC__
	malloc_trim(0);
#endif
}

// VmHWM belongs to this program; ru_maxrss also counts what the process was before exec, so it is only the fallback.
double mem_peak_rss_mib(void)
{
	FILE *f = fopen("/proc/self/status", "re");
	char line[128];
	long kib = -1;
	struct rusage r;
	while (f && kib < 0 && fgets(line, sizeof line, f))
		sscanf(line, "VmHWM: %ld", &kib);
	if (f)
		fclose(f);
	if (kib < 0)
		kib = getrusage(RUSAGE_SELF, &r) == 0 ? r.ru_maxrss : 0;
	return (double)kib / 1024;
}
