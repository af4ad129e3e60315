// Faults planted in what the shipped detector is calibrated on, one at a time: each is found by its own name, first of all
// findings or among the first. Where nothing is planted and nothing is wrong, nothing is found.
#include <unistd.h>
#include <sys/stat.h>
#include "planted_case.h"
#include "qtui/base/npy.h"

#define VAL "examples/val"
#define LABELS "examples/val.json"
enum { SIDE = 160 };

// ---- nothing is wrong

void test_planted__nothing_is_found_where_nothing_is_wrong(void **state)
{
	struct patient p = examine(MODEL, CALIB, "onnxruntime", -1);
	survey(&p, VAL, LABELS, 48);
	assert_none(p.findings);
	release(&p);
	p = (struct patient){.study = open_study(MODEL, CALIB, "esp32p4", CALIB_MINMAX, healthy)};
	set(p.study, "*", PREC_INT16);
	look(&p);
	assert_none(p.findings);
	release(&p);
}

// The target's calibrator cuts coordinates off that are far from zero as rare ones, however many bits there are.
void test_planted__16_bit_that_is_clipped(void **state)
{
	struct patient p = {.study = open_study(MODEL, CALIB, "esp32p4", -1, healthy)};
	set(p.study, "*", PREC_INT16);
	look(&p);
	const struct finding *f = assert_first(&p, FINDING_saturation, NULL);
	const char *edit = f->edit, *node = study_graph(p.study)->node[f->node[0]].name;
	double before = snr_at(&p, node);
	struct error err = {0};
	assert_int_equal(study_command(p.study, edit, &err), STATUS_OK);
	look(&p);
	assert_true(snr_at(&p, node) > before + 20);
	release(&p);
}

void test_planted__healthy_networks_have_none(void **state)
{
	const char *resnet = support_data("models/resnet20_cifar10.onnx"), *cifar = support_data("cifar10");
	struct preprocess pre = {
	    .mean = {125.307f, 122.961f, 113.8575f}, .std = {51.5865f, 50.847f, 51.255f}, .mean_set = true, .std_set = true};
	if (!resnet || !cifar)
		skip();
	static const struct {
		const char *name;
		int method;
	} target[] = {{"onnxruntime", -1}, {"esp32p4", CALIB_MSE}, {"esp32s3", CALIB_MSE}};
	for (size_t i = 0; i < sizeof target / sizeof *target; i++) {
		struct patient p = {.study = open_study(resnet, cifar, target[i].name, target[i].method, pre)};
		look(&p);
		assert_none(p.findings);
		release(&p);
	}
}

// ---- the samples and their preparation

static void assert_prepared(struct preprocess pre, const char *option)
{
	struct patient p = {.study = open_study(MODEL, CALIB, "onnxruntime", -1, pre)};
	set(p.study, TAIL, PREC_FLOAT);
	look(&p);
	survey(&p, VAL, LABELS, 24);
	assert_non_null(strstr(assert_first(&p, FINDING_preprocessing, NULL)->edit, option));
	release(&p);
}

void test_planted__a_wrong_mean(void **state)
{
	assert_prepared((struct preprocess){.mean = {400, 400, 400}, .mean_set = true}, "--mean 0 --std 255");
}

void test_planted__a_wrong_range(void **state)
{
	assert_prepared((struct preprocess){.std = {1, 1, 1, 1}, .std_set = true}, "--std 255");
}

void test_planted__swapped_colours(void **state)
{
	const char *resnet = support_data("models/resnet20_cifar10.onnx"), *cifar = support_data("cifar10"),
	    *labels = support_data("cifar10/labels.csv");
	struct preprocess pre = {.mean = {125.307f, 122.961f, 113.8575f}, .std = {51.5865f, 50.847f, 51.255f}, .mean_set = true, .std_set = true,
	    .bgr = true, .color_set = true};
	if (!resnet || !cifar || !labels)
		skip();
	struct patient p = {.study = open_study(resnet, cifar, "onnxruntime", -1, pre)};
	look(&p);
	survey(&p, NULL, labels, 240);
	assert_non_null(strstr(assert_first(&p, FINDING_preprocessing, NULL)->edit, "--color rgb"));
	release(&p);
}

