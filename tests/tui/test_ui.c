// What keys do to the state, at every size, and that nothing they can do draws outside of the canvas or crashes.
#include "support.h"

#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake.h"
#include "../analysis/studies.h"
#include "qtui/analysis/frontier.h"
#include "qtui/base/file.h"
#include "qtui/base/log.h"
#include "qtui/base/str.h"
#include "qtui/tui/ui.h"

static void start(struct ui *ui, enum fake_kind kind)
{
	struct theme theme;
	struct error err;

	assert_int_equal(theme_load(&theme, "default", &err), STATUS_OK);
	ui_init(ui, NULL, fake_snapshot(kind), &theme, false);
}

static void press(struct ui *ui, const char *keys)
{
	while (*keys)
		ui_key(ui, keys_parse(&keys));
}

static const char *name(const struct ui *ui)
{
	return ui->snap->g->node[ui_node(ui)].name;
}

void test_ui__walks_the_graph_and_back(void **state)
{
	struct ui ui;

	(void)state;
	start(&ui, FAKE_MEASURED);
	press(&ui, "/MaxPool<Enter>");
	assert_string_equal(name(&ui), "/model.9/m/MaxPool");
	press(&ui, "[");
	assert_string_equal(name(&ui), "/model.8/conv/Conv");
	press(&ui, "]");
	assert_string_equal(name(&ui), "/model.9/m/MaxPool");
	press(&ui, "]");
	assert_string_equal(name(&ui), "/model.24/m.0/Conv"); // the worse of two
	press(&ui, "<C-o><C-o>");
	assert_string_equal(name(&ui), "/model.8/conv/Conv");
	ui_done(&ui);
}

void test_ui__fused_nodes_lead_to_their_owner(void **state)
{
	struct ui ui;

	(void)state;
	start(&ui, FAKE_MEASURED);
	press(&ui, ":goto<Space>/model.3/act/Mul<Enter>");
	assert_string_equal(name(&ui), "/model.3/conv/Conv");
	ui_done(&ui);
}

void test_ui__marks_and_ranges_select(void **state)
{
	struct ui ui;
	int n, *nodes;

	(void)state;
	start(&ui, FAKE_MEASURED);
	press(&ui, "<Space><Space>");
	nodes = layers_selection(&ui.layers, &n);
	assert_int_equal(n, 2);
	free(nodes);
	press(&ui, "vjj");
	nodes = layers_selection(&ui.layers, &n);
	assert_int_equal(n, 3); // the range comes before the marks
	free(nodes);
	press(&ui, "<Esc><Esc>");
	nodes = layers_selection(&ui.layers, &n);
	assert_int_equal(n, 1);
	free(nodes);
	ui_done(&ui);
}

void test_ui__the_chosen_row_stays_while_the_order_changes(void **state)
{
	struct ui ui;
	const char *chosen;

	(void)state;
	start(&ui, FAKE_MEASURED);
	press(&ui, "jjj");
	chosen = name(&ui);
	press(&ui, ":sort<Space>order<Enter>i");
	assert_ptr_equal(name(&ui), chosen);
	ui_done(&ui);
}

// A filter of figures hides the chosen row while they are computed again, and must not lose it.
void test_ui__the_chosen_row_comes_back_with_its_figures(void **state)
{
	struct ui ui;
	const char *chosen;

	(void)state;
	start(&ui, FAKE_MEASURED);
	press(&ui, ":filter<Space>snr<lt>25<Enter>jj");
	chosen = name(&ui);
	fake.site[ui.snap->row[ui_node(&ui)].first_site].graphwise.known = 0;
	ui_update(&ui, snapshot_take(ui.snap));
	assert_ptr_not_equal(name(&ui), chosen);
	fake.site[ui.snap->row[ui.layers.chosen].first_site].graphwise.known = 32;
	ui_update(&ui, snapshot_take(ui.snap));
	assert_ptr_equal(name(&ui), chosen);
	ui_done(&ui);
}

// A new filter that hides it is another matter: then one begins with the worst of what is shown.
void test_ui__a_new_filter_begins_at_its_first_row(void **state)
{
	struct ui ui;

	(void)state;
	start(&ui, FAKE_MEASURED);
	press(&ui, "G:filter<Space>snr<lt>25<Enter>");
	assert_int_equal(ui.layers.scroll.cursor, 0);
	const char *first = name(&ui);
	press(&ui, ":filter<Enter>");
	assert_ptr_equal(name(&ui), first);
	ui_done(&ui);
}

