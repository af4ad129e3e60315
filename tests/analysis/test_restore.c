// Pictures against pictures: PSNR and SSIM of outputs made by hand, which levels they have, how truths lie under them and
// where they are found.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "../../src/analysis/task/kinds/made.h"
#include "../../src/analysis/task/metric/similarity.h"
#include "../engine/data_case.h"
#include "../engine/graph_builder.h"
#include "qtui/analysis/task_look.h"
#include "qtui/base/file.h"
#include "qtui/base/mem.h"
#include "qtui/base/str.h"

enum { SIDE = 16, TWICE = 2 * SIDE, MOST = 3 * TWICE * TWICE };

// Samples of 16 x 16 in LR, what should become of them in HR, and a network whose output has `out`'s shape.
struct bench {
	struct builder b;
	struct dataset *d;
	struct dataset_options data;
	struct task *t;
	struct error err;
	char *samples, *truths;
};

static char *folder(const char *name, const char *in)
{
	char *path = file_join(support_temp(name), in);
	mkdir(support_temp(name), 0777);
	mkdir(path, 0777);
	return path;
}

static struct value *output(struct bench *b)
{
	return &b->b.g->value[b->b.g->output[b->b.g->n_outputs - 1]];
}

static void bench_new(struct bench *b, const char *name, struct shape in, struct shape out)
{
	*b = (struct bench){.b = builder_new(), .samples = folder(name, "LR"), .truths = folder(name, "HR")};
	int value = builder_input(&b->b, "image");
	b->b.g->value[value].shape = in;
	builder_node(&b->b, "Relu", "last", "image", "picture");
	builder_output(&b->b, "picture");
	output(b)->type = DT_F32;
	output(b)->shape = out;
}

static void bench_done(struct bench *b)
{
	task_free(&b->t);
	dataset_free(&b->d);
	graph_free(&b->b.g);
	free(b->samples);
	free(b->truths);
}

static void write_png(const char *dir, const char *name, png_uint_32 format, int w, int h, const void *pixels)
{
	png_image image = {.version = PNG_IMAGE_VERSION, .width = (png_uint_32)w, .height = (png_uint_32)h, .format = format};
	char *path = file_join(dir, name);
	assert_true(png_image_write_to_file(&image, path, 0, pixels, 0, NULL));
	free(path);
}

// A truth of w x h pixels with edges and colours, RGB.
static uint8_t *scene(int w, int h)
{
	uint8_t *rgb = xcalloc((size_t)w * (size_t)h, 3);
	for (int y = 0; y < h; y++)
		for (int x = 0; x < w; x++)
			for (int c = 0; c < 3; c++)
				rgb[3 * (y * w + x) + c] = (uint8_t)(40 + 3 * x + (y > h / 2 ? 30 : 0) + 20 * c + (x * y + c) % 7);
	return rgb;
}

static void add_sample(struct bench *b, const char *sample, const char *truth, int w, int h)
{
	static const uint8_t dark[SIDE * SIDE * 3] = {0};
	uint8_t *rgb = scene(w, h);
	write_png(b->samples, sample, PNG_FORMAT_RGB, SIDE, SIDE, dark);
	write_png(b->truths, truth, PNG_FORMAT_RGB, w, h, rgb);
	free(rgb);
}

static enum status bench_open(struct bench *b, const struct task_options *opt)
{
	if (dataset_open(&b->d, b->samples, b->b.g, &b->data, &b->err))
		fail_msg("%s", b->err.text);
	return task_open(&b->t, b->b.g, b->d, opt, &b->err);
}

static void bench_open_ok(struct bench *b, const struct task_options *opt)
{
	if (bench_open(b, opt))
		fail_msg("%s", b->err.text);
	assert_int_equal(task_kind(b->t), TASK_RESTORE);
}

static const struct task_options unasked = {.kind = -1}, asked = {.kind = TASK_RESTORE};

static struct task_net *net(struct bench *b, enum task_variant v)
{
	return v == TASK_FLOAT ? task_net(b->t, task_key(b->t, NULL)) : task_net(b->t, (struct key){1, 2});
}

