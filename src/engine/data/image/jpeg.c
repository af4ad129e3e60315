// JPEG through libjpeg-turbo. Its errors come by longjmp; a file that ends early is an error too, not a grey picture.
// A file is segments of marker, length and data; behind a start of scan lie its codes, in which 0xff is followed by 0 or
// a restart's number.
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <jpeglib.h>
#include <jerror.h>
#include <string.h>
#include "image.h"

// A progressive file may refine its picture in thousands of scans, each as much work as a whole decode.
#define SCANS_MAX 100

struct jpeg_errors {
	struct jpeg_error_mgr mgr;
	struct jpeg_progress_mgr progress;
	jmp_buf jump;
	char text[JMSG_LENGTH_MAX];
};

static void on_error(j_common_ptr c)
{
	struct jpeg_errors *e = (struct jpeg_errors *)c->err;
	e->mgr.format_message(c, e->text);
	longjmp(e->jump, 1);
}

static void on_message(j_common_ptr c, int level)
{
	if (level < 0 && c->err->msg_code == JWRN_JPEG_EOF)
		on_error(c);
}

static void on_progress(j_common_ptr c)
{
	struct jpeg_errors *e = (struct jpeg_errors *)c->err;
	if (((j_decompress_ptr)c)->input_scan_number <= SCANS_MAX)
		return;
	snprintf(e->text, sizeof e->text, "it has more than %d scans", SCANS_MAX);
	longjmp(e->jump, 1);
}

// Inks are inverted, 255 is none: what Adobe began everyone does, with its marker or without.
static void cmyk_to_rgb(uint8_t *out, const uint8_t *in, int w)
{
	for (int x = 0; x < w; x++, in += 4, out += 3)
		for (int c = 0; c < 3; c++)
			out[c] = (uint8_t)((in[c] * in[3] + 127) / 255);
}

// Called below setjmp: may not return through an error, and owns nothing.
static void read_rows(struct jpeg_decompress_struct *c, struct image *out)
{
	JSAMPARRAY row = c->mem->alloc_sarray((j_common_ptr)c, JPOOL_IMAGE, c->output_width * 4, 1);
	while (c->output_scanline < c->output_height) {
		uint8_t *to = out->rgb + (size_t)c->output_scanline * (size_t)out->w * 3;
		if (c->out_color_space == JCS_RGB) {
			jpeg_read_scanlines(c, &to, 1);
		} else {
			jpeg_read_scanlines(c, row, 1);
			cmyk_to_rgb(to, row[0], out->w);
		}
	}
	jpeg_finish_decompress(c);
}

static enum status decode(struct image *out, const struct bytes *file, const char *name, struct error *err)
{
	struct jpeg_decompress_struct c;
	struct jpeg_errors errors;
	enum status s;
	c.err = jpeg_std_error(&errors.mgr);
	errors.mgr.error_exit = on_error;
	errors.mgr.emit_message = on_message;
	if (setjmp(errors.jump)) {
		jpeg_destroy_decompress(&c);
		return image_broken(out, &image_jpeg, name, errors.text, err);
	}
	jpeg_create_decompress(&c);
	errors.progress = (struct jpeg_progress_mgr){.progress_monitor = on_progress};
	c.progress = &errors.progress;
	jpeg_mem_src(&c, file->data, file->size);
	jpeg_read_header(&c, TRUE);
	c.out_color_space = c.jpeg_color_space == JCS_CMYK || c.jpeg_color_space == JCS_YCCK ? JCS_CMYK : JCS_RGB;
	// A progressive picture takes memory for all its coefficients when it is started.
	s = image_check(c.image_width, c.image_height, name, err);
	if (!s)
		jpeg_start_decompress(&c);
	if (!s)
		s = image_alloc(out, c.output_width, c.output_height, name, err);
	if (!s)
		read_rows(&c, out);
	jpeg_destroy_decompress(&c);
	return s;
}

// ---- the head

enum { SEGMENTS_MAX = 10000, EXIF = 0xe1, EXIF_PREFIX = 6 };

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

static int read_exif(FILE *f, size_t size)
{
	uint8_t b[EXIF_PREFIX];
	if (size < sizeof b || fread(b, 1, sizeof b, f) != sizeof b || memcmp(b, "Exif\0\0", sizeof b) != 0)
		return UPRIGHT;
	return image_exif(f, ftell(f), size - sizeof b);
}

static bool head(struct image_head *out, FILE *f)
{
	uint8_t b[5];
	if (fseek(f, 2, SEEK_SET) != 0)
		return false;
	for (int i = 0; i < SEGMENTS_MAX; i++) {
		int marker = next_marker(f);
		if (marker == EOF || fread(b, 1, 2, f) != 2)
			return false;
		if (is_frame(marker)) {
			bool read = fread(b, 1, 5, f) == 5;
			out->h = image_number(b + 1, 2, false);
			out->w = image_number(b + 3, 2, false);
			return read;
		}
		uint32_t size = image_number(b, 2, false);
		long next = ftell(f) + (long)size - 2;
		if (size < 2)
			return false;
		if (marker == EXIF && out->orientation == UPRIGHT)
			out->orientation = read_exif(f, size - 2);
		if (fseek(f, next, SEEK_SET) != 0)
			return false;
	}
	return false;
}

// ---- whether it is whole

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
static bool whole(const struct bytes *file)
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

const struct image_format image_jpeg = {"JPEG", {{"\xff\xd8\xff", 3}}, 0, decode, head, whole};
