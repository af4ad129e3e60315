// Work in a thread beside a study.
#include "qtui/analysis/background.h"
#include "studies.h"

static struct study *study(void)
{
	return open_for_test((struct study_options){.model = "examples/digits.onnx", .data = {.random = 1}, .method = -1, .threads = 1});
}

static enum status succeed(void *arg, struct error *err)
{
	*(int *)arg = 7;
	error_set(err, STATUS_REFUSED, "a scale that was tried in vain");
	return STATUS_OK;
}

static enum status give_up(void *arg, struct error *err)
{
	(void)arg;
	return error_set(err, STATUS_IO, "no such file");
}

void test_background__what_was_tried_in_vain_is_no_error_of_the_work(void **state)
{
	struct study *st = study();
	struct background *b = NULL;
	struct error err = {0};
	int done = 0;
	assert_int_equal(background_new(&b, st, succeed, &done, &err), STATUS_OK);
	assert_int_equal(background_wait(b, &err), STATUS_OK);
	assert_int_equal(err.text[0], 0);
	assert_int_equal(done, 7);
	assert_false(background_running(b));
	background_free(&b);
	assert_null(b);
	study_close(&st);
}

void test_background__an_error_is_that_of_the_work(void **state)
{
	struct study *st = study();
	struct background *b = NULL;
	struct error err = {0};
	assert_int_equal(background_new(&b, st, give_up, NULL, &err), STATUS_OK);
	assert_int_equal(background_wait(b, &err), STATUS_IO);
	assert_string_equal(err.text, "no such file");
	background_free(&b);
	study_close(&st);
}
