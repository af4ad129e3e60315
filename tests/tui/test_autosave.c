// Where edits go when the run is killed and the session cannot be autosaved.
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "live.h"
#include "qtui/analysis/session.h"
#include "qtui/base/file.h"
#include "qtui/tui/autosave.h"
#include "qtui/tui/edit.h"

static char *copy_of_model(void)
{
	struct bytes b;
	struct error err;
	assert_int_equal(file_read(&b, "examples/digits.onnx", SIZE_MAX, &err), STATUS_OK);
	char *path = xstrdup(support_temp_file("digits.onnx", b.data, b.size));
	bytes_done(&b);
	return path;
}

// Beside the model; heap.
static char *refuge(const char *model, const char *end)
{
	char *first = session_autosave_path(model), *dir = file_dir(model);
	struct str path = {0};
	str_addf(&path, "%s/%.*s%s", dir, (int)(strlen(file_base(first)) - strlen(".json")), file_base(first), end);
	free(first);
	free(dir);
	return str_detach(&path);
}

// Whoever may write there could else have any file of ours made, or written over.
void test_autosave__a_refuge_does_not_follow_links(void **state)
{
	char *model = copy_of_model(), *taken, *next;
	const char *elsewhere = support_temp("elsewhere");
	struct error err;
	struct live l;
	struct stat st;
	int node = 0;
	setenv("XDG_STATE_HOME", support_temp_file("no_directory", "", 0), 1);
	l.st = open_for_test((struct study_options){.model = model, .calib = "examples/calib", .data = {.samples = 1}, .method = -1,
	    .threads = 1, .backend = BACKEND_ONEDNN, .target = "esp32p4", .task = {.none = true}});
	wait_for_run(l.st);
	live_screen(&l);
	taken = refuge(model, ".json");
	next = refuge(model, "-2.json");
	assert_int_equal(symlink(elsewhere, taken), 0);
	autosave_begin(&l.ui);
	assert_int_equal(edit_precision(&l.ui, &node, 1, PREC_INT16, &err), STATUS_OK);
	autosave_end(&l.ui, true);
	assert_false(file_exists(elsewhere));
	assert_true(lstat(next, &st) == 0 && S_ISREG(st.st_mode) && (st.st_mode & 0777) == 0600 && st.st_size > 0);
	live_close(&l);
	free(taken);
	free(next);
	free(model);
}
