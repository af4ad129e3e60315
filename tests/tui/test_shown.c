// What screens say, and what they leave out, by words that stand in them.
#include <stdio.h>
#include <string.h>

#include "fake.h"
#include "press.h"
#include "shown.h"
#include "qtui/base/log.h"
#include "qtui/tui/run_news.h"
#include "qtui/tui/view_layers.h"
#include "qtui/tui/view_task.h"

static void start(struct ui *ui, enum fake_kind kind, int w, int h)
{
	show(ui, fake_snapshot(kind), false);
	ui->warnings_seen = log_warnings(); // those of the tests before
	ui_resize(ui, w, h);
}

// Cut names of a transformer's layers are all alike: figures that say much the same leave them their room.
void test_shown__long_names_come_before_columns(void **state)
{
	static const char name[] = "/layers.2/cross_attn/Reshape_2/Conv";
	struct ui ui;
	start(&ui, FAKE_MEASURED, 120, 40);
	assert_true(is_shown(&ui, "alone dB cosine"));
	snprintf(fake.node_name[node_named("/model.24/m.0/Conv")], sizeof fake.node_name[0], "%s", name);
	layers_refresh(&ui.layers, ui.snap);
	assert_true(is_shown(&ui, name) && is_shown(&ui, " alone dB  name"));
	assert_false(is_shown(&ui, "alone dB cosine"));
	ui_done(&ui);
}

// Figures that tell less leave longer names more.
void test_shown__longer_names_come_before_most_columns(void **state)
{
	static const char name[] = "/model/decoder/layers.2/cross_attn/Softmax/z"; // 44 columns
	for (int width = 120; width < 160; width++) {
		struct ui ui;
		start(&ui, FAKE_MEASURED, width, 40);
		snprintf(fake.node_name[node_named("/model.9/m/MaxPool")], sizeof fake.node_name[0], "%s", name);
		layers_refresh(&ui.layers, ui.snap);
		if (is_shown(&ui, "alone dB cosine") && !is_shown(&ui, name))
			fail_msg("in %d columns", width);
		ui_done(&ui);
	}
}

// Short names leave theirs to figures, and a very wide screen shows all that is known.
void test_shown__every_column_where_there_is_room(void **state)
{
	struct ui ui;
	start(&ui, FAKE_MEASURED, 300, 40);
	for (int i = 0; i < COLUMN_COUNT; i++)
		if (columns_known((enum column)i, ui.snap) && !is_shown(&ui, columns_row((enum column)i)->head))
			fail_msg("%s", columns_row((enum column)i)->name);
	assert_int_equal(ui.layout.panel[PANEL_MAIN].w, view_layers_width(&ui));
	ui_done(&ui);
}

void test_shown__a_distribution_at_any_width(void **state)
{
	static const int width[] = {46, 300, 600, 1200};
	for (size_t i = 0; i < sizeof width / sizeof *width; i++) {
		struct ui ui;
		start(&ui, FAKE_MEASURED, width[i], 60);
		press(&ui, "<Enter>z");
		assert_true(is_shown(&ui, "⣿⣿⣿"));
		ui_done(&ui);
	}
}

// Labels that lie beside the samples of a network which they are not for are no error of the user,
// a task that was asked for is one.
void test_shown__a_task_that_nobody_asked_for(void **state)
{
	for (int asked = 0; asked < 2; asked++) {
		struct ui ui;
		struct snapshot was;
		start(&ui, FAKE_MEASURED, 120, 40);
		was = *ui.snap;
		ui.snap->task_asked = asked;
		snprintf(ui.snap->task_problem, sizeof ui.snap->task_problem, "no decoder is known");
		run_news(&ui, &was);
		assert_non_null(strstr(ui.note, "no decoder is known"));
		assert_int_equal(ui.note_role, asked ? ROLE_ERROR : ROLE_NOTE);
		press(&ui, "j");
		run_news(&ui, &was); // of the next run, which begins without a problem
		assert_string_equal(ui.note, "");
		ui_done(&ui);
	}
}

// Where the detail hides the list the bottom line says how to come back.
void test_shown__the_way_back_from_a_panel(void **state)
{
	struct ui ui;
	start(&ui, FAKE_MEASURED, 80, 24);
	assert_false(is_shown(&ui, "Esc back"));
	press(&ui, "<Enter>");
	assert_true(is_shown(&ui, "Esc back"));
	press(&ui, "<Tab><Esc>");
	assert_int_equal(ui.focus, PANEL_MAIN);
	assert_false(is_shown(&ui, "Esc back"));
	ui_done(&ui);
}

// The keys of the ranking are not offered where there is none.
void test_shown__keys_of_a_ranking_need_one(void **state)
{
	struct ui ui;
	start(&ui, FAKE_BLAMED, 80, 24);
	press(&ui, "B");
	assert_true(is_shown(&ui, "s sort"));
	ui_done(&ui);
	start(&ui, FAKE_MEASURED, 80, 24);
	press(&ui, "B");
	assert_false(is_shown(&ui, "s sort"));
	assert_true(is_shown(&ui, ":blame 30s ranks"));
	ui_done(&ui);
}

