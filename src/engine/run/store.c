// The store of computed tensors: a map by key and a heap by worth (cost to recompute / bytes). Over budget, the least worthy go.
#include <stdlib.h>
#include <string.h>
#include "run_impl.h"

struct entry {
	struct key key;
	struct rep rep;
	size_t bytes;
	double worth;
	size_t at; // index in the heap
};
struct store {
	pthread_mutex_t lock;
	struct keymap *map;
	struct entry **heap; // least worthy first
	size_t n, cap, bytes, budget;
	double least_worth;  // of what is kept at all
	size_t lent;         // bytes of what was taken out, whose pages are kept for what comes in
	size_t holes;        // bytes of small entries that have gone since the system was given what they left
};

struct store *store_new(size_t budget, double least_worth)
{
	struct store *s = xcalloc(1, sizeof *s);
	pthread_mutex_init(&s->lock, NULL);
	s->map = keymap_new();
	s->budget = budget;
	s->least_worth = least_worth;
	return s;
}

static void place(struct store *s, struct entry *e, size_t at)
{
	s->heap[at] = e;
	e->at = at;
}

static void sift_up(struct store *s, struct entry *e)
{
	size_t i = e->at;
	for (; i > 0 && s->heap[(i - 1) / 2]->worth > e->worth; i = (i - 1) / 2)
		place(s, s->heap[(i - 1) / 2], i);
	place(s, e, i);
}

static void sift_down(struct store *s, struct entry *e)
{
	size_t i = e->at;
	for (;;) {
		size_t c = 2 * i + 1;
		if (c + 1 < s->n && s->heap[c + 1]->worth < s->heap[c]->worth)
			c++;
		if (c >= s->n || s->heap[c]->worth >= e->worth)
			break;
		place(s, s->heap[c], i);
		i = c;
	}
	place(s, e, i);
}

// Small blocks that go leave holes between those that stay, some of which nothing fits into again.
static void note_hole(struct store *s, size_t size)
{
	enum { SMALL = 32 << 10, OFTEN = 16 << 20 };
	s->holes += size < SMALL ? size : 0;
	if (s->holes < OFTEN)
		return;
	s->holes = 0;
	mem_trim();
}

static void evict(struct store *s, struct entry *e)
{
	struct entry *tail = s->heap[--s->n];
	if (tail != e) {
		place(s, tail, e->at);
		sift_up(s, tail);
		sift_down(s, tail);
	}
	s->bytes -= e->bytes;
	keymap_remove(s->map, e->key);
	rep_drop(&e->rep);
	note_hole(s, e->bytes);
	free(e);
}

static void evict_least(struct store *s)
{
	evict(s, s->heap[0]);
}

static void lend(struct store *s, size_t bytes)
{
	s->lent += bytes;
	mem_keep_more((ptrdiff_t)bytes);
}

static void take_back(struct store *s, size_t bytes)
{
	bytes = bytes < s->lent ? bytes : s->lent;
	s->lent -= bytes;
	mem_keep_more(-(ptrdiff_t)bytes);
}

void store_trim(struct store *s, size_t budget)
{
	pthread_mutex_lock(&s->lock);
	while (s->n > 0 && s->bytes > budget)
		evict_least(s);
	pthread_mutex_unlock(&s->lock);
}

void store_free(struct store **sp)
{
	struct store *s = *sp;
	if (!s)
		return;
	store_trim(s, 0);
	take_back(s, s->lent);
	while (s->n > 0)
		evict_least(s);
	keymap_free(&s->map);
	pthread_mutex_destroy(&s->lock);
	free(s->heap);
	free(s);
	*sp = NULL;
}

bool store_get(struct store *s, struct key k, double least, struct rep *out)
{
	pthread_mutex_lock(&s->lock);
	struct entry *e = keymap_get(s->map, k);
	bool found = e != NULL;
	if (found)
		*out = rep_share(&e->rep);
	if (found && e->worth < least * s->least_worth) {
		lend(s, e->bytes);
		evict(s, e);
	}
	pthread_mutex_unlock(&s->lock);
	return found;
}

// Room for `bytes` of worth `worth`: evicts what is worth less; false when that does not suffice.
static bool make_room(struct store *s, size_t bytes, double worth)
{
	if (bytes > s->budget)
		return false;
	while (s->bytes + bytes > s->budget) {
		if (s->n == 0 || s->heap[0]->worth >= worth)
			return false;
		evict_least(s);
	}
	return true;
}

bool store_put(struct store *s, struct key k, const struct rep *r, double cost)
{
	size_t bytes = r->t.buf ? r->t.buf->size + sizeof(struct entry) : 0;
	if (bytes == 0) // a borrowed constant costs nothing to find again
		return true;
	double worth = cost / (double)bytes;
	pthread_mutex_lock(&s->lock);
	bool kept = keymap_get(s->map, k) != NULL;
	if (!kept && worth >= s->least_worth && make_room(s, bytes, worth)) {
		kept = true;
		struct entry *e = xcalloc(1, sizeof *e);
		*e = (struct entry){.key = k, .rep = rep_share(r), .bytes = bytes, .worth = worth, .at = s->n};
		s->heap = xgrow(s->heap, &s->cap, s->n + 1, sizeof *s->heap);
		s->heap[s->n++] = e;
		s->bytes += bytes;
		take_back(s, bytes);
		keymap_put(s->map, k, e);
		sift_up(s, e);
	}
	pthread_mutex_unlock(&s->lock);
	return kept;
}

size_t store_bytes(struct store *s)
{
	pthread_mutex_lock(&s->lock);
	size_t n = s->bytes;
	pthread_mutex_unlock(&s->lock);
	return n;
}
