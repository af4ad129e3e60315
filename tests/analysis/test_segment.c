// Segmentation: mIoU of outputs and masks made by hand, what the numbers of masks mean, how an output lies over an image.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "../../src/analysis/task/decode/pixels.h"
#include "../../src/analysis/task/labels/labels.h"
#include "../engine/data_case.h"
#include "../engine/graph_builder.h"
#include "qtui/analysis/task_look.h"
#include "qtui/base/file.h"
#include "qtui/base/mem.h"
#include "qtui/base/str.h"

enum { SAMPLES_MAX = 8 };

// Images of 4 x 2 pixels beside their masks, and a network whose output has `out`'s shape.
struct bench {
	struct builder b;
	struct dataset *d;
	struct task *t;
	struct error err;
	char *images, *masks;
};

static struct value *last(struct bench *b)
{
	return &b->b.g->value[b->b.g->output[b->b.g->n_outputs - 1]];
}

// The input is float [1, 3, 2, 4]; `op` makes the output of it.
static void bench_new(struct bench *b, const char *name, const char *op, enum dtype type, struct shape out)
{
	*b = (struct bench){.b = builder_new()};
	int in = builder_input(&b->b, "image");
	b->b.g->value[in].shape = SHAPE(1, 3, 2, 4);
	builder_node(&b->b, op, "last", "image", "classes");
	builder_output(&b->b, "classes");
	last(b)->type = type;
	last(b)->shape = out;
	struct str s = {0};
	str_addf(&s, "%s/images", support_temp(name));
	mkdir(support_temp(name), 0777);
	b->images = str_detach(&s);
	str_addf(&s, "%s/masks", support_temp(name));
	b->masks = str_detach(&s);
	mkdir(b->images, 0777);
	mkdir(b->masks, 0777);
}

static void write_png(const char *dir, const char *name, png_uint_32 format, int w, int h, const void *pixels)
{
	png_image image = {.version = PNG_IMAGE_VERSION, .width = (png_uint_32)w, .height = (png_uint_32)h, .format = format};
	char *path = file_join(dir, name);
	assert_true(png_image_write_to_file(&image, path, 0, pixels, 0, NULL));
	free(path);
}

static void bench_sample(struct bench *b, const char *name, const uint8_t mask[8])
{
	static const uint8_t rgb[2 * 4 * 3] = {0};
	write_png(b->images, name, PNG_FORMAT_RGB, 4, 2, rgb);
	write_png(b->masks, name, PNG_FORMAT_GRAY, 4, 2, mask);
}

static enum status bench_open(struct bench *b, const struct task_options *opt)
{
	if (dataset_open(&b->d, b->images, b->b.g, &(struct dataset_options){0}, &b->err))
		fail_msg("%s", b->err.text);
	return task_open(&b->t, b->b.g, b->d, opt, &b->err);
}

static void bench_open_ok(struct bench *b)
{
	if (bench_open(b, &(struct task_options){.kind = -1}))
		fail_msg("%s", b->err.text);
	assert_int_equal(task_kind(b->t), TASK_SEGMENT);
}

static void bench_done(struct bench *b)
{
	task_free(&b->t);
	dataset_free(&b->d);
	graph_free(&b->b.g);
	free(b->images);
	free(b->masks);
}

static void refused(struct bench *b, enum status status, const char *says)
{
	assert_int_equal(b->err.status, status);
	if (!strstr(b->err.text, says))
		fail_msg("\"%s\" does not say \"%s\"", b->err.text, says);
}

static struct task_net *net(struct bench *b, enum task_variant v)
{
	return v == TASK_FLOAT ? task_net(b->t, task_key(b->t, NULL)) : task_net(b->t, (struct key){1, 2});
}

static enum status add(struct bench *b, enum task_variant v, int sample, const void *data)
{
	struct tensor t = {.type = last(b)->type, .shape = last(b)->shape, .data = (void *)data};
	return task_add(b->t, net(b, v), sample, &(struct task_said){&t, &t, NULL}, &b->err);
}