static enum status add(struct bench *b, enum task_variant v, const float *data)
{
	struct tensor t = {.type = DT_F32, .shape = output(b)->shape, .data = (void *)data};
	return task_add(b->t, net(b, v), 0, &(struct task_said){&t, &t, NULL}, &b->err);
}

// The scene as planes, brighter by `more` levels inside of a border, then times x + plus.
static void said(float *out, int w, int h, int border, float more, float times, float plus)
{
	uint8_t *rgb = scene(w, h);
	for (int c = 0; c < 3; c++)
		for (int y = 0; y < h; y++)
			for (int x = 0; x < w; x++) {
				bool inside = x >= border && y >= border && x < w - border && y < h - border;
				float level = rgb[3 * (y * w + x) + c];
				out[(c * h + y) * w + x] = (inside ? level + more : 255 - level) * times + plus;
			}
	free(rgb);
}

static double figure(struct bench *b, int i, enum task_variant v)
{
	struct task_report *r = task_report(b->t, net(b, TASK_FLOAT), net(b, TASK_QUANT), 0);
	assert_string_equal(r->figure[0].name, "psnr_db");
	double value = i < r->n_figures ? r->figure[i].value[v] : NAN;
	task_report_drop(&r);
	return value;
}

static void near(double a, double b, double tolerance)
{
	if (!(fabs(a - b) <= tolerance))
		fail_msg("%.9f is not %.9f", a, b);
}

static double psnr(double error) // of that many levels everywhere
{
	return 10 * log10(255. * 255 / (error * error));
}

static void refused(struct bench *b, enum status status, const char *says)
{
	assert_int_equal(b->err.status, status);
	if (!strstr(b->err.text, says))
		fail_msg("\"%s\" does not say \"%s\"", b->err.text, says);
}

// ---- the two measures

void test_restore__psnr_of_equal_pictures_is_finite(void **state)
{
	near(psnr_of(1), 48.1308036, 1e-6);
	near(psnr_of(0), 100, 0);
	near(psnr_of(1e-9), 100, 0);
}

// Two planes without contrast differ in brightness alone.
void test_restore__ssim_of_plain_planes(void **state)
{
	float a[12 * 14], b[12 * 14];
	for (int i = 0; i < 12 * 14; i++) {
		a[i] = 100;
		b[i] = 130;
	}
	const double c1 = 2.55 * 2.55;
	near(ssim_of(a, b, 14, 12), (2 * 100. * 130 + c1) / (100. * 100 + 130. * 130 + c1), 1e-6);
	near(ssim_of(a, a, 14, 12), 1, 1e-6);
	assert_true(isnan(ssim_of(a, b, 14, 10)));
}

// One window of 11 x 11, by the definition in double.
void test_restore__ssim_of_one_window(void **state)
{
	float a[11 * 11], b[11 * 11];
	double sum = 0, ma = 0, mb = 0, aa = 0, bb = 0, ab = 0;
	for (int i = 0; i < 11 * 11; i++) {
		a[i] = (float)(i * 37 % 256);
		b[i] = (float)(i * 41 % 256);
		double w = exp(-(pow(i / 11 - 5, 2) + pow(i % 11 - 5, 2)) / 4.5);
		sum += w;
		ma += w * (double)a[i];
		mb += w * (double)b[i];
	}
	ma /= sum;
	mb /= sum;
	for (int i = 0; i < 11 * 11; i++) {
		double w = exp(-(pow(i / 11 - 5, 2) + pow(i % 11 - 5, 2)) / 4.5) / sum, u = (double)a[i] - ma, v = (double)b[i] - mb;
		aa += w * u * u;
		bb += w * v * v;
		ab += w * u * v;
	}
	const double c1 = 2.55 * 2.55, c2 = 7.65 * 7.65;
	near(ssim_of(a, b, 11, 11), (2 * ma * mb + c1) * (2 * ab + c2) / ((ma * ma + mb * mb + c1) * (aa + bb + c2)), 1e-5);
}

// ---- figures

