// PNG through libpng. As a picture every depth and colour type becomes RGB with 8 bits; alpha is dropped, as Pillow's
// convert("RGB") does. As a mask nothing is scaled: a pixel is its grey level or its place in the palette.
// A file is a signature and chunks of length, name, data and checksum of name and data, of which IHDR with width and
// height is the first and IEND the last.
#include <png.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include "image.h"
#include "qtui/base/mem.h"
#include "qtui/engine/data.h"

enum { CHUNKS_MAX = 10000 }; // before the pixels

struct png_source {
	const struct bytes *file;
	size_t at;
	char text[128];
};
struct png_reader {
	png_structp png;
	png_infop info;
	png_bytep *rows;
	uint8_t *rgb; // of a mask that is stored as a picture
};
static void on_error(png_structp png, png_const_charp text)
{
	struct png_source *source = png_get_error_ptr(png);
	strncpy(source->text, text, sizeof source->text - 1);
	png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp text)
{
	(void)png, (void)text;
}

static void on_read(png_structp png, png_bytep out, size_t n)
{
	struct png_source *source = png_get_io_ptr(png);
	if (n > source->file->size - source->at)
		png_error(png, "it ends early");
	memcpy(out, source->file->data + source->at, n);
	source->at += n;
}

static void to_rgb8(struct png_reader *r)
{
	png_set_expand(r->png);
	png_set_strip_16(r->png);
	png_set_gray_to_rgb(r->png);
	png_set_strip_alpha(r->png);
	png_set_interlace_handling(r->png);
	png_read_update_info(r->png, r->info);
}

// The rows that follow in memory from `at` on.
static void read_rows(struct png_reader *r, uint8_t *at, size_t bytes, int h, const char *problem)
{
	if (png_get_rowbytes(r->png, r->info) != bytes)
		png_error(r->png, problem);
	r->rows = xmalloc((size_t)h * sizeof *r->rows);
	for (int y = 0; y < h; y++)
		r->rows[y] = at + (size_t)y * bytes;
	png_read_image(r->png, r->rows);
	png_read_end(r->png, NULL);
}

// Below setjmp: what these allocate is reachable through r and out.
static enum status read_picture(struct png_reader *r, void *arg, const char *name, struct error *err)
{
	struct image *out = arg;
	png_read_info(r->png, r->info);
	to_rgb8(r);
	enum status s = image_alloc(out, png_get_image_width(r->png, r->info), png_get_image_height(r->png, r->info), name, err);
	if (s == STATUS_OK)
		read_rows(r, out->rgb, (size_t)out->w * 3, out->h, "its colour type is not known");
	return s;
}

static void undo_picture(void *arg)
{
	struct image *out = arg;
	free(out->rgb);
	out->rgb = NULL;
}

// Numbers that were saved as grey pictures in RGB.
static enum status read_grey_rgb(struct png_reader *r, struct mask *out, const char *name, struct error *err)
{
	size_t n = (size_t)out->w * (size_t)out->h;
	r->rgb = mem_try_array(n, 3);
	if (!r->rgb)
		return error_set(err, STATUS_NOMEM, "%s: no memory to decode it", name);
	to_rgb8(r);
	read_rows(r, r->rgb, (size_t)out->w * 3, out->h, "its colour type is not known");
	for (size_t i = 0; i < n; i++) {
		const uint8_t *p = r->rgb + 3 * i;
		if (p[0] != p[1] || p[0] != p[2])
			return error_set(
			    err, STATUS_UNSUPPORTED, "%s is a picture in colours; a mask has one number a pixel: grey, or a palette", name);
		out->number[i] = p[0];
	}
	return STATUS_OK;
}

