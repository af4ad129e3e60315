// Pictures: the bytes of a file become RGB. One file a format; the table of formats is in image.c.
#ifndef QTUI_ENGINE_DATA_IMAGE_H
#define QTUI_ENGINE_DATA_IMAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "qtui/base/error.h"
#include "qtui/base/file.h"

struct image {
	uint8_t *rgb; // three bytes a pixel, rows from above; from mem_try_array, the caller frees
	int w, h;
};
// How the stored rows lie: Exif's orientation 1..8, where 5..8 lie on their side.
#define UPRIGHT 1
struct image_head {
	uint32_t w, h; // as stored
	int orientation;
};

struct image_format {
	const char *name; // "JPEG"
	struct {
		const char *bytes;
		size_t size;
	} magic[2];      // with either of which a file begins,
	size_t magic_at; // from this byte on
	// The picture as it is stored. `name` is the file's, for errors; out->rgb is NULL behind one.
	enum status (*decode)(struct image *out, const struct bytes *file, const char *name, struct error *err);
	// Size and orientation, from the first parts of a file that stands at its beginning.
	bool (*head)(struct image_head *out, FILE *f);
	// Whether all of the picture is there, told without decoding it. false: decoding will tell.
	bool (*whole)(const struct bytes *file);
};
extern const struct image_format image_jpeg, image_png, image_webp, image_tiff, image_bmp, image_pnm;

#define IMAGE_FILE_MAX ((size_t)256 << 20) // bytes
// Refuses sizes that no photograph has, before a decoder allocates for them.
MUST_CHECK enum status image_check(uint32_t w, uint32_t h, const char *name, struct error *err);
// Allocates out->rgb, of a size that image_check takes.
MUST_CHECK enum status image_alloc(struct image *out, uint32_t w, uint32_t h, const char *name, struct error *err);
// "NAME is not a sound FORMAT image: WHY", with out->rgb freed.
enum status image_broken(struct image *out, const struct image_format *format, const char *name, const char *why, struct error *err);
// Whether the file can be decoded; it is decoded only where its parts
// (a PNG's checksums, a JPEG's markers) leave that open.
MUST_CHECK enum status image_whole(const char *path, struct error *err);

// A number of n bytes, at most 4.
uint32_t image_number(const uint8_t *p, int n, bool little);
// The first directory of a TIFF file, which lies in f from `base` on and has `size` bytes. Sets what it says: orientation,
// and width and height where it has them. false: it is none.
bool image_directory(struct image_head *out, FILE *f, long base, size_t size);
int image_exif(FILE *f, long base, size_t size); // the orientation in Exif's data there; UPRIGHT where it has none
int image_orientation(const struct bytes *file); // UPRIGHT where the file does not say
bool image_lies(int orientation); // width and height change places
// Turns image->rgb upright; frees it when there is no memory.
MUST_CHECK enum status image_turn(struct image *image, int orientation, const char *name, struct error *err);

#endif
