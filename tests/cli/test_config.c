// What an xquant configuration says of pictures.
#include <stdio.h>
#include <string.h>
#include "support.h"
#include "qtui/base/log.h"
#include "qtui/cli/options.h"

// The caller calls options_done.
static const struct preprocess *prepared_by(struct options *o, const char *input, const char *more)
{
	static char *argv[8];
	static char line[512];
	char text[512];
	struct error err = {0};
	int n = 0;
	const char *path = support_temp("pictures.json");
	snprintf(text, sizeof text, "{\"calibration_parameters\": {\"input_parameters\": [{%s}]}}", input);
	FILE *f = fopen(path, "w");
	assert_true(f && fputs(text, f) >= 0 && fclose(f) == 0);
	snprintf(line, sizeof line, "m.onnx --config %s %s", path, more);
	for (char *word = strtok(line, " "); word; word = strtok(NULL, " "))
		argv[n++] = word;
	if (options_parse(o, n, argv, 0, VERB_ANALYZE, &err) || options_resolve(o, VERB_ANALYZE, &err))
		fail_msg("%s", err.text);
	return &o->study.data.pre;
}

// Its sources: the shorter side to int(height / 0.875), then the middle.
void test_config__imagenet_is_a_crop_of_a_share(void **state)
{
	static const char *const file[] = {"PT_IMAGENET", "IMAGENET"};
	for (int i = 0; i < 2; i++) {
		struct options o;
		char input[64];
		snprintf(input, sizeof input, "\"preprocess_file\": \"%s\"", file[i]);
		const struct preprocess *p = prepared_by(&o, input, "");
		assert_true(p->resize_set && p->resize == RESIZE_CROP && p->share == 0.875);
		options_done(&o);
		p = prepared_by(&o, input, "--resize corner");
		assert_true(p->resize == RESIZE_CORNER && p->share == 0);
		options_done(&o);
	}
}

// Also those of a model whose metadata say letterbox: the calibration is the tool's.
void test_config__pictures_are_stretched(void **state)
{
	struct options o;
	const struct preprocess *p = prepared_by(&o, "\"file_type\": \"img\"", "");
	assert_true(p->resize_set && p->resize == RESIZE_STRETCH);
	options_done(&o);
	p = prepared_by(&o, "\"file_type\": \"img\"", "--resize letterbox");
	assert_true(p->resize == RESIZE_LETTERBOX);
	options_done(&o);
	assert_false(prepared_by(&o, "\"file_type\": \"npy\"", "")->resize_set);
	options_done(&o);
}

// A file that is named so is Python, of which only a person knows what it does.
void test_config__python_is_not_run(void **state)
{
	struct options o;
	int warnings = log_warnings();
	assert_false(prepared_by(&o, "\"preprocess_file\": \"my_IMAGENET.py:prepare\"", "")->resize_set);
	assert_int_equal(log_warnings(), warnings + 2); // and of what xquant does to weights
	options_done(&o);
}
