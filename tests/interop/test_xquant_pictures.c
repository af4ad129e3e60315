// How pictures are prepared, as xquant and XSlim can be told it.
#include "study_case.h"

static struct study *open_resized(enum resize_mode mode, double share)
{
	struct error err = {0};
	struct study *st = NULL;
	struct study_options o = {.model = MODEL, .calib = CALIB, .target = "xquant", .method = CALIB_MINMAX, .threads = 1,
	    .calibrate_only = true, .data = {.samples = 1, .pre = {.resize = mode, .share = share, .resize_set = true}}};
	if (study_open(&st, &o, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	return st;
}

// The size of its pictures is no condition where the tool makes it as we do.
void test_xquant_pictures__what_resizes_them_is_said(void **state)
{
	static const struct {
		enum resize_mode mode;
		double share;
		const char *file, *loss;
	} rows[] = {
	    {RESIZE_STRETCH, 0, "", "data_list_path: put a text file there in place of " CALIB ", with one picture a line, found from its own "
	                            "directory; for xquant 1 the pictures must have the input's size\n"},
	    {RESIZE_LETTERBOX, 0, "", "directory; it stretches, or crops squares by 0.875, and nothing else"},
	    {RESIZE_CROP, 0, "", "and nothing else: the pictures must have the input's size\n"},
	    {RESIZE_CROP, 0.875, "PT_IMAGENET", "from its own directory\n"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct str loss = {0};
		struct study *st = open_resized(rows[i].mode, rows[i].share);
		cJSON *j = case_export_json(st, "xquant", &loss);
		const cJSON *input = cJSON_GetArrayItem(case_at(j, "calibration_parameters|input_parameters"), 0);
		assert_string_equal(json_text(input, "preprocess_file", ""), rows[i].file);
		assert_non_null(strstr(str_text(&loss), rows[i].loss));
		str_done(&loss);
		cJSON_Delete(j);
		study_close(&st);
	}
}

// A list stands in the file as it is: what its pictures must be is said all the same.
void test_xquant_pictures__in_a_list(void **state)
{
	struct error err = {0};
	struct study *st = NULL;
	struct str loss = {0};
	struct study_options o = {.model = MODEL, .target = "xquant", .method = CALIB_MINMAX, .threads = 1, .calibrate_only = true,
	    .data = {.samples = 1, .pre = {.resize = RESIZE_LETTERBOX, .resize_set = true}}};
	char text[2048], path[1024];
	assert_non_null(realpath(CALIB "/000.jpg", path));
	snprintf(text, sizeof text, "%s\n", path);
	o.calib = support_temp_file("list.txt", text, strlen(text));
	if (study_open(&st, &o, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	cJSON_Delete(case_export_json(st, "xquant", &loss));
	assert_has(&loss, "data_list_path: a list; it stretches, or crops squares by 0.875, and nothing else");
	str_done(&loss);
	study_close(&st);
}
