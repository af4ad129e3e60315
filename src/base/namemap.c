// Open addressing as in keymap.c, without removal. The texts live in an arena.
#include "qtui/base/hash.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include "qtui/base/mem.h"

struct entry {
	const char *name; // NULL: empty
	uint64_t hash;
	int value;
};

struct namemap {
	struct arena *names;
	struct entry *entry;
	size_t mask, count;
};

struct namemap *namemap_new(void)
{
	struct namemap *m = xcalloc(1, sizeof *m);
	m->names = arena_new();
	m->mask = 15;
	m->entry = xcalloc(m->mask + 1, sizeof *m->entry);
	return m;
}

void namemap_free(struct namemap **m)
{
	if (*m) {
		arena_free(&(*m)->names);
		free((*m)->entry);
	}
	free(*m);
	*m = NULL;
}

// The map's address is the seed, so that no file can be made whose names all collide.
static uint64_t hash_of(const struct namemap *m, const char *name)
{
	return XXH3_64bits_withSeed(name, strlen(name), (uint64_t)(uintptr_t)m);
}

static struct entry *entry_of(const struct namemap *m, const char *name, uint64_t hash)
{
	size_t i = hash & m->mask;
	while (m->entry[i].name && (m->entry[i].hash != hash || strcmp(m->entry[i].name, name) != 0))
		i = (i + 1) & m->mask;
	return &m->entry[i];
}

int namemap_get(const struct namemap *m, const char *name)
{
	const struct entry *e = entry_of(m, name, hash_of(m, name));
	return e->name ? e->value : -1;
}

static void grow(struct namemap *m)
{
	struct entry *old = m->entry;
	size_t n = m->mask + 1;
	m->mask = 2 * n - 1;
	m->entry = xcalloc(2 * n, sizeof *m->entry);
	for (size_t i = 0; i < n; i++)
		if (old[i].name)
			*entry_of(m, old[i].name, old[i].hash) = old[i];
	free(old);
}

void namemap_put(struct namemap *m, const char *name, int value)
{
	uint64_t hash = hash_of(m, name);
	struct entry *e = entry_of(m, name, hash);
	if (!e->name) {
		if (4 * (m->count + 1) > 3 * (m->mask + 1)) {
			grow(m);
			e = entry_of(m, name, hash);
		}
		*e = (struct entry){.name = arena_strdup(m->names, name), .hash = hash};
		m->count++;
	}
	e->value = value;
}