// A border as wide as the factor does not count: there the output is the negative.
void test_restore__a_larger_picture_by_hand(void **state)
{
	static float out[MOST];
	struct bench b;
	bench_new(&b, "larger", SHAPE(1, 3, SIDE, SIDE), SHAPE(1, 3, TWICE, TWICE));
	add_sample(&b, "a.png", "a.png", TWICE, TWICE);
	bench_open_ok(&b, &unasked);
	said(out, TWICE, TWICE, 2, 0, 1 / 255.f, 0);
	assert_int_equal(add(&b, TASK_FLOAT, out), STATUS_OK);
	near(figure(&b, 0, TASK_FLOAT), 100, 0);
	near(figure(&b, 2, TASK_FLOAT), 1, 1e-6);
	said(out, TWICE, TWICE, 2, 4, 1 / 255.f, 0);
	assert_int_equal(add(&b, TASK_QUANT, out), STATUS_OK);
	near(figure(&b, 0, TASK_QUANT), psnr(4), 1e-9);
	near(figure(&b, 1, TASK_QUANT), psnr(4 * (65.481 + 128.553 + 24.966) / 255), 1e-4);
	assert_true(figure(&b, 2, TASK_QUANT) < 1);
	bench_done(&b);
}

// Levels count as a screen shows them: whole, and not beyond black and white.
void test_restore__levels_are_rounded_and_cut(void **state)
{
	static float out[MOST];
	struct bench b;
	bench_new(&b, "rounded", SHAPE(1, 3, SIDE, SIDE), SHAPE(1, 3, SIDE, SIDE));
	add_sample(&b, "a.png", "a.png", SIDE, SIDE);
	bench_open_ok(&b, &unasked);
	said(out, SIDE, SIDE, 0, .4f, 1, 0);
	assert_int_equal(add(&b, TASK_FLOAT, out), STATUS_OK);
	near(figure(&b, 0, TASK_FLOAT), 100, 0);
	said(out, SIDE, SIDE, 0, 0, 1, 0);
	out[0] = NAN; // black, where the truth has 40
	assert_int_equal(add(&b, TASK_QUANT, out), STATUS_OK);
	near(figure(&b, 0, TASK_QUANT), 10 * log10(255. * 255 * 3 * SIDE * SIDE / (40 * 40)), 1e-9);
	bench_done(&b);
}

static const struct {
	const char *name, *says;
	float mean, std, times, plus;
} ranges[] = {
    {"unit", "0..1", 0, 255, 1 / 255.f, 0},
    {"bytes", "0..255", 0, 1, 1, 0},
    {"signed", "-1..1", 127.5f, 127.5f, 1 / 127.5f, -1},
    {"normalized", "those of the input", 110, 60, 1 / 60.f, -110 / 60.f},
    {"unit_of_normalized", "0..1", 110, 60, 1 / 255.f, 0},
};

// Whatever the network takes, the truth tells what it gives.
void test_restore__the_levels_of_outputs_are_found(void **state)
{
	static float out[MOST];
	for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
		char note[256];
		struct bench b;
		bench_new(&b, ranges[i].name, SHAPE(1, 3, SIDE, SIDE), SHAPE(1, 3, TWICE, TWICE));
		b.data.pre = (struct preprocess){.mean_set = true, .std_set = true};
		for (int c = 0; c < 3; c++) {
			b.data.pre.mean[c] = ranges[i].mean;
			b.data.pre.std[c] = ranges[i].std;
		}
		add_sample(&b, "a.png", "a.png", TWICE, TWICE);
		bench_open_ok(&b, &unasked);
		said(out, TWICE, TWICE, 0, 10, ranges[i].times, ranges[i].plus);
		assert_int_equal(add(&b, TASK_FLOAT, out), STATUS_OK);
		near(figure(&b, 0, TASK_FLOAT), psnr(10), 1e-9);
		task_note(b.t, note, sizeof note);
		if (!strstr(note, ranges[i].says))
			fail_msg("\"%s\" does not say %s", note, ranges[i].says);
		// A network that was ruined tells nothing: what the first one told holds.
		memset(out, 0, sizeof out);
		assert_int_equal(add(&b, TASK_QUANT, out), STATUS_OK);
		assert_true(figure(&b, 0, TASK_QUANT) < 20);
		bench_done(&b);
	}
}

