// The formats beside JPEG and PNG: WebP and TIFF as their libraries write them, BMP and PNM byte by byte.
#include <stdlib.h>
#include <string.h>
#include <tiffio.h>
#include <webp/encode.h>
#include "../../src/engine/data/image/image.h"
#include "data_case.h"
#include "qtui/base/file.h"

static void check_pixels(const char *path, int w, int h, const uint8_t *rgb)
{
	struct error err;
	uint8_t *got;
	int got_w, got_h, size_w, size_h;
	assert_int_equal(image_read(&got, &got_w, &got_h, path, &err), STATUS_OK);
	assert_int_equal(got_w, w);
	assert_int_equal(got_h, h);
	assert_memory_equal(got, rgb, (size_t)w * (size_t)h * 3);
	free(got);
	assert_int_equal(image_size(&size_w, &size_h, path, &err), STATUS_OK);
	assert_int_equal(size_w, w);
	assert_int_equal(size_h, h);
	assert_int_equal(image_whole(path, &err), STATUS_OK);
}

static void check_refused(const char *path, const char *why)
{
	struct error err = {0};
	uint8_t *rgb;
	int w, h;
	assert_int_not_equal(image_read(&rgb, &w, &h, path, &err), STATUS_OK);
	assert_null(rgb);
	assert_non_null(strstr(err.text, file_base(path)));
	assert_non_null(strstr(err.text, why));
	assert_int_not_equal(image_whole(path, &err), STATUS_OK);
}

// A file that ends early is no sample, wherever it ends.
static void check_cut(const char *name, const void *bytes, size_t size)
{
	for (size_t n = 0; n < size; n++)
		check_refused(support_temp_file(name, bytes, n), "");
}

static const uint8_t four[] = {255, 0, 0, 0, 255, 0, 0, 0, 255, 10, 20, 30};       // 2 x 2
static const uint8_t lying[] = {0, 0, 255, 255, 0, 0, 10, 20, 30, 0, 255, 0};      // the same, as orientation 6 shows it
static const uint8_t exif[] = "II*\0\10\0\0\0\1\0\22\1\3\0\1\0\0\0\6\0\0\0\0\0\0"; // orientation 6, and a byte of padding

// ---- WebP

static void put_u32(uint8_t *p, size_t v)
{
	for (int i = 0; i < 4; i++)
		p[i] = (uint8_t)(v >> 8 * i);
}

static size_t put_chunk(uint8_t *p, const char *name, const void *data, size_t size)
{
	memcpy(p, name, 4);
	put_u32(p + 4, size);
	memcpy(p + 8, data, size);
	p[8 + size] = 0;
	return 8 + size + size % 2;
}

void test_image_formats__webp(void **state)
{
	uint8_t *bytes, file[512];
	size_t size = WebPEncodeLosslessRGB(four, 2, 2, 6, &bytes);
	check_pixels(support_temp_file("a.webp", bytes, size), 2, 2, four);
	check_cut("cut.webp", bytes, size);
	for (int prefix = 0; prefix < 2; prefix++) {
		static const char prefixed[] = "Exif\0\0";
		uint8_t said[64], vp8x[10] = {0x08, 0, 0, 0, 1, 0, 0, 1, 0, 0}; // flag of Exif; width - 1, height - 1
		memcpy(said, prefixed, 6);
		memcpy(said + (prefix ? 6 : 0), exif, sizeof exif);
		memcpy(file, "RIFF\0\0\0\0WEBP", 12);
		size_t n = 12 + put_chunk(file + 12, "VP8X", vp8x, sizeof vp8x);
		memcpy(file + n, bytes + 12, size - 12);
		n += size - 12;
		n += put_chunk(file + n, "EXIF", said, sizeof exif + (prefix ? 6 : 0));
		put_u32(file + 4, n - 8);
		check_pixels(support_temp_file("exif.webp", file, n), 2, 2, lying);
		file[20] = 0x02; // the flag of an animation
		check_refused(support_temp_file("moves.webp", file, n), "animation");
	}
	WebPFree(bytes);
}

// ---- TIFF

struct tiff_kind {
	int bits, samples, photometric, compression, extra, orientation, format;
	bool tiled;
};

