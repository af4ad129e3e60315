// Targets as data: what ships loads, and what is wrong in a file is said.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../../src/engine/plan/target/target_impl.h"
#include "support.h"

void test_target__all_that_ship_load(void **state)
{
	int n;
	char **names = target_list(&n);
	assert_true(n >= 13);
	for (int i = 0; i < n; i++) {
		struct target *t = NULL;
		struct error err;
		if (target_load(&t, names[i], &err))
			fail_msg("%s", err.text);
		assert_string_equal(target_name(t), names[i]);
		assert_true(strlen(t->title) > 5);
		target_free(&t);
		free(names[i]);
	}
	free(names);
}

void test_target__facts(void **state)
{
	static const struct {
		const char *name;
		enum calib_method calibration;
		bool pow2, wide, wide_weights;
	} facts[] = {
		{"esp32p4", CALIB_KL, true, true, true}, {"esp32s3", CALIB_KL, true, true, true},
		{"esp32", CALIB_KL, true, true, true}, {"tensorrt", CALIB_PERCENTILE, false, false, false},
		{"onnxruntime", CALIB_MINMAX, false, true, false}, {"xint8", CALIB_MSE, true, false, false},
	};
	for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
		struct target *t;
		struct error err;
		assert_int_equal(target_load(&t, facts[i].name, &err), STATUS_OK);
		assert_int_equal(target_default_calibration(t), facts[i].calibration);
		assert_int_equal(t->scale.pow2, facts[i].pow2);
		assert_int_equal(target_has_precision(t, 16), facts[i].wide);
		assert_int_equal(target_widens_weights(t), facts[i].wide_weights);
		target_free(&t);
	}
}

static const char *load_fault(const char *name, enum status want)
{
	static struct error err;
	struct target *t = NULL;
	assert_int_equal(target_load(&t, name, &err), want);
	target_free(&t);
	return err.text;
}

// Members behind the name, in lists and texts with commas too.
void test_target__members_beside_the_name(void **state)
{
	static const char name[] = "esp32p4,calibration.percentile=.99,title=\"a, "
	    "\\\"b\",operators.quantized=[\"Conv\",\"Add\"],activation.signed=false";
	struct target *t;
	struct error err;
	char member[TARGET_NAME];
	if (target_load(&t, name, &err))
		fail_msg("%s", err.text);
	assert_float_equal(target_percentile(t), .99, 0);
	assert_string_equal(target_name(t), name);
	assert_string_equal(t->title, "a, \"b");
	assert_true(target_rule(t, "Add")->flags & RULE_QUANTIZED && !(target_rule(t, "Mul")->flags & RULE_QUANTIZED));
	assert_string_equal(target_member(t, 2, member), "operators.quantized=[\"Conv\",\"Add\"]");
	assert_string_equal(target_member(t, 3, member), "activation.signed=false");
	assert_null(target_member(t, 4, member));
	target_free(&t);
	assert_int_equal(target_load(&t, "esp32p4,tool=Quark", &err), STATUS_OK); // a text without quotes
	assert_true(target_is_of(t, "Quark"));
	target_free(&t);
	assert_int_equal(target_load(&t, "esp32p4", &err), STATUS_OK);
	assert_float_equal(target_percentile(t), .9999, 0);
	assert_null(target_member(t, 0, member));
	target_free(&t);
}

