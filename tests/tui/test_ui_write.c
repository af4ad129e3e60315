// :write without a name, where something has happened to the file.
#include "support.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "live.h"
#include "qtui/base/file.h"
#include "qtui/tui/command.h"

static void write_to(struct live *l, const char *path)
{
	struct error err = {0};
	struct str line = {0};
	str_addf(&line, "write %s", path);
	if (command_run(&l->ui, str_text(&line), &err) != STATUS_OK)
		fail_msg("%s", err.text);
	str_done(&line);
}

static char *session(struct live *l, const char *name)
{
	char *path = xstrdup(support_temp(name));
	live_open(l, NULL, 1);
	l->ui.scripted = true; // files are written at once
	write_to(l, path);
	assert_int_equal(unlink(path), 0);
	return path;
}

// To call it another run's would offer a remedy that does not work.
void test_ui_write__a_deleted_session_is_written_again(void **state)
{
	struct error err = {0};
	struct live l;
	char *path = session(&l, "deleted.json");
	assert_int_equal(command_run(&l.ui, "write", &err), STATUS_OK);
	assert_non_null(strstr(l.ui.note, "deleted.json was gone: session written to it again"));
	assert_true(file_exists(path));
	assert_int_equal(command_run(&l.ui, "write", &err), STATUS_OK);
	assert_non_null(strstr(l.ui.note, "session written to"));
	assert_null(strstr(l.ui.note, "gone"));
	live_close(&l);
	free(path);
}

void test_ui_write__a_directory_is_none_of_another_run(void **state)
{
	struct error err = {0};
	struct live l;
	char *path = session(&l, "directory.json");
	assert_int_equal(mkdir(path, 0777), 0);
	assert_int_equal(command_run(&l.ui, "write", &err), STATUS_REFUSED);
	assert_non_null(strstr(err.text, "directory.json is a directory: :write FILE writes the session elsewhere"));
	live_close(&l);
	free(path);
}