// A network that is far from the truth even in float says that something else is wrong than quantization.
void test_restore__a_float_network_that_comes_nowhere_near(void **state)
{
	static float out[MOST];
	for (int far = 0; far < 2; far++) {
		struct bench b;
		bench_new(&b, far ? "far" : "close", SHAPE(1, 3, SIDE, SIDE), SHAPE(1, 3, TWICE, TWICE));
		add_sample(&b, "a.png", "a.png", TWICE, TWICE);
		bench_open_ok(&b, &unasked);
		said(out, TWICE, TWICE, 0, far ? 100 : 5, 1 / 255.f, 0);
		assert_int_equal(add(&b, TASK_FLOAT, out), STATUS_OK);
		assert_int_equal(add(&b, TASK_QUANT, out), STATUS_OK);
		struct task_report *r = task_report(b.t, net(&b, TASK_FLOAT), net(&b, TASK_QUANT), 0);
		assert_true(task_is_blind(r) == (far == 1));
		task_report_drop(&r);
		bench_done(&b);
	}
}

// Red and blue change places in the truth as they do in the samples.
void test_restore__channels_in_another_order(void **state)
{
	static float out[MOST], swapped[MOST];
	enum { PLANE = TWICE * TWICE };
	struct bench b;
	bench_new(&b, "bgr", SHAPE(1, 3, SIDE, SIDE), SHAPE(1, 3, TWICE, TWICE));
	b.data.pre = (struct preprocess){.bgr = true, .color_set = true};
	add_sample(&b, "a.png", "a.png", TWICE, TWICE);
	bench_open_ok(&b, &unasked);
	said(out, TWICE, TWICE, 0, 0, 1 / 255.f, 0);
	for (int c = 0; c < 3; c++)
		memcpy(swapped + c * PLANE, out + (2 - c) * PLANE, PLANE * sizeof *out);
	for (int i = 0; i < PLANE; i++)
		swapped[2 * PLANE + i] += 10 / 255.f; // red
	assert_int_equal(add(&b, TASK_FLOAT, swapped), STATUS_OK);
	near(figure(&b, 1, TASK_FLOAT), psnr(10 * 65.481 / 255), 1e-4);
	struct task_look *l = task_look_new(b.t, net(&b, TASK_FLOAT), net(&b, TASK_FLOAT), (struct key){1, 2}, 0, .25);
	assert_true(l->made[TASK_FLOAT][0] == l->rgb[0] + 10 && l->made[TASK_FLOAT][2] == l->rgb[2]);
	task_look_drop(&l);
	bench_done(&b);
}

void test_restore__channels_last_and_one_channel(void **state)
{
	static float out[MOST], last[MOST];
	struct bench b;
	bench_new(&b, "last", SHAPE(1, SIDE, SIDE, 3), SHAPE(1, TWICE, TWICE, 3));
	add_sample(&b, "a.png", "a.png", TWICE, TWICE);
	bench_open_ok(&b, &unasked);
	said(out, TWICE, TWICE, 0, 5, 1 / 255.f, 0);
	for (int i = 0; i < MOST; i++)
		last[i] = out[i % 3 * TWICE * TWICE + i / 3];
	assert_int_equal(add(&b, TASK_FLOAT, last), STATUS_OK);
	near(figure(&b, 0, TASK_FLOAT), psnr(5), 1e-9);
	bench_done(&b);

	bench_new(&b, "light", SHAPE(1, 1, SIDE, SIDE), SHAPE(1, 1, TWICE, TWICE));
	uint8_t grey[TWICE * TWICE];
	for (int i = 0; i < TWICE * TWICE; i++) {
		grey[i] = (uint8_t)(i % 200);
		out[i] = (float)(i % 200 + 3) / 255;
	}
	write_png(b.samples, "a.png", PNG_FORMAT_GRAY, SIDE, SIDE, grey);
	write_png(b.truths, "a.png", PNG_FORMAT_GRAY, TWICE, TWICE, grey);
	bench_open_ok(&b, &unasked);
	assert_int_equal(add(&b, TASK_FLOAT, out), STATUS_OK);
	near(figure(&b, 0, TASK_FLOAT), psnr(3), 1e-9);
	assert_true(figure(&b, 1, TASK_FLOAT) < 1); // SSIM: light has no figure of its own
	bench_done(&b);
}

