// Pictures: decoding, resizing against Pillow 9.4's own results, placement, normalisation.
#include <stdio.h>
#include <jpeglib.h>
#include <sys/resource.h>
#include "../../src/engine/data/image/image.h"
#include "../../src/engine/tensor/cpu.h"
#include "data_case.h"
#include "qtui/base/file.h"

// An input of h x w pixels whose elements are the pixels themselves.
static void pixels_case(struct data_case *c, int channels, int h, int w, enum resize_mode mode)
{
	*c = (struct data_case){.opt.pre = {.std = {1, 1, 1, 1},
	                            .std_set = true,
	                            .mean_set = true,
	                            .color_set = true,
	                            .resize = mode,
	                            .resize_set = true}};
	case_input(c, "image", DT_F32, SHAPE(1, channels, h, w));
}

// Horner's checksum over the pixels in the order of an image (rows, columns, channels).
static uint32_t checksum(const struct tensor *t)
{
	int64_t pixels = t->shape.dim[2] * t->shape.dim[3];
	uint32_t sum = 0;
	for (int64_t p = 0; p < pixels; p++)
		for (int64_t c = 0; c < t->shape.dim[1]; c++)
			sum = sum * 31 + (uint32_t)((const float *)t->data)[c * pixels + p];
	return sum;
}

static float at(const struct tensor *t, int c, int y, int x)
{
	return ((const float *)t->data)[(c * t->shape.dim[2] + y) * t->shape.dim[3] + x];
}

void test_resample__is_pillows(void **state)
{
	static const struct {
		int w, h, to_w, to_h;
		uint32_t sum;
	} rows[] = {
	    {7, 5, 3, 2, 2207729411u},
	    {3, 2, 5, 4, 811566212u},
	    {40, 30, 17, 11, 2454062768u},
	    {64, 48, 48, 64, 3589213960u},
	    {100, 3, 10, 3, 2052656946u},
	    {9, 100, 9, 13, 1580387685u},
	};
	for (size_t i = 0; i < 2 * sizeof rows / sizeof rows[0]; i++) {
		const size_t n = sizeof rows / sizeof rows[0];
		struct data_case c;
		cpu_limit(i < n ? CPU_LEVELS : CPU_PLAIN);
		pixels_case(&c, 3, rows[i % n].to_h, rows[i % n].to_w, RESIZE_STRETCH);
		case_open(&c, case_png("resample.png", rows[i % n].w, rows[i % n].h));
		case_load(&c, 0);
		assert_int_equal(checksum(&c.in[0]), rows[i % n].sum);
		case_done(&c);
	}
	cpu_limit(CPU_LEVELS);
}

void test_place__letterbox_rounds_as_ultralytics(void **state)
{
	struct data_case c;
	pixels_case(&c, 3, 64, 64, RESIZE_LETTERBOX);
	case_open(&c, case_png("wide.png", 50, 33)); // r = 1.28: 64 x 42.24, free 22, 11 above
	case_load(&c, 0);
	assert_int_equal(c.where.image_w, 50);
	assert_float_equal(c.where.scale_x, 1.28, 1e-9);
	assert_float_equal(c.where.scale_y, 42 / 33.0, 1e-9);
	assert_float_equal(c.where.pad_x, 0, 0);
	assert_float_equal(c.where.pad_y, 11, 0);
	for (int ch = 0; ch < 3; ch++) {
		assert_float_equal(at(&c.in[0], ch, 10, 5), 114, 0);
		assert_float_equal(at(&c.in[0], ch, 53, 63), 114, 0);
	}
	assert_float_equal(at(&c.in[0], 2, 11, 0), 91, 0);
	case_done(&c);
	pixels_case(&c, 3, 64, 64, RESIZE_LETTERBOX);
	case_open(&c, case_png("odd.png", 64, 41)); // free 23: 11 above, 12 below
	case_load(&c, 0);
	assert_float_equal(c.where.pad_y, 11, 0);
	case_done(&c);
}

void test_place__corner_pads_right_and_below(void **state)
{
	struct data_case c;
	pixels_case(&c, 3, 20, 20, RESIZE_CORNER);
	case_open(&c, case_png("tall.png", 10, 40));
	case_load(&c, 0);
	assert_float_equal(c.where.scale_x, 0.5, 0);
	assert_float_equal(c.where.pad_x + c.where.pad_y, 0, 0);
	assert_float_equal(at(&c.in[0], 0, 19, 5), 114, 0);
	assert_true(at(&c.in[0], 2, 19, 4) != 114);
	case_done(&c);
}

