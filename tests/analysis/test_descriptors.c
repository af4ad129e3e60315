// A program of the user's gets its standard input, output and error, and nothing that is open here.
#include <stdio.h>
#include <string.h>
#include "qtui/analysis/session_writer.h"
#include "qtui/base/child.h"
#include "studies.h"

// The names of what it has open; the shell's own is not among them, as it is asked from beside.
static void descriptors(char *out, size_t size)
{
	struct child *c;
	struct error err = {0};
	char command[512];
	const char *list = support_temp("descriptors");
	snprintf(command, sizeof command, "read x; ls /proc/$$/fd >%s; echo $(cat %s); cat >/dev/null", list, list);
	if (child_start(&c, command, &err) != STATUS_OK || child_ask(c, "which", out, size, NULL, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	child_end(&c);
}

void test_descriptors__a_study_keeps_its_own(void **state)
{
	struct error err = {0};
	char before[256], with[256];
	descriptors(before, sizeof before);
	struct study *st = open_for_test((struct study_options){
	    .model = "examples/digits.onnx", .method = CALIB_MINMAX, .threads = 1, .data = {.random = 1}, .task = {.none = true}});
	struct session_writer *w = session_writer_new(support_temp("descriptors.qtui"));
	descriptors(with, sizeof with);
	assert_string_equal(with, before);
	assert_int_equal(session_writer_free(&w, &err), STATUS_OK);
	study_close(&st);
}