// A sample that is not as wide as the input lies in the middle of it: what was added does not count.
void test_restore__a_picture_that_was_padded(void **state)
{
	static float out[MOST];
	static const uint8_t narrow[SIDE / 2 * SIDE * 3] = {0};
	struct bench b;
	bench_new(&b, "padded", SHAPE(1, 3, SIDE, SIDE), SHAPE(1, 3, TWICE, TWICE));
	b.data.pre = (struct preprocess){.resize = RESIZE_LETTERBOX, .resize_set = true};
	uint8_t *rgb = scene(SIDE, TWICE);
	write_png(b.samples, "a.png", PNG_FORMAT_RGB, SIDE / 2, SIDE, narrow);
	write_png(b.truths, "a.png", PNG_FORMAT_RGB, SIDE, TWICE, rgb);
	bench_open_ok(&b, &unasked);
	for (int c = 0; c < 3; c++)
		for (int y = 0; y < TWICE; y++)
			for (int x = 0; x < SIDE; x++)
				out[(c * TWICE + y) * TWICE + SIDE / 2 + x] = (float)(rgb[3 * (y * SIDE + x) + c] + 6) / 255;
	assert_int_equal(add(&b, TASK_FLOAT, out), STATUS_OK);
	near(figure(&b, 0, TASK_FLOAT), psnr(6), 1e-9);
	free(rgb);
	bench_done(&b);
}

// ---- truths

// 33 pixels made 16 at half the size: the last had no share in it.
void test_restore__a_truth_that_is_no_multiple_is_cut(void **state)
{
	static float out[MOST];
	struct bench b;
	bench_new(&b, "cut", SHAPE(1, 3, SIDE, SIDE), SHAPE(1, 3, TWICE, TWICE));
	add_sample(&b, "a.png", "a.png", TWICE + 1, TWICE + 1);
	uint8_t *rgb = scene(TWICE + 1, TWICE + 1);
	for (int i = 0; i < MOST; i++)
		out[i] = (float)(rgb[3 * (i / TWICE % TWICE * (TWICE + 1) + i % TWICE) + i / (TWICE * TWICE)] + 3) / 255;
	bench_open_ok(&b, &unasked);
	assert_int_equal(add(&b, TASK_FLOAT, out), STATUS_OK);
	near(figure(&b, 0, TASK_FLOAT), psnr(3), 1e-9);
	free(rgb);
	bench_done(&b);
}

void test_restore__names_of_truths(void **state)
{
	static const char *const names[][2] = {
	    {"b.png", "b.png"}, {"0801x2.png", "0801.png"}, {"img_001_SRF_2_LR.png", "img_001_SRF_2_HR.png"}, {"0802x2.webp", "0802.TIF"}};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		char name[16];
		struct bench b;
		snprintf(name, sizeof name, "names_%zu", i);
		bench_new(&b, name, SHAPE(1, 3, SIDE, SIDE), SHAPE(1, 3, TWICE, TWICE));
		add_sample(&b, names[i][0], names[i][1], TWICE, TWICE);
		bench_open_ok(&b, &unasked);
		assert_int_equal(task_samples(b.t), 1);
		bench_done(&b);
	}
}