static enum status read_mask(struct png_reader *r, void *arg, const char *name, struct error *err)
{
	struct mask *out = arg;
	png_read_info(r->png, r->info);
	uint32_t w = png_get_image_width(r->png, r->info), h = png_get_image_height(r->png, r->info);
	int type = png_get_color_type(r->png, r->info), depth = png_get_bit_depth(r->png, r->info);
	enum status s = image_check(w, h, name, err);
	if (s != STATUS_OK)
		return s;
	out->w = (int)w;
	out->h = (int)h;
	size_t n = (size_t)w * h;
	out->number = mem_try_array(n, sizeof *out->number);
	if (!out->number)
		return error_set(err, STATUS_NOMEM, "%s: no memory to decode it", name);
	if (type != PNG_COLOR_TYPE_PALETTE && type != PNG_COLOR_TYPE_GRAY)
		return read_grey_rgb(r, out, name, err);
	png_set_packing(r->png); // one byte a pixel at least
	if (depth == 16)
		png_set_swap(r->png);
	png_set_interlace_handling(r->png);
	png_read_update_info(r->png, r->info);
	uint8_t *bytes = (uint8_t *)out->number;
	read_rows(r, bytes, depth == 16 ? (size_t)w * 2 : w, out->h, "its depth is not known");
	for (size_t i = n; depth < 16 && i-- > 0;) // from the end, in place
		out->number[i] = bytes[i];
	return STATUS_OK;
}

static void undo_mask(void *arg)
{
	mask_done(arg);
}

struct decoding {
	enum status (*read)(struct png_reader *r, void *out, const char *name, struct error *err);
	void (*undo)(void *out);
};

static enum status decode(const struct decoding *how, void *out, const struct bytes *file, const char *name, struct error *err)
{
	struct png_source source = {.file = file};
	struct png_reader *r = xcalloc(1, sizeof *r);
	enum status s;
	r->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &source, on_error, on_warning);
	r->info = r->png ? png_create_info_struct(r->png) : NULL;
	if (!r->info) {
		s = error_set(err, STATUS_NOMEM, "%s: no memory to decode it", name);
	} else if (setjmp(png_jmpbuf(r->png))) {
		s = error_set(err, STATUS_FORMAT, "%s is not a sound PNG image: %s", name, source.text);
	} else {
		png_set_read_fn(r->png, &source, on_read);
		s = how->read(r, out, name, err);
	}
	if (s != STATUS_OK)
		how->undo(out);
	if (r->png)
		png_destroy_read_struct(&r->png, &r->info, NULL);
	free(r->rgb);
	free(r->rows);
	free(r);
	return s;
}

static enum status decode_picture(struct image *out, const struct bytes *file, const char *name, struct error *err)
{
	return decode(&(struct decoding){read_picture, undo_picture}, out, file, name, err);
}

static bool head(struct image_head *out, FILE *f)
{
	uint8_t b[33], chunk[8];
	if (fread(b, 1, sizeof b, f) != sizeof b)
		return false;
	out->w = image_number(b + 16, 4, false);
	out->h = image_number(b + 20, 4, false);
	for (int i = 0; i < CHUNKS_MAX && fread(chunk, 1, 8, f) == 8 && memcmp(chunk + 4, "IDAT", 4) != 0; i++) {
		uint32_t size = image_number(chunk, 4, false);
		if (memcmp(chunk + 4, "eXIf", 4) == 0) {
			out->orientation = image_exif(f, ftell(f), size);
			break;
		}
		if (fseek(f, (long)size + 4, SEEK_CUR) != 0)
			break;
	}
	return true;
}

static bool whole(const struct bytes *file)
{
	size_t at = 8;
	while (file->size - at >= 12) {
		const uint8_t *chunk = file->data + at;
		size_t size = image_number(chunk, 4, false);
		if (size > file->size - at - 12 || crc32(0, chunk + 4, (uInt)size + 4) != image_number(chunk + 8 + size, 4, false))
			return false;
		if (memcmp(chunk + 4, "IEND", 4) == 0)
			return true;
		at += 12 + size;
	}
	return false;
}

const struct image_format image_png = {"PNG", {{"\x89PNG\r\n\x1a\n", 8}}, 0, decode_picture, head, whole};

// ---- masks

void mask_done(struct mask *m)
{
	free(m->number);
	*m = (struct mask){0};
}

enum status mask_read(struct mask *out, const char *path, struct error *err)
{
	struct bytes b;
	*out = (struct mask){0};
	enum status s = file_read(&b, path, IMAGE_FILE_MAX, err);
	if (s != STATUS_OK)
		return s;
	s = decode(&(struct decoding){read_mask, undo_mask}, out, &b, path, err);
	bytes_done(&b);
	return s;
}
