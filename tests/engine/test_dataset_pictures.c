// Datasets of pictures: what is none, what is broken, and how they become inputs.
#include <stdio.h>
#include <jpeglib.h>
#include "dataset_case.h"
#include "qtui/base/log.h"

void test_dataset_pictures__images_of_other_kinds_are_said(void **state)
{
	struct data_case c = vector_case();
	char *dir = make_dir("kinds"), *path = file_join(dir, "a.heic");
	int before = support_log_count();
	assert_int_equal(file_write(path, "none", 4, &c.err), STATUS_OK);
	assert_int_equal(case_try(&c, dir), STATUS_NOTFOUND);
	assert_non_null(strstr(c.err.text, "convert "));
	assert_non_null(strstr(c.err.text, "a.heic"));
	write_npy("kinds/b.npy", 'f', 4, SHAPE(1, 4), batch);
	case_open(&c, dir);
	assert_int_equal(support_log_count(), before + 2); // of images, and of files
	case_done(&c);
	free(path);
	free(dir);
}

static void cut_file(const char *from, const char *to, size_t less)
{
	struct error err;
	struct bytes b;
	assert_int_equal(file_read(&b, from, 1 << 20, &err), STATUS_OK);
	support_temp_file(to, b.data, b.size - less);
	bytes_done(&b);
}

// A download that broke off is no reason not to measure the other thirty:
// it is no sample, is said, and does not count among the first N.
void test_dataset_pictures__pictures_that_cannot_be_read_are_left_out(void **state)
{
	struct data_case c = {.opt = {.samples = 2}};
	char *dir = make_dir("broken");
	case_input(&c, "image", DT_F32, SHAPE(1, 3, 8, 8));
	cut_file(case_png("broken/b.png", 12, 9), "broken/a.png", 30);
	support_temp_file("broken/c.jpg", "<html>", 6);
	case_png("broken/d.png", 9, 9);
	case_png("broken/e.png", 9, 9);
	case_open(&c, dir);
	assert_int_equal(dataset_count(c.data), 2);
	assert_string_equal(dataset_name(c.data, 0), "b.png");
	assert_string_equal(dataset_name(c.data, 1), "d.png");
	assert_int_equal(dataset_left_out(c.data), 2);
	assert_non_null(strstr(dataset_left_out_why(c.data, 0), "a.png is not a sound PNG"));
	assert_non_null(strstr(dataset_left_out_why(c.data, 1), "c.jpg is no image"));
	case_load(&c, 1);
	case_done(&c);
	free(dir);
}

static const char *case_jpeg(const char *name, int w, int h)
{
	struct jpeg_compress_struct c = {0};
	struct jpeg_error_mgr errors;
	const char *path = support_temp(name);
	uint8_t *rgb = case_picture(w, h);
	FILE *f = fopen(path, "wb");
	assert_non_null(f);
	c.err = jpeg_std_error(&errors);
	jpeg_create_compress(&c);
	jpeg_stdio_dest(&c, f);
	c.image_width = (JDIMENSION)w;
	c.image_height = (JDIMENSION)h;
	c.input_components = 3;
	c.in_color_space = JCS_RGB;
	jpeg_set_defaults(&c);
	jpeg_start_compress(&c, TRUE);
	for (int y = 0; y < h; y++)
		jpeg_write_scanlines(&c, &(JSAMPROW){rgb + 3 * w * y}, 1);
	jpeg_finish_compress(&c);
	jpeg_destroy_compress(&c);
	fclose(f);
	free(rgb);
	return path;
}

// A byte is lost where neither the beginning nor the end tells of it.
static void damage_file(const char *from, const char *to, size_t at, uint8_t byte)
{
	struct error err;
	struct bytes b;
	assert_int_equal(file_read(&b, from, 1 << 20, &err), STATUS_OK);
	assert_true(at < b.size && b.data[at] != byte);
	b.data[at] = byte;
	support_temp_file(to, b.data, b.size);
	bytes_done(&b);
}

