// Scripts: keys and commands line by line, up to the first that fails.
#include "support.h"

#include <string.h>

#include "fake.h"
#include "shown.h"
#include "qtui/base/file.h"
#include "qtui/tui/script.h"

static void start(struct ui *ui)
{
	show(ui, fake_snapshot(FAKE_MEASURED), false);
}

static enum status play(struct ui *ui, const char *text, struct error *err)
{
	struct script *s = NULL;
	enum status st = script_parse(&s, text, "t.qtui", err);
	while (!st && !script_over(s))
		st = script_step(s, ui, err);
	script_free(&s);
	return st;
}

void test_script__keys_and_commands(void **state)
{
	struct ui ui;
	struct error err;
	start(&ui);
	assert_int_equal(play(&ui, "# a comment\n\n  jj <Down>\r\n:sort cosine\n:view-runs\n", &err), STATUS_OK);
	assert_int_equal(ui.layers.sort, COLUMN_COSINE);
	assert_int_equal(ui.layers.scroll.cursor, 3);
	assert_int_equal(ui.view, VIEW_RUNS);
	ui_done(&ui);
}

void test_script__keys_reach_the_prompt(void **state)
{
	struct ui ui;
	struct error err;
	start(&ui);
	assert_int_equal(play(&ui, "/cv3<Enter>\n&op:Conv<Enter>", &err), STATUS_OK);
	assert_string_equal(ui.layers.filter_text, "op:Conv");
	assert_string_equal(ui.snap->g->node[ui_node(&ui)].name, "/model.2/cv3/conv/Conv");
	ui_done(&ui);
}

void test_script__first_failure_ends_it(void **state)
{
	static const char *const bad[][2] = {
		{"j\n:sort nothing\n:quit", "t.qtui:2: no column"},
		{":nonsense", "t.qtui:1: no command"},
		{":fix speed>3", "t.qtui:1: \"speed>3\" is no condition: "},
		{":blame soon", "t.qtui:1: \"soon\" is no time: :blame 30s, 2m or 1h"},
		{":goto m.0/Conv", "no node m.0/Conv; *m.0/Conv* matches /model.24/m.0/Conv"},
		{":goto /model.24/m.0/Cnov", "no node /model.24/m.0/Cnov; the nearest is /model.24/m.0/Conv"},
		{"/zzzz<Enter>\n:quit", "t.qtui:1: no row matches"},
		{":undo now", "takes no argument"},
		{":quit now", "t.qtui:1: :quit takes no argument"},
		{":page-down 3", ":page-down takes no argument"},
		{":goto", "t.qtui:1: usage: :goto NODE"},
		{":sort", "t.qtui:1: usage: :sort COLUMN: order, prec, snr,"},
		{":theme", "t.qtui:1: usage: :theme NAME: "},
		{":export", "t.qtui:1: usage: :export FORMAT [FILE]: esp-ppq-dispatch, "},
		{":sort xyz", ":help columns lists them"},
		{":xyzzy", "no command \"xyzzy\": Tab lists them"},
		{":filtr snr<3", "did you mean \"filter\"?"},
		{":help xyzzy", "the help says nothing"},
	};
	struct error err;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct ui ui;
		start(&ui);
		assert_int_not_equal(play(&ui, bad[i][0], &err), STATUS_OK);
		if (!strstr(err.text, bad[i][1]))
			fail_msg("%s: %s", bad[i][0], err.text);
		assert_false(ui.quit);
		ui_done(&ui);
	}
}

void test_script__malformed_keys_do_nothing_at_all(void **state)
{
	struct ui ui;
	struct error err;
	start(&ui);
	assert_int_equal(play(&ui, "jj\nj<Nope>\n", &err), STATUS_FORMAT);
	assert_non_null(strstr(err.text, "t.qtui:2"));
	assert_int_equal(ui.layers.scroll.cursor, 0);
	ui_done(&ui);
}

void test_script__save_screen(void **state)
{
	const char *path = support_temp("screen.txt");
	char text[512];
	struct bytes b;
	struct ui ui;
	struct error err;
	start(&ui);
	snprintf(text, sizeof text, ":save-screen %s\n", path);
	assert_int_equal(play(&ui, text, &err), STATUS_OK);
	assert_int_equal(file_read(&b, path, 1 << 20, &err), STATUS_OK);
	assert_non_null(strstr((const char *)b.data, "/model.24/m.0/Conv"));
	bytes_done(&b);
	ui_done(&ui);
}

void test_script__files_that_are_not_there(void **state)
{
	struct script *s;
	struct error err;
	assert_int_equal(script_read(&s, "/no/such/file", &err), STATUS_IO);
	assert_null(s);
}

void test_script__findings_without_a_run(void **state)
{
	struct ui ui;
	struct error err;
	start(&ui);
	assert_int_equal(play(&ui, ":why\na\n", &err), STATUS_OK);
	assert_int_equal(ui.view, VIEW_WHY);
	assert_non_null(strstr(ui.note, "nothing is told yet"));
	assert_int_equal(play(&ui, "F\na\n", &err), STATUS_OK);
	assert_int_equal(ui.view, VIEW_FINDINGS);
	assert_string_equal(ui.note, "there is no finding");
	assert_int_equal(ui.snap->n_edits, fake_snapshot(FAKE_MEASURED)->n_edits);
	ui_done(&ui);
}
