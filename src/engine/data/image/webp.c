// WebP through libwebp. A file is a RIFF container: "RIFF", a length, "WEBP" and chunks of name, length and data, whose
// length is padded to an even number. An animation is refused.
#include <string.h>
#include <webp/decode.h>
#include "image.h"

enum { CHUNKS_MAX = 10000, RIFF_HEAD = 12, CHUNK_HEAD = 8, FIRST = 64 };

static enum status decode(struct image *out, const struct bytes *file, const char *name, struct error *err)
{
	WebPBitstreamFeatures features;
	if (WebPGetFeatures(file->data, file->size, &features) != VP8_STATUS_OK)
		return image_broken(out, &image_webp, name, "its head cannot be read", err);
	if (features.has_animation)
		return image_broken(out, &image_webp, name, "it is an animation; convert a frame of it", err);
	enum status s = image_alloc(out, (uint32_t)features.width, (uint32_t)features.height, name, err);
	if (s == STATUS_OK && !WebPDecodeRGBInto(file->data, file->size, out->rgb, (size_t)out->w * (size_t)out->h * 3, out->w * 3))
		s = image_broken(out, &image_webp, name, "its data are damaged or end early", err);
	return s;
}

// Exif's data may begin with the six bytes that JPEG puts before them.
static int read_exif(FILE *f, long at, size_t size)
{
	uint8_t b[6];
	bool prefix = size >= sizeof b && fread(b, 1, sizeof b, f) == sizeof b && memcmp(b, "Exif\0\0", sizeof b) == 0;
	return prefix ? image_exif(f, at + 6, size - 6) : image_exif(f, at, size);
}

static bool head(struct image_head *out, FILE *f)
{
	uint8_t first[FIRST], chunk[CHUNK_HEAD];
	int w, h;
	size_t n = fread(first, 1, sizeof first, f);
	if (!WebPGetInfo(first, n, &w, &h))
		return false;
	out->w = (uint32_t)w;
	out->h = (uint32_t)h;
	if (fseek(f, RIFF_HEAD, SEEK_SET) != 0)
		return true;
	for (int i = 0; i < CHUNKS_MAX && fread(chunk, 1, CHUNK_HEAD, f) == CHUNK_HEAD; i++) {
		uint32_t size = image_number(chunk + 4, 4, true);
		if (memcmp(chunk, "EXIF", 4) == 0) {
			out->orientation = read_exif(f, ftell(f), size);
			break;
		}
		if (fseek(f, (long)size + (size & 1), SEEK_CUR) != 0)
			break;
	}
	return true;
}

static bool whole(const struct bytes *file)
{
	WebPBitstreamFeatures features;
	return file->size >= RIFF_HEAD && image_number(file->data + 4, 4, true) + (uint64_t)8 <= file->size &&
	       WebPGetFeatures(file->data, file->size, &features) == VP8_STATUS_OK && !features.has_animation;
}

const struct image_format image_webp = {"WebP", {{"WEBP", 4}}, 8, decode, head, whole};
