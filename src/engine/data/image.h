// Decoders. Each turns the bytes of a file into RGB, three bytes a pixel, in memory from mem_try_array; the caller
// frees.
#ifndef QTUI_ENGINE_DATA_IMAGE_H
#define QTUI_ENGINE_DATA_IMAGE_H

#include <stdbool.h>
#include <stdint.h>
#include "qtui/base/error.h"
#include "qtui/base/file.h"

struct image {
	uint8_t *rgb;
	int w, h;
};
MUST_CHECK enum status image_jpeg(struct image *out, const struct bytes *file, const char *name, struct error *err);
MUST_CHECK enum status image_png(struct image *out, const struct bytes *file, const char *name, struct error *err);
// Refuses sizes that no photograph has, before a decoder allocates for them.
MUST_CHECK enum status image_check(uint32_t w, uint32_t h, const char *name, struct error *err);
#define IMAGE_FILE_MAX ((size_t)256 << 20) // bytes
// Whether the file can be decoded; it is decoded only where its parts
// (a PNG's checksums, a JPEG's markers) leave that open.
MUST_CHECK enum status image_whole(const char *path, struct error *err);
// Allocates out->rgb, of a size that image_check takes.
MUST_CHECK enum status image_alloc(struct image *out, uint32_t w, uint32_t h, const char *name, struct error *err);

// How the stored rows lie: Exif's orientation 1..8, where 5..8 lie on their side.
#define UPRIGHT 1
struct image_head {
	uint32_t w, h; // as stored
	int orientation;
};
int image_orientation(const struct bytes *file); // UPRIGHT where the file does not say
bool image_lies(int orientation);                // width and height change places
// Turns image->rgb upright; frees it when there is no memory.
MUST_CHECK enum status image_turn(struct image *image, int orientation, const char *name, struct error *err);

#endif
