// Mean and std of pixels of 0..1 are warned of whoever gives them: options, the command, a session. Once each.
#include <string.h>
#include "qtui/analysis/session.h"
#include "qtui/base/log.h"
#include "studies.h"

static const char command[] = "preprocess --mean 0.485,0.456,0.406 --std 0.229,0.224,0.225";

static struct study_options options(void)
{
	return (struct study_options){.model = "examples/digits.onnx", .calib = "examples/calib", .target = "esp32p4", .method = CALIB_MINMAX,
	    .threads = 1, .data = {.samples = 2}, .task = {.none = true}};
}

static int warnings(int from)
{
	char line[400];
	int n = 0;
	for (int i = from; i < support_log_count(); i++)
		n += log_line(i, line, sizeof line) == LOG_WARN && strstr(line, "pixels of 0..255");
	return n;
}

void test_prepare_unit__options(void **state)
{
	struct study_options o = options();
	int before = support_log_count();
	o.data.pre = (struct preprocess){.mean = {0.5f, 0.5f, 0.5f}, .std = {0.5f, 0.5f, 0.5f}, .mean_set = true, .std_set = true};
	struct study *st = open_for_test(o);
	assert_int_equal(warnings(before), 1);
	struct error err = {0};
	assert_int_equal(study_command(st, "samples 3", &err), STATUS_OK); // prepared as those that were opened
	assert_int_equal(warnings(before), 1);
	study_close(&st);
}

void test_prepare_unit__the_command_and_its_session(void **state)
{
	struct error err = {0};
	struct study *st = open_for_test(options());
	struct session *se = NULL;
	const char *path = support_temp("unit.json");
	int before = support_log_count();
	assert_int_equal(study_command(st, command, &err), STATUS_OK);
	assert_int_equal(warnings(before), 1);
	assert_int_equal(session_write(st, path, NULL, &err), STATUS_OK);
	study_close(&st);

	log_info("another sitting"); // the latest line said once more would be no news
	int told = log_warnings();
	struct study_options o = {.method = -1};
	assert_int_equal(session_read(&se, path, &err), STATUS_OK);
	session_options(se, &o);
	st = open_for_test(o);
	if (session_apply(se, st, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	assert_int_equal(log_warnings(), told + 1);
	session_free(&se);
	study_close(&st);
}