void test_place__crop_cuts_both_sides(void **state)
{
	struct data_case c;
	pixels_case(&c, 3, 8, 8, RESIZE_CROP);
	case_open(&c, case_png("crop.png", 12, 8)); // not scaled: columns 2 to 9
	case_load(&c, 0);
	assert_float_equal(c.where.pad_x, -2, 0);
	assert_float_equal(at(&c.in[0], 0, 0, 0), 62, 0);
	assert_float_equal(at(&c.in[0], 0, 7, 7), 142, 0); // 9 * 31 + 7 * 17 modulo 256
	case_done(&c);
}

// All of it would be scaled: 32 x 16 million pixels.
void test_place__crop_of_a_line_is_refused(void **state)
{
	struct data_case c;
	pixels_case(&c, 3, 32, 32, RESIZE_CROP);
	case_open(&c, case_png("line.png", 500000, 1));
	assert_int_equal(dataset_load(c.data, 0, c.in, &c.where, &c.err), STATUS_UNSUPPORTED);
	assert_non_null(strstr(c.err.text, "line.png: 500000 x 1 pixels: cropped to 32 x 32, less than a 64th"));
	case_done(&c);
}

void test_place__pixels_are_normalised_in_the_models_order(void **state)
{
	struct data_case c = {.opt.pre = {.mean = {1, 2, 3},
	                          .std = {2, 4, 8},
	                          .mean_set = true,
	                          .std_set = true,
	                          .bgr = true,
	                          .color_set = true}};
	case_input(&c, "image", DT_F32, SHAPE(1, 2, 2, 3)); // NHWC: channels last
	case_open(&c, case_png("bgr.png", 2, 2));
	case_load(&c, 0);
	assert_float_equal(((float *)c.in[0].data)[3], (91 - 1) / 2.0, 0); // pixel (1, 0): blue first
	assert_float_equal(((float *)c.in[0].data)[4], (7 - 2) / 4.0, 0);
	assert_float_equal(((float *)c.in[0].data)[5], (31 - 3) / 8.0, 0);
	case_done(&c);
}

void test_place__one_channel_is_luma(void **state)
{
	struct data_case c;
	pixels_case(&c, 1, 1, 2, RESIZE_STRETCH);
	case_open(&c, case_png("luma.png", 2, 1));
	case_load(&c, 0);
	assert_float_equal(((float *)c.in[0].data)[0], 10, 0); // Pillow: convert("L") of (0, 0, 91)
	assert_float_equal(((float *)c.in[0].data)[1], 24, 0); // (31, 7, 91)
	case_done(&c);
}

// Writes a PNG of any colour type, one pixel high.
static const char *write_png(const char *name, int type, int depth, int w, const uint8_t *row)
{
	static const png_color palette[2] = {{10, 20, 30}, {200, 100, 50}};
	const char *path = support_temp(name);
	FILE *f = fopen(path, "wb");
	png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
	png_infop info = png_create_info_struct(png);
	assert_non_null(f);
	if (setjmp(png_jmpbuf(png)))
		fail();
	png_init_io(png, f);
	png_set_IHDR(png, info, (png_uint_32)w, 1, depth, type, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
	    PNG_FILTER_TYPE_DEFAULT);
	if (type == PNG_COLOR_TYPE_PALETTE)
		png_set_PLTE(png, info, palette, 2);
	png_write_info(png, info);
	png_write_row(png, row);
	png_write_end(png, info);
	png_destroy_write_struct(&png, &info);
	fclose(f);
	return path;
}

void test_mask__numbers_of_every_kind_of_png(void **state)
{
	static const struct {
		int type, depth;
		uint8_t row[8];
		uint16_t number[2];
	} rows[] = {
	    {PNG_COLOR_TYPE_GRAY, 1, {0x40}, {0, 1}},
	    {PNG_COLOR_TYPE_GRAY, 4, {0x3f}, {3, 15}},
	    {PNG_COLOR_TYPE_GRAY, 8, {7, 255}, {7, 255}},
	    {PNG_COLOR_TYPE_GRAY, 16, {1, 2, 255, 255}, {258, 65535}},
	    {PNG_COLOR_TYPE_PALETTE, 1, {0x40}, {0, 1}},
	    {PNG_COLOR_TYPE_RGB, 8, {9, 9, 9, 4, 4, 4}, {9, 4}},
	};
	struct error err = {0};
	struct mask m;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		assert_int_equal(mask_read(&m, write_png("mask.png", rows[i].type, rows[i].depth, 2, rows[i].row), &err), STATUS_OK);
		assert_true(m.w == 2 && m.h == 1 && m.number[0] == rows[i].number[0] && m.number[1] == rows[i].number[1]);
		mask_done(&m);
	}
}