// Scores of 3 classes for 8 pixels of which these are the highest.
static void scores_of(float out[3 * 8], const char *classes)
{
	for (int i = 0; i < 8; i++)
		for (int c = 0; c < 3; c++)
			out[c * 8 + i] = c == classes[i] - '0' ? 2.f : -1.f - (float)c;
}

static void add_classes(struct bench *b, enum task_variant v, int sample, const char *classes)
{
	float scores[3 * 8];
	scores_of(scores, classes);
	if (add(b, v, sample, scores))
		fail_msg("%s", b->err.text);
}

static struct task_report *report(struct bench *b)
{
	return task_report(b->t, net(b, TASK_FLOAT), net(b, TASK_QUANT), 0);
}

static double first_figure(struct bench *b, enum task_variant v)
{
	struct task_report *r = report(b);
	double value = r->figure[0].value[v];
	task_report_drop(&r);
	return value;
}

static void equal(double a, double b)
{
	if (!(fabs(a - b) < 1e-12))
		fail_msg("%.17g is not %.17g", a, b);
}

// ---- figures

static const uint8_t two_classes[8] = {0, 0, 1, 1, 0, 0, 1, 255}, three_classes[8] = {2, 2, 2, 2, 0, 0, 0, 0};

// Unions are made over all samples, then divided; pixels without a class count nowhere.
void test_segment__figures_by_hand(void **state)
{
	struct bench b;
	bench_new(&b, "by_hand", "Relu", DT_F32, SHAPE(1, 3, 2, 4));
	bench_sample(&b, "a.png", two_classes);
	bench_sample(&b, "b.png", three_classes);
	bench_open_ok(&b);
	add_classes(&b, TASK_FLOAT, 0, "00110010"); // as the mask, where that has a class
	add_classes(&b, TASK_FLOAT, 1, "22220000");
	add_classes(&b, TASK_QUANT, 0, "01110012"); // one of class 0 is 1
	add_classes(&b, TASK_QUANT, 1, "22200000"); // one of class 2 is 0
	struct task_report *r = report(&b);
	assert_string_equal(r->figure[0].name, "mIoU");
	equal(r->figure[0].value[TASK_FLOAT], 1);
	const double iou[3] = {7. / 9, 3. / 4, 3. / 4};
	equal(r->figure[0].value[TASK_QUANT], (iou[0] + iou[1] + iou[2]) / 3);
	equal(r->figure[1].value[TASK_QUANT], 13. / 15);
	equal(r->figure[2].value[TASK_QUANT], (7. / 8 + 1 + 3. / 4) / 3);
	for (int c = 0; c < 3; c++)
		equal(r->class[c].value[TASK_QUANT], iou[c]);
	assert_true(r->class[0].objects == 2 && r->class[1].objects == 1 && r->class[2].objects == 1);
	assert_int_equal(r->sample[0].sample, 0); // lost most: it has (3/4 + 3/4) / 2, the other (4/5 + 3/4) / 2
	for (int c = 0; c < 3; c++) {
		assert_int_equal(task_sample_has(&r->sample[0], r->class[c].id), c < 2); // as its mask, whatever the networks say
		assert_int_equal(task_sample_has(&r->sample[1], r->class[c].id), c != 1);
	}
	task_report_drop(&r);
	equal(task_apart(b.t, net(&b, TASK_FLOAT), net(&b, TASK_QUANT)), 3. / 16);
	bench_done(&b);
}

// A sample that is drawn twice counts as two.
void test_segment__an_interval_is_of_draws_of_samples(void **state)
{
	struct bench b;
	struct task_interval i;
	bench_new(&b, "draws", "Relu", DT_F32, SHAPE(1, 3, 2, 4));
	bench_sample(&b, "a.png", two_classes);
	bench_sample(&b, "b.png", two_classes);
	bench_open_ok(&b);
	for (int s = 0; s < 2; s++)
		add_classes(&b, TASK_FLOAT, s, "00110010");
	add_classes(&b, TASK_QUANT, 0, "00110010");
	add_classes(&b, TASK_QUANT, 1, "11001101"); // all wrong
	assert_true(task_interval(b.t, net(&b, TASK_FLOAT), net(&b, TASK_QUANT), 200, 1, &i));
	equal(i.difference, (4. / 11 + 3. / 10) / 2 - 1); // classes of 4 and 3 pixels
	equal(i.high, 0);  // the first sample twice
	equal(i.low, -1);  // the second
	bench_done(&b);
}

