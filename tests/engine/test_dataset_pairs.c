// Subdirectories, one an input: which files go together, and when that is said to be doubtful.
#include <stdio.h>
#include "dataset_case.h"
#include "qtui/base/log.h"

// Opens x/NAME.npy and h/NAME.npy of names separated by blanks; whether a warning was given, which is in `line`.
static bool warns(char line[512], const char *dir, const char *const names[2], int samples)
{
	static const char *const input[] = {"x", "h"};
	struct data_case c = vector_case();
	char path[128];
	int before = log_warnings();
	case_input(&c, "h", DT_F32, SHAPE(4));
	char *top = make_dir(dir);
	for (int i = 0; i < 2; i++) {
		char *copy = xstrdup(names[i]), *save = NULL;
		snprintf(path, sizeof path, "%s/%s", dir, input[i]);
		free(make_dir(path));
		for (char *name = strtok_r(copy, " ", &save); name; name = strtok_r(NULL, " ", &save)) {
			snprintf(path, sizeof path, "%s/%s/%s.npy", dir, input[i], name);
			write_npy(path, 'f', 4, SHAPE(4), batch);
		}
		free(copy);
	}
	c.opt.samples = samples;
	case_open(&c, top);
	bool warned = log_warnings() > before;
	line[0] = '\0';
	if (warned)
		log_line(support_log_count() - 1, line, 512);
	case_done(&c);
	free(top);
	return warned;
}

void test_dataset_pairs__a_name_that_one_lacks_is_said(void **state)
{
	char line[512];
	assert_true(warns(line, "lacks", (const char *const[]){"00 01 02 03 04 05", "00 01 03 04 05 06"}, 0));
	assert_non_null(strstr(line, "lacks/x/02.npy goes with "));
	assert_non_null(strstr(line, "lacks/h/03.npy: "));
	assert_false(warns(line, "behind", (const char *const[]){"00 01 02 03 04 05", "00 01 03 04 05 06"}, 2));
}

void test_dataset_pairs__names_of_their_own_go_together(void **state)
{
	char line[512];
	assert_false(warns(line, "same", (const char *const[]){"00 01 02", "00 01 02"}, 0));
	assert_false(warns(line, "own", (const char *const[]){"x0 x1 x2", "h0 h1 h2"}, 0));
	assert_false(warns(line, "few", (const char *const[]){"0 x1 x2", "0 h1 h2"}, 0));
}
