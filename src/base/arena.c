#include "qtui/base/mem.h"

#include <stdlib.h>
#include <string.h>
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(p, n) ((void)(p), (void)(n))
#define ASAN_UNPOISON_MEMORY_REGION(p, n) ((void)(p), (void)(n))
#endif

#define ALIGN ((size_t)16)
#define CHUNK_FIRST ((size_t)4096)
#define CHUNK_LAST ((size_t)1 << 20)

// Chunks are zeroed when they are made and never used twice. What is not given out is poisoned under ASan.
struct chunk {
	struct chunk *next;
	size_t size, used;
	_Alignas(16) uint8_t bytes[];
};

struct arena {
	struct chunk *head; // the one that is being filled
	size_t grow;        // size of the next chunk
};

struct arena *arena_new(void)
{
	struct arena *a = xcalloc(1, sizeof *a);
	a->grow = CHUNK_FIRST;
	return a;
}

void arena_free(struct arena **a)
{
	struct chunk *c = *a ? (*a)->head : NULL;
	while (c) {
		struct chunk *next = c->next;
		ASAN_UNPOISON_MEMORY_REGION(c->bytes, c->size);
		free(c);
		c = next;
	}
	free(*a);
	*a = NULL;
}

static struct chunk *chunk_new(size_t size)
{
	struct chunk *c = xcalloc(1, sizeof *c + size);
	c->size = size;
	ASAN_POISON_MEMORY_REGION(c->bytes, size);
	return c;
}

// A piece that is large beside the chunks gets its own, put behind the head, which goes on being filled.
static struct chunk *chunk_for(struct arena *a, size_t need)
{
	struct chunk *c;
	if (a->head && a->head->size - a->head->used >= need)
		return a->head;
	if (a->head && need > a->grow / 4) {
		c = chunk_new(need);
		c->next = a->head->next;
		a->head->next = c;
		return c;
	}
	c = chunk_new(need > a->grow ? need : a->grow);
	c->next = a->head;
	a->head = c;
	if (a->grow < CHUNK_LAST)
		a->grow *= 2;
	return c;
}

// Every piece is followed by at least one byte that belongs to none, so that ASan sees a step beyond its end.
void *arena_alloc(struct arena *a, size_t size)
{
	size_t need = size > SIZE_MAX / 2 ? size : (size / ALIGN + 1) * ALIGN;
	struct chunk *c = chunk_for(a, need);
	void *p = c->bytes + c->used;
	c->used += need;
	ASAN_UNPOISON_MEMORY_REGION(p, size);
	return p;
}

char *arena_strdup(struct arena *a, const char *s)
{
	return arena_memdup(a, s, strlen(s) + 1);
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
	size_t len = strnlen(s, n);
	char *copy = arena_alloc(a, len + 1);
	memcpy(copy, s, len);
	return copy;
}

void *arena_memdup(struct arena *a, const void *p, size_t size)
{
	void *copy = arena_alloc(a, size);
	if (size)
		memcpy(copy, p, size);
	return copy;
}
