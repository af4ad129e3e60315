// The head of an .npy file is a Python dictionary; npy_header.c reads it. Here are the bytes around it.
#include "qtui/base/npy.h"

#include <stdlib.h>
#include <string.h>
#include "npy_header.h"
#include "qtui/base/file.h"
#include "qtui/base/mem.h"
#include "qtui/base/str.h"

static const char magic[] = "\x93NUMPY";
#define MAGIC_SIZE 6

static size_t little_endian(const uint8_t *p, int n)
{
	size_t v = 0;
	for (int i = n; i-- > 0;)
		v = v << 8 | p[i];
	return v;
}

// Finds the header's text: its length has two bytes in format 1 and four after that.
static enum status find_header(
    const char **text, size_t *len, const uint8_t *p, size_t size, const char *name, struct error *err)
{
	size_t width;
	if (size < MAGIC_SIZE + 4 || memcmp(p, magic, MAGIC_SIZE) != 0)
		return error_set(err, STATUS_FORMAT, "%s: not an .npy file", name);
	if (p[6] < 1 || p[6] > 3)
		return error_set(
		    err, STATUS_UNSUPPORTED, "%s: .npy format %d.%d; 1.0 to 3.0 are known", name, p[6], p[7]);
	width = p[6] == 1 ? 2 : 4;
	if (size < MAGIC_SIZE + 2 + width)
		return error_set(err, STATUS_FORMAT, "%s: .npy header is cut off", name);
	*len = little_endian(p + 8, (int)width);
	if (*len > size - MAGIC_SIZE - 2 - width)
		return error_set(err, STATUS_FORMAT, "%s: .npy header is cut off", name);
	*text = (const char *)p + MAGIC_SIZE + 2 + width;
	return STATUS_OK;
}

// The product of the extents and the item's size. Extents beside a zero must not overflow either: others multiply them.
static bool byte_size(const struct npy *a, size_t *out)
{
	size_t product = (size_t)a->item;
	bool empty = false;
	for (int i = 0; i < a->rank; i++) {
		empty |= a->dim[i] == 0;
		if (a->dim[i] && __builtin_mul_overflow(product, (size_t)a->dim[i], &product))
			return false;
	}
	*out = empty ? 0 : product;
	return product <= PTRDIFF_MAX;
}

static void swap_items(uint8_t *p, size_t n, int item)
{
	for (size_t i = 0; i < n; i++, p += item)
		for (int a = 0, b = item - 1; a < b; a++, b--) {
			uint8_t t = p[a];
			p[a] = p[b];
			p[b] = t;
		}
}

// Counts up `index` in C order and keeps the offset in the Fortran file beside it.
static size_t next_offset(const struct npy *a, int64_t *index, const size_t *stride, size_t offset)
{
	for (int d = a->rank - 1; d >= 0; d--) {
		offset += stride[d];
		if (++index[d] < a->dim[d])
			return offset;
		offset -= (size_t)index[d] * stride[d];
		index[d] = 0;
	}
	return offset;
}

static void copy_transposed(struct npy *a, const uint8_t *from)
{
	int64_t index[NPY_MAX_RANK] = {0};
	size_t stride[NPY_MAX_RANK], step = (size_t)a->item, offset = 0;
	uint8_t *to = a->data;
	for (int d = 0; d < a->rank; d++) {
		stride[d] = step;
		step *= (size_t)a->dim[d];
	}
	for (size_t done = 0; done < a->size; done += (size_t)a->item) {
		memcpy(to + done, from + offset, (size_t)a->item);
		offset = next_offset(a, index, stride, offset);
	}
}

static enum status check_size(struct npy *a, size_t have, const char *name, struct error *err)
{
	if (!byte_size(a, &a->size))
		return error_set(err, STATUS_FORMAT, "%s: the shape of the array is too large", name);
	if (a->size > have)
		return error_set(
		    err, STATUS_FORMAT, "%s: the array needs %zu bytes, the file has %zu", name, a->size, have);
	return STATUS_OK;
}

static enum status copy_data(
    struct npy *a, const struct npy_header *h, const uint8_t *from, size_t have, const char *name, struct error *err)
{
	if (check_size(a, have, name, err))
		return err->status;
	a->data = mem_try_array(a->size, 1);
	if (!a->data)
		return error_set(err, STATUS_NOMEM, "%s: no memory for an array of %zu bytes", name, a->size);
	if (h->fortran)
		copy_transposed(a, from);
	else if (a->size)
		memcpy(a->data, from, a->size);
	if (h->big_endian)
		swap_items(a->data, a->size / (size_t)a->item, a->item);
	return STATUS_OK;
}

// Reads the header; *data is where the elements begin.
static enum status parse_header(
    struct npy_header *h, const uint8_t **data, const uint8_t *bytes, size_t size, const char *name, struct error *err)
{
	const char *text = NULL;
	size_t len = 0;
	if (find_header(&text, &len, bytes, size, name, err) || npy_header_parse(h, text, len, name, err))
		return err->status;
	*data = (const uint8_t *)text + len;
	return STATUS_OK;
}

enum status npy_view(struct npy *out, const void *bytes, size_t size, const char *name, struct error *err)
{
	const uint8_t *p = NULL;
	struct npy_header h;
	*out = (struct npy){0};
	if (parse_header(&h, &p, bytes, size, name, err))
		return err->status;
	if (h.fortran || h.big_endian)
		return error_set(err, STATUS_UNSUPPORTED, "%s: the array is not in C order or not little-endian", name);
	*out = h.array;
	out->data = (void *)p;
	return check_size(out, size - (size_t)(p - (const uint8_t *)bytes), name, err);
}

enum status npy_parse(struct npy *out, const void *bytes, size_t size, const char *name, struct error *err)
{
	const uint8_t *p = NULL;
	struct npy_header h;
	*out = (struct npy){0};
	if (parse_header(&h, &p, bytes, size, name, err))
		return err->status;
	*out = h.array;
	if (copy_data(out, &h, p, size - (size_t)(p - (const uint8_t *)bytes), name, err))
		npy_done(out);
	return out->data ? STATUS_OK : err->status;
}

// The text of the header, padded so that the data begin at a multiple of 64.
static void add_header(struct str *s, const struct npy *a)
{
	str_addf(
	    s, "{'descr': '%c%c%d', 'fortran_order': False, 'shape': (", a->item == 1 ? '|' : '<', a->kind, a->item);
	for (int i = 0; i < a->rank; i++)
		str_addf(s, i + 1 < a->rank || a->rank == 1 ? "%lld," : "%lld", (long long)a->dim[i]);
	str_add(s, "), }");
	while ((MAGIC_SIZE + 4 + s->len + 1) % 64 != 0)
		str_add(s, " ");
	str_add(s, "\n");
}

enum status npy_write(const struct npy *a, const char *path, struct error *err)
{
	struct str header = {0};
	uint8_t begin[MAGIC_SIZE + 4] = {0};
	enum status s;
	add_header(&header, a);
	memcpy(begin, magic, MAGIC_SIZE);
	begin[6] = 1;
	begin[8] = (uint8_t)(header.len & 255);
	begin[9] = (uint8_t)(header.len >> 8);
	const struct file_part part[] = {
	    {.data = begin, .size = sizeof begin}, {.data = header.text, .size = header.len}, {.data = a->data, .size = a->size}};
	s = file_write_parts(path, part, sizeof part / sizeof *part, err);

	str_done(&header);
	return s;
}

void npy_done(struct npy *a)
{
	free(a->data);
	*a = (struct npy){0};
}
