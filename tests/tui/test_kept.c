// Sessions that runs have left without saving them: none is lost, and every one can be had again.
#include <stdlib.h>
#include <unistd.h>

#include "live.h"
#include "press.h"
#include "qtui/analysis/session.h"
#include "qtui/base/file.h"
#include "qtui/tui/autosave.h"
#include "qtui/tui/command.h"
#include "qtui/tui/kept.h"

// An empty directory for the sessions of a test.
static void new_state(const char *name)
{
	setenv("XDG_STATE_HOME", support_temp(name), 1);
}

static void start(struct live *l)
{
	live_open(l, "esp32p4", 1);
	autosave_begin(&l->ui);
}

static void command(struct live *l, const char *line)
{
	struct error err = {0};
	l->ui.scripted = true; // files are read at once
	if (command_run(&l->ui, line, &err) != STATUS_OK)
		fail_msg("%s: %s", line, err.text);
	autosave_write(&l->ui);
}

static void quit(struct live *l)
{
	autosave_end(&l->ui, false);
	live_close(l);
}

// A run that does these commands and quits.
static void run_of(const char *const *line, int n)
{
	struct live l;
	start(&l);
	for (int i = 0; i < n; i++)
		command(&l, line[i]);
	quit(&l);
}

// The steps of a session; -1: there is none.
static int steps_in(const char *path)
{
	struct session *s = NULL;
	struct error err;
	int steps = session_read(&s, path, &err) ? -1 : s->current;
	session_free(&s);
	return steps;
}

static char *number(int i)
{
	char *first = session_autosave_path("examples/digits.onnx");
	struct str path = {0};
	str_addf(&path, "%.*s", (int)(strlen(first) - strlen(".json")), first);
	str_addf(&path, i > 1 ? "-%d.json" : ".json", i);
	free(first);
	return str_detach(&path);
}

static void assert_steps(int i, int steps)
{
	char *path = number(i);
	assert_int_equal(steps_in(path), steps);
	free(path);
}

static void assert_offered(const struct live *l, int i)
{
	char *path = number(i);
	assert_non_null(l->ui.offered);
	assert_string_equal(l->ui.offered, path);
	free(path);
}

static const char *const three[] = {"set op:Conv int16", "set op:Concat float", "calibration mse"}, *const one[] = {"set op:Concat float"};

// The first edit of a second later run used to remove what the run before had found.
void test_kept__no_run_removes_another_s_session(void **state)
{
	struct live l;
	new_state("in_turn");
	run_of(three, 3);
	run_of(one, 1);
	run_of(one, 1);
	assert_steps(1, 3);
	assert_steps(2, 1);
	assert_steps(3, 1);
	start(&l);
	assert_offered(&l, 3);
	assert_non_null(strstr(l.ui.note, "the log names 2 older"));
	command(&l, "forget");
	quit(&l);
	assert_steps(3, -1);
	start(&l); // the older ones come in turn
	assert_offered(&l, 2);
	command(&l, "forget");
	quit(&l);
	start(&l);
	assert_offered(&l, 1);
	assert_non_null(strstr(l.ui.note, "3 steps was not saved: :open brings it back"));
	quit(&l);
	assert_steps(1, 3);
}

// A session that is opened goes on in the run's own file; taken back, it stays where it is.
void test_kept__what_is_opened_is_had_once(void **state)
{
	static const char *const back[] = {"open", "undo"}, *const opened[] = {"open", "set op:Concat int16"};
	char *path = xstrdup(support_temp("saved.json"));
	struct str write = {0};
	struct live l;
	new_state("once");
	run_of(one, 1);
	run_of(back, 2);
	assert_steps(1, 1);
	assert_steps(2, -1);
	run_of(opened, 2);
	assert_steps(1, -1);
	assert_steps(2, 2);
	str_addf(&write, "write %s", path);
	start(&l);
	command(&l, "open");
	assert_null(l.ui.session_path); // :write alone does not go there
	command(&l, str_text(&write));
	quit(&l);
	assert_steps(2, -1);
	assert_steps(1, -1);
	assert_int_equal(steps_in(path), 2);
	free(path);
	str_done(&write);
}

// --session with the file that the quit has named.
void test_kept__asked_for_by_its_path(void **state)
{
	char *path = (new_state("asked"), number(1));
	struct session *s = NULL;
	struct error err;
	struct live l;
	run_of(three, 3);
	live_open(&l, "esp32p4", 1);
	assert_int_equal(session_read(&s, path, &err), STATUS_OK);
	assert_int_equal(session_apply(s, l.st, &err), STATUS_OK);
	l.ui.session = s;
	l.ui.session_path = xstrdup(path);
	autosave_begin(&l.ui);
	assert_null(l.ui.session_path);
	quit(&l);
	assert_steps(1, -1);
	assert_steps(2, 3);
	session_free(&s);
	free(path);
}

// Of a run in which everything was undone nothing is kept, and it hides nothing of others.
void test_kept__what_was_undone_hides_nothing(void **state)
{
	static const char *const undone[] = {"set op:Concat float", "undo"}, *const named[] = {"set op:Concat float", "variant x", "undo"};
	struct live a, b;
	new_state("undone");
	run_of(undone, 2);
	assert_steps(1, -1);
	start(&a);
	command(&a, "set op:Conv int16");
	start(&b); // beside it
	assert_null(b.ui.offered);
	command(&b, "set op:Concat float");
	command(&a, "undo");
	quit(&b);
	autosave_end(&a.ui, true); // killed, with nothing to keep
	live_close(&a);
	assert_steps(1, -1);
	start(&a);
	assert_offered(&a, 2);
	quit(&a);
	run_of(named, 3);
	assert_steps(1, 0); // the state has a name
}

void test_kept__the_oldest_goes_when_it_was_told(void **state)
{
	struct bytes session;
	struct error err;
	struct live l;
	new_state("full");
	run_of(one, 1);
	char *path = number(1);
	assert_int_equal(file_read(&session, path, SIZE_MAX, &err), STATUS_OK);
	free(path);
	for (int i = 2; i <= KEPT_NUMBERS; i++) {
		path = number(i);
		assert_int_equal(file_write(path, session.data, session.size, &err), STATUS_OK);
		free(path);
	}
	bytes_done(&session);
	start(&l);
	assert_non_null(strstr(l.ui.note, "an edit replaces that of"));
	assert_offered(&l, KEPT_NUMBERS);
	assert_steps(1, 1); // not before the edit
	command(&l, "set op:Conv int16");
	command(&l, "set op:Concat float");
	quit(&l);
	assert_steps(1, 2);
	assert_steps(2, 1);
}