static const char *write_tiff(const struct tiff_kind *k, const void *row0, const void *row1)
{
	const char *path = support_temp("a.tif");
	uint8_t tile[16 * 16 * 3] = {0};
	TIFF *t = TIFFOpen(path, "w");
	assert_non_null(t);
	TIFFSetField(t, TIFFTAG_IMAGEWIDTH, 2);
	TIFFSetField(t, TIFFTAG_IMAGELENGTH, 2);
	TIFFSetField(t, TIFFTAG_BITSPERSAMPLE, k->bits);
	TIFFSetField(t, TIFFTAG_SAMPLESPERPIXEL, k->samples);
	TIFFSetField(t, TIFFTAG_PHOTOMETRIC, k->photometric);
	TIFFSetField(t, TIFFTAG_COMPRESSION, k->compression);
	TIFFSetField(t, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
	TIFFSetField(t, TIFFTAG_SAMPLEFORMAT, k->format ? k->format : SAMPLEFORMAT_UINT);
	TIFFSetField(t, TIFFTAG_ORIENTATION, k->orientation ? k->orientation : 1);
	if (k->extra)
		TIFFSetField(t, TIFFTAG_EXTRASAMPLES, 1, (uint16_t[]){(uint16_t)k->extra});
	if (k->tiled) {
		TIFFSetField(t, TIFFTAG_TILEWIDTH, 16);
		TIFFSetField(t, TIFFTAG_TILELENGTH, 16);
		memcpy(tile, row0, 6);
		memcpy(tile + 48, row1, 6);
		assert_true(TIFFWriteEncodedTile(t, 0, tile, sizeof tile) > 0);
	} else {
		assert_int_equal(TIFFWriteScanline(t, (void *)(uintptr_t)row0, 0, 0), 1);
		assert_int_equal(TIFFWriteScanline(t, (void *)(uintptr_t)row1, 1, 0), 1);
	}
	TIFFClose(t);
	return path;
}

void test_image_formats__tiff_of_every_kind(void **state)
{
	static const uint8_t with_alpha[] = {255, 0, 0, 9, 0, 255, 0, 0, 0, 0, 255, 255, 10, 20, 30, 100};
	static const uint16_t wide[] = {0, 65535, 32896, 257};
	static const uint8_t greys[] = {0, 0, 0, 255, 255, 255, 128, 128, 128, 1, 1, 1};
	static const struct tiff_kind rgb[] = {
	    {8, 3, PHOTOMETRIC_RGB, COMPRESSION_NONE, 0, 0, 0, false},
	    {8, 3, PHOTOMETRIC_RGB, COMPRESSION_LZW, 0, 0, 0, false},
	    {8, 3, PHOTOMETRIC_RGB, COMPRESSION_ADOBE_DEFLATE, 0, 0, 0, false},
	    {8, 3, PHOTOMETRIC_RGB, COMPRESSION_PACKBITS, 0, 0, 0, true},
	};
	for (size_t i = 0; i < sizeof rgb / sizeof *rgb; i++)
		check_pixels(write_tiff(&rgb[i], four, four + 6), 2, 2, four);
	struct tiff_kind turned = rgb[0];
	turned.orientation = 6;
	check_pixels(write_tiff(&turned, four, four + 6), 2, 2, lying);
	for (int alpha = EXTRASAMPLE_ASSOCALPHA; alpha <= EXTRASAMPLE_UNASSALPHA; alpha++) {
		struct tiff_kind rgba = {8, 4, PHOTOMETRIC_RGB, COMPRESSION_NONE, alpha, 0, 0, false};
		check_pixels(write_tiff(&rgba, with_alpha, with_alpha + 8), 2, 2, four);
	}
	struct tiff_kind grey = {16, 1, PHOTOMETRIC_MINISBLACK, COMPRESSION_NONE, 0, 0, 0, false};
	check_pixels(write_tiff(&grey, wide, wide + 2), 2, 2, greys);
}

void test_image_formats__tiff_that_cannot_be_shown(void **state)
{
	static const float row[] = {0.5f, 2};
	struct tiff_kind floats = {32, 1, PHOTOMETRIC_MINISBLACK, COMPRESSION_NONE, 0, 0, SAMPLEFORMAT_IEEEFP, false};
	check_refused(write_tiff(&floats, row, row), "32-bit samples");
	struct tiff_kind rgb = {8, 3, PHOTOMETRIC_RGB, COMPRESSION_LZW, 0, 0, 0, false};
	struct bytes b;
	struct error err;
	assert_int_equal(file_read(&b, write_tiff(&rgb, four, four + 6), 1 << 16, &err), STATUS_OK);
	for (size_t n = 0; n + 12 < b.size; n += 7) // in the last 12 bytes lie tags that are not needed
		check_refused(support_temp_file("cut.tif", b.data, n), "");
	bytes_done(&b);
}

// ---- BMP

static const uint8_t red_blue[] = {255, 0, 0, 0, 0, 255, 255, 0, 0, 255, 0, 0, 0, 0, 255, 0, 0, 255}; // 3 x 2

struct bmp_kind {
	int bits, compression;
	const char *masks; // 12 bytes behind the head, or NULL
	const char *palette;
	size_t palette_size;
	const char *pixels;
	size_t size;
	bool from_above;
	const uint8_t *rgb;
};

// 3 x 2 pixels.
static size_t build_bmp(uint8_t *p, const struct bmp_kind *k)
{
	size_t n = 54;
	memset(p, 0, n);
	memcpy(p, "BM", 2);
	put_u32(p + 14, 40);
	put_u32(p + 18, 3);
	put_u32(p + 22, k->from_above ? (size_t)-2 : 2);
	p[26] = 1;
	p[28] = (uint8_t)k->bits;
	p[30] = (uint8_t)k->compression;
	if (k->masks)
		memcpy(p + n, k->masks, 12);
	n += k->masks ? 12 : 0;
	if (k->palette_size)
		memcpy(p + n, k->palette, k->palette_size);
	n += k->palette_size;
	put_u32(p + 46, k->palette_size / 4);
	put_u32(p + 10, n);
	memcpy(p + n, k->pixels, k->size);
	return n + k->size;
}

#define TEXT(t) t, sizeof t - 1

void test_image_formats__bmp_of_every_depth(void **state)
{
#define PALETTE "\0\0\xff\0\xff\0\0\0" // red, blue
	// Red blue red over red blue blue; the lower row comes first, unless it is said.
	static const struct bmp_kind kinds[] = {
	    {1, 0, NULL, TEXT(PALETTE), TEXT("\x60\0\0\0\x40\0\0\0"), false, red_blue},
	    {4, 0, NULL, TEXT(PALETTE), TEXT("\1\x10\0\0\1\0\0\0"), false, red_blue},
	    {8, 0, NULL, TEXT(PALETTE), TEXT("\0\1\1\0\0\1\0\0"), false, red_blue},
	    {8, 0, NULL, TEXT(PALETTE), TEXT("\0\1\0\0\0\1\1\0"), true, red_blue},
	    {16, 0, NULL, NULL, 0, TEXT("\0\x7c\x1f\0\x1f\0\0\0\0\x7c\x1f\0\0\x7c\0\0"), false, red_blue},
	    {16, 3, "\0\xf8\0\0\xe0\7\0\0\x1f\0\0", NULL, 0, TEXT("\0\xf8\x1f\0\x1f\0\0\0\0\xf8\x1f\0\0\xf8\0\0"), false, red_blue},
	    {24, 0, NULL, NULL, 0, TEXT("\0\0\xff\xff\0\0\xff\0\0\0\0\0\0\0\xff\xff\0\0\0\0\xff\0\0\0"), false, red_blue},
	    {32, 0, NULL, NULL, 0, TEXT("\0\0\xff\0\xff\0\0\1\xff\0\0\2\0\0\xff\3\xff\0\0\4\0\0\xff\5"), false, red_blue},
	    {32, 3, "\xff\0\0\0\0\xff\0\0\0\0\xff", NULL, 0, TEXT("\xff\0\0\0\0\0\xff\1\0\0\xff\2\xff\0\0\3\0\0\xff\4\xff\0\0\5"), false,
	        red_blue},
	};
	uint8_t file[512];
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		size_t n = build_bmp(file, &kinds[i]);
		check_pixels(support_temp_file("a.bmp", file, n), 3, 2, kinds[i].rgb);
		check_cut("cut.bmp", file, n);
	}
}

