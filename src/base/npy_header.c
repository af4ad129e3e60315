// Reads {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }: the keys in any order, each one once.
#include "npy_header.h"

#include <string.h>

struct cursor {
	const char *p, *end;
	const char *name;
	struct error *err;
};

static void skip_blanks(struct cursor *c)
{
	while (c->p < c->end && (*c->p == ' ' || *c->p == '\n' || *c->p == '\t' || *c->p == '\r'))
		c->p++;
}

static bool take(struct cursor *c, char wanted)
{
	skip_blanks(c);
	if (c->p == c->end || *c->p != wanted)
		return false;
	c->p++;
	return true;
}

static bool take_word(struct cursor *c, const char *word)
{
	size_t n = strlen(word);
	skip_blanks(c);
	if ((size_t)(c->end - c->p) < n || memcmp(c->p, word, n) != 0)
		return false;
	c->p += n;
	return true;
}

static enum status malformed(struct cursor *c, const char *what)
{
	return error_set(c->err, STATUS_FORMAT, "%s: malformed .npy header: %s", c->name, what);
}

// A quoted text without escapes, of fewer than `size` bytes.
static bool take_quoted(struct cursor *c, char *out, size_t size)
{
	char quote = take(c, '\'') ? '\'' : take(c, '"') ? '"' : '\0';
	const char *end;
	size_t n;
	if (!quote || !(end = memchr(c->p, quote, (size_t)(c->end - c->p))))
		return false;
	n = (size_t)(end - c->p);
	if (n >= size)
		return false;
	memcpy(out, c->p, n);
	out[n] = '\0';
	c->p = end + 1;
	return true;
}

static bool is_known_type(char kind, int item)
{
	switch (kind) {
	case 'f':
		return item == 2 || item == 4 || item == 8;
	case 'i':
	case 'u':
		return item == 1 || item == 2 || item == 4 || item == 8;
	case 'b':
		return item == 1;
	default:
		return false;
	}
}

// "<f4": the order of the bytes, the kind, the size.
static enum status read_descr(struct npy_header *h, struct cursor *c)
{
	char d[16];
	skip_blanks(c);
	if (c->p == c->end)
		return malformed(c, "it has no end");
	if (!take_quoted(c, d, sizeof d))
		return error_set(c->err, STATUS_UNSUPPORTED, "%s: only arrays of plain numbers can be read", c->name);
	if (strlen(d) != 3 || !strchr("<>|=", d[0]) || !is_known_type(d[1], d[2] - '0'))
		return error_set(c->err, STATUS_UNSUPPORTED, "%s: numbers of type '%s' cannot be read; save them as float32", c->name, d);
	h->big_endian = d[0] == '>';
	h->array.kind = d[1];
	h->array.item = d[2] - '0';
	return STATUS_OK;
}

static enum status read_order(struct npy_header *h, struct cursor *c)
{
	if (take_word(c, "True"))
		h->fortran = true;
	else if (!take_word(c, "False"))
		return malformed(c, "fortran_order is neither True nor False");
	return STATUS_OK;
}

// A number without sign. Python 2 wrote an L behind long ones.
static bool take_extent(struct cursor *c, int64_t *out)
{
	const char *begin;
	skip_blanks(c);
	begin = c->p;
	*out = 0;
	for (; c->p < c->end && *c->p >= '0' && *c->p <= '9'; c->p++)
		if (__builtin_mul_overflow(*out, 10, out) || __builtin_add_overflow(*out, *c->p - '0', out))
			return false;
	if (c->p == begin)
		return false;
	take(c, 'L');
	return true;
}

static enum status read_shape(struct npy_header *h, struct cursor *c)
{
	struct npy *a = &h->array;
	if (!take(c, '('))
		return malformed(c, "the shape is no tuple");
	while (!take(c, ')')) {
		if (a->rank == NPY_MAX_RANK)
			return error_set(
			    c->err, STATUS_UNSUPPORTED, "%s: more than %d dimensions", c->name, NPY_MAX_RANK);
		if (!take_extent(c, &a->dim[a->rank++]))
			return malformed(c, "an extent of the shape is no number");
		if (take(c, ','))
			continue;
		if (take(c, ')'))
			break;
		return malformed(c, "the shape has no end");
	}
	return STATUS_OK;
}

static const struct {
	const char *name;
	enum status (*read)(struct npy_header *h, struct cursor *c);
} keys[] = {{"descr", read_descr}, {"fortran_order", read_order}, {"shape", read_shape}};
enum { KEYS = sizeof keys / sizeof *keys };

static enum status read_pair(struct npy_header *h, struct cursor *c, bool *seen)
{
	char key[16];
	int i = 0;
	if (!take_quoted(c, key, sizeof key) || !take(c, ':'))
		return malformed(c, "a key is missing");
	while (i < KEYS && strcmp(key, keys[i].name) != 0)
		i++;
	if (i == KEYS || seen[i])
		return malformed(c, "a key is unknown or there twice");
	seen[i] = true;
	return keys[i].read(h, c);
}

enum status npy_header_parse(struct npy_header *out, const char *text, size_t len, const char *name, struct error *err)
{
	struct cursor c = {text, text + len, name, err};
	bool seen[KEYS] = {false};
	*out = (struct npy_header){0};
	if (!take(&c, '{'))
		return malformed(&c, "it does not begin with '{'");
	while (!take(&c, '}')) {
		if (read_pair(out, &c, seen))
			return err->status;
		if (!take(&c, ',') && !(c.p < c.end && *c.p == '}'))
			return malformed(&c, "it has no end");
	}
	if (!seen[0] || !seen[1] || !seen[2])
		return malformed(&c, "descr, fortran_order or shape is missing");
	return STATUS_OK;
}