// Nothing is before the first run.
void test_shown__no_change_before_a_second_run(void **state)
{
	struct ui ui;
	start(&ui, FAKE_MEASURED, 120, 40);
	assert_true(is_shown(&ui, " Δ dB "));
	for (int i = 0; i < ui.snap->n_sites; i++)
		fake.site[i].before = (struct figures){0};
	layers_refresh(&ui.layers, ui.snap);
	assert_false(is_shown(&ui, " Δ dB "));
	ui_done(&ui);
}

// What the top line says.
static void expect_header(const struct ui *ui, const char *part, bool there)
{
	struct str now = shown(ui, false);
	strchr(str_text(&now), '\n')[0] = '\0';
	if (!strstr(str_text(&now), part) != !there)
		fail_msg("'%s' in: %s", part, str_text(&now));
	str_done(&now);
}

void test_shown__header_marks_edits_that_are_not_saved(void **state)
{
	struct ui ui;
	start(&ui, FAKE_MEASURED, 160, 12);
	ui.snap->n_edits = 2;
	expect_header(&ui, "2 edits", true);
	expect_header(&ui, "yolov5n.onnx*", false);
	ui.unsaved = true;
	expect_header(&ui, "yolov5n.onnx*", true);
	ui.autosave_fails = true;
	expect_header(&ui, "2 edits, autosave fails", true);
	ui_resize(&ui, 80, 12);
	expect_header(&ui, "2 edits!", true);
	ui_resize(&ui, 40, 12);
	expect_header(&ui, "yolov5n.onnx*", true);
	ui_done(&ui);
}

void test_shown__header_looks_for_causes_before_the_task(void **state)
{
	struct ui ui;
	start(&ui, FAKE_MEASURED, 160, 12);
	ui.snap->stage = STAGE_TASK;
	expect_header(&ui, "looking for causes", !ui.snap->findings);
	struct findings *found = ui.snap->findings, other = {0};
	ui.snap->findings = found ? NULL : &other;
	expect_header(&ui, "looking for causes", found != NULL);
	ui.snap->findings = found;
	ui_done(&ui);
}

// Figures of the first samples, while all are calibrated on.
void test_shown__header_counts_the_samples_that_outputs_are_of(void **state)
{
	struct ui ui;
	start(&ui, FAKE_MEASURED, 160, 12);
	ui.snap->samples = ui.snap->samples_done = 32;
	for (int i = 0; i < ui.snap->n_outputs; i++)
		ui.snap->output[i].known = 32;
	expect_header(&ui, "of 32 samples", false);
	ui.snap->output[0].known = 3;
	expect_header(&ui, "3 of 32 samples", true);
	ui_done(&ui);
}

// Figures with an exponent of two digits do not touch each other.
void test_shown__figures_of_the_detail_stand_apart(void **state)
{
	struct ui ui;
	start(&ui, FAKE_MEASURED, 80, 24);
	struct site *s = (struct site *)ui_site(&ui);
	s->graphwise.pooled.mse = 5.9e-18;
	s->layerwise.pooled.mse = 3.9e-18;
	press(&ui, "<Enter>z");
	assert_true(is_shown(&ui, " 5.9e-18  3.9e-18 "));
	ui_done(&ui);
}

// Beside the picture there is little room: what is said of it goes on in the next line.
void test_shown__a_picture_in_which_nothing_changed(void **state)
{
	struct ui ui;
	start(&ui, FAKE_MEASURED, 80, 24);
	fake.look.n_changes = 0;
	press(&ui, "T<Enter>");
	assert_true(is_shown(&ui, "  has changed\n"));
	ui_done(&ui);
}

// The way out of a filter that leaves nothing stands there whole, however narrow the list.
void test_shown__a_filter_that_leaves_nothing(void **state)
{
	struct ui ui;
	start(&ui, FAKE_MEASURED, 100, 30);
	press(&ui, ":filter<Space>op:Softmax<Space>clipped>50<Enter>");
	assert_true(is_shown(&ui, "No node matches op:Softmax clipped>50;"));
	assert_true(is_shown(&ui, "Esc shows"));
	ui_done(&ui);
}

