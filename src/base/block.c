// Kept blocks hang in two lists, whose links lie in the blocks themselves: in the chain of their size, newest first, and
// in the ring of all, by age. Sizes are rounded up to pages, and the tensors of a network have few sizes, so that a
// request looks for its exact size.
#include "block.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#define PAGE ((size_t)4096)
// From this size on, pages of 2 MiB are asked for.
#define HUGE ((size_t)2 << 20)
#define CHAINS 256

struct link {
	struct link *prev, *next;
};
struct kept {
	struct link age, chain; // `age` first: a link in the ring is its block
	size_t size;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct link ring = {&ring, &ring}; // next: the newest
static struct link chains[CHAINS];        // both NULL: never used
static size_t bytes;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static const size_t least = SIZE_MAX;
#else
static const size_t least = BLOCK_LEAST;
#endif

static void insert(struct link *head, struct link *l)
{
	l->prev = head;
	l->next = head->next;
	l->next->prev = l;
	head->next = l;
}

static void withdraw(struct link *l)
{
	l->prev->next = l->next;
	l->next->prev = l->prev;
}

static struct kept *of_chain(struct link *l)
{
	return (struct kept *)((char *)l - offsetof(struct kept, chain));
}

static struct link *chain_of(size_t size)
{
	struct link *head = &chains[size / PAGE * 0x9E3779B1u >> 8 & (CHAINS - 1)];

	if (!head->next)
		head->prev = head->next = head;
	return head;
}

static void forget(struct kept *k)
{
	withdraw(&k->age);
	withdraw(&k->chain);
	bytes -= k->size;
}

static size_t rounded(size_t size)
{
	return (size + PAGE - 1) / PAGE * PAGE;
}

static void *fresh(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	if (size >= HUGE)
		madvise(p, size, MADV_HUGEPAGE); // a refusal changes nothing but the speed
	return p;
}

void *block_take(size_t size)
{
	struct kept *found = NULL;
	struct link *head;
	void *p;

	if (size < least)
		return posix_memalign(&p, 64, size) == 0 ? p : NULL;
	size = rounded(size);
	pthread_mutex_lock(&lock);
	head = chain_of(size);
	for (struct link *l = head->next; l != head && !found; l = l->next)
		if (of_chain(l)->size == size)
			found = of_chain(l);
	if (found)
		forget(found);
	pthread_mutex_unlock(&lock);
	return found ? found : fresh(size);
}

// Takes the oldest blocks out until `room` more bytes may be kept; returns them as a list by age.next.
static struct kept *overflow(size_t room)
{
	struct kept *list = NULL;

	while (bytes + room > BLOCK_KEPT) {
		struct kept *oldest = (struct kept *)ring.prev;
		forget(oldest);
		oldest->age.next = (struct link *)list;
		list = oldest;
	}
	return list;
}

void block_give(void *p, size_t size)
{
	struct kept *k = p, *out;

	if (size < least) {
		free(p);
		return;
	}
	size = rounded(size);
	if (size > BLOCK_KEPT) {
		munmap(p, size);
		return;
	}
	pthread_mutex_lock(&lock);
	out = overflow(size);
	k->size = size;
	insert(&ring, &k->age);
	insert(chain_of(size), &k->chain);
	bytes += size;
	pthread_mutex_unlock(&lock);
	while (out) {
		struct kept *next = (struct kept *)out->age.next;
		munmap(out, out->size);
		out = next;
	}
}

size_t block_kept(void)
{
	size_t n;

	pthread_mutex_lock(&lock);
	n = bytes;
	pthread_mutex_unlock(&lock);
	return n;
}
