// Kept pages are runs in the order of their addresses; neighbours are joined, and a request takes the front
// of the shortest run that suffices. There are some hundred runs at most, so that they are simply searched.
#include "block.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "pages.h"
#include "qtui/base/mem.h"

// Of huge pages so many bytes are taken at once: what is left of the last one serves the next requests.
#define CHUNK ((size_t)8 << 20)

struct run {
	char *at;
	size_t size;
	uint64_t given; // clock of the last time that a part of it was given back
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct run *runs;
static size_t n_runs, cap_runs, bytes, most = BLOCK_KEPT;
static uint64_t clock_now;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static const size_t least = SIZE_MAX;
#else
static const size_t least = BLOCK_LEAST;
#endif

static size_t up(size_t size, size_t step)
{
	return (size + step - 1) / step * step;
}

static size_t rounded(size_t size)
{
	return up(size, PAGE);
}

static void remove_run(size_t i)
{
	memmove(runs + i, runs + i + 1, (--n_runs - i) * sizeof *runs);
}

// The shortest run of at least `size` bytes, of equal ones the latest; n_runs when there is none.
static size_t best_run(size_t size)
{
	size_t best = n_runs;
	for (size_t i = 0; i < n_runs; i++) {
		const struct run *r = &runs[i];
		if (r->size >= size && (best == n_runs || r->size < runs[best].size ||
		                           (r->size == runs[best].size && r->given > runs[best].given)))
			best = i;
	}
	return best;
}

static void *from_kept(size_t size)
{
	size_t i = best_run(size);
	char *p;
	if (i == n_runs)
		return NULL;
	p = runs[i].at;
	runs[i].at += size;
	runs[i].size -= size;
	bytes -= size;
	if (runs[i].size == 0)
		remove_run(i);
	return p;
}

static void join_next(size_t i)
{
	runs[i].size += runs[i + 1].size;
	runs[i].given = runs[i].given > runs[i + 1].given ? runs[i].given : runs[i + 1].given;
	remove_run(i + 1);
}

static void keep(char *p, size_t size, uint64_t given)
{
	size_t i = 0, end = n_runs;
	while (i < end) { // the first run behind p
		size_t middle = (i + end) / 2;
		if (runs[middle].at < p)
			i = middle + 1;
		else
			end = middle;
	}
	runs = xgrow(runs, &cap_runs, n_runs + 1, sizeof *runs);
	memmove(runs + i + 1, runs + i, (n_runs++ - i) * sizeof *runs);
	runs[i] = (struct run){p, size, given};
	bytes += size;
	if (i + 1 < n_runs && runs[i].at + runs[i].size == runs[i + 1].at)
		join_next(i);
	if (i > 0 && runs[i - 1].at + runs[i - 1].size == runs[i].at)
		join_next(i - 1);
}

// What the system can be given of a run: whole units.
static struct run whole_units(const struct run *r)
{
	uintptr_t from = up((uintptr_t)r->at, pages_unit()), to = ((uintptr_t)r->at + r->size) / pages_unit() * pages_unit();
	return (struct run){(char *)from, to > from ? to - from : 0, r->given};
}

// What is too much of the oldest run that has a whole unit, taken out; size 0 when nothing is.
static struct run excess(size_t limit)
{
	struct run out = {NULL, 0, 0};
	size_t oldest = n_runs;
	for (size_t i = 0; bytes > limit && i < n_runs; i++)
		if (whole_units(&runs[i]).size && (oldest == n_runs || runs[i].given < runs[oldest].given))
			oldest = i;
	if (oldest == n_runs)
		return out;
	const struct run from = runs[oldest];
	size_t want = up(bytes - limit, pages_unit());
	out = whole_units(&from);
	out.at += out.size > want ? out.size - want : 0; // its end
	out.size = out.size > want ? want : out.size;
	remove_run(oldest);
	bytes -= from.size;
	if (out.at > from.at)
		keep(from.at, (size_t)(out.at - from.at), from.given);
	if (out.at + out.size < from.at + from.size)
		keep(out.at + out.size, (size_t)(from.at + from.size - out.at) - out.size, from.given);
	return out;
}

// Called with the lock, which it lets go of while the system is busy.
static void release_above(size_t limit)
{
	struct run out;
	while ((out = excess(limit)).size) {
		pthread_mutex_unlock(&lock);
		munmap(out.at, out.size);
		pthread_mutex_lock(&lock);
	}
}

static void *fresh(size_t size)
{
	size_t all = pages_unit() == PAGE ? size : up(size < CHUNK ? CHUNK : size, pages_unit());
	char *p = pages_map(all);
	if (!p || all == size)
		return p;
	pthread_mutex_lock(&lock);
	keep(p + size, all - size, ++clock_now);
	pthread_mutex_unlock(&lock);
	return p;
}

void *block_take(size_t size)
{
	void *p = NULL;
	if (size >= least) {
		pthread_mutex_lock(&lock);
		p = from_kept(rounded(size));
		pthread_mutex_unlock(&lock);
	}
	if (p || !mem_has_room(size))
		return p;
	if (size >= least)
		return fresh(rounded(size));
	return posix_memalign(&p, 64, size) == 0 ? p : NULL;
}

void block_give(void *p, size_t size)
{
	if (size < least) {
		free(p);
		return;
	}
	pthread_mutex_lock(&lock);
	keep(p, rounded(size), ++clock_now);
	release_above(most);
	pthread_mutex_unlock(&lock);
}

void mem_keep_more(ptrdiff_t size)
{
	pthread_mutex_lock(&lock);
	most += (size_t)size;
	release_above(most);
	pthread_mutex_unlock(&lock);
}

size_t block_kept(void)
{
	size_t n;
	pthread_mutex_lock(&lock);
	n = bytes;
	pthread_mutex_unlock(&lock);
	return n;
}

size_t block_release(void)
{
	size_t n;
	pthread_mutex_lock(&lock);
	n = bytes;
	release_above(0);
	n -= bytes;
	pthread_mutex_unlock(&lock);
	return n;
}