void test_ui__sorts_worst_first_and_unknown_last(void **state)
{
	struct ui ui;

	(void)state;
	start(&ui, FAKE_MEASURED);
	assert_string_equal(name(&ui), "/model.24/m.0/Conv");
	press(&ui, "G");
	assert_string_equal(name(&ui), "/model.24/Softmax");
	press(&ui, "iG");
	assert_string_equal(name(&ui), "/model.24/Softmax");
	ui_done(&ui);
}

void test_ui__search_goes_round(void **state)
{
	struct ui ui;
	const char *first;

	(void)state;
	start(&ui, FAKE_MEASURED);
	press(&ui, "/model.[678]<Enter>");
	first = name(&ui);
	press(&ui, "nn");
	assert_ptr_not_equal(name(&ui), first);
	press(&ui, "n");
	assert_ptr_equal(name(&ui), first);
	press(&ui, "G/abc<Esc>");
	assert_string_equal(name(&ui), "/model.24/Softmax");
	ui_done(&ui);
}

void test_ui__help_comes_and_goes(void **state)
{
	struct ui ui;

	(void)state;
	start(&ui, FAKE_MEASURED);
	press(&ui, "2?");
	assert_int_equal(ui.view, VIEW_HELP);
	press(&ui, "q");
	assert_int_equal(ui.view, VIEW_OUTPUTS);
	assert_false(ui.quit);
	press(&ui, "q");
	assert_true(ui.quit);
	ui_done(&ui);
}

void test_ui__mouse(void **state)
{
	struct ui ui;

	(void)state;
	start(&ui, FAKE_MEASURED);
	ui_resize(&ui, 120, 40);
	ui.mouse_button = 1;
	ui.mouse_x = 40;
	ui.mouse_y = 6;
	ui_key(&ui, K_MOUSE);
	assert_int_equal(ui.layers.scroll.cursor, 3);
	ui.mouse_x = 1 + 12;
	ui.mouse_y = 1;
	ui_key(&ui, K_MOUSE);
	assert_int_equal(ui.view, VIEW_OUTPUTS);
	ui_done(&ui);
}

// Keys that need no study, so that any sequence of them can be tried.
static const char *const keys[] = {"j", "k", "h", "l", "g", "G", "v", "*", "[", "]", "n", "N", "i", "z", "1", "2", "3", "4", "5", "?",
	"<lt>", ">", "<Tab>", "<S-Tab>", "<Enter>", "<PgUp>", "<PgDn>", "<C-d>", "<C-u>", "<Space>", "<C-o>", "+", "-", "/", ":", "&", "a",
	"x", "<Up>", "<Down>", "<BS>", "C", "C", "{", "}", "J", "K"};

static void random_key(struct ui *ui, struct support_random *r)
{
	const char *key = keys[support_random_int(r, 0, (int)(sizeof keys / sizeof *keys) - 1)];

	if (!strcmp(key, "a") && !ui->line.kind)
		return; // an edit
	if (!strcmp(key, "<C-o>") && ui->line.kind == LINE_COMMAND)
		key = "<Esc>"; // readline would run the line
	if (!strcmp(key, "<Enter>") && (ui->trial.active || ui->line.kind == LINE_COMMAND))
		key = "<Esc>";
	press(ui, key);
}

void test_ui__any_keys_at_any_size(void **state)
{
	struct support_random r = {11};
	struct canvas c;
	struct ui ui;

	(void)state;
	start(&ui, FAKE_MEASURED);
	canvas_init(&c, 1, 1, &ui.theme, false);
	for (int i = 0; i < 6000; i++) {
		if (i % 50 == 0)
			ui.snap->channels = i % 100 ? NULL : fake_channels(i % 400 ? 1 + i % 97 : 4096);
		if (i % 7 == 0)
			ui_resize(&ui, support_random_int(&r, 1, 260), support_random_int(&r, 1, 90));
		random_key(&ui, &r);
		canvas_reset(&c, ui.w, ui.h);
		draw_screen(&c, &ui);
	}
	press(&ui, "<Esc>");
	canvas_done(&c);
	ui_done(&ui);
}

