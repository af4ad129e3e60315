// Datasets: which samples there are, in what order, and what they hold.
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <jpeglib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zip.h>
#include "data_case.h"
#include "onnx.pb-c.h"
#include "qtui/base/file.h"
#include "qtui/base/log.h"
#include "qtui/base/mem.h"
#include "qtui/base/npy.h"

static struct data_case vector_case(void)
{
	struct data_case c = {.opt = {.samples = 0}};
	case_input(&c, "x", DT_F32, SHAPE(1, 4));
	return c;
}

static const char *write_npy(const char *name, char kind, int item, struct shape s, const void *data)
{
	struct error err;
	struct npy a = {.kind = kind, .item = item, .rank = s.rank, .data = (void *)data};
	const char *path = support_temp(name);
	for (int i = 0; i < s.rank; i++)
		a.dim[i] = s.dim[i];
	a.size = (size_t)shape_count(&s) * (size_t)item;
	assert_int_equal(npy_write(&a, path, &err), STATUS_OK);
	return path;
}

static char *make_dir(const char *name)
{
	struct error err;
	const char *path = support_temp(name);
	assert_int_equal(file_mkdirs(path, &err), STATUS_OK);
	return xstrdup(path);
}

static float x0(const struct data_case *c, int i)
{
	return ((const float *)c->in[0].data)[i];
}

static const float batch[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};

void test_dataset__npy_batch_has_a_sample_a_row(void **state)
{
	struct data_case c = vector_case();
	(void)state;
	case_open(&c, write_npy("batch.npy", 'f', 4, SHAPE(3, 4), batch));
	assert_int_equal(dataset_count(c.data), 3);
	assert_string_equal(dataset_name(c.data, 2), "batch.npy#2");
	case_load(&c, 2);
	assert_memory_equal(c.in[0].data, batch + 8, 16);
	case_load(&c, 0);
	assert_memory_equal(c.in[0].data, batch, 16);
	case_done(&c);
}

void test_dataset__npy_has_a_sample_for_each_fixed_batch(void **state)
{
	struct data_case c = {0};
	(void)state;
	case_input(&c, "x", DT_F32, SHAPE(2, 2));
	case_open(&c, write_npy("batches.npy", 'f', 4, SHAPE(6, 2), batch));
	assert_int_equal(dataset_count(c.data), 3);
	case_load(&c, 2);
	assert_memory_equal(c.in[0].data, batch + 8, 4 * sizeof(float));
	case_done(&c);
}

void test_dataset__npy_without_batch_is_one_sample(void **state)
{
	static const int64_t whole[4] = {1, -2, 3, 1 << 20};
	static const uint8_t bytes[4] = {0, 1, 128, 255};
	struct data_case c = vector_case();
	(void)state;
	case_open(&c, write_npy("whole.npy", 'i', 8, SHAPE(4), whole));
	assert_int_equal(dataset_count(c.data), 1);
	assert_string_equal(dataset_name(c.data, 0), "whole.npy");
	case_load(&c, 0);
	assert_float_equal(x0(&c, 1), -2, 0);
	assert_float_equal(x0(&c, 3), 1048576, 0);
	case_done(&c);
	c = vector_case();
	case_open(&c, write_npy("bytes.npy", 'u', 1, SHAPE(1, 4), bytes));
	case_load(&c, 0);
	assert_float_equal(x0(&c, 3), 255, 0);
	case_done(&c);
}

void test_dataset__samples_takes_the_first(void **state)
{
	struct data_case c = vector_case();
	(void)state;
	c.opt.samples = 2;
	case_open(&c, write_npy("first.npy", 'f', 4, SHAPE(3, 4), batch));
	assert_int_equal(dataset_count(c.data), 2);
	case_done(&c);
}

void test_dataset__what_does_not_fit_is_named(void **state)
{
	struct data_case c = vector_case();
	(void)state;
	assert_int_equal(case_try(&c, write_npy("misfit.npy", 'f', 4, SHAPE(2, 3), batch)), STATUS_FORMAT);
	assert_non_null(strstr(c.err.text, "misfit.npy"));
	assert_non_null(strstr(c.err.text, "[2, 3]"));
	assert_null(c.data);
	assert_int_equal(case_try(&c, case_png("picture.png", 2, 2)), STATUS_UNSUPPORTED);
	assert_int_equal(case_try(&c, "/nonexistent/calib"), STATUS_IO);
}

