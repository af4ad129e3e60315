#include "qtui/base/hash.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>
#include "qtui/base/file.h"

static struct key as_key(XXH128_hash_t h)
{
	return (struct key){.hi = h.high64, .lo = h.low64};
}

struct key key_of(const void *data, size_t size)
{
	return as_key(XXH3_128bits(data, size));
}

struct key key_of_bytes(const struct bytes *b)
{
	enum { PIECE = 4 << 20 };
	XXH3_state_t *state = b->size > PIECE ? XXH3_createState() : NULL;
	if (!state)
		return key_of(b->data, b->size);
	XXH3_128bits_reset(state);
	for (size_t at = 0; at < b->size; at += PIECE) {
		size_t n = b->size - at < PIECE ? b->size - at : PIECE;
		XXH3_128bits_update(state, b->data + at, n);
		bytes_forget(b, b->data + at, n);
	}
	struct key k = as_key(XXH3_128bits_digest(state));
	XXH3_freeState(state);
	return k;
}

// Hashing the pair (what came before, hash of the new piece) keeps order and the borders between pieces.
struct key key_add_key(struct key k, struct key other)
{
	const uint64_t pair[4] = {k.hi, k.lo, other.hi, other.lo};
	return key_of(pair, sizeof pair);
}

struct key key_add(struct key k, const void *data, size_t size)
{
	return key_add_key(k, key_of(data, size));
}

struct key key_add_int(struct key k, int64_t v)
{
	return key_add(k, &v, sizeof v);
}

struct key key_add_text(struct key k, const char *s)
{
	return key_add(k, s, strlen(s));
}

bool key_equal(struct key a, struct key b)
{
	return a.hi == b.hi && a.lo == b.lo;
}

bool key_is_zero(struct key k)
{
	return k.hi == 0 && k.lo == 0;
}

void key_text(struct key k, char out[33])
{
	snprintf(out, 33, "%016" PRIx64 "%016" PRIx64, k.hi, k.lo);
}

static int digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

bool key_parse(struct key *out, const char *text)
{
	uint64_t half[2] = {0, 0};
	for (int i = 0; i < 32; i++) {
		int v = digit_value(text[i]);
		if (v < 0)
			return false;
		half[i / 16] = half[i / 16] << 4 | (uint64_t)v;
	}
	*out = (struct key){.hi = half[0], .lo = half[1]};
	return text[32] == '\0';
}