void test_ui__channels_are_ordered_and_walked(void **state)
{
	struct ui ui;
	int row;

	(void)state;
	start(&ui, FAKE_MEASURED);
	ui.snap->channels = fake_channels(200);
	press(&ui, "lC");
	assert_int_equal(ui.view, VIEW_CHANNELS);
	assert_int_equal(ui.channels.n, 200);
	assert_int_equal(ui.detail_site, 1);
	for (int i = 1; i < 200; i++) { // worst first, what is not known last
		double a = ui.channels.of->at[ui.channels.row[i - 1]].now.snr_db, b = ui.channels.of->at[ui.channels.row[i]].now.snr_db;
		assert_true(a <= b || isnan(b));
	}
	press(&ui, "}");
	row = ui.scroll[VIEW_CHANNELS].cursor;
	assert_true(row > 0 && ui.channels.of->at[ui.channels.row[row]].flags);
	press(&ui, "{");
	assert_int_equal(ui.scroll[VIEW_CHANNELS].cursor, row); // there is none above
	press(&ui, "<lt>G");
	assert_int_equal(ui.channels.row[ui.scroll[VIEW_CHANNELS].cursor], 199);
	press(&ui, "igj");
	assert_int_equal(ui.channels.row[ui.scroll[VIEW_CHANNELS].cursor], 198);
	press(&ui, "+++++++++++++");
	assert_int_equal(ui.channels.zoom, 5); // 200 >> 5 is below the least
	press(&ui, "-----------------");
	assert_int_equal(ui.channels.zoom, 0);
	press(&ui, "/^37<Enter>");
	assert_int_equal(ui.channels.row[ui.scroll[VIEW_CHANNELS].cursor], 37);
	assert_int_equal(ui.detail_site, 1); // a channel is no other node
	row = ui_node(&ui);
	enum site_kind kind = ui_site(&ui)->kind;
	int place = ui.layers.scroll.cursor;
	press(&ui, "J");
	assert_true(ui.view == VIEW_CHANNELS && ui_node(&ui) != row);
	assert_int_equal(ui.layers.scroll.cursor, place + 1);
	assert_int_equal(ui_site(&ui)->kind, kind); // whoever looks at weights looks at weights
	press(&ui, "K");
	assert_int_equal(ui_node(&ui), row);
	press(&ui, "J");
	ui.mouse_button = 1;
	ui.mouse_x = 4 + 6 + 7 + 3; // the head of "noise %", or of what stands there
	ui.mouse_y = 1 + view_channels_head(&ui);
	ui_key(&ui, K_MOUSE);
	assert_true(ui.channels.sort != CHANNEL_COLUMN_INDEX && ui.channels.sort != CHANNEL_COLUMN_SNR && !ui.channels.turned);
	ui_key(&ui, K_MOUSE);
	assert_true(ui.channels.turned);
	ui.mouse_y += 3;
	ui_key(&ui, K_MOUSE);
	assert_int_equal(ui.scroll[VIEW_CHANNELS].cursor, ui.scroll[VIEW_CHANNELS].top + 2);
	press(&ui, "<Esc><Esc>"); // the search, then the view
	assert_int_equal(ui.view, VIEW_LAYERS);
	ui_done(&ui);
}

// More samples make another order; the row that is looked at goes along.
void test_ui__a_channel_stays_under_the_cursor(void **state)
{
	enum { N = 20 };
	static struct channel at[N];
	struct channels more = *fake_channels(N), *few = fake_channels(N);
	struct channel_list l;
	struct scroll s = {.cursor = 3};
	int channel;

	(void)state;
	more.at = memcpy(at, few->at, sizeof at);
	for (int i = 0; i < N; i++)
		at[i].now.snr_db = i % 3 + i;
	channel_list_init(&l);
	channel_list_refresh(&l, few, &s);
	assert_int_equal(s.cursor, 0); // of another tensor the worst
	s.cursor = 3;
	channel = l.row[3];
	channel_list_refresh(&l, &more, &s);
	assert_true(s.cursor != 3 && l.row[s.cursor] == channel);
	l.sort = CHANNEL_COLUMN_SHIFT;
	channel_list_refresh(&l, &more, &s);
	for (int i = 1; i < N; i++) // the farthest from 0 first, on whichever side
		assert_true(fabs(at[l.row[i]].shift) <= fabs(at[l.row[i - 1]].shift));
	channel_list_done(&l);
}

