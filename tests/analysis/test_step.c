// Steps of the history as texts: one command, or several that are one step.
#include <string.h>
#include "qtui/base/str.h"
#include "studies.h"

#define CONV "/model.0/conv/Conv"
#define NEXT "/model.1/conv/Conv"

static struct study *open_study(void)
{
	return open_for_test((struct study_options){.model = "examples/digits.onnx", .target = "esp32p4", .method = CALIB_MINMAX, .threads = 1,
	    .backend = BACKEND_ONEDNN, .data = {.random = 1, .samples = 1}});
}

static int precision(const struct study *st, const char *name)
{
	return study_edits(st)->precision[graph_find_node(study_graph(st), name)];
}

void test_step__several_commands_are_one(void **state)
{
	struct study *st = open_study();
	struct error err = {0};
	int current;
	assert_int_equal(study_command(st, "set " CONV " int16 ; set " NEXT " auto ; scale " NEXT " 2^-3", &err), STATUS_OK);
	assert_string_equal(err.text, ""); // of the one in the middle, which changes nothing
	assert_int_equal(study_steps(st, &current), 1);
	assert_string_equal(study_step(st, 0), "set " CONV " int16 ; scale " NEXT " 2^-3");
	assert_true(undoes(st));
	assert_int_equal(precision(st, CONV), -1);
	assert_false(undoes(st));
	assert_true(redoes(st));
	assert_int_equal(precision(st, CONV), PREC_INT16);
	assert_int_equal(study_command(st, "set " CONV " int16 ; set " NEXT " auto", &err), STATUS_OK);
	assert_non_null(strstr(err.text, "nothing changed"));
	study_close(&st);
}

void test_step__all_of_it_or_nothing(void **state)
{
	struct study *st = open_study();
	struct error err = {0};
	int current;
	assert_int_not_equal(study_command(st, "set " CONV " int16 ; set nowhere int16", &err), STATUS_OK);
	assert_non_null(strstr(err.text, "nowhere"));
	assert_int_equal(study_steps(st, &current), 0);
	assert_int_equal(precision(st, CONV), -1);
	study_close(&st);
}

void test_step__is_restored(void **state)
{
	struct study *st = open_study();
	struct error err = {0};
	int current;
	const char *journal[] = {"calibration kl", "set " CONV " int16 ; set " NEXT " float", "set " CONV " auto"};
	assert_int_equal(study_restore(st, journal, 3, 2, &err), STATUS_OK);
	assert_int_equal(study_steps(st, &current), 3);
	assert_int_equal(current, 2);
	assert_int_equal(precision(st, CONV), PREC_INT16);
	assert_int_equal(precision(st, NEXT), PREC_FLOAT);
	study_close(&st);
}

void test_step__is_shortened(void **state)
{
	struct str text = {0};
	study_add_step(&text, "set a b c int16 ; scale d 2^-3 e 2^-4 f 2^-5", 24);
	assert_string_equal(str_text(&text), "set a b c int16; scale d 2^-3 and 2 more");
	str_done(&text);
}
