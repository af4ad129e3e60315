// Datasets: which samples there are, in what order, under which keys, and of which input each file is.
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include "dataset_case.h"

void test_dataset__samples_takes_the_first(void **state)
{
	struct data_case c = vector_case();
	c.opt.samples = 2;
	case_open(&c, write_npy("first.npy", 'f', 4, SHAPE(3, 4), batch));
	assert_int_equal(dataset_count(c.data), 2);
	case_done(&c);
}

void test_dataset__a_directory_is_read_in_bytewise_order(void **state)
{
	static const char *const names[] = {"b.npy", "a10.npy", "a9.npy", "B.npy", "_.npy"};
	static const char *const order[] = {"B.npy", "_.npy", "a10.npy", "a9.npy", "b.npy"};
	struct data_case c = vector_case();
	char *dir = make_dir("ordered");
	char name[64];
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

void test_dataset__a_line_of_a_list_is_named(void **state)
{
	static const char list[] = "a.npy\n\nb.jpg 3\n";
	struct data_case c = vector_case();
	assert_int_equal(case_try(&c, support_temp_file("labels.txt", list, sizeof list - 1)), STATUS_FORMAT);
	assert_non_null(strstr(c.err.text, "labels.txt:3: 'b.jpg 3' is not the path of"));
}

void test_dataset__what_describes_data_is_no_list(void **state)
{
	static const char *const names[] = {"data.yaml", "instances.json", "metadata.jsonl", "annotations.xml"};
	static const char text[] = "train: images\n";
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct data_case c = vector_case();
		assert_int_equal(case_try(&c, support_temp_file(names[i], text, sizeof text - 1)), STATUS_USAGE);
		assert_non_null(strstr(c.err.text, "holds no samples: give the directory of images or arrays"));
		case_done(&c);
	}
	(void)state;
}

void test_dataset__a_list_keeps_its_order(void **state)
{
	static const char list[] = "# calibration\nsub/z.npy\r\n\n  sub/a.npy  \nsub/z.npy";
	struct data_case c = vector_case();
	char *dir = make_dir("sub");
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

// In other files of a list, or in other rows of the one file.
void test_dataset__knows_whether_there_are_more_samples(void **state)
{
	static const char list[] = "one.npy\none.npy\none.npy";
	write_npy("one.npy", 'f', 4, SHAPE(4), batch);
	char *path[] = {
	    strdup(support_temp_file("three.txt", list, sizeof list - 1)), strdup(write_npy("three.npy", 'f', 4, SHAPE(3, 4), batch))};
	for (int i = 0; i < 2; i++) {
		for (int samples = 0; samples <= 4; samples++) {
			struct data_case c = vector_case();
			c.opt.samples = samples;
			case_open(&c, path[i]);
			assert_int_equal(dataset_count(c.data), samples == 0 || samples > 3 ? 3 : samples);
			assert_int_equal(dataset_has_more(c.data), samples == 1 || samples == 2);
			case_done(&c);
		}
		free(path[i]);
	}
}

void test_dataset__a_subdirectory_an_input(void **state)
{
	static const int64_t state_value[2] = {5, 6};
	struct data_case c = vector_case();
	char *top = make_dir("parts"), *x = make_dir("parts/x"), *h = make_dir("parts/h_0");
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

// Masks beside the images are no samples, and no class of their own; folders of other names are classes.
void test_dataset__a_folder_of_truth_holds_no_samples(void **state)
{
	static const char *const folders[][2] = {{"images", "masks"}, {"images", "cats"}, {"LR", "HR"}, {"gt", "lq"}};
	static const char *const first[] = {"images/0.npy", "cats/0.npy", "LR/0.npy", "lq/0.npy"};
	static const int samples[] = {1, 3, 1, 2};
	for (int i = 0; i < 4; i++) {
		struct data_case c = vector_case();
		char name[64], place[32];
		snprintf(place, sizeof place, "truth%d", i);
		char *top = make_dir(place), *want = file_join(top, first[i]);
		for (int k = 0; k < 2; k++) {
			snprintf(place, sizeof place, "truth%d/%s", i, folders[i][k]);
			free(make_dir(place));
			for (int n = 0; n <= k; n++) {
				snprintf(name, sizeof name, "%s/%d.npy", place, n);
				write_npy(name, 'f', 4, SHAPE(4), batch);
			}
		}
		case_open(&c, top);
		assert_int_equal(dataset_count(c.data), samples[i]);
		assert_string_equal(dataset_file(c.data, 0), want);
		case_done(&c);
		free(want);
		free(top);
	}
	(void)state;
}

// ... by its name as the file system takes it, too; but not one outside, whatever the model calls its inputs.
void test_dataset__a_subdirectory_by_the_very_name(void **state)
{
	static const char *const outside[] = {"../outside", "/"};
	struct data_case c = vector_case();
	char *top = make_dir("names"), *x = make_dir("names/x"), *left = make_dir("names/left"), *image = make_dir("names/left/image 1");
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
	case_input(&c, "images", DT_F32, SHAPE(1, 3, 6, 4));
	case_input(&c, "orig_target_sizes", DT_I64, SHAPE(1, 2));
	case_open(&c, case_png("sized.png", 4, 6));
	case_load(&c, 0);
	assert_int_equal(((int64_t *)c.in[1].data)[0], 4);
	assert_int_equal(((int64_t *)c.in[1].data)[1], 6);
	case_done(&c);
	c.graph.n_inputs = 0;
	case_input(&c, "input_1", DT_F32, SHAPE(1, 3, 6, 4));
	case_input(&c, "image_shape", DT_F32, SHAPE(1, 2)); // height first
	case_open(&c, case_png("sized.png", 4, 6));
	case_load(&c, 0);
	assert_true(((float *)c.in[1].data)[0] == 6 && ((float *)c.in[1].data)[1] == 4);
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
