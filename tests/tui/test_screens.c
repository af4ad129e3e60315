// Whole screens as text with their roles, compared with tests/tui/screens; BLESS=1 in the environment writes them anew.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake.h"
#include "press.h"
#include "shown.h"
#include "qtui/analysis/frontier.h"
#include "qtui/base/file.h"
#include "qtui/base/log.h"
#include "qtui/base/mem.h"

static void start(struct ui *ui, enum fake_kind kind, int w, int h, bool ascii)
{
	show(ui, fake_snapshot(kind), ascii);
	ui->warnings_seen = log_warnings(); // those of the tests before
	ui_resize(ui, w, h);
}

// Whether the screen is the one that was accepted last; ends the user interface.
static bool is_as_accepted(struct ui *ui, const char *name)
{
	bool bless = getenv("BLESS") != NULL, same = true;
	char path[256];
	struct bytes then = {0};
	struct error err;
	snprintf(path, sizeof path, "tests/tui/screens/%s.txt", name);
	struct str now = shown(ui, true);
	if (bless) {
		assert_int_equal(file_write(path, str_text(&now), now.len, &err), STATUS_OK);
	} else {
		assert_int_equal(file_read(&then, path, 1 << 20, &err), STATUS_OK);
		same = strcmp((const char *)then.data, str_text(&now)) == 0;
		if (!same)
			print_error("%s differs; it is now:\n%s\n", path, str_text(&now));
		bytes_done(&then);
	}
	str_done(&now);
	ui_done(ui);
	return same;
}

static void expect(struct ui *ui, const char *name)
{
	assert_true(is_as_accepted(ui, name));
}

// What is shown once the keys are pressed. The names hold the sizes.
struct shot {
	const char *name;
	int of; // enum fake_kind, or how many channels there are
	int w, h;
	bool ascii;
	const char *keys;
};

static void press_shot(struct ui *ui, const struct shot *s, int *differ)
{
	press(ui, s->keys);
	*differ += !is_as_accepted(ui, s->name);
}