// What is the same on every sample is no matter of chance.
void test_shown__a_task_that_does_not_move(void **state)
{
	struct ui ui;
	struct snapshot was;
	struct run_note run[3];
	start(&ui, FAKE_MEASURED, 120, 40);
	was = *ui.snap;
	memcpy(run, ui.snap->run, sizeof run);
	run[was.n_runs - 1].has_task_change = false;
	was.run = run;
	((struct run_note *)ui.snap->run)[was.n_runs - 1].task_change = (struct task_interval){0, 0, 0, 100};
	run_news(&ui, &was);
	assert_string_equal(ui.note, "run 3: mAP .318 as before");
	press(&ui, "T");
	fake.task.interval = (struct task_interval){0, 0, 0, 100};
	assert_true(is_shown(&ui, "(the same on every sample)"));
	assert_false(is_shown(&ui, "interval"));
	press(&ui, "3");
	assert_true(is_shown(&ui, " .318  as before  set "));
	((struct run_note *)ui.snap->run)[was.n_runs - 1].task_change = (struct task_interval){-.086, -.152, .002, 100};
	run_news(&ui, &was);
	assert_string_equal(ui.note, "run 3: mAP .404 → .318, -.086, -.152 to +.002: may be chance");
	ui_done(&ui);
}

// With a gap before what was run, however long the figure's name.
void test_shown__runs_say_what_a_task_gained(void **state)
{
	struct ui ui;
	start(&ui, FAKE_MEASURED, 80, 24);
	struct run_note *run = (struct run_note *)&ui.snap->run[ui.snap->n_runs - 1];
	snprintf(run->task_name, sizeof run->task_name, "top1");
	run->task_float = run->task_quant = 1;
	run->task_change = (struct task_interval){0, -.1, .1, 100};
	press(&ui, "3");
	assert_true(is_shown(&ui, "top-1 1.000 → 1.000  ≈ +.000 ±.100  set "));
	run->task_change = (struct task_interval){.1, 0, .2, 100}; // 0 is within it
	assert_true(is_shown(&ui, "≈ +.100 ±.100  set "));
	run->task_change = (struct task_interval){.2, -.01, .21, 100}; // half of it would say that .09 is proved
	assert_true(is_shown(&ui, "≈ +.200, -.010 to +.210  set "));
	run->task_change = (struct task_interval){-.1, -.2, 0, 100};
	assert_true(is_shown(&ui, "≈ -.100 ±.100  set "));
	run->task_change = (struct task_interval){.11, .01, .21, 100};
	assert_true(is_shown(&ui, "  +.110 ±.100  set ") && !is_shown(&ui, "≈"));
	ui_done(&ui);
}

// An interval to one side of the difference: its half would say that .086 are proved, or that .03 are none.
void test_shown__an_interval_to_one_side(void **state)
{
	char text[160];
	struct ui ui;
	start(&ui, FAKE_MEASURED, 120, 40);
	fake.figure[0].value[TASK_FLOAT] = .8;
	fake.figure[0].value[TASK_QUANT] = .714;
	fake.task.interval = (struct task_interval){-.086, -.152, .002, 100};
	view_task_headline(text, sizeof text, &fake.task);
	assert_string_equal(text, "mAP .800 → .714 (-.086, -.152 to +.002, may be chance)");
	fake.task.interval = (struct task_interval){-.086, -.19, .01, 100};
	view_task_headline(text, sizeof text, &fake.task);
	assert_string_equal(text, "mAP .800 → .714 (-.086 ±.100, may be chance)");
	ui_done(&ui);
}

// What is not known is no estimate either.
void test_shown__no_times(void **state)
{
	struct ui ui;
	start(&ui, FAKE_MEASURED, 120, 40);
	fake.s.costs = costs_new(&fake.s, NULL);
	press(&ui, ":sort time<Enter>");
	assert_true(is_shown(&ui, "time us") && !is_shown(&ui, "~–"));
	costs_drop(&fake.s.costs);
	ui_done(&ui);
}

// Of a good state the rows differ too.
void test_shown__blame_of_little_damage(void **state)
{
	struct ui ui;
	start(&ui, FAKE_DAMAGED, 80, 24);
	ui.snap->blames->total = 8.4e-4;
	ui.snap->blames->at[0].alone = 2.13e-5;
	ui.snap->blames->at[0].in_wide.damage = 1.9e-5;
	press(&ui, "B");
	assert_true(is_shown(&ui, "damage 8.4e-4 with all") && is_shown(&ui, " 2.1e-5 ") && is_shown(&ui, " +1.9e-5 "));
	ui_done(&ui);
}

// Of a classification what was lost comes first, also where another lost more of its probability.
void test_shown__verdicts_of_samples(void **state)
{
	struct ui ui;
	start(&ui, FAKE_MEASURED, 100, 30);
	fake.task.kind = TASK_CLASSIFY;
	for (int i = 0; i < 6; i++)
		for (int v = 0; v < TASK_VARIANTS; v++)
			fake.sample[i].verdict[v] = v == TASK_QUANT && i == 3 ? TASK_WRONG : TASK_RIGHT;
	press(&ui, "Tssss"); // sorted anew, and by the same
	struct str now = shown(&ui, false);
	const char *lost = strstr(str_text(&now), "✓ × 000000000036.jpg"), *other = strstr(str_text(&now), "✓ ✓ 000000000139.jpg");
	if (!lost || !other || lost > other)
		fail_msg("%s", str_text(&now));
	str_done(&now);
	ui_done(&ui);
}
