// The store of computed tensors: a map by key and a heap by worth (work to recompute / bytes).
// Over budget, the least worthy go. What is held is in the map alone and in a list.
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include "run_impl.h"

struct entry {
	struct key key;
	struct rep rep;
	double worth, work;
	int until; // held until then; 0: it is in the heap
	size_t at; // index in the heap, or in the list of what is held
};
// Memory that several entries may share: parts of a Concat, what a Reshape gives.
struct block {
	size_t entries;
};
struct store {
	pthread_mutex_t lock;
	struct keymap *map;
	struct keymap *blocks; // by address
	struct entry **heap; // least worthy first
	struct entry **held;
	size_t n, cap, n_held, cap_held, bytes, budget;
	double least_worth;  // of what is kept at all
	size_t lent;         // bytes of what was let go, whose pages stay with the program for what comes in
	size_t holes;        // bytes of small entries that have gone since the system was given what they left
};

struct store *store_new(size_t budget, double least_worth)
{
	struct store *s = xcalloc(1, sizeof *s);
	pthread_mutex_init(&s->lock, NULL);
	s->map = keymap_new();
	s->blocks = keymap_new();
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

static void into_heap(struct store *s, struct entry *e)
{
	s->heap = xgrow(s->heap, &s->cap, s->n + 1, sizeof *s->heap);
	e->until = 0;
	e->at = s->n++;
	sift_up(s, e);
}

static void out_of_heap(struct store *s, struct entry *e)
{
	struct entry *tail = s->heap[--s->n];
	if (tail == e)
		return;
	place(s, tail, e->at);
	sift_up(s, tail);
	sift_down(s, tail);
}

static void into_held(struct store *s, struct entry *e, int until)
{
	s->held = xgrow(s->held, &s->cap_held, s->n_held + 1, sizeof *s->held);
	e->until = until;
	e->at = s->n_held;
	s->held[s->n_held++] = e;
}

static void out_of_held(struct store *s, struct entry *e)
{
	struct entry *tail = s->held[--s->n_held];
	s->held[e->at] = tail;
	tail->at = e->at;
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

static struct key key_of_block(const struct buf *b)
{
	return key_add_int((struct key){0}, (int64_t)(intptr_t)b);
}

static void enter(struct store *s, struct entry *e)
{
	struct key k = key_of_block(e->rep.t.buf);
	struct block *b = keymap_get(s->blocks, k);
	if (!b) {
		b = xcalloc(1, sizeof *b);
		keymap_put(s->blocks, k, b);
		s->bytes += e->rep.t.buf->size;
		take_back(s, e->rep.t.buf->size);
	}
	b->entries++;
	s->bytes += sizeof *e;
	keymap_put(s->map, e->key, e);
}

// Of what is neither in the heap nor held; how much memory nobody has now.
static size_t forget(struct store *s, struct entry *e)
{
	struct key k = key_of_block(e->rep.t.buf);
	struct block *b = keymap_get(s->blocks, k);
	bool last = --b->entries == 0;
	size_t freed = last ? e->rep.t.buf->size : 0;
	if (last)
		free(keymap_remove(s->blocks, k));
	s->bytes -= freed + sizeof *e;
	keymap_remove(s->map, e->key);
	rep_drop(&e->rep);
	note_hole(s, freed);
	free(e);
	return freed;
}

static void evict_least(struct store *s)
{
	struct entry *e = s->heap[0];
	out_of_heap(s, e);
	forget(s, e);
}

void store_trim(struct store *s, size_t budget)
{
	pthread_mutex_lock(&s->lock);
	while (s->n > 0 && s->bytes > budget)
		evict_least(s);
	pthread_mutex_unlock(&s->lock);
}

void store_set_budget(struct store *s, size_t budget)
{
	pthread_mutex_lock(&s->lock);
	s->budget = budget;
	pthread_mutex_unlock(&s->lock);
	store_trim(s, budget);
}

void store_release(struct store *s, int until)
{
	pthread_mutex_lock(&s->lock);
	for (size_t i = s->n_held; i-- > 0;) {
		struct entry *e = s->held[i];
		if (e->until > until)
			continue;
		out_of_held(s, e);
		if (e->worth >= s->least_worth) {
			into_heap(s, e);
			continue;
		}
		lend(s, forget(s, e));
	}
	pthread_mutex_unlock(&s->lock);
}

void store_free(struct store **sp)
{
	struct store *s = *sp;
	if (!s)
		return;
	store_release(s, INT_MAX);
	store_trim(s, 0);
	take_back(s, s->lent);
	keymap_free(&s->map);
	keymap_free(&s->blocks);
	pthread_mutex_destroy(&s->lock);
	free(s->heap);
	free(s->held);
	free(s);
	*sp = NULL;
}

bool store_get(struct store *s, struct key k, double least, struct rep *out, double *owed)
{
	pthread_mutex_lock(&s->lock);
	struct entry *e = keymap_get(s->map, k);
	bool found = e != NULL;
	if (found) {
		*out = rep_share(&e->rep);
		*owed = e->worth >= s->least_worth ? 0 : e->work;
	}
	if (found && e->until == 0 && e->worth < least * s->least_worth) {
		out_of_heap(s, e);
		lend(s, forget(s, e));
	}
	pthread_mutex_unlock(&s->lock);
	return found;
}

// Room for one entry of worth `worth`: evicts what is worth less; false when that does not suffice.
static bool make_room(struct store *s, const struct buf *b, double worth)
{
	if (b->size > s->budget)
		return false;
	while (s->bytes + sizeof(struct entry) + (keymap_get(s->blocks, key_of_block(b)) ? 0 : b->size) > s->budget) {
		if (s->n == 0 || s->heap[0]->worth >= worth)
			return false;
		evict_least(s);
	}
	return true;
}

bool store_put(struct store *s, struct key k, const struct rep *r, double work, double least, int until)
{
	const struct buf *b = r->t.buf;
	if (!b) // a borrowed constant costs nothing to find again
		return true;
	double worth = work / (least * (double)(b->size + sizeof(struct entry)));
	pthread_mutex_lock(&s->lock);
	struct entry *e = keymap_get(s->map, k);
	if (!e && (until || worth >= s->least_worth) && make_room(s, b, until ? INFINITY : worth)) {
		e = xcalloc(1, sizeof *e);
		*e = (struct entry){.key = k, .rep = rep_share(r), .worth = worth, .work = work};
		enter(s, e);
		if (until)
			into_held(s, e, until);
		else
			into_heap(s, e);
	}
	bool kept = e && e->worth >= s->least_worth;
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