void test_screens__after_keys(void **state)
{
	static const struct shot shot[] = {
	    {"layers_80x24", FAKE_MEASURED, 80, 24, false, ""},
	    {"layers_120x40", FAKE_MEASURED, 120, 40, false, "j"},
	    {"layers_200x60", FAKE_MEASURED, 200, 60, false, "jjjj<Space><Space>vjj"},
	    {"layers_40x10", FAKE_MEASURED, 40, 10, false, ""},
	    {"layers_60x15", FAKE_MEASURED, 60, 15, false, ""},
	    // What the task says stands before the target.
	    {"layers_52x12", FAKE_MEASURED, 52, 12, false, ""},
	    {"too_small_39x10", FAKE_MEASURED, 39, 10, false, ""},
	    {"too_small_20x5", FAKE_MEASURED, 20, 5, false, ""},
	    {"ascii_120x40", FAKE_MEASURED, 120, 40, true, ""},
	    // An edit waits for its figures.
	    {"running_120x40", FAKE_RUNNING, 120, 40, false, ""},
	    {"empty_80x24", FAKE_EMPTY, 80, 24, false, ""},
	    {"detail_80x24", FAKE_MEASURED, 80, 24, false, "<Enter>l"},
	    {"around_80x24", FAKE_MEASURED, 80, 24, false, "/m.0/Add<Enter><Enter><Enter>k"},
	    {"search_80x24", FAKE_MEASURED, 80, 24, false, "/model.[67]"},
	    {"filter_80x24", FAKE_MEASURED, 80, 24, false, ":filter<Space>op:Conv<Space>snr<lt>20<Enter>"},
	    {"completion_80x24", FAKE_MEASURED, 80, 24, false, ":sort<Space><Tab>"},
	    {"completion_of_a_member_80x24", FAKE_MEASURED, 80, 24, false, ":target<Space>esp32p4,scale.<Tab>si<Tab>true,fusion.<Tab>"},
	    {"outputs_120x40", FAKE_MEASURED, 120, 40, false, "2"},
	    {"runs_80x24", FAKE_MEASURED, 80, 24, false, "3"},
	    // What was run has more room than what it cost.
	    {"runs_100x12", FAKE_MEASURED, 100, 12, false, "3"},
	    {"runs_120x12", FAKE_MEASURED, 120, 12, false, "3"},
	    {"cost_80x24", FAKE_MEASURED, 80, 24, false, "4"},
	    {"times_80x24", FAKE_TIMED, 80, 24, false, "4"},
	    // Columns that have no room are left out: a number that is cut off would be another one.
	    {"cost_40x20", FAKE_MEASURED, 40, 20, false, "4"},
	    {"cost_60x20", FAKE_MEASURED, 60, 20, false, "4"},
	    {"times_60x24", FAKE_TIMED, 60, 24, false, "4"},
	    {"times_layers_120x24", FAKE_TIMED, 120, 24, false, ""},
	    {"help_100x50", FAKE_MEASURED, 100, 50, false, "?"},
	    // On a wide screen rows go on at the top of a second column.
	    {"help_200x30", FAKE_MEASURED, 200, 30, false, "?jj"},
	    // Texts are broken at the width, and a topic is found where its row begins.
	    {"help_40x24", FAKE_MEASURED, 40, 24, false, ":help session<Enter>"},
	    {"trial_120x40", FAKE_MEASURED, 120, 40, false, "j--"},
	    // The grid that is tried stands in the histogram, which has its room.
	    {"trial_100x30", FAKE_MEASURED, 100, 30, false, "j--"},
	    {"trial_80x24", FAKE_MEASURED, 80, 24, false, "j--"},
	    // What is foretold gives way to the keys.
	    {"trial_60x12", FAKE_MEASURED, 60, 12, false, "j--"},
	    {"trial_44x12", FAKE_MEASURED, 44, 12, false, "j--"},
	    {"error_80x24", FAKE_MEASURED, 80, 24, false, ":sort<Space>snrr<Enter>"},
	    {"task_120x40", FAKE_MEASURED, 120, 40, false, "T"},
	    // An interval is there as a whole or not at all.
	    {"task_60x16", FAKE_MEASURED, 60, 16, false, "T"},
	    // How labels and outputs are read has the rows that it needs.
	    {"task_note_80x24", FAKE_POSED, 80, 24, false, "T"},
	    {"task_note_60x21", FAKE_POSED, 60, 21, false, "Tj"},
	    {"task_classes_80x24", FAKE_MEASURED, 80, 24, false, "T<Tab>ssj"},
	    {"task_old_40x10", FAKE_RUNNING, 40, 10, false, "Tj"},
	    {"task_picture_100x30", FAKE_MEASURED, 100, 30, false, "T<Enter>jj"},
	    // Without colours and UTF-8 brightness is a character, and the lines still differ.
	    {"task_picture_ascii_80x24", FAKE_MEASURED, 80, 24, true, "T<Enter>b"},
	    {"segments_100x30", FAKE_SEGMENTED, 100, 30, false, "T<Enter>j"},
	    {"segments_120x40", FAKE_SEGMENTED, 120, 40, false, "T"},
	    {"segments_ascii_80x24", FAKE_SEGMENTED, 80, 24, true, "T<Enter>"},
	    // The picture alone.
	    {"segments_plain_80x24", FAKE_SEGMENTED, 80, 24, true, "T<Enter>b"},
	    {"poses_100x30", FAKE_POSED, 100, 30, false, "T<Enter>jj"},
	    {"poses_ascii_80x24", FAKE_POSED, 80, 24, true, "T<Enter>jj"},
	    {"outlines_100x30", FAKE_OUTLINED, 100, 30, false, "T<Enter>jj"},
	    {"outlines_ascii_80x24", FAKE_OUTLINED, 80, 24, true, "T<Enter>jj"},
	    {"pictures_120x40", FAKE_RESTORED, 120, 40, false, "T"},
	    {"pictures_100x30", FAKE_RESTORED, 100, 30, false, "T<Enter>bb"},
	    {"pictures_ascii_80x24", FAKE_RESTORED, 80, 24, true, "T<Enter>"},
	    {"pictures_truth_80x24", FAKE_RESTORED, 80, 24, true, "T<Enter>bbb"},
	    {"pictures_runs_120x40", FAKE_RESTORED, 120, 40, false, "3"},
	    {"score_100x30", FAKE_SCORED, 100, 30, false, "T<Enter>"},
	    {"agree_boxes_100x30", FAKE_AGREED, 100, 30, false, "T<Enter>"},
	    {"agree_boxes_ascii_80x24", FAKE_AGREED, 80, 24, true, "T"},
	    {"texts_100x30", FAKE_READ, 100, 30, false, "T"},
	    {"texts_ascii_80x24", FAKE_READ, 80, 24, true, "T<Enter>"},
	    {"embedding_100x30", FAKE_EMBEDDED, 100, 30, false, "T<Enter>"},
	    {"numbers_100x30", FAKE_NUMBERS, 100, 30, false, "T<Enter>"},
	    {"numbers_second_60x15", FAKE_NUMBERS, 60, 15, false, "Tj<Enter>"},
	    {"depths_100x30", FAKE_DEPTHS, 100, 30, false, "T"},
	    {"score_ascii_80x24", FAKE_SCORED, 80, 24, true, "T<Enter>b"},
	    {"task_nothing_80x24", FAKE_EMPTY, 80, 24, false, "T"},
	    {"blame_120x40", FAKE_BLAMED, 120, 40, false, "Bssj"},
	    {"blame_80x24", FAKE_DAMAGED, 80, 24, false, "Bs"},
	    {"layers_blame_80x24", FAKE_BLAMED, 80, 24, false, ":sort blame<Enter>"},
	    {"channels_later_60x15", FAKE_RUNNING, 60, 15, false, "C"},
	};
	struct ui ui;
	int differ = 0;
	for (size_t i = 0; i < sizeof shot / sizeof *shot; i++) {
		start(&ui, (enum fake_kind)shot[i].of, shot[i].w, shot[i].h, shot[i].ascii);
		press_shot(&ui, &shot[i], &differ);
	}
	assert_int_equal(differ, 0);
}

