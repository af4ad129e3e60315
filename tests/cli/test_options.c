// The command line: words, values, what is refused, and what an xquant configuration fills in.
#include <stdio.h>
#include <string.h>
#include "support.h"
#include "qtui/cli/options.h"

enum { MAX_WORDS = 32 };

// Parses a line of words separated by blanks, as the verb `bit` would get it.
static enum status parse(struct options *o, unsigned bit, const char *line, struct error *err)
{
	static char copy[2048];
	static char *word[MAX_WORDS];
	int n = 0;
	snprintf(copy, sizeof copy, "%s", line);
	for (char *save = NULL, *w = strtok_r(copy, " ", &save); w && n < MAX_WORDS; w = strtok_r(NULL, " ", &save))
		word[n++] = w;
	*err = (struct error){0};
	enum status st = options_parse(o, n, word, 0, bit, err);
	return st == STATUS_OK ? options_resolve(o, bit, err) : st;
}

static void refuse(unsigned bit, const char *line, const char *says)
{
	struct options o;
	struct error err;
	assert_int_equal(parse(&o, bit, line, &err), STATUS_USAGE);
	if (!strstr(err.text, says))
		fail_msg("\"%s\" does not say \"%s\"", err.text, says);
	options_done(&o);
}

static void accept(struct options *o, unsigned bit, const char *line)
{
	struct error err;
	if (parse(o, bit, line, &err) != STATUS_OK)
		fail_msg("%s: %s", line, err.text);
}

void test_options__words_in_any_order(void **state)
{
	struct options o;
	accept(&o, VERB_ANALYZE, "m.onnx --set a=int8 calib -q --set=b=float --json out.json");
	assert_int_equal(o.positional.n, 2);
	assert_string_equal(o.positional.at[1], "calib");
	assert_int_equal(o.set.n, 2);
	assert_string_equal(o.set.at[1], "b=float");
	assert_string_equal(o.json, "out.json");
	assert_true(o.quiet);
	options_done(&o);
}

void test_options__a_session_stands_for_its_model(void **state)
{
	struct options o;
	accept(&o, VERB_TUI, "s.json --threads 1");
	assert_string_equal(o.session, "s.json");
	assert_int_equal(o.positional.n, 0);
	options_done(&o);
	accept(&o, VERB_ANALYZE, "m.onnx --session s.json");
	assert_int_equal(o.positional.n, 1);
	options_done(&o);
	accept(&o, VERB_COMPARE, "a.json");
	assert_int_equal(o.positional.n, 1);
	options_done(&o);
}

void test_options__a_double_dash_ends_them(void **state)
{
	struct options o;
	accept(&o, VERB_ANALYZE, "-- -q --json");
	assert_int_equal(o.positional.n, 2);
	assert_false(o.quiet);
	options_done(&o);
}

void test_options__short_with_its_value_attached(void **state)
{
	struct options o;
	accept(&o, VERB_RUN, "m.onnx -ix.npy -o out -i y.npy");
	assert_int_equal(o.input.n, 2);
	assert_string_equal(o.input.at[0], "x.npy");
	assert_string_equal(o.output, "out");
	options_done(&o);
}

void test_options__unknown_ones_name_the_nearest(void **state)
{
	refuse(VERB_ANALYZE, "--sampels 3", "did you mean --samples");
	refuse(VERB_ANALYZE, "-x", "unknown option -x");
	refuse(VERB_ANALYZE, "--quiet=yes", "unknown option");
	refuse(VERB_ANALYZE, "--codes", "no meaning here");
	refuse(VERB_ANALYZE, "m --json", "needs FILE");
	refuse(VERB_ANALYZE, "m --session=", "--session needs FILE, and has an empty word");
	refuse(VERB_ANALYZE, "m --set=", "empty word");
}

void test_options__numbers_are_checked(void **state)
{
	refuse(VERB_ANALYZE, "--samples 0", "from 1 to 1000000000");
	refuse(VERB_ANALYZE, "--samples 1e9", "whole number");
	refuse(VERB_ANALYZE, "--samples 99999999999999999999", "whole number");
	refuse(VERB_ANALYZE, "--threads -1", "from 1 to 1000000000");
	refuse(VERB_ANALYZE, "--seed x", "whole number");
	refuse(VERB_ANALYZE, "--memory 3Q", "512M");
	refuse(VERB_ANALYZE, "--memory 0", "512M");
	refuse(VERB_ANALYZE, "--random-data 0", "whole number");
	refuse(VERB_RUN, "--repeat 1.5", "whole number");
}

void test_options__decoders_are_checked_at_once(void **state)
{
	struct options o;
	accept(&o, VERB_EVAL, "--decoder yolov8");
	options_done(&o);
	accept(&o, VERB_EVAL, "--decoder yolov5-raw:10,13,16,30,33,23");
	options_done(&o);
	refuse(VERB_EVAL, "--decoder yolov88", "one of tf-ssd, ");
	refuse(VERB_EVAL, "--decoder yolov5-raw:10,13", "anchors are three pairs");
}