// Long lines of the log are read to their end.
void test_ui__the_log_is_broken_at_the_width(void **state)
{
	struct ui ui;
	char text[UI_TEXT];
	int before;

	(void)state;
	start(&ui, FAKE_MEASURED);
	ui_resize(&ui, 40, 20);
	press(&ui, "5");
	before = view_log_count(&ui);
	log_to_stderr(0, LOG_INFO);
	log_warn("a sentence of some length that does not fit into a line of forty columns, and its end");
	assert_int_equal(view_log_count(&ui), before + 3);
	view_log_text(text, sizeof text, &ui, before + 2);
	assert_string_equal(text, "columns, and its end");
	view_log_text(text, sizeof text, &ui, before + 3);
	assert_string_equal(text, "");
	ui_done(&ui);
}

// The edit is made for the others: it has to be computed, saved and told as one.
void test_ui__an_edit_that_some_nodes_refuse(void **state)
{
	struct study_options o = {.model = "examples/digits.onnx", .calib = "examples/calib", .data = {.samples = 1}, .method = -1,
	    .backend = BACKEND_ONEDNN, .threads = 1, .target = "tensorrt"};
	struct study *st = open_for_test(o);
	struct theme theme;
	struct error err;
	struct ui ui;

	(void)state;
	assert_int_equal(theme_load(&theme, "default", &err), STATUS_OK);
	ui_init(&ui, st, run_study(st), &theme, false);
	press(&ui, ":set<Space>*<Space>int8<Enter>");
	assert_true(ui.unsaved && ui.autosave_due);
	if (!strstr(ui.note, "11 refused (/model.12/Concat_4: it does not"))
		fail_msg("%s", ui.note);
	press(&ui, ":set<Space>*<Space>int8<Enter>");
	assert_string_equal(ui.note, "nothing changed: the nodes are set so already, or refuse it");
	ui_done(&ui);
	study_close(&st);
}

// Above the causes a is for the first remedy there is; on a next step it types the command.
void test_ui__the_story_is_acted_on_from_any_line(void **state)
{
	struct study_options o = {.model = "examples/digits.onnx", .calib = "examples/calib", .data = {.samples = 4}, .method = -1,
	    .backend = BACKEND_ONEDNN, .threads = 1, .target = "esp32p4", .task = {.none = true}};
	struct study *st = open_for_test(o);
	struct theme theme;
	struct error err;
	struct ui ui;
	int current;

	(void)state;
	assert_int_equal(theme_load(&theme, "default", &err), STATUS_OK);
	ui_init(&ui, st, run_study(st), &theme, false);
	press(&ui, "Wa");
	assert_int_equal(study_steps(st, &current), 1);
	assert_true(ui.unsaved);
	press(&ui, "u");
	assert_int_equal(strncmp(ui.note, "undone: ", 8), 0);
	assert_int_equal(study_wait(st, &err), STATUS_OK);
	ui_update(&ui, study_snapshot(st));
	press(&ui, "Gkka"); // the last lines say what the keys do, those before which steps there are
	assert_int_equal(ui.line.kind, LINE_COMMAND);
	if (strcmp(ui.line.text, "blame 30s") && strncmp(ui.line.text, "fix ", 4))
		fail_msg("%s", ui.line.text);
	press(&ui, "<Esc>");
	ui_done(&ui);
	study_close(&st);
}

// What is decided now, and beside it a node at 16 bit, of samples that are not those of the study.
static struct frontier *two_states(const struct study *st)
{
	struct frontier *f = xcalloc(1, sizeof *f);
	struct snapshot *s = study_snapshot((struct study *)st);

	atomic_store(&f->refs, 1);
	f->at = xcalloc(2, sizeof *f->at);
	snprintf(f->basis.target, sizeof f->basis.target, "esp32p4");
	for (; f->n < 2; f->n++)
		f->at[f->n] = (struct repair_state){.steps = f->n, .as_run = true, .edits = edits_copy(study_edits(st)), .method = s->method,
			.figures = {.damage = .3 - .1 * f->n, .cost = 1 + .1 * f->n, .score = NAN, .us = NAN}};
	f->at[1].edits->precision[0] = PREC_INT16;
	snapshot_drop(&s);
	return f;
}

