// Whole screens as text with their roles, compared with tests/tui/screens; BLESS=1 in the environment writes them anew.
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake.h"
#include "press.h"
#include "qtui/base/log.h"
#include "qtui/analysis/frontier.h"
#include "qtui/base/file.h"
#include "qtui/base/mem.h"
#include "qtui/tui/run_news.h"
#include "qtui/tui/ui.h"
#include "qtui/tui/draw.h"

static void start(struct ui *ui, enum fake_kind kind, int w, int h, bool ascii)
{
	struct theme theme;
	struct error err;
	assert_int_equal(theme_load(&theme, "default", &err), STATUS_OK);
	ui_init(ui, NULL, fake_snapshot(kind), &theme, ascii);
	ui->warnings_seen = log_warnings(); // those of the tests before
	ui_resize(ui, w, h);
}

// The screen is the one that was accepted last; what it is now is left beside the test's other files.
static void expect(struct ui *ui, const char *name)
{
	bool bless = getenv("BLESS") != NULL;
	char path[256];
	struct canvas c;
	struct str now = {0};
	struct bytes then = {0};
	struct error err;
	snprintf(path, sizeof path, "tests/tui/screens/%s.txt", name);
	canvas_init(&c, ui->w, ui->h, &ui->theme, ui->ascii);
	draw_screen(&c, ui);
	canvas_dump(&c, &now, true);
	if (bless) {
		assert_int_equal(file_write(path, str_text(&now), now.len, &err), STATUS_OK);
	} else {
		assert_int_equal(file_read(&then, path, 1 << 20, &err), STATUS_OK);
		if (strcmp((const char *)then.data, str_text(&now)))
			print_error("%s differs; it is now:\n%s\n", path, str_text(&now));
		assert_string_equal((const char *)then.data, str_text(&now));
		bytes_done(&then);
	}
	canvas_done(&c);
	str_done(&now);
	ui_done(ui);
}

void test_screens__layers_80x24(void **state)
{
	struct ui ui;
	(void)state;
	start(&ui, FAKE_MEASURED, 80, 24, false);
	expect(&ui, "layers_80x24");
}

void test_screens__layers_120x40(void **state)
{
	struct ui ui;
	(void)state;
	start(&ui, FAKE_MEASURED, 120, 40, false);
	press(&ui, "j");
	expect(&ui, "layers_120x40");
}

void test_screens__layers_200x60(void **state)
{
	struct ui ui;
	(void)state;
	start(&ui, FAKE_MEASURED, 200, 60, false);
	press(&ui, "jjjj<Space><Space>vjj");
	expect(&ui, "layers_200x60");
}

void test_screens__layers_40x10(void **state)
{
	struct ui ui;
	(void)state;
	start(&ui, FAKE_MEASURED, 40, 10, false);
	expect(&ui, "layers_40x10");
}

void test_screens__layers_60x15(void **state)
{
	struct ui ui;
	(void)state;
	start(&ui, FAKE_MEASURED, 60, 15, false);
	expect(&ui, "layers_60x15");
}

void test_screens__what_the_task_says_before_the_target(void **state)
{
	struct ui ui;
	(void)state;
	start(&ui, FAKE_MEASURED, 52, 12, false);
	expect(&ui, "layers_52x12");
}

// Figures of fewer samples than the folder holds stay recognizable, also where there is no room for the others.
void test_screens__pictures_left_out(void **state)
{
	struct ui ui;
	(void)state;
	start(&ui, FAKE_MEASURED, 66, 12, false);
	ui.snap->left_out = 2;
	expect(&ui, "left_out_66x12");
}

// What the top line says.
static void expect_header(struct ui *ui, const char *part, bool there)
{
	struct canvas c;
	struct str now = {0};
	canvas_init(&c, ui->w, ui->h, &ui->theme, ui->ascii);
	draw_screen(&c, ui);
	canvas_dump(&c, &now, false);
	strchr(str_text(&now), '\n')[0] = '\0';
	if (!strstr(str_text(&now), part) != !there)
		fail_msg("'%s' in: %s", part, str_text(&now));
	canvas_done(&c);
	str_done(&now);
}