// Figures of fewer samples than the folder holds stay recognizable, also where there is no room for the others.
void test_screens__pictures_left_out(void **state)
{
	struct ui ui;
	start(&ui, FAKE_MEASURED, 66, 12, false);
	ui.snap->left_out = 2;
	expect(&ui, "left_out_66x12");
}

// Whose samples they are comes first; what is said of them goes on in the line below.
void test_screens__a_task_of_the_calibration_samples(void **state)
{
	struct ui ui;
	start(&ui, FAKE_POSED, 80, 24, false);
	ui.snap->task_calibrated = true;
	press(&ui, "T");
	expect(&ui, "task_calibrated_80x24");
}

void test_screens__a_long_message(void **state)
{
	struct ui ui;
	struct error err;
	start(&ui, FAKE_MEASURED, 40, 10, false);
	error_set(&err, STATUS_REFUSED, "/model.24/m.0/Conv: target esp32p4 takes only powers of two as scales: the nearest is 2^-4");
	ui_fail(&ui, &err);
	expect(&ui, "message_40x10");
}

// Those of earlier sittings stand apart, with when they were in the place of what they cost.
void test_screens__runs_of_earlier_sittings(void **state)
{
	struct ui ui;
	setenv("TZ", "UTC", 1);
	start(&ui, FAKE_MEASURED, 120, 12, false);
	for (int i = 0; i < 2; i++) {
		fake.run[i].earlier = true;
		fake.run[i].when = 1.76e9 + 1000 * i;
	}
	fake.run[1].samples = fake.run[2].samples = (struct key){1, 2}; // the first is of others: no change is told
	press(&ui, "3");
	expect(&ui, "runs_earlier_120x12");
}

static void press_diff(struct ui *ui, bool a_nodes, bool same_samples)
{
	struct run_record a = run_record_of(ui->snap), b = run_record_of(ui->snap);
	a.note.earlier = true;
	a.note.when = 1.76e9;
	if (!same_samples)
		a.note.samples = (struct key){1, 2};
	for (int i = 0; i < 40; i++) {
		a.nodes->snr_db[i] -= 0.5F * (float)i;
		a.nodes->precision[i] = (signed char)(i % 3 ? a.nodes->precision[i] : PREC_INT8);
	}
	if (!a_nodes)
		run_record_done(&a);
	diff_set(&ui->diff, ui->snap->g, &(struct diff_side){.name = "4", .figures = a},
	    &(struct diff_side){.name = "now", .figures = b});
	ui_show(ui, VIEW_DIFF);
	ui_arrange(ui);
}

void test_screens__diff_with_an_earlier_run(void **state)
{
	struct ui ui;
	setenv("TZ", "UTC", 1);
	start(&ui, FAKE_MEASURED, 120, 24, false);
	press_diff(&ui, true, false);
	expect(&ui, "diff_earlier_120x24");
}

void test_screens__diff_without_nodes(void **state)
{
	struct ui ui;
	setenv("TZ", "UTC", 1);
	start(&ui, FAKE_MEASURED, 80, 24, false);
	press_diff(&ui, false, true);
	expect(&ui, "diff_without_nodes_80x24");
}

// One row is all there is then, whatever is asked.
void test_screens__blame_of_no_damage(void **state)
{
	struct ui ui;
	start(&ui, FAKE_DAMAGED, 80, 12, false);
	ui.snap->blames->total = 0;
	ui.snap->blames->n = 1;
	ui.snap->blames->at[0].alone = 0;
	press(&ui, "B");
	expect(&ui, "blame_no_damage_80x12");
}

