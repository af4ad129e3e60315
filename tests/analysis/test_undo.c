// Undo where the target that was in force is no longer what it was.
#include <stdio.h>
#include <string.h>
#include "qtui/base/log.h"
#include "studies.h"

static const char sound[] = "{\"base\": \"a8w8\", \"name\": \"own\"}";

static struct study *open_with(const char *target)
{
	return open_for_test((struct study_options){.model = "examples/digits.onnx", .target = target, .method = CALIB_MINMAX, .threads = 1,
	    .data = {.random = 1}, .task = {.none = true}});
}

// The error is the target's, and nothing has moved; mended, the same key goes back.
void test_undo__says_what_is_wrong_with_a_target(void **state)
{
	struct error err = {0};
	int current;
	const char *own = support_temp_file("own.json", sound, sizeof sound - 1);
	struct study *st = open_with(own);
	assert_int_equal(study_undo(st, &err), STATUS_REFUSED);
	assert_string_equal(err.text, "nothing to undo");
	assert_int_equal(study_set_target(st, "esp32p4", &err), STATUS_OK);
	support_temp_file("own.json", "{", 1);
	assert_int_equal(study_undo(st, &err), STATUS_FORMAT);
	assert_non_null(strstr(err.text, "own.json"));
	study_steps(st, &current);
	assert_int_equal(current, 1);
	support_temp_file("own.json", sound, sizeof sound - 1);
	assert_int_equal(study_undo(st, &err), STATUS_OK);
	assert_int_equal(study_redo(st, &err), STATUS_OK);
	assert_int_equal(study_redo(st, &err), STATUS_REFUSED);
	study_close(&st);
}

// A command of which a part is refused is taken back as a whole, and where that cannot be, this is said.
void test_undo__what_cannot_be_taken_back_is_said(void **state)
{
	struct error err = {0};
	const char *own = support_temp_file("taken.json", sound, sizeof sound - 1);
	struct study *st = open_with(own);
	support_temp_file("taken.json", "{", 1);
	int warnings = log_warnings();
	assert_int_equal(study_command(st, "target esp32p4 ; set nowhere int16", &err), STATUS_NOTFOUND);
	assert_int_equal(log_warnings(), warnings + 1);
	study_close(&st);
}