// A picture that is not as wide as the input lies in the middle of it: what was added is no part of the mask.
void test_segment__a_picture_that_was_padded(void **state)
{
	static const uint8_t rgb[2 * 2 * 3] = {0}, mask[4] = {1, 2, 1, 2};
	struct bench b;
	bench_new(&b, "padded", "Relu", DT_F32, SHAPE(1, 3, 2, 4));
	write_png(b.images, "a.png", PNG_FORMAT_RGB, 2, 2, rgb);
	write_png(b.masks, "a.png", PNG_FORMAT_GRAY, 2, 2, mask);
	struct dataset_options letterbox = {.pre = {.resize = RESIZE_LETTERBOX, .resize_set = true}};
	if (dataset_open(&b.d, b.images, b.b.g, &letterbox, &b.err) || task_open(&b.t, b.b.g, b.d, &(struct task_options){.kind = -1}, &b.err))
		fail_msg("%s", b.err.text);
	add_classes(&b, TASK_FLOAT, 0, "01200120");
	equal(first_figure(&b, TASK_FLOAT), 1);
	bench_done(&b);
}

void test_segment__a_sample_is_the_mean_of_its_own_classes(void **state)
{
	struct bench b;
	bench_new(&b, "own", "Relu", DT_F32, SHAPE(1, 3, 2, 4));
	bench_sample(&b, "a.png", three_classes);
	bench_open_ok(&b);
	add_classes(&b, TASK_FLOAT, 0, "22220000");
	add_classes(&b, TASK_QUANT, 0, "22210000"); // class 1 is not in the mask: it costs class 2 a pixel, and is no class of the sample
	struct task_report *r = report(&b);
	equal(r->sample[0].value[TASK_QUANT], (3. / 4 + 1) / 2);
	equal(r->figure[0].value[TASK_QUANT], (3. / 4 + 1 + 0) / 3);
	task_report_drop(&r);
	bench_done(&b);
}

void test_segment__a_look_says_what_became_of_pixels(void **state)
{
	struct bench b;
	bench_new(&b, "look", "Relu", DT_F32, SHAPE(1, 3, 2, 4));
	bench_sample(&b, "a.png", two_classes);
	bench_open_ok(&b);
	add_classes(&b, TASK_FLOAT, 0, "00012010");
	add_classes(&b, TASK_QUANT, 0, "01111011");
	struct task_look *l = task_look_new(b.t, net(&b, TASK_FLOAT), net(&b, TASK_QUANT), (struct key){1, 2}, 0, .25);
	static const uint8_t cell[8] = {CELL_SAME, CELL_LOST, CELL_GAINED, CELL_SAME, CELL_OTHER, CELL_SAME, CELL_SAME, CELL_OTHER};
	assert_true(l->cells_w == 4 && l->cells_h == 2);
	assert_memory_equal(l->cell, cell, sizeof cell);
	assert_int_equal(l->n_regions, 3);
	assert_true(!l->region[1].labelled || !l->region[2].labelled); // class 2 is not in the mask
	task_look_drop(&l);
	bench_done(&b);
}

// ---- what numbers mean

static void noted(struct bench *b, const char *says)
{
	char note[512];
	task_note(b->t, note, sizeof note);
	if (!strstr(note, says))
		fail_msg("\"%s\" does not say \"%s\"", note, says);
}

