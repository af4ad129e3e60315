// "~" in the names of files that are typed.
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "live.h"
#include "qtui/base/file.h"
#include "qtui/tui/command.h"

static void run(struct ui *ui, const char *line)
{
	struct error err = {0};
	ui->scripted = true;
	if (command_run(ui, line, &err) != STATUS_OK)
		fail_msg("%s: %s", line, err.text);
}

void test_home__is_meant_by_a_tilde(void **state)
{
	const char *home = support_temp("home");
	struct error err;
	struct live l;
	assert_int_equal(file_mkdirs(home, &err), STATUS_OK);
	setenv("HOME", home, 1);
	live_open(&l, "esp32p4", 1);
	run(&l.ui, "write ~/s one.json");
	run(&l.ui, "export qdq ~/m.onnx");
	run(&l.ui, "save-screen ~/screen.txt");
	assert_non_null(strstr(l.ui.note, "screen written to "));
	run(&l.ui, "open ~/s one.json");
	run(&l.ui, "set /model.0/conv/Conv int16"); // no file
	assert_true(file_exists(support_temp("home/s one.json")) && file_exists(support_temp("home/m.onnx")));
	assert_true(file_exists(support_temp("home/screen.txt")));
	char *found = command_complete(&l.ui, "import ~/m", (int)strlen("import "), 0);
	assert_string_equal(found, "~/m.onnx");
	free(found);
	char *other = file_at_home("~user/x"), *inside = file_at_home("a~/x"), *alone = file_at_home("~");
	assert_string_equal(other, "~user/x");
	assert_string_equal(inside, "a~/x");
	assert_string_equal(alone, home);
	free(other), free(inside), free(alone);
	live_close(&l);
}
