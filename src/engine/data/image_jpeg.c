// JPEG through libjpeg-turbo. Its errors come by longjmp; a file that ends early is an error too, not a grey picture.
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <jpeglib.h>
#include <jerror.h>
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

enum status image_jpeg(struct image *out, const struct bytes *file, const char *name, struct error *err)
{
	struct jpeg_decompress_struct c;
	struct jpeg_errors errors;
	enum status s;
	c.err = jpeg_std_error(&errors.mgr);
	errors.mgr.error_exit = on_error;
	errors.mgr.emit_message = on_message;
	if (setjmp(errors.jump)) {
		jpeg_destroy_decompress(&c);
		free(out->rgb);
		out->rgb = NULL;
		return error_set(err, STATUS_FORMAT, "%s is not a sound JPEG image: %s", name, errors.text);
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