void test_dataset_pictures__pictures_that_are_damaged_within_are_left_out(void **state)
{
	struct data_case c = {0};
	char *dir = make_dir("damaged");
	struct bytes jpeg;
	size_t scan = 0;
	case_input(&c, "image", DT_F32, SHAPE(1, 3, 8, 8));
	damage_file(case_png("damaged/b.png", 64, 64), "damaged/a.png", 60, 0x55);
	assert_int_equal(file_read(&jpeg, case_jpeg("damaged/d.jpg", 64, 64), 1 << 20, &c.err), STATUS_OK);
	for (size_t i = 0; i + 1 < jpeg.size && !scan; i++)
		scan = jpeg.data[i] == 0xff && jpeg.data[i + 1] == 0xda ? i + 20 : 0;
	jpeg.data[scan] = 0xff;
	jpeg.data[scan + 1] = 0xf3;
	support_temp_file("damaged/c.jpg", jpeg.data, jpeg.size);
	bytes_done(&jpeg);
	case_open(&c, dir);
	assert_int_equal(dataset_count(c.data), 2);
	assert_int_equal(dataset_left_out(c.data), 2);
	assert_non_null(strstr(dataset_left_out_why(c.data, 0), "a.png is not a sound PNG"));
	assert_non_null(strstr(dataset_left_out_why(c.data, 1), "c.jpg is not a sound JPEG"));
	case_load(&c, 0);
	case_load(&c, 1);
	case_done(&c);
	free(dir);
}

// What a camera or an editor writes behind the end of a picture does not make it a broken one.
void test_dataset_pictures__bytes_behind_a_picture_do_not_matter(void **state)
{
	struct data_case c = {0};
	char *dir = make_dir("longer");
	struct bytes b;
	char longer[4096] = {0};
	case_input(&c, "image", DT_F32, SHAPE(1, 3, 8, 8));
	assert_int_equal(file_read(&b, case_png("longer.png", 12, 9), sizeof longer - 64, &c.err), STATUS_OK);
	memcpy(longer, b.data, b.size);
	support_temp_file("longer/a.png", longer, b.size + 64);
	bytes_done(&b);
	case_open(&c, dir);
	assert_int_equal(dataset_left_out(c.data), 0);
	case_done(&c);
	free(dir);
}

void test_dataset_pictures__no_picture_that_can_be_read_is_an_error(void **state)
{
	struct data_case c = {0};
	char *dir = make_dir("all_broken");
	case_input(&c, "image", DT_F32, SHAPE(1, 3, 8, 8));
	cut_file(case_png("whole.png", 12, 9), "all_broken/a.png", 30);
	assert_int_equal(case_try(&c, dir), STATUS_FORMAT);
	assert_non_null(strstr(c.err.text, "a.png is not a sound PNG"));
	support_temp_file("all_broken/b.jpg", "", 0);
	assert_int_equal(case_try(&c, dir), STATUS_FORMAT);
	assert_non_null(strstr(c.err.text, "none of its 2 pictures"));
	free(dir);
}

void test_dataset_pictures__preprocessing_is_guessed_from_metadata(void **state)
{
	struct data_case c = {.opt = {.samples = 0}};
	const struct preprocess *p;
	case_input(&c, "images", DT_F32, SHAPE(1, 3, 8, 8));
	case_open(&c, case_png("guess.png", 4, 6));
	p = dataset_preprocess(c.data);
	assert_true(p->warn && p->resize == RESIZE_STRETCH && p->std[2] == 255 && !p->bgr && p->guess[0]);
	case_done(&c);
	c.metadata[0] = (struct metadata){"task", "detect"};
	c.metadata[1] = (struct metadata){"imgsz", "[8, 8]"};
	c.graph.n_metadata = 2;
	case_open(&c, case_png("guess.png", 4, 6));
	p = dataset_preprocess(c.data);
	assert_true(!p->warn && p->resize == RESIZE_LETTERBOX);
	assert_string_equal(p->guess, "Ultralytics metadata: RGB, letterbox, mean 0, std 255");
	case_done(&c);
	c.opt.pre = (struct preprocess){
	    .std = {1, 1, 1}, .std_set = true, .mean_set = true, .color_set = true, .resize_set = true};
	case_open(&c, case_png("guess.png", 4, 6));
	p = dataset_preprocess(c.data);
	assert_true(!p->warn && p->resize == RESIZE_STRETCH && p->std[0] == 1);
	assert_string_equal(p->guess, "");
	case_done(&c);
}

// What options say was not guessed; what is opened again as it was before is said once.
void test_dataset_pictures__only_what_was_guessed_is_said(void **state)
{
	struct data_case c = {.opt = {.pre = {.std = {58, 57, 57, 1}, .std_set = true, .color_set = true, .bgr = true}}};
	case_input(&c, "images", DT_F32, SHAPE(1, 3, 8, 8));
	case_open(&c, case_png("guess.png", 4, 6));
	assert_string_equal(dataset_preprocess(c.data)->guess, "stretched, mean 0, as no option says otherwise");
	case_done(&c);
	int lines = support_log_count();
	c.opt = (struct dataset_options){.prepared = true};
	case_open(&c, case_png("guess.png", 4, 6));
	assert_int_equal(support_log_count(), lines);
	case_done(&c);
}