void test_mask__colours_are_no_numbers(void **state)
{
	static const uint8_t row[6] = {9, 9, 9, 4, 5, 4};
	struct error err = {0};
	struct mask m;
	assert_int_equal(mask_read(&m, write_png("colours.png", PNG_COLOR_TYPE_RGB, 8, 2, row), &err), STATUS_UNSUPPORTED);
	assert_non_null(strstr(err.text, "colours.png is a picture in colours"));
	assert_null(m.number);
	assert_int_equal(mask_read(&m, support_temp_file("no.png", "GIF89a", 6), &err), STATUS_FORMAT);
	assert_null(m.number);
}

void test_image__png_of_every_kind(void **state)
{
	static const struct {
		int type, depth;
		uint8_t row[16], rgb[6];
	} rows[] = {
	    {PNG_COLOR_TYPE_GRAY, 1, {0x40}, {0, 0, 0, 255, 255, 255}},
	    {PNG_COLOR_TYPE_GRAY, 8, {7, 8}, {7, 7, 7, 8, 8, 8}},
	    {PNG_COLOR_TYPE_GRAY, 16, {7, 200, 8, 1}, {7, 7, 7, 8, 8, 8}},
	    {PNG_COLOR_TYPE_PALETTE, 1, {0x40}, {10, 20, 30, 200, 100, 50}},
	    {PNG_COLOR_TYPE_GRAY_ALPHA, 8, {9, 0, 5, 128}, {9, 9, 9, 5, 5, 5}},
	    {PNG_COLOR_TYPE_RGB_ALPHA, 8, {1, 2, 3, 0, 4, 5, 6, 255}, {1, 2, 3, 4, 5, 6}},
	    {PNG_COLOR_TYPE_RGB, 16, {1, 9, 2, 9, 3, 9, 4, 9, 5, 9, 6, 9}, {1, 2, 3, 4, 5, 6}},
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct error err;
		uint8_t *rgb;
		int w, h;
		assert_int_equal(
		    image_read(&rgb, &w, &h, write_png("kind.png", rows[i].type, rows[i].depth, 2, rows[i].row), &err),
		    0);
		assert_int_equal(w, 2);
		assert_memory_equal(rgb, rows[i].rgb, 6);
		free(rgb);
	}
}

struct jpeg_kind {
	J_COLOR_SPACE space;
	int components;
	const uint8_t *exif; // a segment of exif_size bytes, or NULL
	unsigned exif_size;
	bool no_adobe;
};

// A JPEG of 16 x 8 pixels of one colour.
static const char *write_kind(const char *name, const struct jpeg_kind *kind, const uint8_t *color)
{
	struct jpeg_compress_struct c;
	struct jpeg_error_mgr errors;
	const char *path = support_temp(name);
	FILE *f = fopen(path, "wb");
	uint8_t line[64];
	JSAMPROW row = line;
	assert_non_null(f);
	for (int i = 0; i < 16 * kind->components; i++)
		line[i] = color[i % kind->components];
	c.err = jpeg_std_error(&errors);
	jpeg_create_compress(&c);
	jpeg_stdio_dest(&c, f);
	c.image_width = 16;
	c.image_height = 8;
	c.input_components = kind->components;
	c.in_color_space = kind->space;
	jpeg_set_defaults(&c);
	jpeg_set_quality(&c, 100, TRUE);
	if (kind->no_adobe)
		c.write_Adobe_marker = FALSE;
	jpeg_start_compress(&c, TRUE);
	if (kind->exif)
		jpeg_write_marker(&c, JPEG_APP0 + 1, kind->exif, kind->exif_size);
	while (c.next_scanline < 8)
		jpeg_write_scanlines(&c, &row, 1);
	jpeg_finish_compress(&c);
	jpeg_destroy_compress(&c);
	fclose(f);
	return path;
}

static const char *write_jpeg(const char *name, J_COLOR_SPACE space, int components, const uint8_t *color)
{
	return write_kind(name, &(struct jpeg_kind){.space = space, .components = components}, color);
}