static double with_masks(const char *name, const uint8_t mask[8], const char *names, const char *classes, const char *how)
{
	struct bench b;
	bench_new(&b, name, "Relu", DT_F32, SHAPE(1, 3, 2, 4));
	bench_sample(&b, "a.png", mask);
	char *path = file_join(b.masks, "classes.txt");
	FILE *f = names ? fopen(path, "w") : NULL;
	if (f) {
		fputs(names, f);
		fclose(f);
	}
	bench_open_ok(&b);
	add_classes(&b, TASK_FLOAT, 0, classes);
	double value = first_figure(&b, TASK_FLOAT);
	noted(&b, how);
	free(path);
	bench_done(&b);
	return value;
}

void test_segment__numbers_up_to_that_of_the_classes_begin_behind_nothing(void **state)
{
	static const uint8_t from_1[8] = {0, 1, 2, 3, 3, 2, 1, 0};
	equal(with_masks("from_1", from_1, NULL, "20122102", "3 classes, numbered from 1"), 1);
}

void test_segment__classes_txt_names_the_numbers(void **state)
{
	static const uint8_t sparse[8] = {7, 0, 2, 2, 5, 5, 7, 0};
	equal(with_masks("sparse", sparse, "-\n-\nroad\n-\n-\ncar\r\n-\nsky\n", "21001122", "3 classes, in order of classes.txt"), 1);
}

static void write_text(const char *path, const char *text)
{
	struct error err;
	assert_int_equal(file_write(path, text, strlen(text), &err), STATUS_OK);
}

// The model's own names say which class is meant, in whatever order the numbers are.
void test_segment__classes_txt_goes_by_the_names_of_the_model(void **state)
{
	static struct metadata names = {"names", "{0: 'road', 1: 'car', 2: 'sky'}"};
	static const uint8_t mask[8] = {1, 1, 2, 2, 3, 3, 0, 0};
	struct bench b;
	bench_new(&b, "by_name", "Relu", DT_F32, SHAPE(1, 3, 2, 4));
	bench_sample(&b, "a.png", mask);
	b.b.g->metadata = &names;
	b.b.g->n_metadata = 1;
	char *path = file_join(b.masks, "classes.txt");
	write_text(path, "-\nsky\nroad\ncar\n");
	bench_open_ok(&b);
	add_classes(&b, TASK_FLOAT, 0, "22001102");
	equal(first_figure(&b, TASK_FLOAT), 1);
	noted(&b, "3 classes, by name");
	struct task_report *r = report(&b);
	assert_string_equal(r->class[2].name, "sky");
	task_report_drop(&r);
	task_free(&b.t);
	dataset_free(&b.d);
	write_text(path, "-\nsky\ncar\nboat\n");
	assert_int_equal(bench_open(&b, &(struct task_options){.kind = -1}), STATUS_FORMAT);
	refused(&b, STATUS_FORMAT, "the model has no class boat");
	free(path);
	bench_done(&b);
}

void test_segment__masks_of_one_object(void **state)
{
	static const uint8_t mask[8] = {0, 255, 255, 0, 0, 0, 255, 255};
	static const float score[8] = {.1f, .9f, .6f, .4f, .2f, .1f, .7f, .8f}; // of a Sigmoid: above a half
	struct bench b;
	bench_new(&b, "object", "Sigmoid", DT_F32, SHAPE(1, 1, 2, 4));
	bench_sample(&b, "a.png", mask);
	bench_open_ok(&b);
	assert_int_equal(add(&b, TASK_FLOAT, 0, score), STATUS_OK);
	equal(first_figure(&b, TASK_FLOAT), 1);
	noted(&b, "2 classes, 255 is the object");
	bench_done(&b);
}

void test_segment__logits_of_one_object(void **state)
{
	static const uint8_t mask[8] = {0, 1, 1, 0, 0, 0, 1, 1};
	static const float score[8] = {-.1f, .1f, .2f, -3, -2, -1, .3f, .4f}; // above 0
	struct bench b;
	bench_new(&b, "logits", "Relu", DT_F32, SHAPE(1, 2, 4, 1)); // channels last
	bench_sample(&b, "a.png", mask);
	bench_open_ok(&b);
	assert_int_equal(add(&b, TASK_FLOAT, 0, score), STATUS_OK);
	equal(first_figure(&b, TASK_FLOAT), 1);
	bench_done(&b);
}

