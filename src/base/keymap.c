// Open addressing with linear probing, at most three quarters full. A removed pair is filled by moving later ones back,
// so there are no gravestones. A slot is empty when its value is NULL.
#include "qtui/base/hash.h"

#include <stdlib.h>
#include "qtui/base/mem.h"

struct pair {
	struct key key;
	void *value;
};

struct keymap {
	struct pair *pair;
	size_t mask; // slots - 1, a power of two less one
	size_t count;
};

struct keymap *keymap_new(void)
{
	struct keymap *m = xcalloc(1, sizeof *m);
	m->mask = 15;
	m->pair = xcalloc(m->mask + 1, sizeof *m->pair);
	return m;
}

void keymap_free(struct keymap **m)
{
	if (*m)
		free((*m)->pair);
	free(*m);
	*m = NULL;
}

// The slot that holds k, or the empty one where it would go.
static size_t slot_of(const struct keymap *m, struct key k)
{
	size_t i = k.lo & m->mask;
	while (m->pair[i].value && !key_equal(m->pair[i].key, k))
		i = (i + 1) & m->mask;
	return i;
}

void *keymap_get(const struct keymap *m, struct key k)
{
	return m->pair[slot_of(m, k)].value;
}

static void grow(struct keymap *m)
{
	struct pair *old = m->pair;
	size_t n = m->mask + 1;
	m->mask = 2 * n - 1;
	m->pair = xcalloc(2 * n, sizeof *m->pair);
	for (size_t i = 0; i < n; i++)
		if (old[i].value)
			m->pair[slot_of(m, old[i].key)] = old[i];
	free(old);
}

void keymap_put(struct keymap *m, struct key k, void *value)
{
	size_t i;
	if (!value) {
		keymap_remove(m, k);
		return;
	}
	if (4 * (m->count + 1) > 3 * (m->mask + 1))
		grow(m);
	i = slot_of(m, k);
	m->count += m->pair[i].value == NULL;
	m->pair[i] = (struct pair){k, value};
}

// Moves back into `hole` each pair of the run behind it whose home is not between the hole and the pair.
static void close_hole(struct keymap *m, size_t hole)
{
	size_t i = hole;
	for (;;) {
		size_t home;
		m->pair[hole].value = NULL;
		do {
			i = (i + 1) & m->mask;
			if (!m->pair[i].value)
				return;
			home = m->pair[i].key.lo & m->mask;
		} while (((i - home) & m->mask) < ((i - hole) & m->mask));
		m->pair[hole] = m->pair[i];
		hole = i;
	}
}

void *keymap_remove(struct keymap *m, struct key k)
{
	size_t i = slot_of(m, k);
	void *value = m->pair[i].value;
	if (value) {
		close_hole(m, i);
		m->count--;
	}
	return value;
}

size_t keymap_count(const struct keymap *m)
{
	return m->count;
}

void keymap_each(const struct keymap *m, void (*fn)(struct key, void *value, void *arg), void *arg)
{
	for (size_t i = 0; i <= m->mask; i++)
		if (m->pair[i].value)
			fn(m->pair[i].key, m->pair[i].value, arg);
}
