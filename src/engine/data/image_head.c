// The size of a picture, and how it is to be turned, from the first bytes of its file, without decoding it.
#include <stdio.h>
#include <string.h>
#include "image.h"
#include "qtui/engine/data.h"

enum { SEGMENTS_MAX = 10000, SEGMENT_MAX = 1 << 16, TAG_ORIENTATION = 0x112, TYPE_SHORT = 3 };

// A number of n bytes; Exif is written in either order.
static uint32_t number(const uint8_t *p, int n, bool little)
{
	uint32_t v = 0;
	for (int i = 0; i < n; i++)
		v = v << 8 | p[little ? n - 1 - i : i];
	return v;
}

// ---- Exif: a TIFF file, in whose first directory entries of 12 bytes have tag, type, count and value

static int exif_orientation(const uint8_t *tiff, size_t size)
{
	if (size < 8 || (memcmp(tiff, "II*\0", 4) != 0 && memcmp(tiff, "MM\0*", 4) != 0))
		return UPRIGHT;
	bool little = tiff[0] == 'I';
	size_t at = number(tiff + 4, 4, little);
	if (at > size - 2)
		return UPRIGHT;
	uint32_t n = number(tiff + at, 2, little);
	for (at += 2; n && at + 12 <= size; n--, at += 12) {
		uint32_t value = number(tiff + at + 8, 2, little);
		if (number(tiff + at, 2, little) == TAG_ORIENTATION)
			return number(tiff + at + 2, 2, little) == TYPE_SHORT && value >= 1 && value <= 8 ? (int)value
			                                                                                : UPRIGHT;
	}
	return UPRIGHT;
}

// The next `size` bytes of the file, of which those behind `prefix` are Exif.
static int read_exif(FILE *f, size_t size, const char *prefix, size_t prefix_size)
{
	uint8_t b[SEGMENT_MAX];
	if (size > sizeof b || size < prefix_size || fread(b, 1, size, f) != size || memcmp(b, prefix, prefix_size) != 0)
		return UPRIGHT;
	return exif_orientation(b + prefix_size, size - prefix_size);
}

// ---- PNG: chunks of length, name, data and checksum, IHDR with width and height first

static bool png_head(struct image_head *out, FILE *f)
{
	uint8_t b[33], chunk[8];
	if (fseek(f, 0, SEEK_SET) != 0 || fread(b, 1, sizeof b, f) != sizeof b ||
	    memcmp(b, "\x89PNG\r\n\x1a\n", 8) != 0)
		return false;
	*out = (struct image_head){number(b + 16, 4, false), number(b + 20, 4, false), UPRIGHT};
	for (int i = 0; i < SEGMENTS_MAX && fread(chunk, 1, 8, f) == 8 && memcmp(chunk + 4, "IDAT", 4) != 0; i++) {
		uint32_t size = number(chunk, 4, false);
		if (memcmp(chunk + 4, "eXIf", 4) == 0) {
			out->orientation = read_exif(f, size, "", 0);
			break;
		}
		if (fseek(f, (long)size + 4, SEEK_CUR) != 0)
			break;
	}
	return true;
}

// ---- JPEG: segments of marker, length and data

// A frame header (SOF0..15) is any of these but the tables DHT, JPG and DAC.
static bool is_frame(int marker)
{
	return marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
}

// What lies between segments is passed over, as libjpeg does.
static int next_marker(FILE *f)
{
	int c;
	do {
		do
			c = fgetc(f);
		while (c != 0xff && c != EOF);
		while (c == 0xff)
			c = fgetc(f);
	} while (c == 0);
	return c;
}

static bool jpeg_head(struct image_head *out, FILE *f)
{
	uint8_t b[7];
	out->orientation = UPRIGHT;
	if (fseek(f, 0, SEEK_SET) != 0 || fgetc(f) != 0xff || fgetc(f) != 0xd8)
		return false;
	for (int i = 0; i < SEGMENTS_MAX; i++) {
		int marker = next_marker(f);
		if (marker == EOF || fread(b, 1, 2, f) != 2)
			return false;
		if (is_frame(marker)) {
			bool read = fread(b, 1, 5, f) == 5;
			out->h = number(b + 1, 2, false);
			out->w = number(b + 3, 2, false);
			return read;
		}
		uint32_t size = number(b, 2, false);
		long next = ftell(f) + (long)size - 2;
		if (size < 2)
			return false;
		if (marker == 0xe1 && out->orientation == UPRIGHT)
			out->orientation = read_exif(f, size - 2, "Exif\0\0", 6);
		if (fseek(f, next, SEEK_SET) != 0)
			return false;
	}
	return false;
}

static bool read_head(struct image_head *out, FILE *f)
{
	return png_head(out, f) || jpeg_head(out, f);
}

int image_orientation(const struct bytes *file)
{
	struct image_head head;
	FILE *f = file->size ? fmemopen(file->data, file->size, "rb") : NULL;
	int orientation = f && read_head(&head, f) ? head.orientation : UPRIGHT;
	if (f)
		fclose(f);
	return orientation;
}

enum status image_size(int *w, int *h, const char *path, struct error *err)
{
	struct image_head head = {0};
	FILE *f = fopen(path, "rb");
	if (!f)
		return error_errno(err, path);
	bool known = read_head(&head, f);
	fclose(f);
	if (!known || !head.w || !head.h || head.w > 1 << 20 || head.h > 1 << 20)
		return error_set(err, STATUS_FORMAT, "%s is neither a JPEG nor a PNG image", path);
	*w = (int)(image_lies(head.orientation) ? head.h : head.w);
	*h = (int)(image_lies(head.orientation) ? head.w : head.h);
	return STATUS_OK;
}