static void check_color(const char *path, int r, int g, int b)
{
	struct error err;
	uint8_t *rgb;
	int w, h;
	assert_int_equal(image_read(&rgb, &w, &h, path, &err), STATUS_OK);
	assert_int_equal(w, 16);
	assert_int_equal(h, 8);
	assert_in_range(rgb[0], r - 2, r + 2);
	assert_in_range(rgb[1], g - 2, g + 2);
	assert_in_range(rgb[2], b - 2, b + 2);
	free(rgb);
}

void test_image__jpeg_of_every_kind(void **state)
{
	check_color(write_jpeg("rgb.jpg", JCS_RGB, 3, (const uint8_t[]){200, 100, 50}), 200, 100, 50);
	check_color(write_jpeg("grey.jpg", JCS_GRAYSCALE, 1, (const uint8_t[]){77}), 77, 77, 77);
	// libjpeg marks CMYK as Adobe's, whose inks are inverted: 255 is no ink.
	check_color(write_jpeg("cmyk.jpg", JCS_CMYK, 4, (const uint8_t[]){255, 128, 10, 200}), 200, 100, 8);
	// So do Pillow and OpenCV read CMYK that nobody marked.
	const struct jpeg_kind plain = {.space = JCS_CMYK, .components = 4, .no_adobe = true};
	check_color(write_kind("inks.jpg", &plain, (const uint8_t[]){255, 128, 10, 200}), 200, 100, 8);
}

// Pixels numbered as stored, 1 2 3 over 4 5 6, and how a viewer shows them (Pillow's ImageOps.exif_transpose).
void test_image__is_turned_as_exif_says(void **state)
{
	static const struct {
		int w;
		uint8_t shown[6];
	} rows[] = {
	    {3, {1, 2, 3, 4, 5, 6}},
	    {3, {3, 2, 1, 6, 5, 4}},
	    {3, {6, 5, 4, 3, 2, 1}},
	    {3, {4, 5, 6, 1, 2, 3}},
	    {2, {1, 4, 2, 5, 3, 6}},
	    {2, {4, 1, 5, 2, 6, 3}},
	    {2, {6, 3, 5, 2, 4, 1}},
	    {2, {3, 6, 2, 5, 1, 4}},
	};
	for (int orientation = 1; orientation <= 8; orientation++) {
		struct image image = {.rgb = malloc(18), .w = 3, .h = 2};
		struct error err;
		for (int i = 0; i < 18; i++)
			image.rgb[i] = (uint8_t)(10 * (i / 3 + 1) + i % 3);
		assert_int_equal(image_turn(&image, orientation, "x", &err), STATUS_OK);
		assert_int_equal(image.w, rows[orientation - 1].w);
		assert_int_equal(image.h, 6 / image.w);
		for (int i = 0; i < 18; i++)
			assert_int_equal(image.rgb[i], 10 * rows[orientation - 1].shown[i / 3] + i % 3);
		free(image.rgb);
	}
}

static void check_sizes(const char *path, int w, int h)
{
	struct error err;
	uint8_t *rgb;
	int x, y;
	assert_int_equal(image_read(&rgb, &x, &y, path, &err), STATUS_OK);
	free(rgb);
	assert_int_equal(x, w);
	assert_int_equal(y, h);
	assert_int_equal(image_size(&x, &y, path, &err), STATUS_OK);
	assert_int_equal(x, w);
	assert_int_equal(y, h);
}

// The size of the head is that of the picture, or boxes given as fractions would be another's.
void test_image__exif_is_read_in_either_order(void **state)
{
	static const uint8_t little[] = "Exif\0\0II*\0\10\0\0\0\2\0\17\1\2\0\1\0\0\0x\0\0\0\22\1\3\0\1\0\0\0\6\0\0";
	static const uint8_t big[] = "Exif\0\0MM\0*\0\0\0\10\0\1\1\22\0\3\0\0\0\1\0\10\0\0\0\0\0";
	const uint8_t grey[] = {77};
	struct jpeg_kind kind = {.space = JCS_GRAYSCALE, .components = 1, .exif = little, .exif_size = sizeof little};
	check_sizes(write_kind("little.jpg", &kind, grey), 8, 16);
	for (kind.exif_size = 0; kind.exif_size < 6 + 8 + 2 + 12 + 10; kind.exif_size++)
		check_sizes(write_kind("cut.jpg", &kind, grey), 16, 8);
	kind.exif = big;
	kind.exif_size = sizeof big;
	check_sizes(write_kind("big.jpg", &kind, grey), 8, 16);
}

