// BMP: a file head of 14 bytes, an image head of 12 (OS/2) or 40 and more bytes, a palette of BGR entries, and rows of a
// multiple of four bytes, the lowest first unless the height is negative. Numbers are little-endian. Alpha is dropped.
#include <stdlib.h>
#include <string.h>
#include "image.h"
#include "qtui/base/mem.h"

enum { FILE_HEAD = 14, OS2_HEAD = 12, INFO_HEAD = 40, HEADS = FILE_HEAD + INFO_HEAD, MASKS = 12 };
enum compression { NONE, RLE8, RLE4, BITFIELDS, ALPHA_BITFIELDS = 6 };

struct layout {
	uint32_t w, h, bits, compression;
	bool from_above;
	size_t pixels;           // where they begin in the file
	size_t palette, entries; // where it begins, how many there are
	size_t entry_size;
	uint32_t mask[3]; // of red, green and blue, where a pixel has 16 or 32 bits
};

static uint32_t u32(const uint8_t *p)
{
	return image_number(p, 4, true);
}

static void read_os2(struct layout *l, const uint8_t *p)
{
	l->w = image_number(p + 18, 2, true);
	l->h = image_number(p + 20, 2, true);
	l->bits = image_number(p + 24, 2, true);
	l->entry_size = 3;
}

static void read_info(struct layout *l, const uint8_t *p)
{
	l->w = u32(p + 18);
	l->h = u32(p + 22);
	l->from_above = l->h >> 31;
	if (l->from_above)
		l->h = -l->h;
	l->bits = image_number(p + 28, 2, true);
	l->compression = u32(p + 30);
	l->entries = u32(p + 46);
	l->entry_size = 4;
}

// Which bits of a pixel are which colour.
static void read_masks(struct layout *l, const uint8_t *masks)
{
	static const uint32_t usual[2][3] = {{0x7c00, 0x3e0, 0x1f}, {0xff0000, 0xff00, 0xff}};
	for (int c = 0; c < 3; c++)
		l->mask[c] = masks ? u32(masks + 4 * c) : usual[l->bits == 32][c];
}

// `file` need only be its first bytes, heads and masks.
static bool read_layout(struct layout *l, const struct bytes *file)
{
	const uint8_t *p = file->data;
	*l = (struct layout){0};
	if (file->size < FILE_HEAD + OS2_HEAD)
		return false;
	uint32_t size = u32(p + FILE_HEAD);
	l->pixels = u32(p + 10);
	l->palette = FILE_HEAD + (size_t)size;
	if (size == OS2_HEAD)
		read_os2(l, p);
	else if (size >= INFO_HEAD && file->size >= HEADS)
		read_info(l, p);
	else
		return false;
	bool masks = l->compression == BITFIELDS || l->compression == ALPHA_BITFIELDS;
	if (masks && file->size < HEADS + MASKS)
		return false;
	if (masks && size == INFO_HEAD)
		l->palette += MASKS;
	read_masks(l, masks ? p + HEADS : NULL);
	if (l->bits <= 8 && (!l->entries || l->entries > 1u << l->bits))
		l->entries = (size_t)1 << l->bits;
	return true;
}

static const char *unsupported(const struct layout *l)
{
	static const struct {
		uint32_t bits, compression;
	} known[] = {{1, NONE}, {4, NONE}, {8, NONE}, {16, NONE}, {24, NONE}, {32, NONE}, {8, RLE8}, {4, RLE4}, {16, BITFIELDS},
	    {32, BITFIELDS}, {16, ALPHA_BITFIELDS}, {32, ALPHA_BITFIELDS}};
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (l->bits == known[i].bits && l->compression == known[i].compression)
			return NULL;
	return "its depth or compression is not one of BMP's for pictures";
}

static bool is_rle(const struct layout *l)
{
	return l->compression == RLE8 || l->compression == RLE4;
}

static size_t row_size(const struct layout *l)
{
	return ((size_t)l->w * l->bits + 31) / 32 * 4;
}

// Runs have no size that is known beforehand; what they leave out is colour 0.
static bool is_all_there(const struct layout *l, const struct bytes *file)
{
	return l->pixels <= file->size && (is_rle(l) || row_size(l) * (uint64_t)l->h <= file->size - l->pixels);
}

// ---- pixels that are places in the palette: one byte each, rows as they are stored

static void unpack(uint8_t *out, const struct layout *l, const uint8_t *in)
{
	for (uint32_t y = 0; y < l->h; y++, in += row_size(l))
		for (uint32_t x = 0; x < l->w; x++) {
			size_t bit = (size_t)x * l->bits;
			*out++ = (uint8_t)(in[bit / 8] >> (8 - l->bits - bit % 8) & ((1u << l->bits) - 1));
		}
}

struct runs {
	const struct layout *l;
	uint8_t *out;
	uint32_t x, y;
};

static void put(struct runs *r, uint8_t place)
{
	if (r->x < r->l->w && r->y < r->l->h)
		r->out[(size_t)r->y * r->l->w + r->x] = place;
	r->x++;
}

// The i-th pixel of bytes that hold one or two each.
static uint8_t place_at(const struct layout *l, const uint8_t *p, size_t i)
{
	return l->bits == 8 ? p[i] : (uint8_t)(i % 2 ? p[i / 2] & 15 : p[i / 2] >> 4);
}

