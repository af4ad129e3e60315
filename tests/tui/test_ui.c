// What keys do to the state, at every size, and that nothing they can do draws outside of the canvas or crashes.
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake.h"
#include "press.h"
#include "shown.h"
#include "qtui/base/log.h"
#include "qtui/tui/command.h"
#include "qtui/tui/draw.h"
#include "qtui/tui/help.h"
#include "qtui/tui/screen.h"
#include "qtui/tui/ui.h"

static void start(struct ui *ui, enum fake_kind kind)
{
	show(ui, fake_snapshot(kind), false);
}

static const char *name(const struct ui *ui)
{
	return ui->snap->g->node[ui_node(ui)].name;
}

void test_ui__walks_the_graph_and_back(void **state)
{
	struct ui ui;
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

// As the title counts rows, in any view; beyond the last row to that.
void test_ui__a_number_goes_to_a_row(void **state)
{
	struct ui ui;
	start(&ui, FAKE_MEASURED);
	press(&ui, ":7<Enter>");
	assert_int_equal(ui.layers.scroll.cursor, 6);
	press(&ui, "<Tab>:3<Enter>");
	assert_true(ui.layers.scroll.cursor == 2 && ui.focus == PANEL_MAIN);
	press(&ui, ":0<Enter>");
	assert_int_equal(ui.layers.scroll.cursor, 0);
	press(&ui, ":99999999999999999999<Enter>");
	assert_int_equal(ui.layers.scroll.cursor, ui.layers.n - 1);
	press(&ui, "T:2<Enter>");
	assert_int_equal(ui.scroll[VIEW_TASK].cursor, 1);
	press(&ui, ":2<Space>3<Enter>");
	assert_non_null(strstr(ui.note, "no command \"2\""));
	ui_done(&ui);
}

static void press_often(struct ui *ui, const char *keys, int times)
{
	for (int i = 0; i < times; i++)
		press(ui, keys);
}

// What is typed or yanked past the end of the prompt's room is not kept behind it: each key would look at all of it.
void test_ui__the_prompt_takes_no_more_than_it_holds(void **state)
{
	struct ui ui;
	start(&ui, FAKE_MEASURED);
	press(&ui, ":");
	press_often(&ui, "abé", 1000);
	press_often(&ui, "<BS>", LINE_TEXT);
	assert_int_equal(ui.line.kind, LINE_NONE); // left by the first one on an empty line
	press(&ui, ":");
	press_often(&ui, "ab", 400);
	press(&ui, "<C-u>");
	press_often(&ui, "<C-y>", 20);
	press_often(&ui, "<BS>", LINE_TEXT);
	assert_int_equal(ui.line.kind, LINE_NONE);
	press(&ui, ":goto<Space>/model.9/m/MaxPool<Enter>");
	assert_string_equal(name(&ui), "/model.9/m/MaxPool");
	ui_done(&ui);
}

void test_ui__fused_nodes_lead_to_their_owner(void **state)
{
	struct ui ui;
	start(&ui, FAKE_MEASURED);
	press(&ui, ":goto<Space>/model.3/act/Mul<Enter>");
	assert_string_equal(name(&ui), "/model.3/conv/Conv");
	ui_done(&ui);
}

void test_ui__marks_and_ranges_select(void **state)
{
	struct ui ui;
	int n, *nodes;
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

// A range begins where its rows are seen, and Esc in another view leaves that view, not the range that is out of sight.
void test_ui__ranges_are_of_the_list_of_layers(void **state)
{
	struct ui ui;
	start(&ui, FAKE_MEASURED);
	press(&ui, "2v");
	assert_string_equal(ui.note, "this key is for the list of layers: 1 shows it");
	assert_int_equal(layers_n_visual(&ui.layers), 0);
	press(&ui, "1vj2<Esc>");
	assert_int_equal(ui.view, VIEW_LAYERS);
	assert_int_equal(layers_n_visual(&ui.layers), 2);
	press(&ui, "<Esc>2<Space>");
	assert_string_equal(strrchr(ui.note, ':'), ": marked");
	press(&ui, "k<Space>");
	assert_string_equal(strrchr(ui.note, ':'), ": not marked any more");
	ui_done(&ui);
}

void test_ui__the_chosen_row_stays_while_the_order_changes(void **state)
{
	struct ui ui;
	const char *chosen;
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
	start(&ui, FAKE_MEASURED);
	assert_string_equal(name(&ui), "/model.24/m.0/Conv");
	press(&ui, "G");
	assert_string_equal(name(&ui), "/model.24/Softmax");
	press(&ui, "iG");
	assert_string_equal(name(&ui), "/model.24/Softmax");
	ui_done(&ui);
}

// Names and operators in the order of the alphabet, equal ones as they run; turned, the other way round.
void test_ui__sorts_by_texts(void **state)
{
	static const struct {
		const char *column, *keys;
		int sign;
	} rows[] = {{"name", "", 1}, {"name", "i", -1}, {"op", "", 1}, {"op", "i", -1}};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct ui ui;
		char keys[64];
		enum column c = COLUMN_NONE;
		struct error err;
		start(&ui, FAKE_MEASURED);
		assert_int_equal(columns_find(&c, rows[i].column, &err), STATUS_OK);
		snprintf(keys, sizeof keys, ":sort<Space>%s<Enter>%s", rows[i].column, rows[i].keys);
		press(&ui, keys);
		assert_true(ui.layers.n > 8);
		for (int k = 1; k < ui.layers.n; k++) {
			int before = ui.layers.order[k - 1], after = ui.layers.order[k];
			int order = strcmp(columns_row(c)->text(ui.snap, before), columns_row(c)->text(ui.snap, after));
			assert_true(order ? order * rows[i].sign < 0 : before < after);
		}
		ui_done(&ui);
	}
}

void test_ui__search_goes_round(void **state)
{
	struct ui ui;
	const char *first;
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

// Small letters find large ones too, a large one only itself.
void test_ui__search_in_small_letters(void **state)
{
	struct ui ui;
	start(&ui, FAKE_MEASURED);
	press(&ui, "/maxpool<Enter>");
	assert_string_equal(name(&ui), "/model.9/m/MaxPool");
	press(&ui, "gg");
	const char *first = name(&ui);
	assert_string_not_equal(first, "/model.9/m/MaxPool");
	press(&ui, "/Maxpool<Enter>");
	assert_string_equal(name(&ui), first);
	assert_non_null(strstr(ui.note, "Maxpool"));
	ui_done(&ui);
}

// A command by its name, though keys and sentences before it speak of the same.
void test_ui__help_finds_what_is_named(void **state)
{
	int n;
	const struct command_row *row = command_rows(&n);
	for (int i = 0; i < n; i++) {
		char name[COMMAND_NAME], begin[COMMAND_NAME + 2];
		command_typed(name, row[i].name);
		snprintf(begin, sizeof begin, ":%s", name);
		int at = help_find(name);
		if (at < 0 || strncmp(help_at(at)->key, begin, strlen(begin)))
			fail_msg("%s: %s", name, at < 0 ? "nothing" : help_at(at)->key);
		assert_int_equal(help_find(begin), at);
	}
	assert_string_equal(help_at(help_find("snr"))->key, "snr  (SNR dB)");
	assert_string_equal(help_at(help_find("Tab"))->text, "To the next panel");
	assert_string_equal(help_at(help_find("columns"))->text, "Columns");
	assert_int_equal(help_find("xyzzy"), -1);
}

static const char *first_of_help(const struct ui *ui, char out[256])
{
	view_row(VIEW_HELP)->text(out, 256, ui, ui->scroll[VIEW_HELP].cursor);
	return out;
}

// The list of layers has what holds everywhere: the beginning.
void test_ui__help_begins_with_the_view_it_is_asked_in(void **state)
{
	static const struct {
		const char *keys, *first;
	} row[] = {
	    {"?", " Precision"}, {"T?", " Task"}, {"W?", " Why"}, {"B?", " Blame"}, {"P?", " Pareto"}, {"3?", " Runs"}, {"C?", " Channels"}};
	struct ui ui;
	char text[256];
	start(&ui, FAKE_MEASURED);
	ui_resize(&ui, 120, 40);
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		press(&ui, row[i].keys);
		assert_int_equal(ui.view, VIEW_HELP);
		assert_string_equal(first_of_help(&ui, text), row[i].first);
		press(&ui, "q");
	}
	ui_done(&ui);
}

// It is as wide as the screen, though the view that it was asked in was narrower.
void test_ui__help_is_found_where_it_will_stand(void **state)
{
	struct ui ui;
	char text[256];
	start(&ui, FAKE_MEASURED);
	ui_resize(&ui, 100, 40);
	press(&ui, ":help save-screen<Enter>");
	assert_memory_equal(first_of_help(&ui, text), ":save-screen", 12);
	ui_done(&ui);
}

void test_ui__every_view_is_explained(void **state)
{
	for (int v = 0; v < VIEW_COUNT; v++)
		assert_true(v == VIEW_LAYERS || v == VIEW_HELP || help_of_view((enum view)v) > 0);
}

// As in vi.
void test_ui__quit_by_force(void **state)
{
	struct ui ui;
	start(&ui, FAKE_MEASURED);
	press(&ui, ":!<Enter>");
	assert_false(ui.quit);
	press(&ui, ":q!<Enter>");
	assert_true(ui.quit);
	ui_done(&ui);
}

// The marks of a list that is not seen, and the run, wait until it is.
void test_ui__escape_leaves_a_view(void **state)
{
	static const char *const view[] = {"W", "F", "T", "B", "P", "2", "3", "4", "5", "C"};
	struct ui ui;
	start(&ui, FAKE_MEASURED);
	press(&ui, "<Space>");
	for (size_t i = 0; i < sizeof view / sizeof *view; i++) {
		press(&ui, view[i]);
		assert_int_not_equal(ui.view, VIEW_LAYERS);
		press(&ui, "<Esc>");
		assert_int_equal(ui.view, VIEW_LAYERS);
		assert_int_equal(ui.layers.n_marked, 1);
	}
	press(&ui, "<Esc>");
	assert_int_equal(ui.layers.n_marked, 0);
	ui_done(&ui);
}

void test_ui__help_comes_and_goes(void **state)
{
	struct ui ui;
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
	start(&ui, FAKE_MEASURED);
	ui_resize(&ui, 120, 40);
	ui.mouse_button = MOUSE_LEFT;
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

// At any width the tabs lead to all views that a key leads to, those that were never opened too.
void test_ui__every_view_has_a_tab(void **state)
{
	static const int width[] = {40, 52, 80, 120, 200};
	struct ui ui;
	start(&ui, FAKE_MEASURED);
	for (size_t i = 0; i < sizeof width / sizeof *width; i++) {
		bool has[VIEW_COUNT] = {false};
		ui_resize(&ui, width[i], 24);
		for (int x = 0; x < width[i]; x++)
			if (draw_tab_at(&ui, x) >= 0)
				has[draw_tab_at(&ui, x)] = true;
		for (int v = 0; v < VIEW_COUNT; v++)
			if (has[v] != (view_row((enum view)v)->key[0] && v != VIEW_HELP))
				fail_msg("%s of %d columns", view_row((enum view)v)->name, width[i]);
	}
	ui_done(&ui);
}

void test_ui__help_has_columns_of_rows(void **state)
{
	enum { H = 30, LINES = H - 3 }; // less the top line, the title and the bottom line
	struct ui ui;
	start(&ui, FAKE_MEASURED);
	ui_resize(&ui, 200, H);
	press(&ui, "?");
	ui.mouse_button = MOUSE_LEFT;
	ui.mouse_x = 150;
	ui.mouse_y = 2 + 4;
	ui_key(&ui, K_MOUSE);
	assert_int_equal(ui.scroll[VIEW_HELP].cursor, LINES + 4);
	press(&ui, "g<PgDn>");
	assert_int_equal(ui.scroll[VIEW_HELP].cursor, 2 * LINES);
	ui_done(&ui);
}

// A page is what stands below the window, whichever of its rows the cursor is on.
void test_ui__a_page_down_shows_the_next_page(void **state)
{
	enum { H = 24, LINES = H - 3 };
	struct ui ui;
	start(&ui, FAKE_MEASURED);
	ui_resize(&ui, 80, H);
	press(&ui, "?gjjj<PgDn>");
	const struct scroll *s = &ui.scroll[VIEW_HELP];
	assert_true(s->top == LINES && s->cursor == LINES + 3);
	press(&ui, "<C-d>");
	assert_true(s->top == LINES + LINES / 2 && s->cursor == LINES + 3 + LINES / 2);
	press(&ui, "<C-b><C-u><PgUp>");
	assert_true(s->top == 0 && s->cursor == 0);
	press(&ui, "G<PgUp>");
	int n = view_row(VIEW_HELP)->count(&ui);
	assert_true(s->top == n - 2 * LINES && s->cursor == n - 1 - LINES);
	press(&ui, "<PgDn><PgDn>");
	assert_true(s->top == n - LINES && s->cursor == n - 1);
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

// Keys that have nothing to choose from say so.
void test_ui__the_only_tensor(void **state)
{
	struct ui ui;
	start(&ui, FAKE_MEASURED);
	int node = ui_node(&ui), all = fake.row[node].n_sites;
	press(&ui, "l");
	assert_int_equal(ui.detail_site, 1);
	assert_string_equal(ui.note, "");
	press(&ui, "h");
	assert_int_equal(ui.detail_site, 0);
	fake.row[node].n_sites = 1;
	press(&ui, "l");
	assert_string_equal(ui.note, "the node has one tensor");
	fake.row[node].n_sites = all;
	press(&ui, "5l");
	assert_string_equal(ui.note, "there is no tensor to choose here");
	press(&ui, "1");
	assert_int_equal(ui.detail_site, 0);
	ui_done(&ui);
}

// Where a filter leaves no node, keys that need one say that there is none.
void test_ui__no_node_to_work_on(void **state)
{
	static const char *const key[] = {"[", "]", "<Space>", "s", "t", "v"};
	struct ui ui;
	start(&ui, FAKE_MEASURED);
	press(&ui, ":filter<Space>snr>500<Enter>");
	for (size_t i = 0; i < sizeof key / sizeof *key; i++) {
		press(&ui, key[i]);
		assert_string_equal(ui.note, "no node is selected");
		assert_int_equal(ui.line.kind, 0);
		assert_int_equal(ui.layers.visual, -1);
	}
	ui.snap->task = NULL;
	press(&ui, "T<Enter>");
	assert_string_equal(ui.note, "no task is measured: :eval measures one");
	ui.snap->task = &fake.task;
	ui_done(&ui);
}

// The number of a node is no answer to whether there is one: the first has the number 0.
void test_ui__the_first_node_is_one_to_work_on(void **state)
{
	struct ui ui;
	start(&ui, FAKE_MEASURED);
	press(&ui, "<lt>gg"); // in the order of the graph
	while (ui_node(&ui) != 0)
		press(&ui, "j");
	press(&ui, "]");
	assert_string_equal(ui.note, "");
	assert_int_not_equal(ui_node(&ui), 0);
	ui_done(&ui);
}

// Enter on a class leads to its samples, from there to a picture; Escape and Tab lead back to the class.
void test_ui__the_samples_of_a_class(void **state)
{
	struct ui ui;
	start(&ui, FAKE_MEASURED);
	press(&ui, "T<Tab>");
	const struct scroll *at = &ui.scroll[VIEW_TASK];
	assert_int_equal(ui.task.report->class[ui.task.row[0]].id, 2); // a bicycle, which lost most
	press(&ui, "<Enter>j");
	assert_true(ui.task.n == 2 && at->cursor == 1 && ui.task.report->sample[ui.task.row[1]].sample == 7);
	press(&ui, "<Enter>");
	assert_true(ui.task.open);
	press(&ui, "<Esc>]");
	assert_true(!ui.task.open && ui.task.n == 2 && at->cursor == 1); // there are no more of them
	press(&ui, "<Esc>j<Enter>");
	assert_true(ui.task.class == 1 && ui.task.n == 3 && at->cursor == 0);
	press(&ui, "<Tab>");
	assert_true(!ui.task.of_class && ui.task.report->class[ui.task.row[at->cursor]].id == 1);
	press(&ui, "<Tab>");
	assert_int_equal(ui.task.n, 6); // all samples
	press(&ui, "<Tab>jjjj<Enter>");
	assert_true(ui.task.page == TASK_PAGE_CLASSES); // a cat, of which the report does not say where
	assert_string_equal(ui.note, "which samples have this class is known when the run is over");
	press(&ui, "g<Enter><Esc><Esc>");
	assert_int_equal(ui.view, VIEW_LAYERS);
	ui_done(&ui);
}

// Another task has other classes: the samples of one that is gone are all.
void test_ui__a_class_that_is_gone(void **state)
{
	struct ui ui;
	start(&ui, FAKE_MEASURED);
	press(&ui, "T<Tab><Enter>");
	struct task_report other = fake.task;
	other.n_classes = 1; // a person
	ui.snap->task = &other;
	press(&ui, "g");
	assert_true(!ui.task.of_class && ui.task.n == 6);
	ui.snap->task = &fake.task;
	press(&ui, "g");
	ui_done(&ui);
}

// One step at a time: what was looked for, then what hides the other nodes.
void test_ui__escape_shows_all_nodes(void **state)
{
	struct ui ui;
	start(&ui, FAKE_MEASURED);
	int all = ui.layers.n;
	press(&ui, ":filter<Space>op:Conv<Enter>/cv3<Enter><Esc>");
	assert_true(ui.layers.n < all && !ui.search[0]);
	const char *name = ui.snap->g->node[ui_node(&ui)].name;
	press(&ui, "<Esc>");
	assert_true(ui.layers.n == all && !ui.layers.filter_text[0]);
	assert_string_equal(ui.snap->g->node[ui_node(&ui)].name, name); // the cursor stays
	ui_done(&ui);
}

// A key that can do nothing where one is says so, and does nothing elsewhere either.
void test_ui__keys_that_do_nothing_say_so(void **state)
{
	static const struct {
		const char *keys, *says;
	} want[] = {{"2>", "this key is for the list of layers: 1 shows it"}, {"2i", "this key is for the list of layers: 1 shows it"},
	    {"2*", "this key is for the list of layers: 1 shows it"}, {"2v", "this key is for the list of layers: 1 shows it"},
	    {"4<Tab>", "this view has one panel"}, {"T<S-Tab>", "this view has one panel"}, {"4z", "this panel has the whole screen"},
	    {"1z", "this panel has the whole screen"}, {"F<Enter>", "there is no finding"}, {"W<Enter>", "this line is about no single node"}};
	struct ui ui;
	start(&ui, FAKE_MEASURED);
	enum column sort = ui.layers.sort;
	for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
		press(&ui, want[i].keys);
		if (strcmp(ui.note, want[i].says) != 0)
			fail_msg("%s: %s", want[i].keys, ui.note);
	}
	assert_true(ui.layers.sort == sort && ui.layers.n_marked == 0 && !ui.zoom);
	ui_resize(&ui, 120, 40);
	press(&ui, "1zz");
	assert_string_equal(ui.note, "");
	ui_done(&ui);
}

static void assert_completed(struct ui *ui, const char *line, const char *expected)
{
	const char *word = strrchr(line, ' ') + 1;
	char all[256] = "";
	for (char *found; (found = command_complete(ui, line, (int)(word - line), *all ? 1 : 0)); free(found))
		snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", *all ? " " : "", found);
	assert_string_equal(all, expected);
}

// Words that a command takes as they stand are completed where they may stand.
void test_ui__words_of_commands_are_completed(void **state)
{
	struct ui ui;
	start(&ui, FAKE_MEASURED);
	assert_completed(&ui, "set /model.0/conv/Conv ", "auto float int16 int8");
	assert_completed(&ui, "set a", "");
	assert_completed(&ui, "scale /model.0/conv/Conv a", "auto");
	assert_completed(&ui, "calibration mi", "minmax");
	assert_completed(&ui, "calibration op:Conv ", "auto kl minmax mse percentile");
	assert_completed(&ui, "eval ag", "agree");
	assert_completed(&ui, "decoder yolov8-", "yolov8-obb yolov8-raw");
	assert_completed(&ui, "preprocess ", "--color --mean --resize --std auto");
	assert_completed(&ui, "preprocess --color bgr --s", "--std");
	assert_completed(&ui, "tune ", "auto");
	assert_completed(&ui, "pictures ", "blocks pixels");
	assert_completed(&ui, "equalize nowhere ", "quark sums weights");
	assert_completed(&ui, "save-screen nowhere ", "roles");
	assert_completed(&ui, "blame ", "");
	assert_completed(&ui, "filter p", "pending prec<");
	assert_completed(&ui, "filter snr<20 op:Co", "op:Concat op:Conv");
	press(&ui, ":filter<Space>clip<Tab>5");
	assert_string_equal(ui.line.text, "filter clipped<5");
	press(&ui, "<Esc>");
	assert_completed(&ui, "open examples/cal", "examples/calib/");
	press(&ui, ":open<Space>examples/cal<Tab>");
	assert_string_equal(ui.line.text, "open examples/calib/"); // what is in it comes next, without a blank
	ui_done(&ui);
}

static void click(struct ui *ui, int x, int y)
{
	ui->mouse_button = MOUSE_LEFT;
	ui->mouse_x = x;
	ui->mouse_y = y;
	ui_key(ui, K_MOUSE);
}

// Where a text begins on the bottom line.
static int find_below(const struct ui *ui, const char *text)
{
	struct canvas c;
	canvas_init(&c, ui->w, ui->h, &ui->theme, false);
	draw_screen(&c, ui);
	const struct cell *line = &c.cell[(ui->h - 1) * c.w];
	int x = 0;
	while (x < ui->w && (line[x].glyph != (uint32_t)text[0] || line[x + 1].glyph != (uint32_t)text[1]))
		x++;
	canvas_done(&c);
	assert_true(x < ui->w);
	return x;
}

// A key that stands on the bottom line can be clicked, and a message goes with a click as with a key.
void test_ui__keys_of_the_bottom_line_are_clicked(void **state)
{
	struct ui ui;
	start(&ui, FAKE_MEASURED);
	ui_resize(&ui, 160, 40);
	int y = ui.h - 1, why = find_below(&ui, "W ");
	click(&ui, why - 1, y); // "W why" ends where the gaps on both sides begin
	click(&ui, why + 5, y);
	assert_int_equal(ui.view, VIEW_LAYERS);
	click(&ui, why + 4, y);
	assert_int_equal(ui.view, VIEW_WHY);
	click(&ui, ui.w - 3, y);
	assert_int_equal(ui.view, VIEW_HELP);
	press(&ui, "1x");
	assert_non_null(strstr(ui.note, "x does nothing here"));
	click(&ui, why + 2, y); // of what the message covers
	assert_int_equal(ui.view, VIEW_LAYERS);
	assert_string_equal(ui.note, "");
	click(&ui, 0, y);
	assert_int_equal(ui.view, VIEW_LAYERS);
	press(&ui, "+");
	assert_true(ui.trial.active);
	click(&ui, find_below(&ui, "Es"), y);
	assert_false(ui.trial.active);
	ui_resize(&ui, 80, 24);
	click(&ui, find_below(&ui, "En"), ui.h - 1); // the list alone: what Enter leads to is not seen otherwise
	assert_int_equal(ui.focus, PANEL_DETAIL);
	ui_done(&ui);
}

// A second click on a row is what Enter is in its view; one on another node's row ends a trial as a key does.
void test_ui__a_row_that_is_clicked_again(void **state)
{
	struct ui ui;
	start(&ui, FAKE_BLAMED);
	press(&ui, "B");
	for (int i = 0; i < 2; i++)
		click(&ui, 30, 2 + ui_head(&ui) + 1);
	assert_int_equal(ui.view, VIEW_LAYERS);
	assert_int_equal(ui_node(&ui), ui.snap->blames->at[1].node);
	press(&ui, "T");
	for (int i = 0; i < 2; i++)
		click(&ui, 30, 2 + ui_head(&ui) + 1);
	assert_true(ui.task.open);
	press(&ui, "1g+");
	click(&ui, 30, 2 + ui_head(&ui) + 4);
	assert_false(ui.trial.active);
	press(&ui, "+");
	click(&ui, 30, 2 + ui_head(&ui) + 4);
	assert_true(!ui.trial.active && ui.focus == PANEL_DETAIL);
	ui_done(&ui);
}

// What was pruned has no signal to lose: it hides none of those that do.
void test_ui__dead_channels_are_not_the_worst(void **state)
{
	struct ui ui;
	start(&ui, FAKE_MEASURED);
	struct channels *c = ui.snap->channels = fake_channels(20);
	c->at[3].flags = CHANNEL_DEAD;
	c->at[3].now = (struct metrics){.snr_db = -5};
	c->at[3].alone_db = -5;
	press(&ui, "lC");
	int at = 0;
	while (ui.channels.row[at] != 3)
		assert_false(isnan(channel_column(CHANNEL_COLUMN_SNR)->value(c, ui.channels.row[at++])));
	assert_true(at > 10);
	assert_true(isnan(channel_column(CHANNEL_COLUMN_SNR)->value(c, 3)) && isnan(channel_column(CHANNEL_COLUMN_ALONE)->value(c, 3)));
	ui_done(&ui);
}

void test_ui__channels_are_ordered_and_walked(void **state)
{
	struct ui ui;
	int row;
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
	ui.mouse_button = MOUSE_LEFT;
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
	start(&ui, FAKE_MEASURED);
	ui_resize(&ui, 40, 20);
	press(&ui, "5");
	before = view_log_count(&ui);
	log_to_stderr(false, LOG_INFO);
	log_warn("a sentence of some length that does not fit into a line of forty columns, and its end");
	ui_arrange(&ui);
	assert_int_equal(view_log_count(&ui), before + 3);
	view_log_text(text, sizeof text, &ui, before + 2);
	assert_string_equal(text, "columns, and its end");
	view_log_text(text, sizeof text, &ui, before + 3);
	assert_string_equal(text, "");
	ui_resize(&ui, 30, 20); // they are broken anew
	assert_true(view_log_count(&ui) > before + 3);
	ui_done(&ui);
}

// Whether the line of the tabs has the glyph.
static bool tabs_have(const struct ui *ui, uint32_t glyph)
{
	struct canvas c;
	bool has = false;
	canvas_init(&c, ui->w, ui->h, &ui->theme, false);
	draw_screen(&c, ui);
	for (int x = 0; x < c.w; x++)
		has |= c.cell[c.w + x].glyph == glyph;
	canvas_done(&c);
	return has;
}

// Its tab shows that something was said, until it is looked at; what stood on the bottom line was.
void test_ui__the_log_says_that_it_has_news(void **state)
{
	struct ui ui;
	struct error err = {.status = STATUS_USAGE, .text = "told on the bottom line"};
	start(&ui, FAKE_MEASURED);
	ui_resize(&ui, 120, 40);
	press(&ui, "51");
	log_to_stderr(false, LOG_INFO);
	ui_fail(&ui, &err);
	assert_true(tabs_have(&ui, 'L') && !tabs_have(&ui, '!'));
	log_warn("the pictures are prepared by a guess, say");
	assert_true(tabs_have(&ui, '!'));
	press(&ui, "51");
	assert_false(tabs_have(&ui, '!'));
	ui_done(&ui);
}
