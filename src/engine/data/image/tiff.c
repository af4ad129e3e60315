// TIFF through libtiff: the first picture of a file, of any compression and colour type that can be shown with 8 bits.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tiffio.h>
#include "image.h"
#include "qtui/base/mem.h"

#define ALLOC_MAX ((tmsize_t)1 << 30) // bytes that libtiff may ask for at once

enum { TEXT_MAX = 1024 }; // what libtiff asks for

struct source {
	const struct bytes *file;
	uint64_t at;
	char text[TEXT_MAX]; // the first error
};

// ---- the file as libtiff wants it: in memory, read only

static tmsize_t on_read(thandle_t handle, void *out, tmsize_t size)
{
	struct source *s = handle;
	uint64_t left = s->at < s->file->size ? s->file->size - s->at : 0, n = size < 0 ? 0 : (uint64_t)size;
	if (n > left)
		n = left;
	memcpy(out, s->file->data + (left ? s->at : 0), n);
	s->at += n;
	return (tmsize_t)n;
}

static tmsize_t on_write(thandle_t handle, void *in, tmsize_t size)
{
	(void)handle, (void)in, (void)size;
	return -1;
}

static toff_t on_seek(thandle_t handle, toff_t to, int whence)
{
	struct source *s = handle;
	s->at = to + (whence == SEEK_CUR ? s->at : whence == SEEK_END ? s->file->size : 0);
	return s->at;
}

static int on_close(thandle_t handle)
{
	(void)handle;
	return 0;
}

static toff_t on_size(thandle_t handle)
{
	return ((struct source *)handle)->file->size;
}

__attribute__((format(printf, 4, 0))) static int on_error(
    TIFF *tiff, void *arg, const char *module, const char *format, va_list args)
{
	struct source *s = arg;
	(void)tiff, (void)module;
	if (s->text[0])
		return 1;
	vsnprintf(s->text, sizeof s->text, format, args);
	if (memcmp(s->text, ": ", 2) == 0) // the file's name, which it is not told
		memmove(s->text, s->text + 2, strlen(s->text) - 1);
	return 1; // it is not printed
}

__attribute__((format(printf, 4, 0))) static int on_warning(
    TIFF *tiff, void *arg, const char *module, const char *format, va_list args)
{
	(void)tiff, (void)arg, (void)module, (void)format, (void)args;
	return 1;
}

// NULL: s->text says why.
static TIFF *open_memory(struct source *s)
{
	TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
	if (!options)
		return NULL;
	TIFFOpenOptionsSetMaxSingleMemAlloc(options, ALLOC_MAX);
	TIFFOpenOptionsSetErrorHandlerExtR(options, on_error, s);
	TIFFOpenOptionsSetWarningHandlerExtR(options, on_warning, s);
	TIFF *tiff = TIFFClientOpenExt("", "rm", s, on_read, on_write, on_seek, on_close, on_size, NULL, NULL, options);
	TIFFOpenOptionsFree(options);
	return tiff;
}

// ---- the pixels

// Colours are taken as they are stored: what alpha hides is dropped, as in a PNG.
static void ignore_alpha(TIFF *tiff)
{
	uint16_t n = 0, *kinds = NULL;
	if (TIFFGetField(tiff, TIFFTAG_EXTRASAMPLES, &n, &kinds) && n > 0 && kinds[0] == EXTRASAMPLE_UNASSALPHA) {
		uint16_t *as_is = xcalloc(n, sizeof *as_is);
		as_is[0] = EXTRASAMPLE_ASSOCALPHA;
		TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, n, as_is);
		free(as_is);
	}
}

static bool get_pixels(TIFF *tiff, uint32_t *raster, uint32_t w, uint32_t h, struct source *source)
{
	char why[TEXT_MAX] = "";
	TIFFRGBAImage shown;
	if (!TIFFRGBAImageBegin(&shown, tiff, 1, why)) {
		snprintf(source->text, sizeof source->text, "%s", why);
		return false;
	}
	shown.req_orientation = shown.orientation; // the rows as they are stored
	bool got = TIFFRGBAImageGet(&shown, raster, w, h) && !source->text[0];
	TIFFRGBAImageEnd(&shown);
	return got;
}

static enum status read_pixels(struct image *out, TIFF *tiff, struct source *source, const char *name, struct error *err)
{
	uint32_t w = 0, h = 0;
	TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &w);
	TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &h);
	enum status s = image_alloc(out, w, h, name, err);
	if (s != STATUS_OK)
		return s;
	size_t n = (size_t)w * h;
	uint32_t *raster = mem_try_array(n, sizeof *raster);
	if (!raster) {
		free(out->rgb);
		out->rgb = NULL;
		return error_set(err, STATUS_NOMEM, "%s: no memory to decode it", name);
	}
	ignore_alpha(tiff);
	if (!get_pixels(tiff, raster, w, h, source))
		s = image_broken(out, &image_tiff, name, source->text, err);
	for (size_t i = 0; s == STATUS_OK && i < n; i++) {
		out->rgb[3 * i] = (uint8_t)TIFFGetR(raster[i]);
		out->rgb[3 * i + 1] = (uint8_t)TIFFGetG(raster[i]);
		out->rgb[3 * i + 2] = (uint8_t)TIFFGetB(raster[i]);
	}
	free(raster);
	return s;
}

static enum status decode(struct image *out, const struct bytes *file, const char *name, struct error *err)
{
	struct source source = {.file = file};
	TIFF *tiff = open_memory(&source);
	if (!tiff)
		return image_broken(out, &image_tiff, name, source.text[0] ? source.text : "it has no directory", err);
	enum status s = read_pixels(out, tiff, &source, name, err);
	TIFFClose(tiff);
	return s;
}

static bool head(struct image_head *out, FILE *f)
{
	if (fseek(f, 0, SEEK_END) != 0)
		return false;
	return image_directory(out, f, 0, (size_t)ftell(f));
}

// Whether all strips or tiles lie within the file, and are of a kind that can be shown.
static bool whole(const struct bytes *file)
{
	struct source source = {.file = file};
	char ignored[TEXT_MAX];
	TIFF *tiff = open_memory(&source);
	if (!tiff)
		return false;
	bool all = TIFFRGBAImageOK(tiff, ignored);
	uint32_t n = all ? TIFFIsTiled(tiff) ? TIFFNumberOfTiles(tiff) : TIFFNumberOfStrips(tiff) : 0;
	for (uint32_t i = 0; i < n && all; i++) {
		uint64_t at = TIFFGetStrileOffset(tiff, i), size = TIFFGetStrileByteCount(tiff, i);
		all = size > 0 && at < file->size && size <= file->size - at;
	}
	TIFFClose(tiff);
	return all && n > 0 && !source.text[0];
}

const struct image_format image_tiff = {"TIFF", {{"II*\0", 4}, {"MM\0*", 4}}, 0, decode, head, whole};