// Arrays and random numbers are taken as they are: to say that they were read as pictures would be wrong.
void test_dataset_pictures__of_other_samples_no_preparation_is_told(void **state)
{
	static const float x[3 * 8 * 8];
	struct data_case c = {.opt = {.samples = 0}};
	case_input(&c, "images", DT_F32, SHAPE(1, 3, 8, 8));
	case_open(&c, support_temp_file("sample.bin", x, sizeof x));
	assert_string_equal(dataset_preprocess(c.data)->guess, "");
	case_done(&c);
	c.opt.random = 1;
	case_open(&c, NULL);
	assert_string_equal(dataset_preprocess(c.data)->guess, "");
	case_done(&c);
}

// Somebody who gives a mean beside arrays of 0..255 expects it to be taken off.
void test_dataset_pictures__options_that_arrays_do_not_heed_are_said(void **state)
{
	static const float x[3 * 8 * 8];
	struct data_case c = {.opt = {.samples = 0}};
	const char *raw = support_temp_file("raw.bin", x, sizeof x);
	case_input(&c, "images", DT_F32, SHAPE(1, 3, 8, 8));
	for (int given = 0; given < 2; given++) {
		int before = log_warnings();
		c.opt.pre.mean_set = given;
		case_open(&c, raw);
		assert_int_equal(log_warnings() - before, given);
		case_done(&c);
	}
	c.opt.prepared = true; // the session says how pictures are prepared
	int before = log_warnings();
	case_open(&c, raw);
	assert_int_equal(log_warnings() - before, 0);
	case_done(&c);
}

// What was guessed and is then given, as a session gives it, names the same content.
void test_dataset_pictures__keys_do_not_tell_guessed_from_given(void **state)
{
	struct data_case c = {.opt = {.samples = 0}};
	struct key guessed;
	case_input(&c, "images", DT_F32, SHAPE(1, 3, 8, 8));
	case_open(&c, case_png("given.png", 4, 6));
	guessed = dataset_key(c.data, 0);
	c.opt.pre = *dataset_preprocess(c.data);
	c.opt.pre.mean_set = c.opt.pre.std_set = c.opt.pre.color_set = c.opt.pre.resize_set = true;
	case_done(&c);
	case_open(&c, case_png("given.png", 4, 6));
	assert_true(key_equal(guessed, dataset_key(c.data, 0)));
	case_done(&c);
}

void test_dataset_pictures__bytes_are_given_as_they_are(void **state)
{
	struct data_case c = {.opt = {.samples = 0}};
	case_input(&c, "images", DT_U8, SHAPE(1, 2, 2, 3));
	case_open(&c, case_png("as_they_are.png", 2, 2));
	case_load(&c, 0);
	assert_int_equal(((uint8_t *)c.in[0].data)[3], 31);
	assert_int_equal(((uint8_t *)c.in[0].data)[5], 91);
	case_done(&c);
}

// MoveNet takes them as integers of 32 bits; where there is another input for pictures, such an one is no picture.
void test_dataset_pictures__bytes_are_given_as_integers(void **state)
{
	struct data_case c = {.opt = {.samples = 0}}, two = c, random = {.opt = {.random = 1}};
	case_input(&c, "input", DT_I32, SHAPE(1, 2, 2, 3));
	case_open(&c, case_png("integers.png", 2, 2));
	case_load(&c, 0);
	assert_int_equal(((int32_t *)c.in[0].data)[3], 31);
	assert_int_equal(((int32_t *)c.in[0].data)[5], 91);
	case_done(&c);
	case_input(&two, "mask", DT_I32, SHAPE(1, 1, 2, 2));
	case_input(&two, "image", DT_F32, SHAPE(1, 3, 2, 2));
	case_open(&two, case_png("floats.png", 2, 2));
	assert_int_equal(dataset_load(two.data, 0, two.in, &two.where, &two.err), STATUS_FORMAT);
	assert_non_null(strstr(two.err.text, "nothing for input 'mask'"));
	case_done(&two);
	case_input(&random, "input", DT_I32, SHAPE(1, 8, 8, 3));
	case_open(&random, NULL);
	case_load(&random, 0);
	int32_t most = 0;
	for (int i = 0; i < 8 * 8 * 3; i++)
		most = ((int32_t *)random.in[0].data)[i] > most ? ((int32_t *)random.in[0].data)[i] : most;
	assert_true(most > 200 && most < 256);
	case_done(&random);
}