enum { END_OF_LINE, END_OF_PICTURE, MOVE }; // behind a count of 0; above: so many pixels follow as they are

// What follows a count of 0. How many bytes it takes; 0: the picture ends, or the file does.
static size_t escape(struct runs *r, uint8_t code, const uint8_t *p, size_t left)
{
	if (code == END_OF_PICTURE || (code == MOVE && left < 2))
		return 0;
	if (code == END_OF_LINE) {
		r->x = 0;
		r->y++;
		return 2;
	}
	if (code == MOVE) {
		r->x += p[0];
		r->y += p[1];
		return 4;
	}
	size_t bytes = r->l->bits == 8 ? code : (code + 1u) / 2;
	if (bytes > left)
		return 0;
	for (size_t i = 0; i < code; i++)
		put(r, place_at(r->l, p, i));
	return 2 + bytes + bytes % 2;
}

static void unpack_runs(uint8_t *out, const struct layout *l, const uint8_t *in, size_t size)
{
	struct runs r = {l, out, 0, 0};
	size_t taken = 2;
	for (size_t at = 0; taken && at + 2 <= size && r.y < l->h; at += taken) {
		const uint8_t count = in[at], code = in[at + 1];
		for (size_t i = 0; i < count; i++)
			put(&r, place_at(l, (const uint8_t[]){code, code}, l->bits == 8 ? 0 : i % 2));
		taken = count ? 2 : escape(&r, code, in + at + 2, size - at - 2);
	}
}

static void paint(uint8_t *rgb, const uint8_t *place, const struct layout *l, const struct bytes *file)
{
	uint8_t color[256][3] = {{0}};
	for (size_t i = 0; i < l->entries && l->palette + (i + 1) * l->entry_size <= file->size; i++)
		for (int c = 0; c < 3; c++)
			color[i][c] = file->data[l->palette + i * l->entry_size + 2 - (size_t)c];
	for (size_t i = 0; i < (size_t)l->w * l->h; i++)
		memcpy(rgb + 3 * i, color[place[i]], 3);
}

static enum status read_places(uint8_t *rgb, const struct layout *l, const struct bytes *file, const char *name, struct error *err)
{
	uint8_t *place = mem_try_array(l->w, l->h);
	if (!place)
		return error_set(err, STATUS_NOMEM, "%s: no memory to decode it", name);
	memset(place, 0, (size_t)l->w * l->h);
	if (is_rle(l))
		unpack_runs(place, l, file->data + l->pixels, file->size - l->pixels);
	else
		unpack(place, l, file->data + l->pixels);
	paint(rgb, place, l, file);
	free(place);
	return STATUS_OK;
}

// ---- pixels that are colours

static uint8_t component(uint32_t pixel, uint32_t mask)
{
	if (!mask)
		return 0;
	uint32_t lowest = mask & -mask;
	return (uint8_t)((uint64_t)((pixel & mask) / lowest) * 255 / (mask / lowest));
}

static void read_colors(uint8_t *rgb, const struct layout *l, const uint8_t *in)
{
	int size = (int)l->bits / 8;
	for (uint32_t y = 0; y < l->h; y++, in += row_size(l))
		for (uint32_t x = 0; x < l->w; x++)
			for (int c = 0; c < 3; c++) {
				const uint8_t *p = in + (size_t)x * (size_t)size;
				*rgb++ = size == 3 ? p[2 - c] : component(image_number(p, size, true), l->mask[c]);
			}
}

static enum status decode(struct image *out, const struct bytes *file, const char *name, struct error *err)
{
	struct layout l;
	const char *problem = read_layout(&l, file) ? unsupported(&l) : "its head cannot be read";
	if (problem)
		return image_broken(out, &image_bmp, name, problem, err);
	enum status s = image_check(l.w, l.h, name, err);
	if (s == STATUS_OK && !is_all_there(&l, file))
		return image_broken(out, &image_bmp, name, "it ends early", err);
	if (s == STATUS_OK)
		s = image_alloc(out, l.w, l.h, name, err);
	if (s == STATUS_OK && l.bits > 8)
		read_colors(out->rgb, &l, file->data + l.pixels);
	else if (s == STATUS_OK)
		s = read_places(out->rgb, &l, file, name, err);
	if (s != STATUS_OK) {
		free(out->rgb);
		out->rgb = NULL;
	}
	return s;
}

enum { AS_STORED = UPRIGHT, FROM_BELOW = 4 };

static bool head(struct image_head *out, FILE *f)
{
	uint8_t first[HEADS + MASKS];
	struct layout l;
	if (!read_layout(&l, &(struct bytes){.data = first, .size = fread(first, 1, sizeof first, f)}))
		return false;
	*out = (struct image_head){l.w, l.h, l.from_above ? AS_STORED : FROM_BELOW};
	return true;
}

static bool whole(const struct bytes *file)
{
	struct layout l;
	return read_layout(&l, file) && !unsupported(&l) && is_all_there(&l, file);
}

const struct image_format image_bmp = {"BMP", {{"BM", 2}}, 0, decode, head, whole};
