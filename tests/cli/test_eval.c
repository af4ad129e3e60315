// The verb: its JSON, its exit codes, data sets with labels in the names of folders.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "../../src/cli/verbs.h"
#include "qtui/base/file.h"
#include "qtui/base/json.h"
#include "qtui/base/log.h"
#include "qtui/base/mem.h"
#include "support.h"

static int eval(int n, ...)
{
	char *argv[24] = {"qtui", "eval", "--quiet", "--threads=2"};
	struct options o;
	struct error err;
	va_list ap;
	va_start(ap, n);
	for (int i = 0; i < n; i++)
		argv[4 + i] = va_arg(ap, char *);
	va_end(ap);
	log_to_stderr(false, LOG_ERROR);
	bool right = options_parse(&o, 4 + n, argv, 2, VERB_EVAL, &err) == STATUS_OK && options_resolve(&o, VERB_EVAL, &err) == STATUS_OK;
	int code = right ? verb_eval(&o) : (fail)(&err); // in parentheses: cmocka has a macro of that name
	options_done(&o);
	return code;
}

static cJSON *result(const char *path)
{
	cJSON *j;
	struct error err;
	if (json_read(&j, path, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	return j;
}

static double number(const cJSON *j, const char *part, const char *key)
{
	return json_number(cJSON_GetObjectItemCaseSensitive(j, part), key, NAN);
}

static const char *few_images(void)
{
	char text[4096], dir[2048];
	assert_non_null(realpath("examples/val", dir));
	int n = snprintf(text, sizeof text, "%s/000.jpg\n%s/001.jpg\n%s/002.jpg\n%s/003.jpg\n", dir, dir, dir, dir);
	return support_temp_file("few.txt", text, (size_t)n);
}

void test_eval__json_of_a_detector(void **state)
{
	const char *out = support_temp("eval.json");
	assert_int_equal(eval(7, "examples/digits.onnx", few_images(), "--labels=examples/val.json", "--task", "detect",
	                     "--json", out),
	    EXIT_DONE);
	cJSON *j = result(out);
	assert_int_equal(json_number(j, "images", 0), 4);
	assert_true(number(j, "float", "AP") > .6 && number(j, "float", "AP50") >= number(j, "float", "AP"));
	assert_true(number(j, "quantized", "AP") >= 0 && number(j, "quantized", "AP") < number(j, "float", "AP"));
	assert_true(isnan(number(j, "float", "AP_large"))); // not known is absent
	assert_true(
	    fabs(number(j, "difference", "value") - (number(j, "quantized", "AP") - number(j, "float", "AP"))) < 1e-9);
	assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(j, "samples")), 4);
	cJSON_Delete(j);
}

// Three pictures in folders that are class numbers.
static const char *folders(const char *cifar)
{
	static const char *const files[][2] = {
	    {"airplane_0003.jpg", "0"}, {"automobile_0003.jpg", "1"}, {"bird_0003.jpg", "2"}};
	const char *root = support_temp("folders");
	for (int i = 0; i < 3; i++) {
		struct error err;
		struct bytes b;
		char *from = file_join(cifar, files[i][0]), *dir = file_join(root, files[i][1]),
		     *to = file_join(dir, files[i][0]);
		assert_int_equal(file_read(&b, from, SIZE_MAX, &err), STATUS_OK);
		assert_int_equal(file_mkdirs(dir, &err), STATUS_OK);
		assert_int_equal(file_write(to, b.data, b.size, &err), STATUS_OK);
		bytes_done(&b);
		free(from);
		free(dir);
		free(to);
	}
	return root;
}

void test_eval__classes_in_the_names_of_folders(void **state)
{
	const char *model = support_data("models/resnet20_cifar10.onnx"), *data = support_data("cifar10"),
	           *out = support_temp("eval.json");
	if (!model || !data)
		skip();
	assert_int_equal(eval(6, model, folders(data), "--mean=125.307,122.961,113.8575", "--std=51.5865,50.847,51.255",
	                     "--json", out),
	    EXIT_DONE);
	cJSON *j = result(out);
	assert_string_equal(json_text(j, "task", ""), "classify");
	assert_int_equal(json_number(j, "images", 0), 3);
	assert_true(number(j, "float", "top1") > .6 && number(j, "float", "top5") == 1);
	assert_true(!isnan(number(j, "quantized", "top1")));
	cJSON_Delete(j);
}

void test_eval__exit_codes(void **state)
{
	assert_int_equal(eval(1, "examples/digits.onnx"), EXIT_USAGE);
	assert_int_equal(eval(3, "examples/digits.onnx", "examples/val", "--task=translate"), EXIT_USAGE);
	assert_int_equal(eval(3, "examples/digits.onnx", "examples/val", "--nms=2"), EXIT_USAGE);
	assert_int_equal(eval(3, "examples/digits.onnx", few_images(), "--labels=nowhere.json"), EXIT_FAILED);
	assert_int_equal(eval(2, "examples/none.onnx", "examples/val"), EXIT_FAILED);
}
