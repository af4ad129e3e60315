// The formats, and which of them a file has: told by its first bytes, whatever its name says.
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "image.h"
#include "qtui/base/mem.h"
#include "qtui/engine/data.h"

#define PIXELS_MAX ((uint64_t)1 << 26)
#define EDGE_MAX (1 << 20)
#define FORMATS "JPEG, PNG, WebP, TIFF, BMP, PPM and PGM"

static const struct image_format *const formats[] = {&image_jpeg, &image_png, &image_webp, &image_tiff, &image_bmp, &image_pnm};
enum { N_FORMATS = sizeof formats / sizeof *formats, FIRST_BYTES = 16 };

// PNG first: where several files have a stem in common, it is the one without loss.
const char *const image_extensions[] = {
    ".png", ".jpg", ".jpeg", ".jfif", ".webp", ".tif", ".tiff", ".bmp", ".ppm", ".pgm", ".pnm", NULL};

bool image_is_name(const char *path)
{
	size_t n = strlen(path);
	for (const char *const *e = image_extensions; *e; e++)
		if (n > strlen(*e) && strcasecmp(path + n - strlen(*e), *e) == 0)
			return true;
	return false;
}

enum status image_check(uint32_t w, uint32_t h, const char *name, struct error *err)
{
	if (w && h && w <= EDGE_MAX && h <= EDGE_MAX && (uint64_t)w * h <= PIXELS_MAX)
		return STATUS_OK;
	return error_set(err, STATUS_UNSUPPORTED, "%s: an image of %u x %u pixels; %d megapixels, and %d pixels a side, are the most", name,
	    w, h, (int)(PIXELS_MAX / 1000000), EDGE_MAX);
}

enum status image_alloc(struct image *out, uint32_t w, uint32_t h, const char *name, struct error *err)
{
	enum status s = image_check(w, h, name, err);
	if (s)
		return s;
	out->w = (int)w;
	out->h = (int)h;
	out->rgb = mem_try_array((size_t)w * h, 3);
	return out->rgb ? STATUS_OK : error_set(err, STATUS_NOMEM, "%s: no memory for %u x %u pixels", name, w, h);
}

enum status image_broken(struct image *out, const struct image_format *format, const char *name, const char *why, struct error *err)
{
	free(out->rgb);
	out->rgb = NULL;
	return error_set(err, STATUS_FORMAT, "%s is not a sound %s image: %s", name, format->name, why);
}

// ---- which format

// What is often met under the name of an image, and what to do about it.
static const struct {
	size_t at;
	const char *magic, *advice;
} foreign[] = {
    {0, "GIF8", " but GIF: convert it"},
    {0, "II+", " but BigTIFF: convert it"},
    {0, "MM\1+", " but BigTIFF: convert it"},
    {4, "ftyp", " but HEIF or AVIF: convert it"},
    {0, "P4", " but PBM: convert it"},
    {0, "P2", " but PGM in letters: convert it"},
    {0, "P3", " but PPM in letters: convert it"},
};

static bool has(const uint8_t *first, size_t n, size_t at, const char *magic, size_t size)
{
	return size && n >= at + size && memcmp(first + at, magic, size) == 0;
}

// NULL: none of ours.
static const struct image_format *format_of(const uint8_t *first, size_t n)
{
	for (int i = 0; i < N_FORMATS; i++)
		for (int k = 0; k < 2; k++)
			if (has(first, n, formats[i]->magic_at, formats[i]->magic[k].bytes, formats[i]->magic[k].size))
				return formats[i];
	return NULL;
}

static enum status refuse(const uint8_t *first, size_t n, const char *name, struct error *err)
{
	const char *advice = n ? "" : ": it is empty";
	for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++)
		if (has(first, n, foreign[i].at, foreign[i].magic, strlen(foreign[i].magic)))
			advice = foreign[i].advice;
	return error_set(err, STATUS_FORMAT, "%s is no image of a known format (" FORMATS ")%s", name, advice);
}

// ---- what is read of a file

static enum status read_head(struct image_head *out, FILE *f, const char *name, struct error *err)
{
	uint8_t first[FIRST_BYTES];
	size_t n = fread(first, 1, sizeof first, f);
	const struct image_format *format = format_of(first, n);
	*out = (struct image_head){.orientation = UPRIGHT};
	if (!format)
		return refuse(first, n, name, err);
	if (fseek(f, 0, SEEK_SET) != 0 || !format->head(out, f) || !out->w || !out->h || out->w > EDGE_MAX || out->h > EDGE_MAX)
		return error_set(err, STATUS_FORMAT, "%s is not a sound %s image: its size is not known", name, format->name);
	return STATUS_OK;
}

int image_orientation(const struct bytes *file)
{
	struct image_head head = {.orientation = UPRIGHT};
	struct error ignored; // whoever decodes it will tell
	FILE *f = fmemopen(file->data, file->size, "rb");
	if (f && read_head(&head, f, "", &ignored) != STATUS_OK)
		head.orientation = UPRIGHT;
	if (f)
		fclose(f);
	return head.orientation;
}

enum status image_size(int *w, int *h, const char *path, struct error *err)
{
	struct image_head head;
	FILE *f = fopen(path, "rbe");
	if (!f)
		return error_errno(err, path);
	enum status s = read_head(&head, f, path, err);
	fclose(f);
	if (s != STATUS_OK)
		return s;
	*w = (int)(image_lies(head.orientation) ? head.h : head.w);
	*h = (int)(image_lies(head.orientation) ? head.w : head.h);
	return STATUS_OK;
}

enum status image_read(uint8_t **rgb, int *w, int *h, const char *path, struct error *err)
{
	struct bytes file = {0};
	struct image image = {0};
	enum status s = file_read(&file, path, IMAGE_FILE_MAX, err);
	if (s == STATUS_OK) {
		const struct image_format *format = format_of(file.data, file.size);
		s = format ? format->decode(&image, &file, path, err) : refuse(file.data, file.size, path, err);
	}
	if (s == STATUS_OK)
		s = image_turn(&image, image_orientation(&file), path, err);
	bytes_done(&file);
	*rgb = image.rgb;
	*w = image.w;
	*h = image.h;
	return s;
}

// Decoding thousands to know it would take as long as measuring on them.
static bool looks_whole(const char *path)
{
	struct error ignored;
	struct bytes file = {0};
	int w, h;
	if (image_size(&w, &h, path, &ignored) != STATUS_OK ||
	    image_check((uint32_t)w, (uint32_t)h, path, &ignored) != STATUS_OK ||
	    file_read(&file, path, IMAGE_FILE_MAX, &ignored) != STATUS_OK)
		return false;
	const struct image_format *format = format_of(file.data, file.size);
	bool whole = format && format->whole(&file);
	bytes_done(&file);
	return whole;
}

enum status image_whole(const char *path, struct error *err)
{
	uint8_t *rgb;
	int w, h;
	if (looks_whole(path))
		return STATUS_OK;
	enum status s = image_read(&rgb, &w, &h, path, err);
	if (s == STATUS_OK)
		free(rgb);
	return s;
}