// The pictures under names that say nothing of what is on them, in a directory of their own.
static const char *without_labels(const char *cifar)
{
	enum { PICTURES = 24 };
	static const char *const kind[] = {"airplane", "bird", "horse", "ship"};
	const char *dir = support_temp("unlabelled");
	char *all = realpath(cifar, NULL);
	assert_non_null(all);
	assert_int_equal(mkdir(dir, 0700), 0);
	for (int i = 0; i < PICTURES; i++) {
		char from[1024], to[1024];
		snprintf(from, sizeof from, "%s/%s_%04d.jpg", all, kind[i % 4], i / 4);
		snprintf(to, sizeof to, "%s/p%d.jpg", dir, i);
		assert_int_equal(symlink(from, to), 0);
	}
	free(all);
	return dir;
}

// No labels, but a BatchNormalization in the file: it says what its channels had in training.
void test_planted__a_wrong_range_without_labels(void **state)
{
	static const struct {
		struct preprocess pre;
		const char *edit; // NULL: nothing is found
	} fault[] = {
	    {{.std = {1, 1, 1, 1}, .mean_set = true, .std_set = true}, "--std 58.395"},
	    {{.std = {255, 255, 255}, .mean_set = true, .std_set = true}, "--std 58.395"},
	    {{.mean = {125.307f, 122.961f, 113.8575f}, .std = {51.5865f, 50.847f, 51.255f}, .mean_set = true, .std_set = true}, NULL},
	};
	const char *resnet = support_data("models/resnet20_cifar10.onnx");
	char *model = resnet ? strdup(resnet) : NULL;
	const char *cifar = support_data("cifar10");
	if (!model || !cifar)
		skip();
	const char *dir = without_labels(cifar);
	for (size_t i = 0; i < sizeof fault / sizeof *fault; i++) {
		struct patient p = {.study = open_study(model, dir, "onnxruntime", -1, fault[i].pre)};
		look(&p);
		survey(&p, NULL, NULL, 24);
		assert_true(p.findings->surveyed);
		if (fault[i].edit)
			assert_non_null(strstr(assert_first(&p, FINDING_preprocessing, NULL)->edit, fault[i].edit));
		else
			assert_null(of_rule(p.findings, FINDING_preprocessing, p.findings->n));
		release(&p);
	}
	free(model);
}

// The calibration samples as arrays, changed by `change`.
static const char *changed_samples(const char *name, void (*change)(float *x, size_t n))
{
	struct error err = {0};
	struct study *st = open_study(MODEL, CALIB, "onnxruntime", -1, healthy);
	size_t each = 3 * SIDE * SIDE;
	float *all = malloc(SAMPLES * each * sizeof *all);
	struct placement where;
	for (int i = 0; i < SAMPLES; i++) {
		struct tensor in = {0};
		assert_int_equal(dataset_load(study_dataset(st), i, &in, &where, &err), STATUS_OK);
		memcpy(all + (size_t)i * each, in.data, each * sizeof *all);
		tensor_drop(&in);
	}
	change(all, SAMPLES * each);
	struct npy a = {'f', 4, 4, {SAMPLES, 3, SIDE, SIDE}, all, SAMPLES * each * sizeof *all};
	const char *path = support_temp(name);
	assert_int_equal(npy_write(&a, path, &err), STATUS_OK);
	free(all);
	study_close(&st);
	return path;
}

static void darken(float *x, size_t n)
{
	for (size_t i = 0; i < n; i++)
		x[i] *= 0.2f;
}

void test_planted__calibration_in_the_dark(void **state)
{
	const char *dark = changed_samples("dark.npy", darken);
	struct patient p = examine(MODEL, dark, "onnxruntime", -1);
	assert_none(p.findings);
	survey(&p, CALIB, NULL, 8);
	const struct finding *f = assert_first(&p, FINDING_unlike_samples, NULL);
	assert_true(f->gain_db > 3);
	release(&p);
}

static void spike(float *x, size_t n)
{
	x[n / 2 + SIDE / 2] = 60; // a dead pixel in one of them
}

void test_planted__an_outlier(void **state)
{
	const char *hot = changed_samples("hot.npy", spike);
	struct patient p = examine(MODEL, hot, "onnxruntime", CALIB_MINMAX);
	const struct finding *f = assert_first(&p, FINDING_outlier_range, "/model.0/conv/Conv");
	assert_true(f->gain_db > 3);
	release(&p);
}
