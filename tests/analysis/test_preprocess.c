// Words for how pictures are prepared: read, kept with sessions, told apart.
#include <stdio.h>
#include <stdlib.h>
#include "qtui/analysis/preprocess.h"
#include "qtui/analysis/session.h"
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
