// Picking the decoder by the first bytes of the file.
#include <string.h>
#include "image.h"
#include "qtui/base/mem.h"
#include "qtui/engine/data.h"

#define PIXELS_MAX ((uint64_t)1 << 26)

static const struct {
	const char *magic;
	size_t size;
	enum status (*decode)(struct image *out, const struct bytes *file, const char *name, struct error *err);
} formats[] = {
    {"\xff\xd8\xff", 3, image_jpeg},
    {"\x89PNG\r\n\x1a\n", 8, image_png},
};

enum status image_check(uint32_t w, uint32_t h, const char *name, struct error *err)
{
	if (w && h && (uint64_t)w * h <= PIXELS_MAX)
		return STATUS_OK;
	return error_set(err, STATUS_UNSUPPORTED, "%s: an image of %u x %u pixels; %d megapixels are the most", name, w, h,
	    (int)(PIXELS_MAX / 1000000));
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

// What is often met under the name of a JPEG or PNG image, and what to do about it.
static const struct {
	size_t at;
	const char *magic, *advice;
} foreign[] = {
    {8, "WEBP", "but WebP: convert it"},
    {0, "BM", "but BMP: convert it"},
    {0, "GIF8", "but GIF: convert it"},
    {0, "II*", "but TIFF: convert it"},
    {0, "MM", "but TIFF: convert it"},
    {4, "ftyp", "but HEIF or AVIF: convert it"},
    {0, "P5", "but PGM: convert it"},
    {0, "P6", "but PPM: convert it"},
};

static enum status refuse(const struct bytes *file, const char *name, struct error *err)
{
	for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++) {
		size_t n = strlen(foreign[i].magic);
		if (file->size >= foreign[i].at + n && !memcmp(file->data + foreign[i].at, foreign[i].magic, n))
			return error_set(
			    err, STATUS_FORMAT, "%s is neither a JPEG nor a PNG image %s", name, foreign[i].advice);
	}
	return error_set(err, STATUS_FORMAT, "%s is neither a JPEG nor a PNG image%s", name, file->size ? "" : ": it is empty");
}

static enum status image_decode(struct image *out, const struct bytes *file, const char *name, struct error *err)
{
	*out = (struct image){0};
	for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
		if (file->size >= formats[i].size && !memcmp(file->data, formats[i].magic, formats[i].size))
			return formats[i].decode(out, file, name, err);
	return refuse(file, name, err);
}

enum status image_read(uint8_t **rgb, int *w, int *h, const char *path, struct error *err)
{
	struct bytes file = {0};
	struct image image;
	enum status s = file_read(&file, path, IMAGE_FILE_MAX, err);
	if (s)
		return s;
	s = image_decode(&image, &file, path, err);
	if (!s)
		s = image_turn(&image, image_orientation(&file), path, err);
	bytes_done(&file);
	*rgb = image.rgb;
	*w = image.w;
	*h = image.h;
	return s;
}