void test_dataset__raw_elements(void **state)
{
	struct data_case c = vector_case();
	(void)state;
	case_open(&c, support_temp_file("raw.bin", batch, sizeof batch));
	assert_int_equal(dataset_count(c.data), 3);
	case_load(&c, 1);
	assert_memory_equal(c.in[0].data, batch + 4, 16);
	case_done(&c);
	assert_int_equal(case_try(&c, support_temp_file("odd.bin", batch, 10)), STATUS_FORMAT);
}

void test_dataset__tensor_proto(void **state)
{
	Onnx__TensorProto t = ONNX__TENSOR_PROTO__INIT;
	struct data_case c = vector_case();
	int64_t dims[2] = {1, 4};
	uint8_t packed[256];
	size_t size;
	(void)state;
	t.has_data_type = true;
	t.data_type = ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT;
	t.dims = dims;
	t.n_dims = 2;
	t.float_data = (float *)batch;
	t.n_float_data = 4;
	t.name = (char *)"anything";
	size = onnx__tensor_proto__pack(&t, packed);
	case_open(&c, support_temp_file("input_0.pb", packed, size));
	case_load(&c, 0);
	assert_memory_equal(c.in[0].data, batch, 16);
	case_done(&c);
}

// Packs .npy files into an .npz; `name` pairs: name in the archive, file.
static const char *write_npz(const char *name, int n, const char *const *pairs)
{
	const char *path = support_temp(name);
	zip_t *z = zip_open(path, ZIP_CREATE | ZIP_TRUNCATE, NULL);
	assert_non_null(z);
	for (int i = 0; i < n; i++)
		assert_true(zip_file_add(z, pairs[2 * i], zip_source_file(z, pairs[2 * i + 1], 0, -1), 0) >= 0);
	assert_int_equal(zip_close(z), 0);
	return path;
}

void test_dataset__npz_fills_inputs_by_name(void **state)
{
	static const int64_t ids[4] = {7, 8, 9, 10};
	const char *const pairs[] = {"ids.npy", write_npy("ids.npy", 'i', 8, SHAPE(2, 2), ids), "x.npy",
	    write_npy("x.npy", 'f', 4, SHAPE(2, 4), batch), "unused.npy", write_npy("u.npy", 'f', 4, SHAPE(3), batch)};
	struct data_case c = vector_case();
	struct shape shapes[4];
	char *names[4], *file;
	int n;
	(void)state;
	case_input(&c, "ids", DT_I64, SHAPE(1, 2));
	case_open(&c, write_npz("named.npz", 3, pairs));
	assert_int_equal(dataset_count(c.data), 2);
	case_load(&c, 1);
	assert_memory_equal(c.in[0].data, batch + 4, 16);
	assert_memory_equal(c.in[1].data, ids + 2, 16);
	case_done(&c);
	assert_int_equal(dataset_peek_shapes(shapes, names, 4, &n, &file, support_temp("named.npz"), &c.err), STATUS_OK);
	assert_string_equal(file, support_temp("named.npz"));
	free(file);
	assert_int_equal(n, 3);
	for (int i = 0; i < n; i++) {
		assert_true(
		    strcmp(names[i], "x") || shape_equal(&shapes[i], &(struct shape){.rank = 2, .dim = {2, 4}}));
		free(names[i]);
	}
}

// Texts and objects beside the numbers are what numpy.savez(images=..., names=...) makes.
void test_dataset__npz_with_more_than_numbers(void **state)
{
	static const char text[] = "\x93NUMPY\1\0\x3b\0{'descr':'<U1','fortran_order':False,'shape':()}          \nabc";
	const char *file = support_temp_file("text", text, sizeof text - 1);
	const char *const pairs[] = {"names.npy", file, "x.npy", write_npy("x.npy", 'f', 4, SHAPE(2, 4), batch)};
	const char *const alone[] = {"x.npy", file};
	struct data_case c = vector_case(), other = vector_case();
	(void)state;
	case_open(&c, write_npz("texts.npz", 2, pairs));
	assert_int_equal(dataset_count(c.data), 2);
	case_load(&c, 1);
	assert_memory_equal(c.in[0].data, batch + 4, 16);
	case_done(&c);
	assert_int_equal(case_try(&other, write_npz("alone.npz", 1, alone)), STATUS_UNSUPPORTED);
	assert_non_null(strstr(other.err.text, "alone.npz(x.npy): numbers of type '<U1' cannot be read"));
}

