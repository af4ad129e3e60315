// 128-bit keys (XXH3). A key names a computed result: equal keys mean equal content. Text form: 32 hexadecimal digits.
#ifndef QTUI_BASE_HASH_H
#define QTUI_BASE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct key {
	uint64_t hi, lo;
};
struct key key_of(const void *data, size_t size);
struct bytes;
struct key key_of_bytes(const struct bytes *b); // the same of a file, whose pages do not stay in memory where it is mapped
// The key of a sequence: order matters. Start with a zeroed key.
struct key key_add(struct key k, const void *data, size_t size);
struct key key_add_key(struct key k, struct key other);
struct key key_add_int(struct key k, int64_t v);
struct key key_add_text(struct key k, const char *s);
bool key_equal(struct key a, struct key b);
bool key_is_zero(struct key k);
void key_text(struct key k, char out[33]);
bool key_parse(struct key *out, const char *text);

// A map from key to pointer. The map does not own the values. NULL stands for absent: putting it removes.
struct keymap;
struct keymap *keymap_new(void);
void keymap_free(struct keymap **m);
void *keymap_get(const struct keymap *m, struct key k);
void keymap_put(struct keymap *m, struct key k, void *value); // replaces
void *keymap_remove(struct keymap *m, struct key k);          // what was there
size_t keymap_count(const struct keymap *m);
// Calls fn for every pair in no particular order; fn must not change the map.
void keymap_each(const struct keymap *m, void (*fn)(struct key, void *value, void *arg), void *arg);

// A map from text to int (names to ids). Keys are copied.
struct namemap;
struct namemap *namemap_new(void);
void namemap_free(struct namemap **m);
int namemap_get(const struct namemap *m, const char *name); // -1 when absent
void namemap_put(struct namemap *m, const char *name, int value);

#endif