// Where the output is as large as the input, grey levels may be numbers of classes: they are taken for pictures where
// somebody says so. Colours cannot.
void test_restore__masks_are_no_truths_unless_asked(void **state)
{
	static const uint8_t dark[SIDE * SIDE * 3] = {0}, grey[SIDE * SIDE] = {0};
	struct bench b;
	bench_new(&b, "masks", SHAPE(1, 3, SIDE, SIDE), SHAPE(1, 3, SIDE, SIDE));
	write_png(b.samples, "a.png", PNG_FORMAT_RGB, SIDE, SIDE, dark);
	write_png(b.truths, "a.png", PNG_FORMAT_GRAY, SIDE, SIDE, grey);
	assert_int_equal(bench_open(&b, &(struct task_options){.kind = -1, .labels = b.truths}), STATUS_OK);
	assert_int_equal(task_kind(b.t), TASK_SEGMENT);
	task_free(&b.t);
	dataset_free(&b.d);
	bench_open_ok(&b, &(struct task_options){.kind = TASK_RESTORE, .labels = b.truths});
	task_free(&b.t);
	dataset_free(&b.d);
	add_sample(&b, "a.png", "a.png", SIDE, SIDE);
	bench_open_ok(&b, &(struct task_options){.kind = -1, .labels = b.truths});
	task_free(&b.t);
	dataset_free(&b.d);
	// A grey photograph has more levels than the network has classes; a list of names says that they are numbers.
	uint8_t photograph[SIDE * SIDE];
	for (int i = 0; i < SIDE * SIDE; i++)
		photograph[i] = (uint8_t)(i % 9);
	write_png(b.truths, "a.png", PNG_FORMAT_GRAY, SIDE, SIDE, photograph);
	bench_open_ok(&b, &(struct task_options){.kind = -1, .labels = b.truths});
	task_free(&b.t);
	dataset_free(&b.d);
	char *names = file_join(b.truths, "classes.txt");
	assert_int_equal(file_write(names, "a\nb\nc\n", 6, &b.err), STATUS_OK);
	assert_int_equal(bench_open(&b, &(struct task_options){.kind = -1, .labels = b.truths}), STATUS_OK);
	assert_int_equal(task_kind(b.t), TASK_SEGMENT);
	free(names);
	bench_done(&b);
}

// What gives each pixel a probability is asked for classes, unless somebody says otherwise: colours may be masks of another tool.
void test_restore__probabilities_are_no_pictures_unless_asked(void **state)
{
	struct bench b;
	bench_new(&b, "probable", SHAPE(1, 3, SIDE, SIDE), SHAPE(1, 1, SIDE, SIDE));
	builder_node(&b.b, "Sigmoid", "sure", "picture", "probability");
	b.b.g->n_outputs = 0;
	builder_output(&b.b, "probability");
	output(&b)->type = DT_F32;
	output(&b)->shape = SHAPE(1, 1, SIDE, SIDE);
	add_sample(&b, "a.png", "a.png", SIDE, SIDE);
	assert_int_equal(bench_open(&b, &unasked), STATUS_OK);
	assert_int_equal(task_kind(b.t), TASK_AGREE);
	task_free(&b.t);
	dataset_free(&b.d);
	bench_open_ok(&b, &asked);
	bench_done(&b);
}

// Of a network that makes pictures larger: each sample is what should become of it.
void test_restore__the_samples_themselves(void **state)
{
	static float out[MOST];
	struct bench b;
	bench_new(&b, "itself", SHAPE(1, 3, SIDE, SIDE), SHAPE(1, 3, TWICE, TWICE));
	uint8_t *rgb = scene(TWICE, TWICE);
	write_png(b.samples, "a.png", PNG_FORMAT_RGB, TWICE, TWICE, rgb);
	assert_int_equal(bench_open(&b, &asked), STATUS_NOTFOUND);
	refused(&b, STATUS_NOTFOUND, "--labels");
	dataset_free(&b.d);
	// Above its own folder a sample is no truth of itself, under whatever name it is found there.
	struct str above = {0};
	str_addf(&above, "%s/../../itself", b.samples);
	assert_int_equal(bench_open(&b, &(struct task_options){.kind = TASK_RESTORE, .labels = str_text(&above)}), STATUS_NOTFOUND);
	str_done(&above);
	dataset_free(&b.d);
	bench_open_ok(&b, &(struct task_options){.kind = TASK_RESTORE, .labels = b.samples});
	said(out, TWICE, TWICE, 0, 7, 1 / 255.f, 0);
	assert_int_equal(add(&b, TASK_FLOAT, out), STATUS_OK);
	near(figure(&b, 0, TASK_FLOAT), psnr(7), 1e-9);
	free(rgb);
	bench_done(&b);
}