void test_options__channels(void **state)
{
	struct options o;
	accept(&o, VERB_ANALYZE, "--mean 1,2,3 --std 255");
	const struct preprocess *p = &o.study.data.pre;
	assert_true(p->mean_set && p->mean[2] == 3.0f && p->std_set && p->std[2] == 255.0f && !p->color_set);
	options_done(&o);
	refuse(VERB_ANALYZE, "--mean 1,2", "one a channel");
	refuse(VERB_ANALYZE, "--mean 1,2,3,4,5", "one a channel");
	refuse(VERB_ANALYZE, "--mean nan", "one a channel");
	refuse(VERB_ANALYZE, "--mean 1e39", "one a channel");
	refuse(VERB_ANALYZE, "--mean 1,2,3,", "one a channel");
	refuse(VERB_ANALYZE, "--mean ,1,2,3", "one a channel");
	refuse(VERB_ANALYZE, "--mean 1,,2,3", "one a channel");
	refuse(VERB_ANALYZE, "--mean 1,2,3000000000000000000000000000000000000000000000000000000000000000000000", "one a channel");
	refuse(VERB_ANALYZE, "--std 1e-50", "above 0");
	refuse(VERB_ANALYZE, "--std 1,0,1", "above 0");
	refuse(VERB_ANALYZE, "--std -1", "above 0");
}

void test_options__names_are_checked(void **state)
{
	refuse(VERB_ANALYZE, "--calibration mean", "minmax, percentile, kl or mse");
	refuse(VERB_ANALYZE, "--backend gpu", "onednn, blas or ref");
	refuse(VERB_ANALYZE, "--color grey", "rgb or bgr");
	refuse(VERB_ANALYZE, "--resize fit", "stretch");
	refuse(VERB_ANALYZE, "--resize crop:87.5", "SHARE above 0 and up to 1");
}

void test_options__decisions_are_told_from_the_rest(void **state)
{
	struct options o;
	accept(&o, VERB_ANALYZE, "m c --threads 2 --memory 1G --json x -q");
	assert_null(options_decision(&o, 0));
	options_done(&o);
	accept(&o, VERB_ANALYZE, "m c --scale a=2^-4");
	assert_string_equal(options_decision(&o, 0), "scale");
	options_done(&o);
	accept(&o, VERB_ANALYZE, "m c --nms 0.5"); // of the task, too
	assert_string_equal(options_decision(&o, 0), "nms");
	assert_null(options_decision(&o, VERB_MEASURE));
	options_done(&o);
}

// ---- --config

static const char *const xquant =
    "{\"model_parameters\": {\"onnx_model\": \"m.onnx\"},"
    " \"calibration_parameters\": {\"calibration_step\": 5, \"calibration_batch_size\": 2, \"calibration_type\": \"kl\","
    "  \"input_parametres\": [{\"mean_value\": [1, 2.5, 3], \"std_value\": [255, 255, 255], \"color_format\": \"rgb\","
    "   \"data_list_path\": \"list.txt\"}]},"
    " \"quantization_parameters\": {\"truncate_var_names\": [\"a\", \"b\"]}}";

static const char *config_file(const char *text)
{
	return support_temp_file("config.json", text, strlen(text));
}

void test_options__config_of_xquant(void **state)
{
	struct options o;
	char line[512], model[512], list[512];
	snprintf(model, sizeof model, "%s", support_temp_file("m.onnx", "", 0)); // beside the configuration
	snprintf(list, sizeof list, "%s", support_temp_file("list.txt", "", 0));
	snprintf(line, sizeof line, "--config %s", config_file(xquant));
	accept(&o, VERB_ANALYZE, line);
	assert_int_equal(o.positional.n, 2);
	assert_string_equal(o.positional.at[0], model);
	assert_string_equal(o.positional.at[1], list);
	assert_string_equal(o.study.target, "xquant");
	assert_int_equal(o.study.method, CALIB_KL);
	assert_int_equal(o.study.data.samples, 10);
	assert_true(o.study.data.pre.mean[1] == 2.5f && o.study.data.pre.std[0] == 255.0f);
	assert_true(o.study.data.pre.color_set && !o.study.data.pre.bgr);
	assert_int_equal(o.study.n_truncate, 2);
	assert_string_equal(o.study.truncate[1], "b");
	options_done(&o);
}

void test_options__options_win_over_a_config(void **state)
{
	struct options o;
	char line[512];
	snprintf(line, sizeof line, "other.onnx images --config %s --target esp32p4 --samples 3 --truncate c --color bgr --mean 0",
	    config_file(xquant));
	accept(&o, VERB_ANALYZE, line);
	assert_string_equal(o.positional.at[0], "other.onnx");
	assert_string_equal(o.positional.at[1], "images");
	assert_string_equal(o.study.target, "esp32p4");
	assert_int_equal(o.study.data.samples, 3);
	assert_true(o.study.data.pre.bgr && o.study.data.pre.mean[0] == 0);
	assert_int_equal(o.study.n_truncate, 1);
	assert_string_equal(o.study.truncate[0], "c");
	options_done(&o);
}

