// Where edits go when the session cannot be autosaved and the run is killed, or when the model's name is too long.
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "live.h"
#include "qtui/analysis/session.h"
#include "qtui/analysis/session_writer.h"
#include "qtui/base/file.h"
#include "qtui/tui/autosave.h"
#include "qtui/tui/edit.h"
#include "qtui/tui/kept.h"

static char *copy_of_model(const char *name)
{
	struct bytes b;
	struct error err;
	assert_int_equal(file_read(&b, "examples/digits.onnx", SIZE_MAX, &err), STATUS_OK);
	char *path = xstrdup(support_temp_file(name, b.data, b.size));
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

static void start(struct live *l, const char *model)
{
	l->st = open_for_test((struct study_options){.model = model, .calib = "examples/calib", .data = {.samples = 1}, .method = -1,
	    .threads = 1, .backend = BACKEND_ONEDNN, .target = "esp32p4", .task = {.none = true}});
	wait_for_run(l->st);
	live_screen(l);
	autosave_begin(&l->ui);
}

static void edit(struct live *l, int node)
{
	struct error err;
	assert_int_equal(edit_precision(&l->ui, &node, 1, PREC_INT16, &err), STATUS_OK);
}

// Whoever may write there could else have any file of ours made, or written over.
void test_autosave__a_refuge_does_not_follow_links(void **state)
{
	char *model = copy_of_model("digits.onnx"), *taken, *next;
	const char *elsewhere = support_temp("elsewhere");
	struct live l;
	struct stat st;
	setenv("XDG_STATE_HOME", support_temp_file("no_directory", "", 0), 1);
	taken = refuge(model, ".json");
	next = refuge(model, "-2.json");
	assert_int_equal(symlink(elsewhere, taken), 0);
	start(&l, model);
	edit(&l, 0);
	autosave_end(&l.ui, true);
	assert_false(file_exists(elsewhere));
	assert_true(lstat(next, &st) == 0 && S_ISREG(st.st_mode) && (st.st_mode & 0777) == 0600 && st.st_size > 0);
	live_close(&l);
	free(taken);
	free(next);
	free(model);
}

// A disk that fills between two edits: the first is in the state directory, both are beside the model.
void test_autosave__the_newest_of_all_places_is_offered(void **state)
{
	char *model = copy_of_model("filling.onnx"), *home = xstrdup(support_temp("filling")), *aside = xstrdup(support_temp("aside")), *newest;
	struct error err;
	struct live l;
	setenv("XDG_STATE_HOME", home, 1);
	start(&l, model);
	edit(&l, 0);
	autosave_write(&l.ui);
	assert_false(session_writer_lost(l.ui.autosave));
	assert_int_equal(rename(home, aside), 0);
	assert_int_equal(file_write(home, "", 0, &err), STATUS_OK);
	edit(&l, 2);
	autosave_end(&l.ui, true);
	live_close(&l);
	assert_int_equal(unlink(home), 0);
	assert_int_equal(rename(aside, home), 0);

	start(&l, model);
	newest = refuge(model, ".json");
	assert_non_null(l.ui.offered);
	assert_string_equal(l.ui.offered, newest);
	assert_non_null(strstr(l.ui.note, "with 2 steps was not saved: :open brings it back; the log names 1 older"));
	autosave_end(&l.ui, false);
	live_close(&l);
	free(newest);
	free(aside);
	free(home);
	free(model);
}

// A model whose name has as many bytes, most of them in characters of two; heap.
static char *model_of(size_t bytes)
{
	struct str name = {0};
	str_add(&name, "x"); // no limit is at the end of a character
	while (name.len + strlen("\303\251.onnx") <= bytes)
		str_add(&name, "\303\251");
	str_add(&name, ".onnx");
	assert_int_equal(name.len, bytes);
	char *path = copy_of_model(str_text(&name));
	str_done(&name);
	return path;
}

// The system takes no longer name than 255 bytes.
void test_autosave__a_long_name_is_shortened(void **state)
{
	char *model = model_of(250), *last = refuge(model, "-16.json"), *tuned = session_tuned_path(last, "0123456789abcdef");
	struct live l;
	setenv("XDG_STATE_HOME", support_temp("long"), 1);
	start(&l, model);
	edit(&l, 0);
	autosave_write(&l.ui);
	assert_false(session_writer_lost(l.ui.autosave));
	autosave_end(&l.ui, false);
	live_close(&l);
	start(&l, model);
	assert_non_null(l.ui.offered);
	const char *name = file_base(l.ui.offered), *end = strstr(name, "\303\251-");
	assert_true(end && end + 2 - name == 215 && strncmp(name, file_base(model), 215) == 0);
	assert_in_range(strlen(file_base(tuned)), 1, 255);
	autosave_end(&l.ui, false);
	live_close(&l);
	free(tuned);
	free(last);
	free(model);
}

// It was not, where only weights beside the session had no room for their name.
void test_autosave__a_session_under_the_full_name_is_found(void **state)
{
	char *model = model_of(230), *full;
	struct error err;
	struct live l;
	setenv("XDG_STATE_HOME", support_temp("full_name"), 1);
	full = session_autosave_path_in_full(model);
	start(&l, model);
	edit(&l, 0);
	assert_int_equal(session_write(l.st, full, NULL, &err), STATUS_OK);
	l.ui.unsaved = l.ui.autosave_due = false;
	autosave_end(&l.ui, false);
	live_close(&l);
	start(&l, model);
	assert_non_null(l.ui.offered);
	assert_string_equal(l.ui.offered, full);
	assert_true(kept_is_one(model, full));
	autosave_end(&l.ui, false);
	live_close(&l);
	free(full);
	free(model);
}