void test_segment__numbers_of_classes(void **state)
{
	static const int64_t class[8] = {0, 0, 1, 1, 0, 0, 1, 7};
	struct bench b;
	bench_new(&b, "numbers", "Relu", DT_I64, SHAPE(1, 2, 4));
	bench_sample(&b, "a.png", two_classes);
	bench_open_ok(&b);
	assert_int_equal(add(&b, TASK_FLOAT, 0, class), STATUS_OK);
	equal(first_figure(&b, TASK_FLOAT), 1);
	bench_done(&b);
}

// Cityscapes has a folder a city, and other ends of names.
void test_segment__masks_in_folders(void **state)
{
	struct bench b;
	bench_new(&b, "city", "Relu", DT_F32, SHAPE(1, 3, 2, 4));
	static const uint8_t rgb[2 * 4 * 3] = {0};
	char *city = file_join(b.masks, "images");
	mkdir(city, 0777);
	write_png(b.images, "x_leftImg8bit.png", PNG_FORMAT_RGB, 4, 2, rgb);
	write_png(city, "x_gtFine_labelTrainIds.png", PNG_FORMAT_GRAY, 4, 2, two_classes);
	if (bench_open(&b, &(struct task_options){.kind = -1, .labels = b.masks}))
		fail_msg("%s", b.err.text);
	assert_int_equal(task_kind(b.t), TASK_SEGMENT);
	add_classes(&b, TASK_FLOAT, 0, "00110012");
	equal(first_figure(&b, TASK_FLOAT), 1);
	free(city);
	bench_done(&b);
}

// Cityscapes is downloaded with numbers of its own: 19 of them are the classes, and the others none.
void test_segment__cityscapes_own_numbers(void **state)
{
	static const uint8_t pixels[8] = {7, 8, 26, 26, 0, 5, 33, 33};
	static const struct {
		int number, class;
	} want[] = {{7, 0}, {8, 1}, {23, 10}, {26, 13}, {33, 18}, {0, LABELS_NO_CLASS}, {5, LABELS_NO_CLASS}, {29, LABELS_NO_CLASS}};
	char *dir = xstrdup(support_temp("own"));
	const char *const file[] = {"x/a_leftImg8bit.png"};
	const struct labels_samples s = {.file = file, .n = 1};
	struct names none = {.n = 0};
	struct error err = {0};
	mkdir(dir, 0777);
	for (int both = 0; both < 2; both++) {
		struct labels *l = NULL;
		write_png(dir, both ? "a_gtFine_labelTrainIds.png" : "a_gtFine_labelIds.png", PNG_FORMAT_GRAY, 4, 2, both ? two_classes : pixels);
		if (labels_read(&l, dir, &s, &err) || labels_number_masks(l, &none, 19, &err))
			fail_msg("%s", err.text);
		for (size_t i = 0; !both && i < sizeof want / sizeof *want; i++)
			assert_int_equal(labels_class_of_number(l, want[i].number), want[i].class);
		assert_int_equal(labels_class_of_number(l, 1), both ? 1 : LABELS_NO_CLASS);
		assert_int_equal(l->n_classes, 19);
		labels_free(&l);
	}
	free(dir);
	(void)state;
}

// Without masks the classes of pixels are compared between the networks, unless the output may be a picture.
static void agreement(const char *name, const char *op, const char *figure, double value)
{
	struct bench b;
	bench_new(&b, name, op, DT_F32, SHAPE(1, 3, 2, 4));
	bench_sample(&b, "a.png", two_classes);
	if (bench_open(&b, &(struct task_options){.kind = TASK_AGREE}))
		fail_msg("%s", b.err.text);
	float f[3 * 8], q[3 * 8];
	scores_of(f, "00112222");
	scores_of(q, "00112210");
	struct tensor before = {.type = DT_F32, .shape = last(&b)->shape, .data = f}, after = before;
	after.data = q;
	assert_int_equal(task_add(b.t, net(&b, TASK_QUANT), 0, &(struct task_said){&after, &before, NULL}, &b.err), STATUS_OK);
	struct task_report *r = report(&b);
	assert_string_equal(r->figure[2].name, figure);
	equal(r->figure[2].value[TASK_QUANT], value);
	task_report_drop(&r);
	bench_done(&b);
}