void test_screens__header_marks_edits_that_are_not_saved(void **state)
{
	struct ui ui;
	(void)state;
	start(&ui, FAKE_MEASURED, 160, 12, false);
	ui.snap->n_edits = 2;
	expect_header(&ui, "2 edits", true);
	expect_header(&ui, "2 edits*", false);
	ui.unsaved = true;
	expect_header(&ui, "2 edits*", true);
	ui.autosave_fails = true;
	expect_header(&ui, "2 edits*, autosave fails", true);
	ui_resize(&ui, 80, 12);
	expect_header(&ui, "2 edits!", true);
	ui_done(&ui);
}

void test_screens__header_looks_for_causes_before_the_task(void **state)
{
	struct ui ui;
	(void)state;
	start(&ui, FAKE_MEASURED, 160, 12, false);
	ui.snap->stage = STAGE_TASK;
	expect_header(&ui, "looking for causes", !ui.snap->findings);
	struct findings *found = ui.snap->findings, other = {0};
	ui.snap->findings = found ? NULL : &other;
	expect_header(&ui, "looking for causes", found != NULL);
	ui.snap->findings = found;
	ui_done(&ui);
}

// Figures of the first samples, while all are calibrated on.
void test_screens__header_counts_the_samples_that_outputs_are_of(void **state)
{
	struct ui ui;
	(void)state;
	start(&ui, FAKE_MEASURED, 160, 12, false);
	ui.snap->samples = ui.snap->samples_done = 32;
	for (int i = 0; i < ui.snap->n_outputs; i++)
		ui.snap->output[i].known = 32;
	expect_header(&ui, "of 32 samples", false);
	ui.snap->output[0].known = 3;
	expect_header(&ui, "3 of 32 samples", true);
	ui_done(&ui);
}

void test_screens__a_long_message(void **state)
{
	struct ui ui;
	struct error err;
	(void)state;
	start(&ui, FAKE_MEASURED, 40, 10, false);
	error_set(&err, STATUS_REFUSED, "/model.24/m.0/Conv: target esp32p4 takes only powers of two as scales: the nearest is 2^-4");
	ui_fail(&ui, &err);
	expect(&ui, "message_40x10");
}

void test_screens__too_small(void **state)
{
	struct ui ui;
	(void)state;
	start(&ui, FAKE_MEASURED, 39, 10, false);
	expect(&ui, "too_small_39x10");
	start(&ui, FAKE_MEASURED, 20, 5, false);
	expect(&ui, "too_small_20x5");
}

void test_screens__ascii(void **state)
{
	struct ui ui;
	(void)state;
	start(&ui, FAKE_MEASURED, 120, 40, true);
	expect(&ui, "ascii_120x40");
}

void test_screens__running_with_pending_edit(void **state)
{
	struct ui ui;
	(void)state;
	start(&ui, FAKE_RUNNING, 120, 40, false);
	expect(&ui, "running_120x40");
}

void test_screens__before_any_figure(void **state)
{
	struct ui ui;
	(void)state;
	start(&ui, FAKE_EMPTY, 80, 24, false);
	expect(&ui, "empty_80x24");
}

void test_screens__detail_alone(void **state)
{
	struct ui ui;
	(void)state;
	start(&ui, FAKE_MEASURED, 80, 24, false);
	press(&ui, "<Enter>l");
	expect(&ui, "detail_80x24");
}

void test_screens__around(void **state)
{
	struct ui ui;
	(void)state;
	start(&ui, FAKE_MEASURED, 80, 24, false);
	press(&ui, "/m.0/Add<Enter><Enter><Enter>k");
	expect(&ui, "around_80x24");
}

void test_screens__search_as_typed(void **state)
{
	struct ui ui;
	(void)state;
	start(&ui, FAKE_MEASURED, 80, 24, false);
	press(&ui, "/model.[67]");
	expect(&ui, "search_80x24");
}

void test_screens__filter(void **state)
{
	struct ui ui;
	(void)state;
	start(&ui, FAKE_MEASURED, 80, 24, false);
	press(&ui, ":filter<Space>op:Conv<Space>snr<lt>20<Enter>");
	expect(&ui, "filter_80x24");
}

void test_screens__completion(void **state)
{
	struct ui ui;
	(void)state;
	start(&ui, FAKE_MEASURED, 80, 24, false);
	press(&ui, ":sort<Space><Tab>");
	expect(&ui, "completion_80x24");
}

void test_screens__outputs(void **state)
{
	struct ui ui;
	(void)state;
	start(&ui, FAKE_MEASURED, 120, 40, false);
	press(&ui, "2");
	expect(&ui, "outputs_120x40");
}

