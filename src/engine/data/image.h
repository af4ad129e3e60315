// Decoders. Each turns the bytes of a file into RGB, three bytes a pixel, in memory from mem_try_array; the caller
// frees.
#ifndef QTUI_ENGINE_DATA_IMAGE_H
#define QTUI_ENGINE_DATA_IMAGE_H

#include <stdint.h>
#include "qtui/base/error.h"
#include "qtui/base/file.h"

struct image {
	uint8_t *rgb;
	int w, h;
};
MUST_CHECK enum status image_decode(struct image *out, const struct bytes *file, const char *name, struct error *err);
MUST_CHECK enum status image_jpeg(struct image *out, const struct bytes *file, const char *name, struct error *err);
MUST_CHECK enum status image_png(struct image *out, const struct bytes *file, const char *name, struct error *err);
// Allocates out->rgb; refuses sizes that no photograph has.
MUST_CHECK enum status image_alloc(struct image *out, uint32_t w, uint32_t h, const char *name, struct error *err);

#endif