// The tool clips by it under any calibrator; its own value is no member of the target's name.
void test_options__config_has_the_percentile(void **state)
{
	static const struct {
		const char *percentile, *given, *target;
	} row[] = {{"0.995", "", "xquant,calibration.percentile=0.995"}, {"0.9999", "", "xquant"}, {"null", "", "xquant"},
	    {"1", "", "xquant,calibration.percentile=1"}, {"0.995", " --target esp32p4", "esp32p4"}};
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		struct options o;
		char line[512], text[128];
		snprintf(text, sizeof text, "{\"quantization_parameters\": {\"max_percentile\": %s}}", row[i].percentile);
		snprintf(line, sizeof line, "m.onnx images --config %s%s", config_file(text), row[i].given);
		accept(&o, VERB_ANALYZE, line);
		assert_string_equal(o.study.target, row[i].target);
		options_done(&o);
	}
}

// Inputs are meant by name, else one after the other; a batch that is open is one sample.
void test_options__config_has_the_shapes_of_inputs(void **state)
{
	struct options o;
	char line[512];
	snprintf(line, sizeof line, "m.onnx images --config %s",
	    config_file("{\"calibration_parameters\": {\"input_parameters\": [{\"input_shape\": [null, 3, 96, 160]}, {\"input_shape\": null},"
	                " {\"input_name\": \"z\", \"input_shape\": [2, 8]}]}}"));
	accept(&o, VERB_ANALYZE, line);
	assert_int_equal(o.study.n_shapes, 2);
	assert_int_equal(o.study.shape[0].place, 1);
	assert_null(o.study.shape[0].name);
	const struct shape x = shape_of(4, (int64_t[]){1, 3, 96, 160}), z = shape_of(2, (int64_t[]){2, 8});
	assert_true(shape_equal(&o.study.shape[0].shape, &x));
	assert_string_equal(o.study.shape[1].name, "z");
	assert_true(shape_equal(&o.study.shape[1].shape, &z));
	options_done(&o);
}

void test_options__config_names_the_model_of_a_data_set(void **state)
{
	struct options o;
	char line[512], model[512], list[512];
	snprintf(model, sizeof model, "%s", support_temp_file("m.onnx", "", 0));
	snprintf(list, sizeof list, "%s", support_temp_file("list.txt", "", 0));
	snprintf(line, sizeof line, "images --config %s", config_file(xquant));
	accept(&o, VERB_EVAL, line);
	assert_int_equal(o.positional.n, 2);
	assert_string_equal(o.positional.at[0], model);
	assert_string_equal(o.positional.at[1], "images");
	assert_string_equal(o.calib, list);
	options_done(&o);
	accept(&o, VERB_EVAL, line + strlen("images "));
	assert_int_equal(o.positional.n, 0); // which data set is not said
	options_done(&o);
}

// Its colours are BGR unless it says otherwise, and its images are not scaled.
void test_options__config_defaults_are_xquants(void **state)
{
	struct options o;
	char line[512];
	snprintf(line, sizeof line, "--config %s",
	    config_file("{\"calibration_parameters\": {\"input_parameters\": [{\"preprocess_file\": \"PT_IMAGENET\"}]}}"));
	accept(&o, VERB_ANALYZE, line);
	const struct preprocess *p = &o.study.data.pre;
	assert_true(p->bgr && p->mean[0] == 0 && p->std[0] == 1);
	assert_int_equal(p->resize, RESIZE_CROP);
	assert_int_equal(o.study.method, -1);
	options_done(&o);
}

void test_options__damaged_configs(void **state)
{
	static const char *const bad[] = {"", "[", "[]", "{\"calibration_parameters\": {\"input_parameters\": 3}}",
	    "{\"calibration_parameters\": {\"calibration_step\": 1e30}}",
	    "{\"calibration_parameters\": {\"input_parameters\": [{\"mean_value\": [\"x\"]}]}}",
	    "{\"calibration_parameters\": {\"input_parameters\": [{\"mean_value\": [1, 2, 3, 4, 5]}]}}",
	    "{\"calibration_parameters\": {\"input_parameters\": [{\"std_value\": [1, 0, 1]}]}}",
	    "{\"calibration_parameters\": {\"input_parameters\": [{\"color_format\": \"gray\"}]}}",
	    "{\"calibration_parameters\": {\"input_parameters\": [{\"input_name\": 1}]}}",
	    "{\"quantization_parameters\": {\"truncate_var_names\": [1]}}", "{\"quantization_parameters\": {\"max_percentile\": 99.5}}",
	    "{\"calibration_parameters\": {\"input_parameters\": [{\"input_shape\": [1, 3, 0.5, 96]}]}}",
	    "{\"calibration_parameters\": {\"input_parameters\": [{\"input_shape\": 96}]}}",
	    "{\"images\": [], \"annotations\": []}"};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct options o;
		struct error err;
		char line[512];
		snprintf(line, sizeof line, "--config %s", config_file(bad[i]));
		assert_int_equal(parse(&o, VERB_ANALYZE, line, &err), STATUS_FORMAT);
		assert_non_null(strstr(err.text, "config.json"));
		options_done(&o);
	}
}
