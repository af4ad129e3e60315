// Depths: what is near enough, in which unit or by which fit, and files that hold them.
#include <string.h>
#include "labels_case.h"
#include "qtui/base/npy.h"
#include "task_case.h"

enum { PIXELS = CASE_SIDE * CASE_SIDE };

// 1 to 5, to the right.
static void ramp(float *to)
{
	for (int i = 0; i < PIXELS; i++)
		to[i] = 1 + 4 * ((float)(i % CASE_SIDE) + .5F) / CASE_SIDE;
}

static char *truth_dir(const char *name)
{
	struct error err;
	const char *dir = support_temp(name);
	assert_int_equal(file_mkdirs(dir, &err), STATUS_OK);
	return xstrdup(dir);
}

static void write_floats(const char *dir, const float *x, int w, int h)
{
	struct error err;
	char *path = file_join(dir, "a.npy");
	const struct npy a = {.kind = 'f', .item = 4, .rank = 2, .dim = {h, w}, .data = (void *)x, .size = (size_t)w * (size_t)h * sizeof *x};
	assert_int_equal(npy_write(&a, path, &err), STATUS_OK);
	free(path);
}

static void write_units(const char *dir, const float *x, float unit)
{
	uint16_t pixel[PIXELS];
	png_image image = {.version = PNG_IMAGE_VERSION, .width = CASE_SIDE, .height = CASE_SIDE, .format = PNG_FORMAT_LINEAR_Y};
	char *path = file_join(dir, "a.png");
	for (int i = 0; i < PIXELS; i++)
		pixel[i] = (uint16_t)lrintf(x[i] * unit);
	assert_true(png_image_write_to_file(&image, path, 0, pixel, 0, NULL));
	free(path);
}

static void begin(struct task_case *c, const char *labels, int side)
{
	case_begin(c, NULL, 0, CASE_SIDE);
	case_add_output(c, "depth", SHAPE(1, 1, side, side));
	if (case_task(c, TASK_DEPTH, labels))
		fail_msg("%s", c->err.text);
}

static void say(struct task_case *c, enum task_variant v, const float *x, int side)
{
	static const float other[1] = {0};
	const struct tensor out = {.type = DT_F32, .shape = SHAPE(1, 1, side, side), .data = (void *)x},
	                    float_out = {.type = DT_F32, .shape = SHAPE(1), .data = (void *)other};
	const struct task_said said = {&out, v == TASK_FLOAT ? &out : &float_out, NULL};
	if (task_add(c->t, case_net(c, v), 0, &said, &c->err))
		fail_msg("%s", c->err.text);
}

static struct task_report *report(struct task_case *c)
{
	return task_report(c->t, case_net(c, TASK_FLOAT), case_net(c, TASK_QUANT), 0);
}

void test_depth__in_the_unit_of_the_labels(void **state)
{
	static float truth[PIXELS], x[PIXELS];
	char *dir = truth_dir("depth_metres");
	struct task_case c;
	double square = 0;
	ramp(truth);
	write_floats(dir, truth, CASE_SIDE, CASE_SIDE);
	begin(&c, dir, CASE_SIDE);
	for (int i = 0; i < PIXELS; i++) {
		x[i] = truth[i] * (i % 2 ? 1.1F : 1.5F);
		square += pow((double)truth[i] * (i % 2 ? .1 : .5), 2);
	}
	say(&c, TASK_FLOAT, x, CASE_SIDE);
	for (int i = 0; i < PIXELS; i++)
		x[i] = truth[i] / 1.3F;
	say(&c, TASK_QUANT, x, CASE_SIDE);
	struct task_report *r = report(&c);
	assert_int_equal(r->n_figures, 3);
	assert_string_equal(r->figure[0].name, "delta1");
	near(r->figure[0].value[TASK_FLOAT], .5, 1e-12);
	near(r->figure[0].value[TASK_QUANT], 0, 0);
	assert_string_equal(r->figure[1].name, "abs_rel");
	assert_true(task_is_error("abs_rel") && task_is_error("rmse") && !task_is_error("delta1"));
	near(r->figure[1].value[TASK_FLOAT], .3, 1e-6);
	near(r->figure[1].value[TASK_QUANT], .3 / 1.3, 1e-6);
	assert_string_equal(r->figure[2].name, "rmse");
	near(r->figure[2].value[TASK_FLOAT], sqrt(square / PIXELS), 1e-5);
	near(r->sample[0].value[TASK_FLOAT], .5, 1e-12);
	task_report_drop(&r);
	struct task_look *l = case_look(&c, TASK_FLOAT, TASK_QUANT);
	assert_true(l->rgb && l->made[TASK_FLOAT] && l->made[TASK_QUANT] && l->n_figures == 3);
	assert_true(l->rgb[0] > l->rgb[3 * (l->w - 1)]); // what is near is light
	task_look_drop(&l);
	free(dir);
	case_end(&c);
}