void test_ui__a_state_is_taken_where_it_may(void **state)
{
	struct study_options o = {.model = "examples/digits.onnx", .calib = "examples/calib", .data = {.samples = 1}, .method = -1,
	    .threads = 1, .backend = BACKEND_ONEDNN, .target = "esp32p4", .task = {.none = true}};
	struct study *st = open_for_test(o);
	struct frontier *f;
	struct theme theme;
	struct error err;
	struct ui ui;

	(void)state;
	assert_int_equal(theme_load(&theme, "default", &err), STATUS_OK);
	wait_for_run(st);
	f = two_states(st);
	study_set_frontier(st, f);
	ui_init(&ui, st, study_snapshot(st), &theme, false);
	press(&ui, "Pa");
	assert_string_equal(ui.note, "this state is in force");
	press(&ui, "ja");
	assert_string_equal(ui.note, "taken: 1 int16; u undoes. Its figures are of other samples, or prepared otherwise");
	press(&ui, "u");
	assert_int_equal(study_edits(st)->precision[0], -1);
	assert_int_equal(study_wait(st, &err), STATUS_OK);
	ui_update(&ui, study_snapshot(st));
	press(&ui, ":fix<Space>60s<Enter>Pja");
	assert_string_equal(ui.note, "a repair is under way: Ctrl-c stops it");
	assert_int_equal(study_edits(st)->precision[0], -1);
	press(&ui, "<C-c>");
	ui_done(&ui);
	frontier_drop(&f);
	study_close(&st);
}

static void type(struct ui *ui, const char *command, const char *argument)
{
	struct str line = {0};

	str_addf(&line, ":%s %s<Enter>", command, argument);
	press(ui, str_text(&line));
	str_done(&line);
}

// :write without a name does not know whose the file is by now; with one somebody has said so. Times of a board are part of a session.
void test_ui__a_session_of_another_run_is_spared(void **state)
{
	struct study_options o = {.model = "examples/digits.onnx", .calib = "examples/calib", .data = {.samples = 1}, .method = -1,
	    .threads = 1, .backend = BACKEND_ONEDNN};
	struct study *st = open_for_test(o);
	struct theme theme;
	struct error err;
	struct ui ui;
	const char *path = support_temp("mine.json"), other[] = "{\"qtui_session\": 1}", times[] = "name,us\n/model.0/conv/Conv,1\n";
	struct file_stamp theirs;

	(void)state;
	remove(path);
	assert_int_equal(theme_load(&theme, "default", &err), STATUS_OK);
	ui_init(&ui, st, run_study(st), &theme, false);
	ui.scripted = true;
	type(&ui, "write", path);
	assert_true(file_exists(path) && !ui.unsaved);
	type(&ui, "latency", support_temp_file("times.csv", times, sizeof times - 1));
	assert_true(ui.unsaved && ui.autosave_due);
	type(&ui, "write", "");
	assert_false(ui.unsaved);
	assert_int_equal(file_write(path, other, sizeof other - 1, &err), STATUS_OK);
	theirs = file_stamp(path);
	type(&ui, "write", "");
	assert_true(file_has_stamp(path, &theirs));
	type(&ui, "write", path);
	assert_false(file_has_stamp(path, &theirs));
	ui_done(&ui);
	study_close(&st);
}

static void wait_for_file(struct ui *ui)
{
	while (beside_busy(ui, BESIDE_FILE)) {
		struct pollfd fd = {.fd = study_fd(ui->study), .events = POLLIN};
		poll(&fd, 1, 1000);
		ui_update(ui, study_snapshot(ui->study));
	}
}