// Fractions for bytes would all become 0, and 300 would become 44.
void test_dataset__numbers_that_the_type_lacks_are_refused(void **state)
{
	static const float fine[4] = {0, 1, 2, 255}, fraction[4] = {0, .5f, 1, 2}, large[4] = {0, 1, 2, 256}, less[4] = {-1};
	static const float *const bad[] = {fraction, large, less};
	struct data_case c = {.opt = {.samples = 0}};
	(void)state;
	case_input(&c, "x", DT_U8, SHAPE(1, 4));
	case_open(&c, write_npy("fine.npy", 'f', 4, SHAPE(1, 4), fine));
	case_load(&c, 0);
	assert_int_equal(((const uint8_t *)c.in[0].data)[3], 255);
	case_done(&c);
	for (size_t i = 0; i < 3; i++) {
		struct data_case b = {.opt = {.samples = 0}};
		case_input(&b, "x", DT_U8, SHAPE(1, 4));
		case_open(&b, write_npy("bad.npy", 'f', 4, SHAPE(1, 4), bad[i]));
		assert_int_equal(dataset_load(b.data, 0, b.in, &b.where, &b.err), STATUS_FORMAT);
		assert_non_null(strstr(b.err.text, "is no uint8, which the input takes"));
		case_done(&b);
	}
}

void test_dataset__numbers_that_are_none_are_warned_of(void **state)
{
	static const float nan[4] = {0, NAN, 1, 2}, mask[4] = {0, -INFINITY, 0, 0};
	const float *const rows[] = {mask, nan};
	(void)state;
	for (int i = 0; i < 2; i++) {
		struct data_case c = vector_case();
		int before = log_count();
		case_open(&c, write_npy("nan.npy", 'f', 4, SHAPE(1, 4), rows[i]));
		case_load(&c, 0);
		case_load(&c, 0); // once is enough
		assert_int_equal(log_count(), before + i);
		case_done(&c);
	}
}

void test_dataset__npz_with_unequal_batches_is_refused(void **state)
{
	const char *const pairs[] = {"ids.npy", write_npy("ids.npy", 'f', 4, SHAPE(3, 2), batch), "x.npy",
	    write_npy("x.npy", 'f', 4, SHAPE(2, 4), batch)};
	struct data_case c = vector_case();
	(void)state;
	case_input(&c, "ids", DT_I64, SHAPE(1, 2));
	assert_int_equal(case_try(&c, write_npz("unequal.npz", 2, pairs)), STATUS_FORMAT);
	assert_non_null(strstr(c.err.text, "unequal.npz"));
}

void test_dataset__a_directory_is_read_in_bytewise_order(void **state)
{
	static const char *const names[] = {"b.npy", "a10.npy", "a9.npy", "B.npy", "_.npy"};
	static const char *const order[] = {"B.npy", "_.npy", "a10.npy", "a9.npy", "b.npy"};
	struct data_case c = vector_case();
	char *dir = make_dir("ordered");
	char name[64];
	(void)state;
	for (size_t i = 0; i < 5; i++) {
		snprintf(name, sizeof name, "ordered/%s", names[i]);
		write_npy(name, 'f', 4, SHAPE(1, 4), batch);
	}
	support_temp_file("ordered/notes.txt", "x", 1);
	case_open(&c, dir);
	assert_int_equal(dataset_count(c.data), 5);
	for (int i = 0; i < 5; i++)
		assert_string_equal(dataset_name(c.data, i), order[i]);
	case_done(&c);
	free(dir);
}