// Classes of pixels, and as many boxes as were found: dashes would leave open whether figures are still to come.
void test_screens__outputs_without_figures(void **state)
{
	struct ui ui;
	start(&ui, FAKE_MEASURED, 60, 15, false);
	struct value *of = ui.snap->g->value;
	of[ui.snap->g->output[0]].type = DT_I64;
	of[ui.snap->g->output[1]].shape.rank = -1;
	ui.snap->output[0] = ui.snap->output[1] = (struct figures){0};
	press(&ui, "2");
	expect(&ui, "outputs_none_60x15");
}

// The time was over before the task was asked: there are no columns of dashes.
void test_screens__blame_before_the_task_is_asked(void **state)
{
	struct ui ui;
	start(&ui, FAKE_BLAMED, 60, 15, false);
	for (int i = 0; i < ui.snap->blames->n; i++) {
		struct blame *b = &ui.snap->blames->at[i];
		b->score_loss = b->in_float.score = b->in_wide.score = NAN;
	}
	press(&ui, "B");
	expect(&ui, "blame_unasked_60x15");
}

void test_screens__blame_in_little_room(void **state)
{
	struct ui ui;
	start(&ui, FAKE_BLAMED, 40, 10, false);
	ui.snap->blames_old = true;
	press(&ui, "B");
	expect(&ui, "blame_40x10");
}

// Three states behind the one that the repair began from, the second an estimate.
static void start_pareto(struct ui *ui, int w, int h, bool timed)
{
	static const double damage[] = {.0731, .0412, .0300, .0214};
	struct frontier *f = xcalloc(1, sizeof *f);
	start(ui, FAKE_MEASURED, w, h, false);
	atomic_store(&f->refs, 1);
	f->at = xcalloc(4, sizeof *f->at);
	f->n = 4;
	for (int i = 0; i < f->n; i++) {
		f->at[i] = (struct repair_state){.steps = i, .as_run = i != 2, .edits = edits_new(ui->snap->g),
			.figures = {.damage = damage[i], .snr_db = 9.1 + 3 * i, .score = i == 2 ? NAN : .318 + .01 * i, .cost = 1 + .05 * i,
				.us = timed ? 20300 + 1200 * i : NAN}};
		for (int n = 0; n < 5 * i; n++)
			f->at[i].edits->precision[n] = n < 3 ? PREC_FLOAT : PREC_INT16;
	}
	ui->repair.frontier = f;
	snprintf(f->basis.task, sizeof f->basis.task, "AP");
}

void test_screens__pareto(void **state)
{
	struct ui ui;
	start_pareto(&ui, 80, 24, false);
	press(&ui, "Pj");
	expect(&ui, "pareto_80x24");
	start_pareto(&ui, 120, 12, true);
	press(&ui, "P");
	expect(&ui, "pareto_120x12");
	start(&ui, FAKE_MEASURED, 80, 10, false);
	press(&ui, "Pa");
	expect(&ui, "pareto_nothing_80x10");
}

// The same story that a run would tell: of one finding and of what blame says of its node.
static void start_story(struct ui *ui, enum fake_kind kind, int w, int h)
{
	struct findings *f = xcalloc(1, sizeof *f);
	start(ui, kind, w, h, false);
	atomic_store(&f->refs, 1);
	f->at = xcalloc(1, sizeof *f->at);
	f->n = 1;
	f->at[0] = (struct finding){.rule = FINDING_coarse_logits,
	    .n_nodes = 1,
	    .n_evidence = 2,
	    .gain_db = 6.3,
	    .share = .31,
	    .reach = .27,
	    .text = xstrdup("/model.24/Sigmoid decides on a step of 0.25: the logits above -4 (up to 3.2) have 29 codes."),
	    .advice = xstrdup("give the logits the finest power of two that reaches the largest"),
	    .edit = xstrdup("scale /model.24/m.0/Conv 2^-4"),
	    .evidence = {{"step", .25}, {"max", 3.2}}};
	f->at[0].node = xcalloc(1, sizeof *f->at[0].node);
	f->at[0].node[0] = fake.g.n_nodes - 4;
	ui->findings = f;
	ui->story = story_new(ui->snap, f);
}

// Before gains were asked for, their columns leave their room to the names; none orders by what is not known.
void test_screens__blame_without_gains(void **state)
{
	struct ui ui;
	start(&ui, FAKE_DAMAGED, 80, 24, false);
	for (int i = 0; i < ui.snap->blames->n; i++) {
		struct blame *b = &fake.blame[i];
		b->in_float = b->in_wide = (struct blame_gain){NAN, NAN, NAN};
		b->wide = NAN;
	}
	press(&ui, "B");
	assert_true(is_shown(&ui, "6 parts, /model.7/act/Sigmoid to /model.8/conv/Conv"));
	assert_false(is_shown(&ui, "16 bit"));
	press(&ui, "s");
	assert_true(is_shown(&ui, "by damage alone"));
	ui_done(&ui);
}