void test_segment__agreement_of_pixels(void **state)
{
	agreement("agreement", "Softmax", "same_pixels", 6. / 8);
	agreement("picture", "Relu", "psnr_db", 10 * log10(24. / 4)); // four of 24 levels are black in place of white, or the other way round
}

// ---- refusals

void test_segment__a_number_without_a_class(void **state)
{
	static const uint8_t wild[8] = {0, 1, 2, 9, 0, 0, 0, 0};
	struct bench b;
	bench_new(&b, "wild", "Relu", DT_F32, SHAPE(1, 3, 2, 4));
	bench_sample(&b, "a.png", wild);
	assert_int_equal(bench_open(&b, &(struct task_options){.kind = -1}), STATUS_FORMAT);
	refused(&b, STATUS_FORMAT, "has the number 9, and the model has 3 classes: name the numbers in classes.txt");
	bench_done(&b);
}

// As ADE20K's, whose number 150 is rare: a mask in the middle tells that 0 is no class.
void test_segment__masks_of_all_parts_tell_what_numbers_mean(void **state)
{
	static const uint8_t last[8] = {0, 1, 2, 3, 0, 0, 0, 0}, few[8] = {0, 1, 2, 1, 0, 0, 0, 0};
	struct bench b;
	bench_new(&b, "parts", "Relu", DT_F32, SHAPE(1, 3, 2, 4));
	for (int i = 0; i < 20; i++)
		bench_sample(&b, (const char[]){(char)('a' + i), '.', 'p', 'n', 'g', 0}, i == 12 ? last : few);
	bench_open_ok(&b);
	noted(&b, "3 classes, numbered from 1");
	bench_done(&b);
}

// 32 masks are looked at when a task is opened, and of 40 every fifth is not.
void test_segment__a_number_without_a_class_in_a_later_mask(void **state)
{
	static const uint8_t wild[8] = {0, 1, 2, 9, 0, 0, 0, 0};
	struct bench b;
	bench_new(&b, "later", "Relu", DT_F32, SHAPE(1, 3, 2, 4));
	for (int i = 0; i < 40; i++)
		bench_sample(&b, (const char[]){(char)('a' + i / 10), (char)('0' + i % 10), '.', 'p', 'n', 'g', 0}, i == 16 ? wild : two_classes);
	bench_open_ok(&b);
	noted(&b, "3 classes, numbered from 0");
	float scores[3 * 8];
	scores_of(scores, "00000000");
	assert_int_equal(add(&b, TASK_FLOAT, 16, scores), STATUS_FORMAT);
	refused(&b, STATUS_FORMAT, "b6.png: pixel 3,0 has the number 9");
	bench_done(&b);
}

void test_segment__a_mask_of_other_proportions(void **state)
{
	struct bench b;
	bench_new(&b, "narrow", "Relu", DT_F32, SHAPE(1, 3, 2, 4));
	bench_sample(&b, "a.png", two_classes);
	uint8_t narrow[40 * 40] = {0};
	write_png(b.masks, "a.png", PNG_FORMAT_GRAY, 40, 40, narrow);
	bench_open_ok(&b);
	float scores[3 * 8];
	scores_of(scores, "00000000");
	assert_int_equal(add(&b, TASK_FLOAT, 0, scores), STATUS_FORMAT);
	refused(&b, STATUS_FORMAT, "a.png has 40 x 40 pixels, its image 4 x 2");
	bench_done(&b);
}