void test_depth__units_of_pictures(void **state)
{
	static const struct {
		float unit;
		const char *note;
	} cases[] = {{1000, "labels millimetres"}, {256, "labels 256ths"}, {5000, "labels 5000ths"}};
	static float truth[PIXELS];
	(void)state;
	ramp(truth);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct task_case c;
		char name[32], note[512];
		snprintf(name, sizeof name, "depth_units%zu", i);
		char *dir = truth_dir(name);
		write_units(dir, truth, cases[i].unit);
		begin(&c, dir, CASE_SIDE);
		say(&c, TASK_FLOAT, truth, CASE_SIDE);
		struct task_report *r = report(&c);
		near(r->figure[0].value[TASK_FLOAT], 1, 0);
		near(r->figure[2].value[TASK_FLOAT], 0, .002);
		task_note(c.t, note, sizeof note);
		if (!strstr(note, cases[i].note))
			fail_msg("%s", note);
		task_report_drop(&r);
		free(dir);
		case_end(&c);
	}
}

// Nearly half of the pixels happen to be within 1.25 as they are, and all by a shift.
void test_depth__a_fit_that_is_twice_as_near(void **state)
{
	static float truth[PIXELS], x[PIXELS];
	char *dir = truth_dir("depth_shifted");
	struct task_case c;
	ramp(truth);
	write_floats(dir, truth, CASE_SIDE, CASE_SIDE);
	for (int more = 0; more < 2; more++) {
		begin(&c, dir, CASE_SIDE);
		for (int i = 0; i < PIXELS; i++)
			x[i] = truth[i] + (more ? .83F : .6F); // within 1.25 from 3.32 and from 2.4 on: 42 % and 65 %
		say(&c, TASK_FLOAT, x, CASE_SIDE);
		struct task_report *r = report(&c);
		near(r->figure[0].value[TASK_FLOAT], more ? 1 : .65, more ? 0 : .02);
		task_report_drop(&r);
		case_end(&c);
	}
	free(dir);
}

// A quantized network that has lost its mind is read as the float one is, however near another fit would come.
void test_depth__up_to_scale_and_shift(void **state)
{
	static float truth[PIXELS], x[PIXELS];
	char *dir = truth_dir("depth_relative"), note[512];
	struct task_case c;
	ramp(truth);
	write_floats(dir, truth, CASE_SIDE, CASE_SIDE);
	for (int inverse = 0; inverse < 2; inverse++) {
		begin(&c, dir, CASE_SIDE);
		for (int i = 0; i < PIXELS; i++)
			x[i] = inverse ? 700 / truth[i] + 40 : 30 - 5 * truth[i];
		say(&c, TASK_FLOAT, x, CASE_SIDE);
		say(&c, TASK_QUANT, truth, CASE_SIDE);
		task_note(c.t, note, sizeof note);
		assert_non_null(strstr(note, inverse ? "says inverse depths up to scale" : "says depths up to scale"));
		struct task_report *r = report(&c);
		assert_int_equal(r->n_figures, 2);
		near(r->figure[0].value[TASK_FLOAT], 1, 0);
		near(r->figure[1].value[TASK_FLOAT], 0, 1e-4);
		near(r->figure[1].value[TASK_QUANT], inverse ? .17 : 0, inverse ? .1 : 1e-6);
		task_report_drop(&r);
		case_end(&c);
	}
	free(dir);
}

void test_depth__pixels_without_a_depth_do_not_count(void **state)
{
	static float truth[PIXELS], x[PIXELS];
	static const float none[3] = {0, NAN, -1};
	char *dir = truth_dir("depth_sparse"), *empty = truth_dir("depth_none");
	struct task_case c;
	ramp(x);
	for (int i = 0; i < PIXELS; i++)
		truth[i] = i % 20 ? none[i % 3] : x[i];
	write_floats(dir, truth, CASE_SIDE, CASE_SIDE);
	begin(&c, dir, CASE_SIDE);
	x[0] = NAN; // said of one that counts: it is wrong
	x[20] = INFINITY;
	say(&c, TASK_FLOAT, x, CASE_SIDE);
	struct task_report *r = report(&c);
	double n = (PIXELS + 19) / 20;
	near(r->figure[0].value[TASK_FLOAT], (n - 2) / n, 1e-12);
	task_report_drop(&r);
	case_end(&c);
	memset(truth, 0, sizeof truth);
	write_floats(empty, truth, CASE_SIDE, CASE_SIDE);
	begin(&c, empty, CASE_SIDE);
	say(&c, TASK_FLOAT, x, CASE_SIDE);
	r = report(&c);
	assert_true(isnan(r->figure[0].value[TASK_FLOAT]));
	assert_int_equal(r->samples[TASK_FLOAT], 1); // it was measured: there is nothing more to wait for
	task_report_drop(&r);
	say(&c, TASK_QUANT, x, CASE_SIDE);
	struct task_look *l = case_look(&c, TASK_FLOAT, TASK_QUANT);
	assert_true(l->n_figures == 0 && !l->rgb);
	task_look_drop(&l);
	case_end(&c);
	free(dir);
	free(empty);
}