void test_image_formats__bmp_of_runs(void **state)
{
	static const uint8_t gap[] = {255, 0, 0, 255, 0, 0, 0, 0, 255, 255, 0, 0, 0, 0, 255, 0, 0, 255};
	static const struct bmp_kind kinds[] = {
	    {8, 1, NULL, TEXT(PALETTE), TEXT("\1\0\2\1\0\0\1\0\1\1\1\0\0\1"), false, red_blue},
	    {8, 1, NULL, TEXT(PALETTE), TEXT("\0\3\0\1\1\0\0\0\0\3\0\1\0\0\0\1"), false, red_blue}, // pixels as they are
	    {8, 1, NULL, TEXT(PALETTE), TEXT("\1\0\2\1\0\0\0\2\2\0\1\1\0\1"), false, gap},          // two are passed over
	    {4, 2, NULL, TEXT(PALETTE), TEXT("\1\0\2\x11\0\0\3\1\0\1"), false, red_blue},           // 0 1 0 of a pair
	    {8, 1, NULL, TEXT(PALETTE), TEXT("\xff\0\xff\1\0\0\1\0\1\1\1\0\0\0\5\1"), false, NULL}, // longer than the picture
	    {8, 1, NULL, TEXT(PALETTE), TEXT("\0\2\xff\xff\xff\1\0\xff\1"), false, NULL},
	};
	uint8_t file[512];
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		const char *path = support_temp_file("runs.bmp", file, build_bmp(file, &kinds[i]));
		struct error err;
		uint8_t *rgb;
		int w, h;
		if (kinds[i].rgb)
			check_pixels(path, 3, 2, kinds[i].rgb);
		assert_int_equal(image_read(&rgb, &w, &h, path, &err), STATUS_OK);
		free(rgb);
	}
}

