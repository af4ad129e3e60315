// How pictures are prepared is found out whatever the order of the samples.
#include <string.h>
#include "qtui/analysis/findings.h"
#include "qtui/analysis/survey.h"
#include "studies.h"

// The names begin with the class: the first 128 of 240 pictures are of a few classes only.
void test_survey__of_samples_in_order_of_their_classes(void **state)
{
	const char *resnet = support_data("models/resnet20_cifar10.onnx"), *cifar = support_data("cifar10"),
	           *labels = support_data("cifar10/labels.csv");
	struct preprocess pre = {.mean = {125.307f, 122.961f, 113.8575f}, .std = {51.5865f, 50.847f, 51.255f}, .mean_set = true, .std_set = true,
	    .bgr = true, .color_set = true};
	struct error err = {0};
	struct survey *v = NULL;
	if (!resnet || !cifar || !labels)
		skip();
	struct study *st = open_for_test((struct study_options){.model = resnet, .calib = cifar, .target = "esp32p4", .method = CALIB_MINMAX,
	    .threads = 2, .data = {.samples = 8, .pre = pre}, .calibrate_only = true});
	wait_for_run(st);
	struct snapshot *s = study_snapshot(st);
	if (survey_new(&v, st, s, &(struct survey_options){.eval = cifar, .task = {.kind = -1, .labels = labels}}, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	assert_string_equal(v->preparation.option, "--color rgb");
	assert_in_range(v->preparation.samples, 64, 128);
	survey_drop(&v);
	snapshot_drop(&s);
	study_close(&st);
}