void test_screens__runs(void **state)
{
	struct ui ui;
	(void)state;
	start(&ui, FAKE_MEASURED, 80, 24, false);
	press(&ui, "3");
	expect(&ui, "runs_80x24");
}

void test_screens__runs_with_a_task(void **state)
{
	struct ui ui;
	(void)state;
	start(&ui, FAKE_MEASURED, 120, 12, false);
	press(&ui, "3");
	expect(&ui, "runs_120x12");
}

// Those of earlier sittings stand apart, with when they were in the place of what they cost.
void test_screens__runs_of_earlier_sittings(void **state)
{
	struct ui ui;
	(void)state;
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
	diff_set(&ui->diff, &(struct diff_side){.name = "4", .figures = a}, &(struct diff_side){.name = "now", .figures = b});
	ui_show(ui, VIEW_DIFF);
	ui_arrange(ui);
}

void test_screens__diff_with_an_earlier_run(void **state)
{
	struct ui ui;
	(void)state;
	setenv("TZ", "UTC", 1);
	start(&ui, FAKE_MEASURED, 120, 24, false);
	press_diff(&ui, true, false);
	expect(&ui, "diff_earlier_120x24");
}

void test_screens__diff_without_nodes(void **state)
{
	struct ui ui;
	(void)state;
	setenv("TZ", "UTC", 1);
	start(&ui, FAKE_MEASURED, 80, 24, false);
	press_diff(&ui, false, true);
	expect(&ui, "diff_without_nodes_80x24");
}

void test_screens__cost(void **state)
{
	struct ui ui;
	(void)state;
	start(&ui, FAKE_MEASURED, 80, 24, false);
	press(&ui, "4");
	expect(&ui, "cost_80x24");
}

void test_screens__cost_in_times(void **state)
{
	struct ui ui;
	(void)state;
	start(&ui, FAKE_TIMED, 80, 24, false);
	press(&ui, "4");
	expect(&ui, "times_80x24");
}

// Columns that have no room are left out: a number that is cut off would be another one.
void test_screens__cost_in_little_room(void **state)
{
	struct ui ui;
	(void)state;
	start(&ui, FAKE_MEASURED, 40, 20, false);
	press(&ui, "4");
	expect(&ui, "cost_40x20");
	start(&ui, FAKE_MEASURED, 60, 20, false);
	press(&ui, "4");
	expect(&ui, "cost_60x20");
	start(&ui, FAKE_TIMED, 60, 24, false);
	press(&ui, "4");
	expect(&ui, "times_60x24");
}

void test_screens__times_of_layers(void **state)
{
	struct ui ui;
	(void)state;
	start(&ui, FAKE_TIMED, 120, 24, false);
	expect(&ui, "times_layers_120x24");
}

void test_screens__help(void **state)
{
	struct ui ui;
	(void)state;
	start(&ui, FAKE_MEASURED, 100, 50, false);
	press(&ui, "?");
	expect(&ui, "help_100x50");
}

// Texts are broken at the width, and a topic is found where its row begins.
void test_screens__help_narrow(void **state)
{
	struct ui ui;
	(void)state;
	start(&ui, FAKE_MEASURED, 40, 24, false);
	press(&ui, ":help session<Enter>");
	expect(&ui, "help_40x24");
}

void test_screens__trial_of_a_scale(void **state)
{
	struct ui ui;
	(void)state;
	start(&ui, FAKE_MEASURED, 120, 40, false);
	press(&ui, "j--");
	expect(&ui, "trial_120x40");
}

void test_screens__trial_of_a_scale_in_80_columns(void **state)
{
	struct ui ui;
	(void)state;
	start(&ui, FAKE_MEASURED, 80, 24, false);
	press(&ui, "j--");
	expect(&ui, "trial_80x24");
}

void test_screens__error_message(void **state)
{
	struct ui ui;
	(void)state;
	start(&ui, FAKE_MEASURED, 80, 24, false);
	press(&ui, ":sort<Space>snrr<Enter>");
	expect(&ui, "error_80x24");
}

void test_screens__task_120x40(void **state)
{
	struct ui ui;
	(void)state;
	start(&ui, FAKE_MEASURED, 120, 40, false);
	press(&ui, "T");
	expect(&ui, "task_120x40");
}

// An interval is there as a whole or not at all.
void test_screens__task_in_little_room(void **state)
{
	struct ui ui;
	(void)state;
	start(&ui, FAKE_MEASURED, 60, 16, false);
	press(&ui, "T");
	expect(&ui, "task_60x16");
}