void test_image_formats__bmp_of_os2(void **state)
{
	static const char file[] = "BM\0\0\0\0\0\0\0\0\x20\0\0\0\14\0\0\0\3\0\2\0\1\0\1\0\0\0\xff\xff\0\0\x60\0\0\0\x40\0\0";
	check_pixels(support_temp_file("os2.bmp", file, sizeof file), 3, 2, red_blue);
}

void test_image_formats__bmp_of_no_picture(void **state)
{
	uint8_t file[512];
	struct bmp_kind kind = {24, 4, NULL, NULL, 0, TEXT("\xff\xd8\xff"), false, NULL}; // a JPEG within
	size_t n = build_bmp(file, &kind);
	check_refused(support_temp_file("in.bmp", file, n), "compression");
	kind.compression = 0;
	n = build_bmp(file, &kind);
	put_u32(file + 18, 0x7fffffff);
	check_refused(support_temp_file("wide.bmp", file, n), "megapixels");
	put_u32(file + 18, 0);
	check_refused(support_temp_file("none.bmp", file, n), "megapixels");

	enum { LONG = (1 << 20) + 32 }; // all of it is there, and it has no more pixels than others
	static uint8_t bar[54 + 8 + LONG / 8];
	build_bmp(bar, &(struct bmp_kind){1, 0, NULL, TEXT(PALETTE), "", 0, false, NULL});
	put_u32(bar + 18, LONG);
	put_u32(bar + 22, 1);
	check_refused(support_temp_file("long.bmp", bar, sizeof bar), "pixels a side");
}

// ---- PNM

void test_image_formats__pnm(void **state)
{
	static const uint8_t greys[] = {0, 0, 0, 255, 255, 255, 128, 128, 128, 255, 255, 255};
	static const char color[] = "P6\n# from a camera\n2 2 # width, height\n255\n\xff\0\0\0\xff\0\0\0\xff\x0a\x14\x1e";
	static const char grey[] = "P5 2 2 255 \0\xff\x80\xff", few[] = "P5 2 2 2 \0\2\1\3", wide[] = "P5 2\n2\n1000\n\0\0\3\xe8\1\xf4\4\0";
	check_pixels(support_temp_file("a.ppm", TEXT(color)), 2, 2, four);
	check_pixels(support_temp_file("a.pgm", TEXT(grey)), 2, 2, greys);
	check_pixels(support_temp_file("few.pgm", TEXT(few)), 2, 2, greys);
	check_pixels(support_temp_file("wide.pgm", TEXT(wide)), 2, 2, greys);
	check_cut("cut.ppm", TEXT(color));
	check_cut("cut.pgm", TEXT(wide));
	check_refused(support_temp_file("white.pgm", TEXT("P5 2 2 65536 \0\0\0\0")), "white");
	check_refused(support_temp_file("far.pgm", TEXT("P5 99999999999999999999 2 255 \0\0\0\0")), "white");
	check_refused(support_temp_file("bits.pgm", TEXT("P4 2 2 \0\0")), "PBM");
	check_refused(support_temp_file("letters.pgm", TEXT("P2 1 1 255 7\n")), "PGM in letters");
	check_refused(support_temp_file("letters.ppm", TEXT("P3 1 1 255 7 8 9\n")), "PPM in letters");
}

// A directory may hold several formats, and a name may say another than the file has.
void test_image_formats__are_samples(void **state)
{
	struct data_case c = {0};
	case_input(&c, "image", DT_F32, SHAPE(1, 3, 2, 2));
	const char *list = support_temp_file("list.txt", TEXT("b.PPM\nc.jpg\n"));
	support_temp_file("b.PPM", TEXT("P6 2 2 255 \xff\0\0\0\xff\0\0\0\xff\x0a\x14\x1e"));
	support_temp_file("c.jpg", TEXT("P6 2 2 255 \xff\0\0\0\xff\0\0\0\xff\x0a\x14\x1e"));
	case_open(&c, list);
	assert_int_equal(dataset_count(c.data), 2);
	for (int i = 0; i < 2; i++) {
		case_load(&c, i);
		assert_float_equal(((const float *)c.in[0].data)[3], 10 / 255.0, 1e-6);
	}
	case_done(&c);
}
