// The size of a picture from the first bytes of its file, without decoding it.
#include <stdio.h>
#include <string.h>
#include "image.h"
#include "qtui/engine/data.h"

enum { SEGMENTS_MAX = 10000 };

static uint32_t big_endian(const uint8_t *p, int n)
{
	uint32_t v = 0;
	for (int i = 0; i < n; i++)
		v = v << 8 | p[i];
	return v;
}

// Behind the signature comes IHDR with width and height.
static bool png_size(uint32_t *w, uint32_t *h, FILE *f)
{
	uint8_t b[24];
	if (fseek(f, 0, SEEK_SET) != 0 || fread(b, 1, sizeof b, f) != sizeof b ||
	    memcmp(b, "\x89PNG\r\n\x1a\n", 8) != 0)
		return false;
	*w = big_endian(b + 16, 4);
	*h = big_endian(b + 20, 4);
	return true;
}

// A frame header (SOF0..15) is any of these but the tables DHT, JPG and DAC.
static bool is_frame(int marker)
{
	return marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
}

static int next_marker(FILE *f)
{
	int c = fgetc(f);
	if (c != 0xff)
		return EOF;
	while (c == 0xff)
		c = fgetc(f);
	return c;
}

static bool jpeg_size(uint32_t *w, uint32_t *h, FILE *f)
{
	uint8_t b[7];
	if (fseek(f, 0, SEEK_SET) != 0 || fgetc(f) != 0xff || fgetc(f) != 0xd8)
		return false;
	for (int i = 0; i < SEGMENTS_MAX; i++) {
		int marker = next_marker(f);
		if (marker == EOF || fread(b, 1, 2, f) != 2)
			return false;
		if (is_frame(marker)) {
			bool read = fread(b, 1, 5, f) == 5;
			*h = big_endian(b + 1, 2);
			*w = big_endian(b + 3, 2);
			return read;
		}
		uint32_t size = big_endian(b, 2);
		if (size < 2 || fseek(f, (long)size - 2, SEEK_CUR) != 0)
			return false;
	}
	return false;
}

enum status image_size(int *w, int *h, const char *path, struct error *err)
{
	uint32_t width = 0, height = 0;
	FILE *f = fopen(path, "rb");
	if (!f)
		return error_errno(err, path);
	bool known = png_size(&width, &height, f) || jpeg_size(&width, &height, f);
	fclose(f);
	if (!known || !width || !height || width > 1 << 20 || height > 1 << 20)
		return error_set(err, STATUS_FORMAT, "%s is neither a JPEG nor a PNG image", path);
	*w = (int)width;
	*h = (int)height;
	return STATUS_OK;
}