void test_target__what_is_wrong_with_them(void **state)
{
	static const struct {
		const char *name, *says;
		enum status status;
	} rows[] = {
	    {"esp32p4,", "\"\" is no MEMBER=VALUE, as calibration.percentile=0.999 is", STATUS_USAGE},
	    {"esp32p4,kind", "\"kind\" is no MEMBER=VALUE", STATUS_USAGE},
	    {"esp32p4,=1", "\"=1\" is no MEMBER=VALUE", STATUS_USAGE},
	    {"esp32p4,kind=linear,kind=linear", "kind is given twice", STATUS_USAGE},
	    {"esp32p4,kind=linear,kind.x=1", "is given twice", STATUS_USAGE},
	    {"esp32p4,base=xint8", "its base is what comes before the comma", STATUS_USAGE},
	    {"esp32p4,calibration.percentil=1", "unknown member \"percentil\"; the nearest known is \"percentile\"", STATUS_FORMAT},
	    {"esp32p4,calibration.percentile=2", "must be above 0.5 and at most 1", STATUS_FORMAT},
	    {"esp32p4,calibration.percentile=[", "percentile: [ is no JSON", STATUS_USAGE},
	    {"esp32p4,title=\"a", "title: \"a is no JSON", STATUS_USAGE},
	    {"esp32p4,calibration.percentile=many", "\"percentile\"", STATUS_FORMAT},
	    {"esp32p5,calibration.percentile=.9", "the nearest is esp32p4", STATUS_NOTFOUND},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (!strstr(load_fault(rows[i].name, rows[i].status), rows[i].says))
			fail_msg("%s: %s", rows[i].name, load_fault(rows[i].name, rows[i].status));
}

void test_target__names_of_members(void **state)
{
	int n, found = 0;
	char **names = target_member_names(&n), text[TARGET_NAME];
	for (int i = 0; i < n; i++) {
		struct error err;
		struct target *t = NULL;
		found += !strcmp(names[i], "rounding") || !strcmp(names[i], "calibration.percentile");
		snprintf(text, sizeof text, "esp32p4,%s=null", names[i]);
		if (target_load(&t, text, &err) && strstr(err.text, "unknown member")) // every one is known
			fail_msg("%s", err.text);
		target_free(&t);
		free(names[i]);
	}
	free(names);
	assert_true(n > 40 && found == 2);
}

// A file whose own name has a comma is that file.
void test_target__a_comma_in_a_file_s_name(void **state)
{
	static const char text[] = "{\"name\": \"mine\", \"base\": \"esp32p4\"}";
	const char *path = support_temp_file("a,b=c.json", text, sizeof text - 1);
	struct target *t;
	struct error err;
	if (target_load(&t, path, &err))
		fail_msg("%s", err.text);
	assert_string_equal(target_name(t), "mine");
	target_free(&t);
}

// The error of a target file with this text.
static const char *fault_of(const char *text, enum status want)
{
	static struct error err;
	struct target *t = NULL;
	const char *path = support_temp_file("hostile.json", text, strlen(text));
	enum status st = target_load(&t, path, &err);
	if (st != want)
		fail_msg("%s: status %d instead of %d: %s", text, st, want, st ? err.text : "");
	target_free(&t);
	return st ? err.text : "";
}

#define HEAD "\"name\": \"t\", \"title\": \"a target\""
#define GOOD HEAD ", \"precisions\": {\"int8\": {\"activation\": 8, \"weight\": 8, \"bias\": 32, \"kl_bins\": 4096}}"

void test_target__minimal_file(void **state)
{
	fault_of("{" GOOD "}", STATUS_OK);
	fault_of("{\"base\": \"esp32p4\", \"name\": \"mine\"}", STATUS_OK);
}

void test_target__names_the_nearest_member(void **state)
{
	assert_non_null(strstr(fault_of("{" GOOD ", \"rouding\": \"half_up\"}", STATUS_FORMAT), "\"rounding\""));
	assert_non_null(strstr(fault_of("{" GOOD ", \"rounding\": \"half_upp\"}", STATUS_FORMAT), "\"half_up\""));
	assert_non_null(strstr(fault_of("{" GOOD ", \"operators\": {\"quantised\": []}}", STATUS_FORMAT), "\"quantized\""));
	assert_non_null(strstr(fault_of("{" GOOD ", \"weights\": {\"Conv\": {\"axes\": 0}}}", STATUS_FORMAT), "\"axis\""));
	assert_non_null(strstr(fault_of("{" GOOD ", \"alignment\": {\"shift_limits\": [\"cuts\"]}}", STATUS_FORMAT), "\"cut\""));
}

void test_target__hostile_files(void **state)
{
	static const char *const bad[] = {
	    "",
	    "[]",
	    "{",
	    "null",
	    "{\"name\": 3}",
	    "{\"name\": \"x\"}",
	    "{" GOOD ", \"scale\": {\"minimum\": -1}}",
	    "{" GOOD ", \"scale\": {\"minimum\": \"1\"}}",
	    "{" GOOD ", \"scale\": []}",
	    "{" GOOD ", \"precisions\": {}}",
	    "{" HEAD ", \"precisions\": {\"int8\": {\"activation\": 99}}}",
	    "{" HEAD ", \"precisions\": {\"int8\": {\"activation\": 8.5}}}",
	    "{" HEAD ", \"precisions\": {\"int8\": {\"activation\": 8, \"weight\": 8, \"bias\": 32, \"kl_bins\": 100}}}",
	    "{" HEAD ", \"precisions\": {\"int8\": {\"activation\": 8, \"weight\": 8, \"bias\": 32, \"kl_bins\": 1e300}}}",
	    "{" HEAD ", \"precisions\": {\"int8\": {\"activation\": 8, \"weight\": 8, \"kl_bins\": 4096, \"bias\": 63}}}",
	    "{" HEAD ", \"precisions\": {\"int8\": null}}",
	    "{" GOOD ", \"operators\": {\"quantized\": [1]}}",
	    "{" GOOD ", \"operators\": {\"float_inputs\": {\"Resize\": [32]}}}",
	    "{" GOOD ", \"operators\": {\"float_inputs\": {\"Resize\": 1}}}",
	    "{" GOOD ", \"operators\": {\"fixed_ranges\": {\"Softmax\": [1, 0]}}}",
	    "{" GOOD ", \"operators\": {\"fixed_ranges\": {\"Softmax\": 1}}}",
	    "{" GOOD ", \"operators\": {\"fixed_scales\": {\"Softmax\": [1]}}}",
	    "{" GOOD ", \"operators\": {\"fixed_scales\": {\"Softmax\": [-1, 0]}}}",
	    "{" GOOD ", \"weights\": {\"Conv\": {\"axis\": 8}}}",
	    "{" GOOD ", \"weights\": {\"Conv\": 1}}",
	    "{" GOOD ", \"weights\": {\"Conv\": {\"axis\": \"first\"}}}",
	    "{" GOOD ", \"alignment\": {\"to_output\": \"Add\"}}",
	    "{" GOOD ", \"alignment\": {\"shift_limits\": true}}",
	    "{" GOOD ", \"alignment\": {\"shift_limits\": [1]}}",
	    "{" GOOD ", \"fusion\": {\"clips\": [[0]]}}",
	    "{" GOOD ", \"fusion\": {\"clips\": [[0, 1], [0, 2], [0, 3], [0, 4], [0, 5]]}}",
	    "{" GOOD ", \"calibration\": {\"percentile\": 1.5}}",
	    "{" GOOD ", \"calibration\": {\"percentile\": 0.1}}",
	};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_non_null(strstr(fault_of(bad[i], STATUS_FORMAT), "hostile.json"));
}

void test_target__circles_end(void **state)
{
	const char *path = support_temp("circle.json");
	char text[512];
	snprintf(text, sizeof text, "{\"base\": \"%s\", " GOOD "}", path);
	support_temp_file("circle.json", text, strlen(text));
	struct target *t = NULL;
	struct error err;
	assert_int_equal(target_load(&t, path, &err), STATUS_FORMAT);
	assert_null(t);
	fault_of("{\"base\": \"nowhere\"}", STATUS_NOTFOUND);
}

// From wherever the program is started.
void test_target__a_base_lies_beside_its_file(void **state)
{
	static const char base[] = "{\"base\": \"esp32p4\", \"name\": \"base\", \"calibration\": {\"default\": \"mse\"}}",
	                  text[] = "{\"base\": \"beside.json\", \"name\": \"mine\"}";
	struct target *t = NULL;
	struct error err;
	support_temp_file("beside.json", base, sizeof base - 1);
	if (target_load(&t, support_temp_file("mine_beside.json", text, sizeof text - 1), &err))
		fail_msg("%s", err.text);
	assert_int_equal(target_default_calibration(t), CALIB_MSE);
	target_free(&t);
}

void test_target__unknown_name_lists_the_known(void **state)
{
	struct target *t = NULL;
	struct error err;
	assert_int_equal(target_load(&t, "esp32p5", &err), STATUS_NOTFOUND);
	assert_non_null(strstr(err.text, "esp32p4"));
	assert_null(t);
}

void test_target__directories_come_first(void **state)
{
	static const char text[] = "{\"base\": \"esp32p4\", \"name\": \"mine\"}";
	char *dir = strdup(support_temp_file("mine.json", text, strlen(text)));
	*strrchr(dir, '/') = '\0';
	setenv("QTUI_TARGETS", dir, 1);
	struct target *t = NULL;
	struct error err;
	assert_int_equal(target_load(&t, "mine", &err), STATUS_OK);
	assert_string_equal(target_name(t), "mine");
	target_free(&t);
	unsetenv("QTUI_TARGETS");
	free(dir);
}

void test_target__calibration_names(void **state)
{
	enum calib_method m;
	for (int i = 0; i < CALIB_COUNT; i++) {
		assert_true(calib_parse(&m, calib_name((enum calib_method)i)));
		assert_int_equal(m, i);
	}
	assert_false(calib_parse(&m, "entropy"));
}