// Between the pixels of a smaller output depths are interpolated.
void test_depth__a_smaller_output(void **state)
{
	enum { SMALL = CASE_SIDE / 4 };
	static float truth[PIXELS], x[SMALL * SMALL];
	char *dir = truth_dir("depth_small");
	struct task_case c;
	ramp(truth);
	for (int i = 0; i < SMALL * SMALL; i++)
		x[i] = 1 + 4 * ((float)(i % SMALL) + .5F) / SMALL;
	for (int i = 0; i < PIXELS; i++)
		if (i % CASE_SIDE < 2 || i % CASE_SIDE >= CASE_SIDE - 2)
			truth[i] = 0; // beyond the middle of the last pixel
	write_floats(dir, truth, CASE_SIDE, CASE_SIDE);
	begin(&c, dir, SMALL);
	say(&c, TASK_FLOAT, x, SMALL);
	struct task_report *r = report(&c);
	near(r->figure[0].value[TASK_FLOAT], 1, 0);
	near(r->figure[1].value[TASK_FLOAT], 0, 1e-6);
	task_report_drop(&r);
	free(dir);
	case_end(&c);
}

void test_depth__what_does_not_fit(void **state)
{
	static float truth[PIXELS * 2];
	char *dir = truth_dir("depth_wide");
	struct task_case c;
	ramp(truth);
	write_floats(dir, truth, CASE_SIDE, CASE_SIDE / 2);
	begin(&c, dir, CASE_SIDE);
	const struct tensor out = {.type = DT_F32, .shape = SHAPE(1, 1, CASE_SIDE, CASE_SIDE), .data = truth};
	assert_int_equal(task_add(c.t, case_net(&c, TASK_FLOAT), 0, &(struct task_said){&out, &out, NULL}, &c.err), STATUS_FORMAT);
	assert_non_null(strstr(c.err.text, "has 64 x 32 depths, its sample 64 x 64 pixels"));
	case_end(&c);
	case_begin(&c, NULL, 0, CASE_SIDE);
	case_add_output(&c, "classes", SHAPE(1, 10));
	assert_int_equal(case_task(&c, TASK_DEPTH, dir), STATUS_UNSUPPORTED);
	assert_non_null(strstr(c.err.text, "no output of the model is a map of one number for each pixel"));
	case_end(&c);
	free(dir);
}

void test_depth__labels_beside_the_pictures(void **state)
{
	static const char *const beside[][2] = {{"images", "depth"}, {"rgb", "depth"}, {"image", "groundtruth_depth"}, {"photos", "depth"}};
	(void)state;
	for (size_t i = 0; i < sizeof beside / sizeof *beside; i++) {
		struct error err;
		char name[32];
		snprintf(name, sizeof name, "scene%zu", i);
		char *pictures = file_join(support_temp(name), beside[i][0]), *depths = file_join(support_temp(name), beside[i][1]);
		assert_int_equal(file_mkdirs(pictures, &err), STATUS_OK);
		assert_null(labels_find(pictures, LABELS_VALUES, &(struct labels_samples){0}));
		assert_int_equal(file_mkdirs(depths, &err), STATUS_OK);
		char *found = labels_find(pictures, LABELS_VALUES, &(struct labels_samples){0});
		assert_non_null(found);
		assert_true(file_is_same(found, depths));
		free(found);
		free(pictures);
		free(depths);
	}
}

// Names that NYU and KITTI give to what goes with a picture.
void test_depth__names_of_files(void **state)
{
	static const char *const names[][2] = {{"00001_colors.png", "00001_depth.png"}, {"bath_rgb.png", "bath_depth.npy"},
	    {"2011_09_26_drive_0002_sync_image_0000000005_image_02.png", "2011_09_26_drive_0002_sync_groundtruth_depth_0000000005_image_02.png"}};
	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct error err;
		struct labels *l = NULL;
		char name[32];
		snprintf(name, sizeof name, "named%zu", i);
		const char *dir = support_temp(name), *file[] = {names[i][0]};
		write_in(dir, names[i][1], "x");
		if (labels_read(&l, dir, &(struct labels_samples){.file = file, .n = 1, .values = true}, &err))
			fail_msg("%s", err.text);
		assert_true(str_has_suffix(l->label[0].file, names[i][1]));
		labels_free(&l);
	}
}