// Masks lie over pictures.
void test_segment__input_of_four_channels(void **state)
{
	static const float zeros[4 * 2 * 4] = {0};
	struct tensor t = {.type = DT_F32, .shape = SHAPE(1, 4, 2, 4), .data = (void *)zeros};
	struct bench b;
	bench_new(&b, "four", "Relu", DT_F32, SHAPE(1, 3, 2, 4));
	b.b.g->value[b.b.g->input[0]].shape = t.shape;
	char *path = file_join(b.images, "a.npy");
	assert_int_equal(array_write(&t, 0, path, &b.err), STATUS_OK);
	write_png(b.masks, "a.png", PNG_FORMAT_GRAY, 4, 2, two_classes);
	assert_int_equal(bench_open(&b, &(struct task_options){.kind = TASK_SEGMENT}), STATUS_UNSUPPORTED);
	refused(&b, STATUS_UNSUPPORTED, "no input of the model takes pictures of one or three channels");
	free(path);
	bench_done(&b);
}

void test_segment__a_network_without_classes_of_pixels(void **state)
{
	struct bench b;
	bench_new(&b, "vector", "Relu", DT_F32, SHAPE(1, 10));
	bench_sample(&b, "a.png", two_classes);
	assert_int_equal(bench_open(&b, &(struct task_options){.kind = TASK_SEGMENT}), STATUS_UNSUPPORTED);
	refused(&b, STATUS_UNSUPPORTED, "no output of the model has a class or scores");
	bench_done(&b);
}

// Directories of that name beside images hold other things, too.
void test_segment__a_directory_without_masks_is_none(void **state)
{
	struct bench b;
	bench_new(&b, "empty", "Relu", DT_F32, SHAPE(1, 3, 2, 4));
	bench_sample(&b, "a.png", two_classes);
	char *mask = file_join(b.masks, "a.png");
	remove(mask);
	free(mask);
	assert_int_equal(bench_open(&b, &(struct task_options){.kind = -1}), STATUS_OK);
	assert_int_equal(task_kind(b.t), TASK_AGREE);
	bench_done(&b);
}

// Where data sets have their masks.
void test_segment__masks_are_found_where_data_sets_have_them(void **state)
{
	static const char *const pairs[][2] = {
	    {"ade/images/val", "ade/annotations/val"}, {"city/leftImg8bit/val", "city/gtFine/val"}, {"voc/JPEGImages", "voc/SegmentationClass"}};
	static const uint8_t rgb[2 * 4 * 3] = {0};
	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
		struct bench b;
		bench_new(&b, "places", "Relu", DT_F32, SHAPE(1, 3, 2, 4));
		free(b.images);
		free(b.masks);
		b.images = file_join(support_temp("places"), pairs[i][0]);
		b.masks = file_join(support_temp("places"), pairs[i][1]);
		assert_int_equal(file_mkdirs(b.images, &b.err), STATUS_OK);
		assert_int_equal(file_mkdirs(b.masks, &b.err), STATUS_OK);
		write_png(b.images, "a.png", PNG_FORMAT_RGB, 4, 2, rgb);
		write_png(b.masks, "a.png", PNG_FORMAT_GRAY, 4, 2, two_classes);
		bench_open_ok(&b);
		bench_done(&b);
	}
}

// ---- how an output lies over an image

// What an upsampling to the image's size gives (bilinear, centres of pixels), in double.
static int plain_class(const float *score, const struct pixels *p, double x, double y)
{
	double best = -INFINITY;
	int class = -1;
	x = fmin(fmax(x, 0), p->w - 1);
	y = fmin(fmax(y, 0), p->h - 1);
	int x0 = (int)x, y0 = (int)y, x1 = x0 + 1 < p->w ? x0 + 1 : x0, y1 = y0 + 1 < p->h ? y0 + 1 : y0;
	for (int c = 0; c < p->classes; c++) {
		const float *at = score + p->channel * c;
#define AT(xx, yy) (double)at[p->row * (yy) + p->column * (xx)]
		double v = (AT(x0, y0) * (1 - (x - x0)) + AT(x1, y0) * (x - x0)) * (1 - (y - y0)) +
		           (AT(x0, y1) * (1 - (x - x0)) + AT(x1, y1) * (x - x0)) * (y - y0);
#undef AT
		if (v > best) {
			best = v;
			class = c;
		}
	}
	return class;
}