void test_dataset__images_of_other_kinds_are_said(void **state)
{
	struct data_case c = vector_case();
	char *dir = make_dir("kinds"), *path = file_join(dir, "a.webp");
	int before = log_count();
	(void)state;
	assert_int_equal(file_write(path, "RIFF", 4, &c.err), STATUS_OK);
	assert_int_equal(case_try(&c, dir), STATUS_NOTFOUND);
	assert_non_null(strstr(c.err.text, "convert "));
	assert_non_null(strstr(c.err.text, "a.webp"));
	write_npy("kinds/b.npy", 'f', 4, SHAPE(1, 4), batch);
	case_open(&c, dir);
	assert_int_equal(log_count(), before + 2); // of images, and of files
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

// A download that broke off is no reason not to measure the other thirty: it is no sample, is said, and does not count among the first N.
void test_dataset__pictures_that_cannot_be_read_are_left_out(void **state)
{
	struct data_case c = {.opt = {.samples = 2}};
	char *dir = make_dir("broken");
	(void)state;
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
	assert_non_null(strstr(dataset_left_out_why(c.data, 1), "c.jpg is neither"));
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

void test_dataset__pictures_that_are_damaged_within_are_left_out(void **state)
{
	struct data_case c = {0};
	char *dir = make_dir("damaged");
	struct bytes jpeg;
	size_t scan = 0;
	(void)state;
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
void test_dataset__bytes_behind_a_picture_do_not_matter(void **state)
{
	struct data_case c = {0};
	char *dir = make_dir("longer");
	struct bytes b;
	char longer[4096] = {0};
	(void)state;
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

void test_dataset__no_picture_that_can_be_read_is_an_error(void **state)
{
	struct data_case c = {0};
	char *dir = make_dir("all_broken");
	(void)state;
	case_input(&c, "image", DT_F32, SHAPE(1, 3, 8, 8));
	cut_file(case_png("whole.png", 12, 9), "all_broken/a.png", 30);
	assert_int_equal(case_try(&c, dir), STATUS_FORMAT);
	assert_non_null(strstr(c.err.text, "a.png is not a sound PNG"));
	support_temp_file("all_broken/b.jpg", "", 0);
	assert_int_equal(case_try(&c, dir), STATUS_FORMAT);
	assert_non_null(strstr(c.err.text, "none of its 2 pictures"));
	free(dir);
}

void test_dataset__a_line_of_a_list_is_named(void **state)
{
	static const char list[] = "a.npy\n\nb.jpg 3\n";
	struct data_case c = vector_case();
	(void)state;
	assert_int_equal(case_try(&c, support_temp_file("labels.txt", list, sizeof list - 1)), STATUS_FORMAT);
	assert_non_null(strstr(c.err.text, "labels.txt:3: 'b.jpg 3' is not the path of"));
}

void test_dataset__a_list_keeps_its_order(void **state)
{
	static const char list[] = "# calibration\nsub/z.npy\r\n\n  sub/a.npy  \nsub/z.npy";
	struct data_case c = vector_case();
	char *dir = make_dir("sub");
	(void)state;
	write_npy("sub/z.npy", 'f', 4, SHAPE(4), batch + 4);
	write_npy("sub/a.npy", 'f', 4, SHAPE(4), batch);
	case_open(&c, support_temp_file("list.txt", list, sizeof list - 1));
	assert_int_equal(dataset_count(c.data), 3);
	assert_string_equal(dataset_name(c.data, 0), "z.npy");
	case_load(&c, 1);
	assert_memory_equal(c.in[0].data, batch, 16);
	case_done(&c);
	free(dir);
}

void test_dataset__a_subdirectory_an_input(void **state)
{
	static const int64_t state_value[2] = {5, 6};
	struct data_case c = vector_case();
	char *top = make_dir("parts"), *x = make_dir("parts/x"), *h = make_dir("parts/h_0");
	(void)state;
	case_input(&c, "h:0", DT_I64, SHAPE(2));
	write_npy("parts/x/0.npy", 'f', 4, SHAPE(4), batch);
	write_npy("parts/x/1.npy", 'f', 4, SHAPE(4), batch + 4);
	write_npy("parts/h_0/0.npy", 'i', 8, SHAPE(2), state_value);
	assert_int_equal(case_try(&c, top), STATUS_FORMAT); // two files and one
	write_npy("parts/h_0/1.npy", 'i', 8, SHAPE(2), state_value);
	case_open(&c, top);
	assert_int_equal(dataset_count(c.data), 2);
	case_load(&c, 1);
	assert_memory_equal(c.in[0].data, batch + 4, 16);
	assert_memory_equal(c.in[1].data, state_value, 16);
	case_done(&c);
	free(top);
	free(x);
	free(h);
}

// ... by its name as the file system takes it, too; but not one outside, whatever the model calls its inputs.
void test_dataset__a_subdirectory_by_the_very_name(void **state)
{
	static const char *const outside[] = {"../outside", "/"};
	struct data_case c = vector_case();
	char *top = make_dir("names"), *x = make_dir("names/x"), *left = make_dir("names/left"), *image = make_dir("names/left/image 1");
	(void)state;
	case_input(&c, "left/image 1", DT_F32, SHAPE(4));
	write_npy("names/x/0.npy", 'f', 4, SHAPE(4), batch);
	write_npy("names/left/image 1/0.npy", 'f', 4, SHAPE(4), batch + 4);
	case_open(&c, top);
	case_load(&c, 0);
	assert_memory_equal(c.in[1].data, batch + 4, 16);
	case_done(&c);
	free(make_dir("outside"));
	write_npy("outside/0.npy", 'f', 4, SHAPE(4), batch);
	for (size_t i = 0; i < sizeof outside / sizeof *outside; i++) {
		c = vector_case();
		case_input(&c, outside[i], DT_F32, SHAPE(4));
		case_open(&c, top);
		assert_int_equal(dataset_load(c.data, 0, c.in, &c.where, &c.err), STATUS_FORMAT);
		case_done(&c);
	}
	free(top);
	free(x);
	free(left);
	free(image);
}

void test_dataset__second_inputs_by_convention(void **state)
{
	struct data_case c = {.opt = {.samples = 0}};
	(void)state;
	case_input(&c, "images", DT_F32, SHAPE(1, 3, 6, 4));
	case_input(&c, "orig_target_sizes", DT_I64, SHAPE(1, 2));
	case_open(&c, case_png("sized.png", 4, 6));
	case_load(&c, 0);
	assert_int_equal(((int64_t *)c.in[1].data)[0], 4);
	assert_int_equal(((int64_t *)c.in[1].data)[1], 6);
	case_done(&c);
	c.graph.n_inputs = 0;
	case_input(&c, "pixel_values", DT_F32, SHAPE(1, 3, 6, 4));
	case_input(&c, "decoder_attention_mask", DT_I64, SHAPE(1, 5)); // nothing is masked
	case_open(&c, case_png("sized.png", 4, 6));
	case_load(&c, 0);
	for (int i = 0; i < 5; i++)
		assert_int_equal(((int64_t *)c.in[1].data)[i], 1);
	case_done(&c);
	c.graph.n_inputs = 0;
	case_input(&c, "images", DT_F32, SHAPE(1, 3, 6, 4));
	case_input(&c, "mystery", DT_F32, SHAPE(1, 2));
	case_open(&c, case_png("sized.png", 4, 6));
	assert_int_equal(dataset_load(c.data, 0, c.in, NULL, &c.err), STATUS_FORMAT);
	assert_non_null(strstr(c.err.text, "mystery"));
	assert_null(c.in[0].data);
	case_done(&c);
}

static void write_floats(const char *path, int rows, float value)
{
	int64_t dim[] = {rows, 1 << 16};
	float *data = malloc((size_t)rows * sizeof(float) << 16);
	struct tensor t = {.type = DT_F32, .shape = shape_of(2, dim), .data = data};
	struct error err;
	assert_non_null(data);
	for (size_t i = 0; i < (size_t)rows << 16; i++)
		data[i] = value;
	if (array_write(&t, 0, path, &err))
		fail_msg("%s", err.text);
	free(data);
}

// Eight rows make a file that is mapped, and that stays open.
void test_dataset__a_file_that_changes_is_no_longer_the_sample(void **state)
{
	const char *path = support_temp("changing.npy");
	struct data_case c = {0};
	case_input(&c, "x", DT_F32, SHAPE(1, 1 << 16));
	write_floats(path, 8, 1);
	case_open(&c, path);
	case_load(&c, 7);
	dataset_key(c.data, 7);
	assert_int_equal(utimensat(AT_FDCWD, path, (struct timespec[2]){{1, 0}, {1, 0}}, 0), 0);
	case_load(&c, 7); // only touched
	tensor_drop(&c.in[0]);
	write_floats(path, 8, 2);
	assert_int_equal(dataset_load(c.data, 7, c.in, &c.where, &c.err), STATUS_IO);
	assert_non_null(strstr(c.err.text, "changing.npy was written to since"));
	assert_null(c.in[0].data);
	case_done(&c);
}

void test_dataset__a_file_that_is_cut_short_is_told(void **state)
{
	const char *path = support_temp("cut.npy");
	struct data_case c = {0};
	case_input(&c, "x", DT_F32, SHAPE(1, 1 << 16));
	write_floats(path, 8, 1);
	case_open(&c, path);
	assert_int_equal(truncate(path, 4096), 0);
	assert_int_equal(dataset_load(c.data, 7, c.in, &c.where, &c.err), STATUS_IO);
	assert_non_null(strstr(c.err.text, "cut.npy was cut short while it was read"));
	case_done(&c);
}

void test_dataset__keys_follow_content_and_preprocessing(void **state)
{
	struct data_case a = {.opt = {.samples = 0}}, b, bgr;
	struct key first, second;
	(void)state;
	case_input(&a, "images", DT_F32, SHAPE(1, 3, 6, 4));
	b = bgr = a;
	bgr.opt.pre.bgr = bgr.opt.pre.color_set = true;
	case_open(&a, case_png("one.png", 4, 6));
	case_open(&bgr, case_png("one.png", 4, 6));
	case_open(&b, case_png("same.png", 4, 6));
	first = dataset_key(a.data, 0);
	assert_true(key_equal(first, dataset_key(b.data, 0))); // another name, the same content
	assert_false(key_equal(first, dataset_key(bgr.data, 0)));
	case_done(&b);
	case_open(&b, case_png("same.png", 5, 6));
	second = dataset_key(b.data, 0);
	assert_false(key_equal(first, second));
	case_done(&a);
	case_done(&b);
	case_done(&bgr);
}

void test_dataset__random_data_are_reproducible(void **state)
{
	struct data_case a = vector_case(), b = vector_case();
	(void)state;
	a.opt.random = b.opt.random = 3;
	a.opt.seed = b.opt.seed = 7;
	case_open(&a, NULL);
	assert_int_equal(dataset_count(a.data), 3);
	case_load(&a, 1);
	assert_int_equal(dataset_load(a.data, 1, b.in, NULL, &a.err), STATUS_OK);
	assert_memory_equal(a.in[0].data, b.in[0].data, 16);
	assert_int_equal(dataset_load(a.data, 2, b.in + 1, NULL, &a.err), STATUS_OK);
	assert_true(memcmp(a.in[0].data, b.in[1].data, 16));
	for (int i = 0; i < 4; i++)
		assert_true(x0(&a, i) >= 0 && x0(&a, i) < 1);
	assert_false(key_equal(dataset_key(a.data, 0), dataset_key(a.data, 1)));
	case_done(&b);
	case_done(&a);
}

void test_dataset__preprocessing_is_guessed_from_metadata(void **state)
{
	struct data_case c = {.opt = {.samples = 0}};
	const struct preprocess *p;
	(void)state;
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
	assert_string_equal(p->guess, "Ultralytics metadata: letterbox, RGB, /255");
	case_done(&c);
	c.opt.pre = (struct preprocess){
	    .std = {1, 1, 1}, .std_set = true, .mean_set = true, .color_set = true, .resize_set = true};
	case_open(&c, case_png("guess.png", 4, 6));
	p = dataset_preprocess(c.data);
	assert_true(!p->warn && p->resize == RESIZE_STRETCH && p->std[0] == 1);
	assert_string_equal(p->guess, "");
	case_done(&c);
}

// What was guessed and is then given, as a session gives it, names the same content.
void test_dataset__keys_do_not_tell_guessed_from_given(void **state)
{
	struct data_case c = {.opt = {.samples = 0}};
	struct key guessed;
	(void)state;
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

void test_dataset__bytes_are_given_as_they_are(void **state)
{
	struct data_case c = {.opt = {.samples = 0}};
	(void)state;
	case_input(&c, "images", DT_U8, SHAPE(1, 2, 2, 3));
	case_open(&c, case_png("as_they_are.png", 2, 2));
	case_load(&c, 0);
	assert_int_equal(((uint8_t *)c.in[0].data)[3], 31);
	assert_int_equal(((uint8_t *)c.in[0].data)[5], 91);
	case_done(&c);
}

// With 0..1 for an input of int8 every picture would be black.
void test_dataset__signed_bytes_are_given_less_128(void **state)
{
	struct data_case c = {.opt = {.samples = 0}};
	(void)state;
	case_input(&c, "images", DT_I8, SHAPE(1, 2, 2, 3));
	case_open(&c, case_png("signed.png", 2, 2));
	case_load(&c, 0);
	assert_int_equal(((int8_t *)c.in[0].data)[3], 31 - 128);
	assert_int_equal(((int8_t *)c.in[0].data)[5], 91 - 128);
	case_done(&c);
}

// Pixels become what the file becomes: resized, with padding, another order of colours, mean and deviation, and what the convention gives.
void test_dataset__pixels_become_the_same_inputs(void **state)
{
	struct data_case c = {.opt = {.pre = {.mean = {10, 20, 30}, .std = {3, 5, 7}, .bgr = true, .resize = RESIZE_LETTERBOX}}};
	struct tensor pixels, in[CASE_INPUTS];
	(void)state;
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

void test_dataset__what_is_no_image_of_floats_has_no_pixels(void **state)
{
	struct data_case arrays = vector_case(), bytes = {.opt = {.samples = 0}};
	struct tensor pixels;
	(void)state;
	case_open(&arrays, write_npy("no_pixels.npy", 'f', 4, SHAPE(3, 4), batch));
	assert_int_equal(dataset_pixels(arrays.data, 0, &pixels, &arrays.err), STATUS_UNSUPPORTED);
	assert_string_equal(arrays.err.text, "");
	case_done(&arrays);
	case_input(&bytes, "images", DT_U8, SHAPE(1, 2, 2, 3));
	case_open(&bytes, case_png("no_pixels.png", 2, 2));
	assert_int_equal(dataset_pixels(bytes.data, 0, &pixels, &bytes.err), STATUS_UNSUPPORTED);
	case_done(&bytes);
}

// 1 + 3/2048 lies between two halves, the even one above; 65519.9 is the largest finite one, and 2^-25 is nearer to nothing.
void test_dataset__halves_and_doubles_are_written(void **state)
{
	static const float from[] = {1, -2.5f, 1 + 3 / 2048.f, 1 + 1 / 2048.f, 65519.9f, 65520, -INFINITY, 0x1p-24f, 0x1p-25f, 0x1.ff8p-15f, 0x1.ffep-15f, 0.1f, -0.0f};
	static const float halves[] = {1, -2.5f, 1 + 4 / 2048.f, 1, 65504, INFINITY, -INFINITY, 0x1p-24f, 0, 0x1.ff8p-15f, 0x1p-14f, 0x1.998p-4f, -0.0f};
	enum { N = sizeof from / sizeof *from };
	const char *path = support_temp("halves.npy");
	struct tensor t = {.type = DT_F32, .shape = shape_of(1, (int64_t[]){N}), .data = (void *)from};
	struct error err;
	for (int bytes = 2; bytes <= 8; bytes += 6) {
		struct npy a;
		struct tensor back = {0};
		if (array_write(&t, bytes, path, &err) || npy_read(&a, path, &err) || array_read(&back, path, "", DT_F32, &err))
			fail_msg("%s", err.text);
		assert_int_equal(a.kind, 'f');
		assert_int_equal(a.item, bytes);
		assert_memory_equal(back.data, bytes == 2 ? halves : from, sizeof from);
		npy_done(&a);
		tensor_drop(&back);
	}
}
