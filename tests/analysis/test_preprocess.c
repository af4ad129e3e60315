// Words for how pictures are prepared: read, kept with sessions, told apart.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "qtui/analysis/preprocess.h"
#include "qtui/analysis/session.h"
#include "qtui/base/json.h"
#include "qtui/base/str.h"
#include "studies.h"

void test_preprocess__ways_to_resize_are_read_and_written(void **state)
{
	static const struct {
		const char *given, *kept;
		enum resize_mode mode;
		double share;
	} rows[] = {
	    {"stretch", "stretch", RESIZE_STRETCH, 0},
	    {"letterbox", "letterbox", RESIZE_LETTERBOX, 0},
	    {"crop", "crop", RESIZE_CROP, 0},
	    {"crop:1", "crop", RESIZE_CROP, 0},
	    {"crop:0.875", "crop:0.875", RESIZE_CROP, 0.875},
	    {"crop:.9", "crop:0.9", RESIZE_CROP, 0.9},
	    {"crop:0.33333333333333331", "crop:0.33333333333333331", RESIZE_CROP, 1. / 3},
	};
	static const char *const bad[] = {"", "crop:", "crop:0", "crop:-1", "crop:1.5", "crop:nan", "crop:0.9x", "stretch:0.9", "cro", "croppy"};
	struct preprocess p = {.share = 0.5};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		assert_true(resize_parse(&p, rows[i].given));
		assert_true(p.resize == rows[i].mode && p.share == rows[i].share);
		char *text = resize_text(&p);
		assert_string_equal(text, rows[i].kept);
		free(text);
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_false(resize_parse(&p, bad[i]));
	assert_false(resize_parse(&p, NULL));
}

// As few numbers as read back as the same four: the fourth, of a picture's alpha, is 0 of means and 1 of what divides.
void test_preprocess__channels_are_written_as_they_were_given(void **state)
{
	static const struct {
		const char *mean, *std, *kept;
	} rows[] = {
	    {"127.5", "2", " --mean 127.5 --std 2"},
	    {"127.5,127.5,127.5", "2,2,2", " --mean 127.5,127.5,127.5 --std 2,2,2"},
	    {"0,0,0", "1,1,1", " --mean 0 --std 1"},
	    {"1,1,2", "1,3,1", " --mean 1,1,2 --std 1,3,1"},
	    {"1,2,1", "1,1,4", " --mean 1,2,1 --std 1,1,4"},
	    {"1,2,3,0", "4,5,6,1", " --mean 1,2,3 --std 4,5,6"},
	    {"1,2,3,1", "4,5,6,2", " --mean 1,2,3,1 --std 4,5,6,2"},
	    {"0.1,123.675,1e-7", "0.3", " --mean 0.100000001,123.675003,1.00000001e-07 --std 0.300000012"},
	};
	static const char *const bad[] = {"", "1,2", "1,2,3,4,5", "1,,3", "1,2,x", "1e39"};
	struct error err = {0};
	float ignored[4];
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct preprocess p = {.mean_set = true, .std_set = true};
		struct str text = {0};
		assert_int_equal(channels_parse(p.mean, rows[i].mean, false, &err), STATUS_OK);
		assert_int_equal(channels_parse(p.std, rows[i].std, true, &err), STATUS_OK);
		preprocess_add(&text, &p);
		assert_string_equal(str_text(&text), rows[i].kept);
		str_done(&text);
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_int_equal(channels_parse(ignored, bad[i], false, &err), STATUS_USAGE);
	assert_int_equal(channels_parse(ignored, "1,0,1", true, &err), STATUS_USAGE);
}

void test_preprocess__how_many_samples_a_state_may_have(void **state)
{
	static const struct {
		const char *text;
		int samples; // -1: an error
	} rows[] = {{"{}", 0}, {"{\"samples\": 0}", 0}, {"{\"samples\": 12}", 12}, {"{\"samples\": 2147483647}", 2147483647},
	    {"{\"samples\": 2147483648}", -1}, {"{\"samples\": -1}", -1}, {"{\"samples\": \"12\"}", -1}, {"{\"samples\": 1e300}", -1}};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct error err = {0};
		struct way w = {.samples = 7};
		cJSON *o = cJSON_Parse(rows[i].text);
		enum status st = way_parse(&w, o, &err);
		assert_int_equal(st, rows[i].samples < 0 ? STATUS_FORMAT : STATUS_OK);
		if (rows[i].samples < 0)
			assert_non_null(strstr(err.text, "\"samples\""));
		else
			assert_int_equal(w.samples, rows[i].samples);
		cJSON_Delete(o);
	}
}

static struct study *open_cropped(const char *resize)
{
	struct study_options o = {.model = "examples/digits.onnx", .calib = "examples/calib", .target = "esp32p4", .method = CALIB_MINMAX,
	    .threads = 1, .memory = (size_t)512 << 20, .data = {.samples = 2}, .task = {.none = true}};
	assert_true(resize_parse(&o.data.pre, resize));
	o.data.pre.resize_set = true;
	return open_for_test(o);
}

void test_preprocess__a_share_stays_with_the_session(void **state)
{
	struct error err = {0};
	char path[256];
	struct session *se = NULL;
	struct study *st = open_cropped("crop:0.875");
	assert_int_equal(study_command(st, "preprocess --resize crop", &err), STATUS_OK); // it is not so already
	assert_int_equal(study_command(st, "preprocess --resize crop:0.75", &err), STATUS_OK);
	snprintf(path, sizeof path, "%s", support_temp("share.json"));
	assert_int_equal(session_write(st, path, NULL, &err), STATUS_OK);
	study_close(&st);

	struct study_options o = {.method = -1, .threads = 1, .memory = (size_t)512 << 20};
	assert_int_equal(session_read(&se, path, &err), STATUS_OK);
	session_options(se, &o);
	o.task.none = true;
	assert_true(o.data.pre.resize == RESIZE_CROP && o.data.pre.share == 0.875);
	assert_int_equal(study_open(&st, &o, &err), STATUS_OK);
	assert_int_equal(session_apply(se, st, &err), STATUS_OK);
	assert_true(dataset_preprocess(study_dataset(st))->share == 0.75);
	assert_true(undoes(st));
	assert_true(dataset_preprocess(study_dataset(st))->share == 0);
	session_free(&se);
	study_close(&st);
}