// With 0..1 for an input of int8 every picture would be black.
void test_dataset_pictures__signed_bytes_are_given_less_128(void **state)
{
	struct data_case c = {.opt = {.samples = 0}};
	case_input(&c, "images", DT_I8, SHAPE(1, 2, 2, 3));
	case_open(&c, case_png("signed.png", 2, 2));
	case_load(&c, 0);
	assert_int_equal(((int8_t *)c.in[0].data)[3], 31 - 128);
	assert_int_equal(((int8_t *)c.in[0].data)[5], 91 - 128);
	case_done(&c);
}

// torchvision's detectors and the model zoo's take one picture without a batch.
void test_dataset_pictures__an_input_without_a_batch(void **state)
{
	const struct shape with[] = {SHAPE(1, 3, 40, 36), SHAPE(1, 40, 36, 3)}, without[] = {SHAPE(3, 40, 36), SHAPE(40, 36, 3)};
	const struct shape none[] = {SHAPE(3, 1, 128), SHAPE(1, 40, 36), SHAPE(2, 40, 36)};
	const char *path = case_png("no_batch.png", 7, 5);
	for (size_t i = 0; i < sizeof with / sizeof *with; i++) {
		struct data_case a = {.opt = {.samples = 0}}, b = {.opt = {.samples = 0}};
		case_input(&a, "images", DT_F32, with[i]);
		case_open(&a, path);
		case_load(&a, 0);
		case_input(&b, "images", DT_F32, without[i]);
		case_open(&b, path);
		case_load(&b, 0);
		assert_true(shape_equal(&b.in[0].shape, &without[i]));
		assert_memory_equal(a.in[0].data, b.in[0].data, tensor_bytes(&a.in[0]));
		case_done(&a);
		case_done(&b);
	}
	for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
		struct data_case c = {.opt = {.samples = 0}};
		case_input(&c, "h", DT_F32, none[i]);
		assert_int_equal(case_try(&c, path), STATUS_UNSUPPORTED);
		assert_non_null(strstr(c.err.text, "no input for images"));
		case_done(&c);
	}
}

// Pixels become what the file becomes: resized, with padding, another order of colours,
// mean and deviation, and what the convention gives.
void test_dataset_pictures__pixels_become_the_same_inputs(void **state)
{
	struct data_case c = {.opt = {.pre = {.mean = {10, 20, 30}, .std = {3, 5, 7}, .bgr = true, .resize = RESIZE_LETTERBOX}}};
	struct tensor pixels, in[CASE_INPUTS];
	c.opt.pre.mean_set = c.opt.pre.std_set = c.opt.pre.color_set = c.opt.pre.resize_set = true;
	case_input(&c, "images", DT_F32, SHAPE(1, 3, 6, 8));
	case_input(&c, "orig_target_sizes", DT_I64, SHAPE(1, 2));
	case_open(&c, case_png("pixels.png", 5, 3));
	case_load(&c, 0);
	assert_int_equal(dataset_pixels(c.data, 0, &pixels, &c.err), STATUS_OK);
	assert_int_equal(pixels.type, DT_U8);
	assert_int_equal(tensor_bytes(&pixels), 6 * 8 * 3);
	assert_int_equal(dataset_load_pixels(c.data, 0, &pixels, in, &c.err), STATUS_OK);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(tensor_bytes(&in[i]), tensor_bytes(&c.in[i]));
		assert_memory_equal(in[i].data, c.in[i].data, tensor_bytes(&in[i]));
		tensor_drop(&in[i]);
	}
	tensor_drop(&pixels);
	case_done(&c);
}

void test_dataset_pictures__what_is_no_image_of_floats_has_no_pixels(void **state)
{
	struct data_case arrays = vector_case(), bytes = {.opt = {.samples = 0}};
	struct tensor pixels;
	case_open(&arrays, write_npy("no_pixels.npy", 'f', 4, SHAPE(3, 4), batch));
	assert_int_equal(dataset_pixels(arrays.data, 0, &pixels, &arrays.err), STATUS_UNSUPPORTED);
	assert_string_equal(arrays.err.text, "");
	case_done(&arrays);
	case_input(&bytes, "images", DT_U8, SHAPE(1, 2, 2, 3));
	case_open(&bytes, case_png("no_pixels.png", 2, 2));
	assert_int_equal(dataset_pixels(bytes.data, 0, &pixels, &bytes.err), STATUS_UNSUPPORTED);
	case_done(&bytes);
}
