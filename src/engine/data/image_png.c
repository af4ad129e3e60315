// PNG through libpng: every depth and colour type becomes RGB with 8 bits; alpha is dropped, as Pillow's convert("RGB")
// does.
#include <png.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include "image.h"
#include "qtui/base/mem.h"

struct png_source {
	const struct bytes *file;
	size_t at;
	char text[128];
};
struct png_reader {
	png_structp png;
	png_infop info;
	png_bytep *rows;
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

// Below setjmp: what it allocates is reachable through r and out.
static enum status read_all(struct png_reader *r, struct image *out, const char *name, struct error *err)
{
	enum status s;
	png_read_info(r->png, r->info);
	to_rgb8(r);
	s = image_alloc(out, png_get_image_width(r->png, r->info), png_get_image_height(r->png, r->info), name, err);
	if (s)
		return s;
	if (png_get_rowbytes(r->png, r->info) != (size_t)out->w * 3)
		png_error(r->png, "its colour type is not known");
	r->rows = xmalloc((size_t)out->h * sizeof *r->rows);
	for (int y = 0; y < out->h; y++)
		r->rows[y] = out->rgb + (size_t)y * (size_t)out->w * 3;
	png_read_image(r->png, r->rows);
	png_read_end(r->png, NULL);
	return STATUS_OK;
}

enum status image_png(struct image *out, const struct bytes *file, const char *name, struct error *err)
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
		free(out->rgb);
		out->rgb = NULL;
	} else {
		png_set_read_fn(r->png, &source, on_read);
		s = read_all(r, out, name, err);
	}
	if (r->png)
		png_destroy_read_struct(&r->png, &r->info, NULL);
	free(r->rows);
	free(r);
	return s;
}