// What is the same on every sample is no matter of chance.
void test_screens__a_task_that_does_not_move(void **state)
{
	struct ui ui;
	struct snapshot was;
	struct run_note run[3];
	struct canvas c;
	struct str now = {0};
	(void)state;
	start(&ui, FAKE_MEASURED, 120, 40, false);
	was = *ui.snap;
	memcpy(run, ui.snap->run, sizeof run);
	run[was.n_runs - 1].has_task_change = false;
	was.run = run;
	((struct run_note *)ui.snap->run)[was.n_runs - 1].task_change = (struct task_interval){0, 0, 0, 100};
	run_news(&ui, &was);
	assert_string_equal(ui.note, "run 3: mAP .318 as before");
	press(&ui, "T");
	fake.task.interval = (struct task_interval){0, 0, 0, 100};
	canvas_init(&c, ui.w, ui.h, &ui.theme, ui.ascii);
	draw_screen(&c, &ui);
	canvas_dump(&c, &now, false);
	assert_non_null(strstr(str_text(&now), "(the same on every sample)"));
	canvas_done(&c);
	str_done(&now);
	ui_done(&ui);
}

void test_screens__task_classes_80x24(void **state)
{
	struct ui ui;
	(void)state;
	start(&ui, FAKE_MEASURED, 80, 24, false);
	press(&ui, "T<Tab>ssj");
	expect(&ui, "task_classes_80x24");
}

void test_screens__task_old_40x10(void **state)
{
	struct ui ui;
	(void)state;
	start(&ui, FAKE_RUNNING, 40, 10, false);
	press(&ui, "Tj");
	expect(&ui, "task_old_40x10");
}

void test_screens__task_picture_100x30(void **state)
{
	struct ui ui;
	(void)state;
	start(&ui, FAKE_MEASURED, 100, 30, false);
	press(&ui, "T<Enter>jj");
	expect(&ui, "task_picture_100x30");
}

// Without colours and UTF-8 brightness is a character, and the lines still differ.
void test_screens__task_picture_ascii_80x24(void **state)
{
	struct ui ui;
	(void)state;
	start(&ui, FAKE_MEASURED, 80, 24, true);
	press(&ui, "T<Enter>b");
	expect(&ui, "task_picture_ascii_80x24");
}

void test_screens__task_nothing_80x24(void **state)
{
	struct ui ui;
	(void)state;
	start(&ui, FAKE_EMPTY, 80, 24, false);
	press(&ui, "T");
	expect(&ui, "task_nothing_80x24");
}

void test_screens__blame_with_a_task(void **state)
{
	struct ui ui;
	(void)state;
	start(&ui, FAKE_BLAMED, 120, 40, false);
	press(&ui, "Bssj");
	expect(&ui, "blame_120x40");
}

void test_screens__blame_without_a_task(void **state)
{
	struct ui ui;
	(void)state;
	start(&ui, FAKE_DAMAGED, 80, 24, false);
	press(&ui, "Bs");
	expect(&ui, "blame_80x24");
}

// One row is all there is then, whatever is asked.
void test_screens__blame_of_no_damage(void **state)
{
	struct ui ui;
	(void)state;
	start(&ui, FAKE_DAMAGED, 80, 12, false);
	ui.snap->blames->total = 0;
	ui.snap->blames->n = 1;
	ui.snap->blames->at[0].alone = 0;
	press(&ui, "B");
	expect(&ui, "blame_no_damage_80x12");
}

