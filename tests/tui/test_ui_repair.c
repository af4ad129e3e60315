// What :fix does to a study that is on a screen, and what the user does meanwhile.
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "live.h"
#include "press.h"
#include "qtui/analysis/frontier.h"
#include "qtui/tui/beside.h"

static void wait_for_repair(struct ui *ui)
{
	while (beside_busy(ui, BESIDE_REPAIR)) {
		nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
		beside_news(ui);
	}
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

void test_ui_repair__a_state_is_taken_where_it_may(void **state)
{
	struct live l;
	struct frontier *f;
	live_study(&l, "esp32p4", 1);
	f = two_states(l.st);
	study_set_frontier(l.st, f);
	live_screen(&l);
	press(&l.ui, "Pa");
	assert_string_equal(l.ui.note, "this state is in force");
	press(&l.ui, "ja");
	assert_string_equal(l.ui.note, "taken: 1 int16; u undoes. Its figures are of other samples, or prepared otherwise");
	ui_resize(&l.ui, 80, 24);
	assert_false(line_has(&l.ui, 20, "the state in force is none of these"));
	press(&l.ui, "u:set<Space>/model.1/conv/Conv<Space>float<Enter>P");
	assert_true(line_has(&l.ui, 20, "the state in force is none of these"));
	press(&l.ui, "uP");
	assert_int_equal(study_edits(l.st)->precision[0], -1);
	live_wait(&l);
	press(&l.ui, ":fix<Space>60s<Enter>Pja");
	assert_string_equal(l.ui.note, "a repair is under way: Ctrl-c stops it");
	assert_int_equal(study_edits(l.st)->precision[0], -1);
	press(&l.ui, "<C-c>");
	frontier_drop(&f);
	live_close(&l);
}

// What a repair measures is of the network that it began with: an edit ends it, and nothing of it comes on top.
void test_ui_repair__an_edit_ends_it(void **state)
{
	struct live l;
	int current;
	live_open(&l, "esp32p4", 1);
	press(&l.ui, ":fix<Space>600s<Enter>16");
	wait_for_repair(&l.ui);
	assert_string_equal(l.ui.repair.text, "stopped, as the network was edited meanwhile");
	assert_int_equal(study_steps(l.st, &current), 1);
	assert_true(strncmp(study_step(l.st, 0), "set ", 4) == 0);
	live_close(&l);
}

// Of several commands, too.
void test_ui_repair__a_remedy_is_one_step(void **state)
{
	struct live l;
	int current;
	live_open(&l, "esp32p4", 1);
	press(&l.ui, ":fix<Space>600s<Enter>");
	wait_for_repair(&l.ui);
	assert_true(l.ui.repair.kept > 0);
	assert_int_equal(study_steps(l.st, &current), l.ui.repair.kept);
	ui_resize(&l.ui, 120, 40);
	assert_true(screen_has(&l.ui, l.ui.repair.text)); // what it came to, where it is seen, and each that was tried
	assert_true(screen_has(&l.ui, "; P shows what accuracy costs, 3 all steps"));
	assert_true(screen_has(&l.ui, "remedy") && screen_has(&l.ui, " kept "));
	for (int i = 0; i < l.ui.repair.kept; i++)
		press(&l.ui, "u");
	assert_int_equal(l.ui.snap->n_edits, 0);
	live_close(&l);
}
