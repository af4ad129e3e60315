// Whether a file is a picture that can be decoded, told from its parts:
// decoding thousands to know it would take as long as measuring on them.
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include "image.h"
#include "qtui/engine/data.h"

static uint32_t big_endian(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

// ---- PNG: chunks of length, name, data and checksum of name and data, the last of which is IEND

static bool png_is_whole(const struct bytes *file)
{
	size_t at = 8;
	while (file->size - at >= 12) {
		const uint8_t *chunk = file->data + at;
		size_t size = big_endian(chunk);
		if (size > file->size - at - 12 || crc32(0, chunk + 4, (uInt)size + 4) != big_endian(chunk + 8 + size))
			return false;
		if (memcmp(chunk + 4, "IEND", 4) == 0)
			return true;
		at += 12 + size;
	}
	return false;
}

// ---- JPEG: segments of marker, length and data; behind a start of scan its codes,
// in which 0xff is followed by 0 or a restart's number

enum { HUFFMAN_TABLES = 0xc4, RESTART = 0xd0, END = 0xd9, SCAN = 0xda };

// The first marker from `at` on that is no restart; at the file's end 0. *at: behind it.
static int marker_behind_codes(const struct bytes *file, size_t *at)
{
	const uint8_t *end = file->data + file->size, *p = file->data + *at;
	while ((p = memchr(p, 0xff, (size_t)(end - p)))) {
		while (p < end && *p == 0xff)
			p++;
		if (p < end && *p != 0 && (*p & ~7) != RESTART) {
			*at = (size_t)(p + 1 - file->data);
			return *p;
		}
	}
	return 0;
}

// Whether a segment fits: *at goes from its length to what lies behind it.
static bool pass_segment(const struct bytes *file, size_t *at)
{
	size_t left = file->size - *at, size = left < 2 ? 0 : (size_t)file->data[*at] << 8 | file->data[*at + 1];
	*at += size;
	return size >= 2 && size <= left;
}

// From the first scan on there are scans, their tables and the end.
// What is damaged has other markers among its codes, if any.
static bool jpeg_is_whole(const struct bytes *file)
{
	size_t at = 2;
	int marker;
	bool scanned = false;
	do {
		if (!scanned && (file->size - at < 2 || file->data[at] != 0xff))
			return false;
		marker = marker_behind_codes(file, &at);
		scanned |= marker == SCAN;
		if (scanned && marker == END)
			return true;
	} while (marker && (!scanned || marker == SCAN || marker == HUFFMAN_TABLES) && pass_segment(file, &at));
	return false;
}

static bool looks_whole(const char *path)
{
	struct error ignored;
	struct bytes file = {0};
	int w, h;
	bool whole = false;
	if (image_size(&w, &h, path, &ignored) || image_check((uint32_t)w, (uint32_t)h, path, &ignored) ||
	    file_read(&file, path, IMAGE_FILE_MAX, &ignored))
		return false;
	if (file.size > 8)
		whole = file.data[0] == 0xff ? jpeg_is_whole(&file) : png_is_whole(&file);
	bytes_done(&file);
	return whole;
}

enum status image_whole(const char *path, struct error *err)
{
	uint8_t *rgb;
	int w, h;
	enum status s;
	if (looks_whole(path))
		return STATUS_OK;
	s = image_read(&rgb, &w, &h, path, err);
	if (!s)
		free(rgb);
	return s;
}