// A key does not wait for the file: what it came to is told when it is there. What is edited while it is written is not saved by it.
void test_ui__sessions_are_read_and_written_beside_the_screen(void **state)
{
	struct study_options o = {.model = "examples/digits.onnx", .calib = "examples/calib", .data = {.samples = 1}, .method = -1,
	    .threads = 1, .backend = BACKEND_ONEDNN, .task = {.none = true}};
	struct study *st = open_for_test(o);
	struct theme theme;
	struct error err;
	struct ui ui;
	const char *path = support_temp("a.json"), *text = support_temp_file("text.txt", "mine", 4);
	int current;

	(void)state;
	remove(path);
	assert_int_equal(theme_load(&theme, "default", &err), STATUS_OK);
	ui_init(&ui, st, run_study(st), &theme, false);
	press(&ui, ":set<Space>/model.0/conv/Conv<Space>int16<Enter>");
	type(&ui, "write", path);
	assert_true(beside_busy(&ui, BESIDE_FILE) && ui.unsaved);
	type(&ui, "open", path);
	assert_string_equal(ui.note, "E: a session is being read or written: that must end first");
	wait_for_file(&ui);
	assert_false(ui.unsaved);
	assert_non_null(strstr(ui.note, "session written to"));
	type(&ui, "write", path);
	press(&ui, "u");
	wait_for_file(&ui);
	assert_true(ui.unsaved);
	assert_true(file_exists(path));
	press(&ui, ":set<Space>/model.0/conv/Conv<Space>int16<Enter>");
	type(&ui, "write", path);
	assert_true(file_settle(&ui));
	press(&ui, "u");
	type(&ui, "open", path);
	assert_true(beside_busy(&ui, BESIDE_FILE));
	wait_for_file(&ui);
	assert_string_equal(ui.session_path, path);
	assert_true(study_steps(st, &current) > 0);
	assert_int_equal(study_edits(st)->precision[graph_find_node(study_graph(st), "/model.0/conv/Conv")], PREC_INT16);
	type(&ui, "write", text);
	wait_for_file(&ui);
	assert_non_null(strstr(ui.note, "is no session"));
	type(&ui, "write", support_temp("no/such.json"));
	assert_false(file_settle(&ui));
	ui_done(&ui);
	study_close(&st);
}

// :diff takes the run that a session's file has ended with; what was edited since is told.
void test_ui__a_session_is_compared(void **state)
{
	struct study_options o = {.model = "examples/digits.onnx", .calib = "examples/calib", .data = {.samples = 1}, .method = -1,
	    .threads = 1, .backend = BACKEND_ONEDNN, .task = {.none = true}};
	struct study *st = open_for_test(o);
	struct theme theme;
	struct error err;
	struct ui ui;
	const char *a = support_temp("a.json"), *b = support_temp("b.json"), other[] = "{\"qtui_session\": 1, \"model\": {\"sha256\": \"00\"}}";
	const char *alien = support_temp_file("alien.json", other, sizeof other - 1);
	struct str both = {0};

	(void)state;
	remove(a);
	remove(b);
	assert_int_equal(theme_load(&theme, "default", &err), STATUS_OK);
	ui_init(&ui, st, run_study(st), &theme, false);
	ui.scripted = true;
	type(&ui, "write", a);
	press(&ui, ":set<Space>/model.0/conv/Conv<Space>int16<Enter>");
	type(&ui, "write", b); // its run is not over: the last one is that of a
	str_addf(&both, "%s %s", a, b);
	assert_int_equal(study_wait(st, &err), STATUS_OK);
	ui_update(&ui, study_snapshot(st));
	type(&ui, "diff", a);
	assert_int_equal(ui.view, VIEW_DIFF);
	assert_string_equal(ui.diff.a.name, "a.json");
	assert_true(ui.diff.n > 0 && !diff_reserve(&ui.diff));
	type(&ui, "diff", str_text(&both));
	assert_true(ui.diff.b.edited);
	assert_non_null(strstr(diff_reserve(&ui.diff), "B was edited"));
	type(&ui, "write", b);
	type(&ui, "diff", str_text(&both));
	assert_true(ui.diff.n > 0 && !diff_reserve(&ui.diff));
	type(&ui, "diff", alien);
	assert_non_null(strstr(ui.note, "another model"));
	type(&ui, "diff", "nosuch.json");
	assert_non_null(strstr(ui.note, "No such file"));
	type(&ui, "diff", "nosuch");
	assert_non_null(strstr(ui.note, "no variant"));
	str_done(&both);
	ui_done(&ui);
	study_close(&st);
}