static void check_refused(const char *path, enum status expected)
{
	struct error err;
	uint8_t *rgb;
	int w, h;
	assert_int_equal(image_read(&rgb, &w, &h, path, &err), expected);
	assert_null(rgb);
	assert_non_null(strstr(err.text, file_base(path)));
}

static long peak_kb(void)
{
	struct rusage u;
	getrusage(RUSAGE_SELF, &u);
	return u.ru_maxrss;
}

// Some cameras fill up to a round address.
void test_image__what_lies_between_segments_is_passed_over(void **state)
{
	const uint8_t grey[] = {77}, filling[] = {0, 0xff, 0, 0};
	const char *path = write_jpeg("tight.jpg", JCS_GRAYSCALE, 1, grey);
	struct error err;
	struct bytes b;
	uint8_t loose[4096];
	assert_int_equal(file_read(&b, path, sizeof loose - 4, &err), STATUS_OK);
	memcpy(loose, b.data, 20); // SOI and APP0
	memcpy(loose + 20, filling, 4);
	memcpy(loose + 24, b.data + 20, b.size - 20);
	check_sizes(support_temp_file("loose.jpg", loose, b.size + 4), 16, 8);
	bytes_done(&b);
}

// A progressive picture of a few bytes that asks for 22 GB of coefficients: its size is looked at before.
void test_image__a_huge_picture_costs_nothing(void **state)
{
	long before = peak_kb();
	struct error err;
	struct bytes b;
	assert_int_equal(
	    file_read(&b, write_jpeg("small.jpg", JCS_RGB, 3, (const uint8_t[]){1, 2, 3}), 1 << 20, &err), STATUS_OK);
	for (size_t i = 0; i + 9 < b.size; i++)
		if (b.data[i] == 0xff && b.data[i + 1] == 0xc0) {
			b.data[i + 1] = 0xc2;
			memset(b.data + i + 5, 0xf0, 4);
		}
	check_refused(support_temp_file("huge.jpg", b.data, b.size), STATUS_UNSUPPORTED);
	assert_true(peak_kb() < before + 100000);
	bytes_done(&b);
}

void test_image__what_it_is_instead_is_said(void **state)
{
	static const struct {
		const char *bytes, *said;
		size_t size;
	} rows[] = {
	    {"GIF89a", "GIF", 6},
	    {"II+\0\10\0\0\0", "BigTIFF", 8},
	    {"\0\0\0\30ftypheic", "HEIF", 12},
	    {"version https://git-lfs.github.com/spec/v1\n", "git lfs pull", 43}, // of any file
	    {"", "empty", 0},
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct error err;
		uint8_t *rgb;
		int w, h;
		assert_int_equal(image_read(&rgb, &w, &h, support_temp_file("is.jpg", rows[i].bytes, rows[i].size), &err),
		    STATUS_FORMAT);
		assert_non_null(strstr(err.text, rows[i].said));
	}
}

void test_image__damaged_files_are_refused(void **state)
{
	struct error err;
	struct bytes b;
	assert_int_equal(
	    file_read(&b, write_jpeg("whole.jpg", JCS_RGB, 3, (const uint8_t[]){1, 2, 3}), 1 << 20, &err), STATUS_OK);
	check_refused(support_temp_file("cut.jpg", b.data, b.size - 20), STATUS_FORMAT);
	check_refused(support_temp_file("head.jpg", b.data, 30), STATUS_FORMAT);
	bytes_done(&b);
	assert_int_equal(file_read(&b, case_png("whole.png", 40, 40), 1 << 20, &err), STATUS_OK);
	check_refused(support_temp_file("cut.png", b.data, b.size / 2), STATUS_FORMAT);
	b.data[b.size / 2] ^= 0x55;
	check_refused(support_temp_file("flipped.png", b.data, b.size), STATUS_FORMAT);
	b.data[16] = 0x7f; // a width of two thousand million
	check_refused(support_temp_file("huge.png", b.data, b.size), STATUS_FORMAT);
	bytes_done(&b);
	check_refused(support_temp_file("text.png", "hello", 5), STATUS_FORMAT);
	check_refused(support_temp_file("empty.jpg", "", 0), STATUS_FORMAT);
}
