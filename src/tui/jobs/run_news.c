#include "qtui/tui/run_news.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "qtui/analysis/task.h"
#include "qtui/base/str.h"
#include "qtui/tui/columns.h"
#include "qtui/tui/format.h"
#include "qtui/tui/grade.h"

// How many nodes the last edit has made better and worse, by what a tenth of a decibel shows. That none changed is
// said too: an edit without effect is worth knowing.
static void describe_change(struct str *out, const struct snapshot *s, bool outputs)
{
	int better = 0, worse = 0;
	for (int i = 0; i < s->n_rows; i++) {
		int sign = gain_sign(columns_row(COLUMN_CHANGE)->value(s, i));
		better += sign > 0;
		worse += sign < 0;
	}
	if (better || worse)
		str_addf(out, "; %d node%s better, %d worse", better, plural(better), worse);
	else if (!outputs)
		str_add(out, "; NO node better or worse by 0.1 dB");
}

// Whether the worst output has another figure than before, which it says.
static bool describe_output(struct str *out, const struct run_note *now, const struct run_note *was)
{
	char snr[FIGURE], before[FIGURE], change[FIGURE];
	double by = was ? now->out_snr_db - was->out_snr_db : NAN;
	bool other = gain_sign(by) != 0;

	str_add(out, "worst output ");
	if (other)
		str_addf(out, "%s → ", format_db(before, was->out_snr_db));
	str_add(out, format_decibels(snr, now->out_snr_db));
	if (other && isfinite(by))
		str_addf(out, " (%s)", format_change(change, by));
	return other;
}

// What a finished run has brought, in a sentence. A run that had nothing to compute leaves the message of the edit.
static void note_run(struct ui *ui)
{
	const struct snapshot *s = ui->snap;
	const struct run_note *now = s->n_runs ? &s->run[s->n_runs - 1] : NULL;
	const struct run_note *was = s->n_runs > 1 && !now[-1].earlier ? now - 1 : NULL;
	struct str text = {0};
	char time[FIGURE];
	if (!now || now->computed == 0)
		return;
	bool other = describe_output(&text, now, was);
	if (was && !key_equal(now->samples, was->samples))
		str_add(&text, " on other samples"); // on which no node was measured before
	else if (was)
		describe_change(&text, s, other);
	ui_note(ui, "run %d: %s; %d of %d computed, %s", now->number, str_text(&text), now->computed, now->total,
	    format_seconds(time, now->seconds));
	str_done(&text);
}

// The task of the last run came after its figures.
static void note_task(struct ui *ui)
{
	const struct run_note *n = &ui->snap->run[ui->snap->n_runs - 1];
	const struct task_interval *i = &n->task_change;
	char was[FIGURE], now[FIGURE], gain[FIGURE], spread[SPREAD];
	if (task_is_same(i)) {
		ui_note(ui, "run %d: %s %s as before", n->number, task_word(n->task_name), format_figure(now, n->task_name, n->task_quant));
		return;
	}
	ui_note(ui, "run %d: %s %s → %s, %s%s%s", n->number, task_word(n->task_name),
	    format_figure(was, n->task_name, n->task_quant - i->difference), format_figure(now, n->task_name, n->task_quant),
	    format_figure_gain(gain, n->task_name, i->difference), format_spread(spread, n->task_name, i),
	    task_may_be_chance(i) ? ": may be chance" : "");
}

// What is wrong with the data or labels of a task shows when the run comes to them. Labels that lay beside
// the samples are no mistake of anybody: a network of another task may have been calibrated on them. It is said once
// to whoever asks, and not over the news of every run: view T keeps it.
static void note_problem(struct ui *ui)
{
	bool told = ui->told_wish == ui->snap->task_wish && !strcmp(ui->snap->task_problem, ui->problem_told);
	if (!ui->snap->task_problem[0] || told)
		return;
	ui->told_wish = ui->snap->task_wish;
	snprintf(ui->problem_told, sizeof ui->problem_told, "%s", ui->snap->task_problem);
	ui_note(ui, ui->snap->task_asked ? "E: the task is not measured: %s" : "labels are there, but no task is measured: %s",
	    ui->snap->task_problem);
	ui->note_role = ui->snap->task_asked ? ROLE_ERROR : ROLE_NOTE; // view T has it whole
}

static bool has_task_change(const struct snapshot *s)
{
	return s->n_runs && s->run[s->n_runs - 1].has_task_change;
}

// What nobody asked for does not take the place of an error: that stays until a key is pressed.
static bool error_stands(const struct ui *ui)
{
	return ui->note[0] && ui->note_role == ROLE_ERROR;
}

void run_news(struct ui *ui, const struct snapshot *was)
{
	const struct snapshot *snap = ui->snap;
	note_problem(ui);
	if (snap->stage == STAGE_FAILED && was->stage != STAGE_FAILED)
		ui_fail(ui, &snap->error);
	if (snap->n_runs > was->n_runs && ui->notes_run && !snap->dirty) { // else it is the end of a run before the edit
		if (!error_stands(ui))
			note_run(ui);
		ui->notes_run = false;
	}
	if (snap->n_runs == was->n_runs && has_task_change(snap) && !has_task_change(was) && !error_stands(ui))
		note_task(ui);
}
