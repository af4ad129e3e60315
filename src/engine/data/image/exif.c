// Exif's data, in pictures of several formats, is a TIFF file: behind its head of 8 bytes lies a directory, whose entries
// of 12 bytes have tag, type, count and value.
#include <string.h>
#include "image.h"

enum { TAG_WIDTH = 256, TAG_HEIGHT = 257, TAG_ORIENTATION = 274, TYPE_SHORT = 3, TYPE_LONG = 4 };

uint32_t image_number(const uint8_t *p, int n, bool little)
{
	uint32_t v = 0;
	for (int i = 0; i < n; i++)
		v = v << 8 | p[little ? n - 1 - i : i];
	return v;
}

static void take_entry(struct image_head *out, const uint8_t entry[12], bool little)
{
	uint32_t type = image_number(entry + 2, 2, little);
	uint32_t value = image_number(entry + 8, type == TYPE_SHORT ? 2 : 4, little);
	if (type != TYPE_SHORT && type != TYPE_LONG)
		return;
	switch (image_number(entry, 2, little)) {
	case TAG_WIDTH: out->w = value; break;
	case TAG_HEIGHT: out->h = value; break;
	case TAG_ORIENTATION:
		if (type == TYPE_SHORT && value >= 1 && value <= 8)
			out->orientation = (int)value;
		break;
	default: break;
	}
}

bool image_directory(struct image_head *out, FILE *f, long base, size_t size)
{
	uint8_t b[12];
	if (size < 8 || fseek(f, base, SEEK_SET) != 0 || fread(b, 1, 8, f) != 8 ||
	    (memcmp(b, "II*\0", 4) != 0 && memcmp(b, "MM\0*", 4) != 0))
		return false;
	bool little = b[0] == 'I';
	size_t at = image_number(b + 4, 4, little);
	if (at > size - 2 || fseek(f, base + (long)at, SEEK_SET) != 0 || fread(b, 1, 2, f) != 2)
		return false;
	uint32_t n = image_number(b, 2, little);
	for (at += 2; n && at + 12 <= size && fread(b, 1, 12, f) == 12; n--, at += 12)
		take_entry(out, b, little);
	return true;
}

int image_exif(FILE *f, long base, size_t size)
{
	struct image_head head = {.orientation = UPRIGHT};
	image_directory(&head, f, base, size);
	return head.orientation;
}
