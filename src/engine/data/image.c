// Picking the decoder by the first bytes of the file.
#include <string.h>
#include "image.h"
#include "qtui/base/mem.h"
#include "qtui/engine/data.h"

#define FILE_MAX ((size_t)256 << 20)
#define PIXELS_MAX ((uint64_t)1 << 26)

static const struct {
	const char *magic;
	size_t size;
	enum status (*decode)(struct image *out, const struct bytes *file, const char *name, struct error *err);
} formats[] = {
    {"\xff\xd8\xff", 3, image_jpeg},
    {"\x89PNG\r\n\x1a\n", 8, image_png},
};

enum status image_alloc(struct image *out, uint32_t w, uint32_t h, const char *name, struct error *err)
{
	if (!w || !h || (uint64_t)w * h > PIXELS_MAX)
		return error_set(
		    err, STATUS_UNSUPPORTED, "%s: an image of %u x %u pixels is not supported", name, w, h);
	out->w = (int)w;
	out->h = (int)h;
	out->rgb = mem_try_array((size_t)w * h, 3);
	return out->rgb ? STATUS_OK : error_set(err, STATUS_NOMEM, "%s: no memory for %u x %u pixels", name, w, h);
}

enum status image_decode(struct image *out, const struct bytes *file, const char *name, struct error *err)
{
	*out = (struct image){0};
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (file->size >= formats[i].size && !memcmp(file->data, formats[i].magic, formats[i].size))
			return formats[i].decode(out, file, name, err);
	return error_set(err, STATUS_FORMAT, "%s is neither a JPEG nor a PNG image", name);
}

enum status image_read(uint8_t **rgb, int *w, int *h, const char *path, struct error *err)
{
	struct bytes file = {0};
	struct image image;
	enum status s = file_read(&file, path, FILE_MAX, err);

	if (s)
		return s;
	s = image_decode(&image, &file, path, err);
	bytes_done(&file);
	*rgb = image.rgb;
	*w = image.w;
	*h = image.h;
	return s;
}