void test_restore__what_does_not_fit_is_refused(void **state)
{
	static float out[MOST];
	struct bench b;
	bench_new(&b, "wide", SHAPE(1, 3, SIDE, SIDE), SHAPE(1, 3, TWICE, TWICE));
	add_sample(&b, "a.png", "a.png", 2 * TWICE, TWICE);
	bench_open_ok(&b, &unasked);
	assert_int_equal(add(&b, TASK_FLOAT, out), STATUS_FORMAT);
	refused(&b, STATUS_FORMAT, "a.png has 64 x 32 pixels, its sample 16 x 16");
	bench_done(&b);

	bench_new(&b, "many", SHAPE(1, 3, SIDE, SIDE), SHAPE(1, 5, SIDE, SIDE));
	add_sample(&b, "a.png", "a.png", SIDE, SIDE);
	assert_int_equal(bench_open(&b, &asked), STATUS_UNSUPPORTED);
	refused(&b, STATUS_UNSUPPORTED, "no output of the model is a picture");
	bench_done(&b);

	bench_new(&b, "torn", SHAPE(1, 3, SIDE, SIDE), SHAPE(1, 3, TWICE, TWICE));
	add_sample(&b, "a.png", "a.png", TWICE, TWICE);
	char *path = file_join(b.truths, "a.png");
	assert_int_equal(file_write(path, "\x89PNG\r\n\x1a\n", 8, &b.err), STATUS_OK);
	bench_open_ok(&b, &unasked);
	assert_true(add(&b, TASK_FLOAT, out) != STATUS_OK);
	refused(&b, STATUS_FORMAT, "a.png");
	free(path);
	bench_done(&b);
}

// Of a large picture means are kept, of blocks that cover it; so are the errors of cells.
void test_restore__a_large_picture_is_kept_smaller(void **state)
{
	enum { W = 200, H = 100 };
	static float said_planes[3 * W * H], truth_planes[3 * W * H];
	for (int i = 0; i < 3 * W * H; i++) {
		said_planes[i] = (float)(i / (W * H) * 60 + (i % W) / 2);
		truth_planes[i] = said_planes[i] + (i % W < W / 2 ? 3 : 0);
	}
	const struct pair it = {said_planes, truth_planes, 3, W, H, false};
	const struct area all = {0, 0, W, H};
	struct made m;
	made_measure(&m, &it, &all, 200);
	assert_true(m.w == 20 && m.h == 10);
	for (int x = 0; x < m.w; x++)
		for (int c = 0; c < 3; c++)
			assert_in_range(
			    m.rgb[3 * (5 * m.w + x) + c], c * 60 + x * 5 + 2, c * 60 + x * 5 + 2); // the mean of ten columns, 5x to 5x + 4
	assert_true(m.cells_w * m.cells_h <= 48 * 48 && m.cells_w > 2 * m.cells_h - 2);
	near((double)m.error[0], 9, 1e-6);
	near((double)m.error[m.cells_w - 1], 0, 0);
	near(m.figure[MADE_PSNR], 10 * log10(255. * 255 / 4.5), 1e-9);
	made_done(&m);
}

// ---- without truths

static void add_both(struct bench *b, const float *before, const float *after)
{
	struct tensor x = {.type = DT_F32, .shape = output(b)->shape, .data = (void *)before}, y = x;
	y.data = (void *)after;
	if (task_add(b->t, net(b, TASK_QUANT), 0, &(struct task_said){&y, &x, NULL}, &b->err))
		fail_msg("%s", b->err.text);
}

static double agreed(struct bench *b, const char *name)
{
	struct task_report *r = task_report(b->t, net(b, TASK_FLOAT), net(b, TASK_QUANT), 0);
	double value = NAN;
	for (int i = 0; i < r->n_figures; i++)
		if (!strcmp(r->figure[i].name, name))
			value = r->figure[i].value[TASK_QUANT];
	task_report_drop(&r);
	return value;
}