// What the nodes are given and what that is worth stand there whole, whatever there is no room for of their names; a finding
// without an edit has its remedy there.
void test_screens__a_finding_says_what_a_applies(void **state)
{
	struct ui ui;
	struct str edit = {0};
	start_story(&ui, FAKE_MEASURED, 80, 24);
	struct finding *f = &ui.findings->at[0];
	str_add(&edit, "set");
	for (int i = 0; i < 40; i++)
		str_addf(&edit, " /model.%d/m.0/cv1/conv/Conv", i);
	str_add(&edit, " float");
	free(f->edit);
	f->edit = str_detach(&edit);
	press(&ui, "F");
	for (int w = 70; w <= 120; w += 5) {
		ui_resize(&ui, w, 24);
		assert_true(is_shown(&ui, "more float") || is_shown(&ui, "more\n  float"));
		assert_true(is_shown(&ui, "at the outputs)") || is_shown(&ui, "at the\n  outputs)"));
	}
	free(f->edit);
	f->edit = NULL;
	f->text[strlen("/model.24/Sigmoid decides")] = '\0';
	ui_resize(&ui, 40, 12);
	assert_true(is_shown(&ui, "remedy: give the logits the finest"));
	assert_true(is_shown(&ui, "power of two that reaches the largest"));
	ui_done(&ui);
}

void test_screens__why(void **state)
{
	static const struct shot shot[] = {
	    {"why_120x40", FAKE_BLAMED, 120, 40, false, ":why<Enter>jjj"},
	    {"why_80x24", FAKE_MEASURED, 80, 24, false, "W/logits<Enter>"},
	    {"why_40x10", FAKE_DAMAGED, 40, 10, false, "WG"},
	    // Parts longer than the panel, by panels; the others whole.
	    {"why_steps_40x10", FAKE_DAMAGED, 40, 10, false, "Wjjj"},
	    {"why_steps_back_40x10", FAKE_DAMAGED, 40, 10, false, "WGkkk"},
	    // The edit that a would apply stands there whole, what it gains where there is room.
	    {"findings_100x30", FAKE_MEASURED, 100, 30, false, "F"},
	    {"findings_80x24", FAKE_MEASURED, 80, 24, false, "F"},
	    {"findings_60x16", FAKE_MEASURED, 60, 16, false, "F"},
	    {"findings_40x12", FAKE_MEASURED, 40, 12, false, "F"},
	};
	struct ui ui;
	int differ = 0;
	for (size_t i = 0; i < sizeof shot / sizeof *shot; i++) {
		start_story(&ui, (enum fake_kind)shot[i].of, shot[i].w, shot[i].h);
		press_shot(&ui, &shot[i], &differ);
	}
	assert_int_equal(differ, 0);
}

static void start_channels(struct ui *ui, int n, int w, int h, bool ascii)
{
	start(ui, FAKE_MEASURED, w, h, ascii);
	ui->snap->channels = fake_channels(n);
	ui_arrange(ui);
}

void test_screens__channels(void **state)
{
	static const struct shot shot[] = {
	    {"channels_120x40", 64, 120, 40, false, "Cjj"},
	    {"channels_80x24", 255, 80, 24, false, "C>>"},
	    {"channels_40x10", 255, 40, 10, false, "C"},
	    {"channels_ascii_80x24", 16, 80, 24, true, "C"},
	    {"channels_one_60x15", 1, 60, 15, false, "C"},
	    // The plot is near the cursor's channel; from the first row down to the next that is conspicuous.
	    {"channels_many_100x30", 4096, 100, 30, false, "C<lt>}++++"},
	};
	struct ui ui;
	int differ = 0;
	for (size_t i = 0; i < sizeof shot / sizeof *shot; i++) {
		start_channels(&ui, shot[i].of, shot[i].w, shot[i].h, shot[i].ascii);
		press_shot(&ui, &shot[i], &differ);
	}
	assert_int_equal(differ, 0);
}

void test_screens__channels_that_are_not_known(void **state)
{
	struct ui ui;
	start_channels(&ui, 0, 80, 24, false);
	snprintf(ui.snap->channels->problem, sizeof ui.snap->channels->problem,
	    "channels unknown: no operator around it says which dimension of "
	    "[1, 12, 49, 49] they are");
	press(&ui, "C");
	expect(&ui, "channels_unknown_80x24");
}