static void compare_lines(struct pixels p, const struct placement *where, int w, int h, int *outside)
{
	float score[6 * 5 * 7];
	struct support_random r = {7};
	support_random_floats(&r, score, sizeof score / sizeof *score, -1, 1);
	struct pixel_lines *l = pixel_lines_new(&p, score, where, w, h);
	*outside = 0;
	for (int y = 0; y < h; y++) {
		const int16_t *class = pixel_line(l, y);
		for (int x = 0; x < w; x++) {
			double in_x = (x + .5) * where->image_w / w * where->scale_x + where->pad_x;
			double in_y = (y + .5) * where->image_h / h * where->scale_y + where->pad_y;
			bool seen = in_x >= 0 && in_x < where->input_w && in_y >= 0 && in_y < where->input_h;
			*outside += !seen;
			int plain = plain_class(score, &p, in_x * p.w / where->input_w - .5, in_y * p.h / where->input_h - .5);
			assert_int_equal(class[x], seen ? plain : -1);
		}
	}
	pixel_lines_free(&l);
}

void test_pixels__scores_are_interpolated_as_an_upsampling_does(void **state)
{
	static const struct pixels first = {.kind = PIXELS_SCORES, .classes = 6, .w = 7, .h = 5, .channel = 35, .row = 7, .column = 1};
	static const struct pixels last = {.kind = PIXELS_SCORES, .classes = 6, .w = 7, .h = 5, .channel = 1, .row = 42, .column = 6};
	static const struct placement stretched = {61, 33, 56, 40, 56. / 61, 40. / 33, 0, 0};
	static const struct placement letterbox = {61, 33, 56, 40, 56. / 61, 56. / 61, 0, (40 - 33 * 56. / 61) / 2};
	static const struct placement cropped = {61, 33, 56, 40, 40. / 33, 40. / 33, (56 - 61 * 40. / 33) / 2, 0};
	int outside;
	compare_lines(first, &stretched, 61, 33, &outside);
	compare_lines(last, &stretched, 122, 66, &outside); // a mask of twice the size
	assert_int_equal(outside, 0);
	compare_lines(first, &letterbox, 61, 33, &outside);
	assert_int_equal(outside, 0);
	compare_lines(last, &cropped, 61, 33, &outside);
	assert_true(outside > 33 && outside < 61 * 33 / 2);
}

void test_pixels__which_output_has_them(void **state)
{
	static const struct {
		struct shape shape;
		bool found;
		int classes, w, h;
	} cases[] = {
	    {{4, {1, 19, 16, 32}}, true, 19, 32, 16},
	    {{4, {1, 16, 32, 19}}, true, 19, 32, 16},
	    {{3, {19, 16, 32}}, true, 19, 32, 16},
	    {{4, {1, 1, 64, 128}}, true, 2, 128, 64},
	    {{2, {64, 128}}, true, 2, 128, 64},
	    {{4, {1, 19, 32, 32}}, false, 0, 0, 0}, // other proportions
	    {{4, {1, 19, 2, 4}}, false, 0, 0, 0},   // too coarse for pixels
	    {{4, {2, 19, 16, 32}}, false, 0, 0, 0},
	    {{2, {1, 1000}}, false, 0, 0, 0},
	    {{4, {1, -1, 16, 32}}, false, 0, 0, 0},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct builder b = builder_new();
		struct pixels p;
		b.g->value[builder_input(&b, "image")].shape = SHAPE(1, 3, 64, 128);
		builder_node(&b, "Relu", "last", "image", "classes");
		builder_output(&b, "classes");
		b.g->value[b.g->output[0]].shape = cases[i].shape;
		assert_int_equal(pixels_find(&p, b.g, NULL, 128, 64), cases[i].found);
		assert_int_equal(pixels_are_all(b.g), cases[i].found);
		if (cases[i].found)
			assert_true(p.classes == cases[i].classes && p.w == cases[i].w && p.h == cases[i].h);
		graph_free(&b.g);
	}
}