// The float network's picture takes the place of the truth, and its values tell the range.
void test_restore__pictures_agree_where_there_is_no_truth(void **state)
{
	static float before[MOST], after[MOST];
	for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
		char name[40];
		struct bench b;
		snprintf(name, sizeof name, "agree_%s", ranges[i].name);
		bench_new(&b, name, SHAPE(1, 3, SIDE, SIDE), SHAPE(1, 3, TWICE, TWICE));
		b.data.pre = (struct preprocess){.mean_set = true, .std_set = true};
		for (int c = 0; c < 3; c++) {
			b.data.pre.mean[c] = ranges[i].mean;
			b.data.pre.std[c] = ranges[i].std;
		}
		add_sample(&b, "a.png", "other.png", TWICE, TWICE);
		assert_int_equal(bench_open(&b, &unasked), STATUS_OK);
		assert_int_equal(task_kind(b.t), TASK_AGREE);
		said(before, TWICE, TWICE, 0, 0, ranges[i].times, ranges[i].plus);
		said(after, TWICE, TWICE, 0, 5, ranges[i].times, ranges[i].plus);
		add_both(&b, before, after);
		near(agreed(&b, "psnr_db"), psnr(5), 1e-9);
		assert_true(agreed(&b, "ssim") > .9 && agreed(&b, "ssim") < 1);
		assert_true(isnan(agreed(&b, "same_top1")));
		struct task_look *l = task_look_new(b.t, net(&b, TASK_FLOAT), net(&b, TASK_QUANT), (struct key){1, 2}, 0, .25);
		assert_true(l->known && l->made[TASK_QUANT][0] == l->made[TASK_FLOAT][0] + 5 && l->cell[0] == CELL_LOST);
		assert_int_equal(l->n_figures, 4);
		task_look_drop(&l);
		bench_done(&b);
	}
}

// Depths, a map of one channel from a picture of three, are none.
void test_restore__depths_are_no_pictures(void **state)
{
	static float before[SIDE * SIDE], after[SIDE * SIDE];
	struct bench b;
	bench_new(&b, "depths", SHAPE(1, 3, SIDE, SIDE), SHAPE(1, 1, SIDE, SIDE));
	add_sample(&b, "a.png", "other.png", SIDE, SIDE);
	assert_int_equal(bench_open(&b, &unasked), STATUS_OK);
	for (int i = 0; i < SIDE * SIDE; i++)
		after[i] = before[i] = (float)i;
	add_both(&b, before, after);
	near(agreed(&b, "cosine"), 1, 1e-9);
	assert_true(isnan(agreed(&b, "psnr_db")));
	bench_done(&b);
}

// ---- a look

void test_restore__a_look_says_where_it_got_worse(void **state)
{
	static float out[MOST];
	struct bench b;
	bench_new(&b, "look", SHAPE(1, 3, SIDE, SIDE), SHAPE(1, 3, TWICE, TWICE));
	add_sample(&b, "a.png", "a.png", TWICE, TWICE);
	bench_open_ok(&b, &unasked);
	said(out, TWICE, TWICE, 0, 4, 1 / 255.f, 0);
	assert_int_equal(add(&b, TASK_FLOAT, out), STATUS_OK);
	for (int c = 0; c < 3; c++) {
		out[(c * TWICE + 2) * TWICE + 2] += 12 / 255.f; // the first pixel that counts: worse
		out[(c * TWICE + 2) * TWICE + 3] -= 2 / 255.f;  // better
		out[(c * TWICE + 2) * TWICE + 4] -= 8 / 255.f;  // as far off
	}
	assert_int_equal(add(&b, TASK_QUANT, out), STATUS_OK);
	struct task_look *l = task_look_new(b.t, net(&b, TASK_FLOAT), net(&b, TASK_QUANT), (struct key){1, 2}, 0, .25);
	assert_true(l->cells_w == TWICE - 4 && l->cells_h == TWICE - 4 && l->w == TWICE - 4 && l->h == TWICE - 4);
	assert_true(l->cell[0] == CELL_LOST && l->cell[1] == CELL_GAINED && l->cell[2] == CELL_SAME && l->cell[3] == CELL_SAME);
	assert_true(l->made[TASK_FLOAT][0] == l->rgb[0] + 4 && l->made[TASK_QUANT][0] == l->rgb[0] + 16);
	assert_int_equal(l->n_figures, 3);
	near(l->figure[0].value[TASK_FLOAT], psnr(4), 1e-9);
	task_look_drop(&l);
	bench_done(&b);
}