void test_screens__blame_in_little_room(void **state)
{
	struct ui ui;
	(void)state;
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
		f->at[i] = (struct repair_state){.steps = i, .as_run = i != 2, .edits = edits_new(ui->snap->g->n_nodes),
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
	(void)state;
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

void test_screens__layers_by_blame(void **state)
{
	struct ui ui;
	(void)state;
	start(&ui, FAKE_BLAMED, 80, 24, false);
	press(&ui, ":sort blame<Enter>");
	expect(&ui, "layers_blame_80x24");
}

// The same story that a run would tell: of one finding and of what blame says of its node.
static void start_story(struct ui *ui, enum fake_kind kind, int w, int h)
{
	struct findings *f = xcalloc(1, sizeof *f);
	start(ui, kind, w, h, false);
	atomic_store(&f->refs, 1);
	f->at = xcalloc(1, sizeof *f->at);
	f->n = 1;
	f->at[0] = (struct finding){.rule = FINDING_coarse_logits, .n_nodes = 1, .n_evidence = 2, .gain_db = 6.3, .share = .31,
		.text = xstrdup("/model.24/Sigmoid decides on a step of 0.25: the logits above -4 (up to 3.2) have 29 codes."),
		.advice = xstrdup("give the logits the finest power of two that reaches the largest"), .edit = xstrdup("scale /model.24/m.0/Conv 2^-4"),
		.evidence = {{"step", .25}, {"max", 3.2}}};
	f->at[0].node = xcalloc(1, sizeof *f->at[0].node);
	f->at[0].node[0] = fake.g.n_nodes - 4;
	ui->findings = f;
	ui->story = story_new(ui->snap, f);
}

void test_screens__why_120x40(void **state)
{
	struct ui ui;
	(void)state;
	start_story(&ui, FAKE_BLAMED, 120, 40);
	press(&ui, ":why<Enter>jjj");
	expect(&ui, "why_120x40");
}

void test_screens__why_80x24(void **state)
{
	struct ui ui;
	(void)state;
	start_story(&ui, FAKE_MEASURED, 80, 24);
	press(&ui, "W/logits<Enter>");
	expect(&ui, "why_80x24");
}

void test_screens__why_40x10(void **state)
{
	struct ui ui;
	(void)state;
	start_story(&ui, FAKE_DAMAGED, 40, 10);
	press(&ui, "WG");
	expect(&ui, "why_40x10");
}

// Parts longer than the panel, by panels; the others whole.
void test_screens__why_goes_from_part_to_part(void **state)
{
	struct ui ui;
	(void)state;
	start_story(&ui, FAKE_DAMAGED, 40, 10);
	press(&ui, "Wjjj");
	expect(&ui, "why_steps_40x10");
	start_story(&ui, FAKE_DAMAGED, 40, 10);
	press(&ui, "WGkkk");
	expect(&ui, "why_steps_back_40x10");
}

static void start_channels(struct ui *ui, int n, int w, int h, bool ascii)
{
	start(ui, FAKE_MEASURED, w, h, ascii);
	ui->snap->channels = fake_channels(n);
	ui_arrange(ui);
}

void test_screens__channels_120x40(void **state)
{
	struct ui ui;
	(void)state;
	start_channels(&ui, 64, 120, 40, false);
	press(&ui, "Cjj");
	expect(&ui, "channels_120x40");
}

void test_screens__channels_80x24(void **state)
{
	struct ui ui;
	(void)state;
	start_channels(&ui, 255, 80, 24, false);
	press(&ui, "C>>");
	expect(&ui, "channels_80x24");
}

void test_screens__channels_40x10(void **state)
{
	struct ui ui;
	(void)state;
	start_channels(&ui, 255, 40, 10, false);
	press(&ui, "C");
	expect(&ui, "channels_40x10");
}

void test_screens__channels_ascii_80x24(void **state)
{
	struct ui ui;
	(void)state;
	start_channels(&ui, 16, 80, 24, true);
	press(&ui, "C");
	expect(&ui, "channels_ascii_80x24");
}

void test_screens__one_channel(void **state)
{
	struct ui ui;
	(void)state;
	start_channels(&ui, 1, 60, 15, false);
	press(&ui, "C");
	expect(&ui, "channels_one_60x15");
}

// The plot is near the cursor's channel; from the first row down to the next that is conspicuous.
void test_screens__thousands_of_channels_nearer(void **state)
{
	struct ui ui;
	(void)state;
	start_channels(&ui, 4096, 100, 30, false);
	press(&ui, "C<lt>}++++");
	expect(&ui, "channels_many_100x30");
}

void test_screens__channels_that_are_not_known(void **state)
{
	struct ui ui;
	(void)state;
	start_channels(&ui, 0, 80, 24, false);
	snprintf(ui.snap->channels->problem, sizeof ui.snap->channels->problem, "channels unknown: no operator around it says which dimension of "
	    "[1, 12, 49, 49] they are");
	press(&ui, "C");
	expect(&ui, "channels_unknown_80x24");
}

void test_screens__channels_not_gathered_yet(void **state)
{
	struct ui ui;
	(void)state;
	start(&ui, FAKE_RUNNING, 60, 15, false);
	press(&ui, "C");
	expect(&ui, "channels_later_60x15");
}
