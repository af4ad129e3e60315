// Editing: precision, scale, undo, runs, marks.
#include <stdlib.h>

#include "qtui/base/thread.h"
#include "qtui/base/str.h"
#include "qtui/tui/action.h"
#include "qtui/tui/autosave.h"
#include "qtui/tui/command.h"
#include "qtui/tui/edit.h"
#include "qtui/tui/prompt.h"

static void set_precision(struct ui *ui, int precision)
{
	struct error err;
	int n, *nodes = edit_selection(ui, &n);
	if (edit_precision(ui, nodes, n, precision, &err))
		ui_fail(ui, &err);
	ui->layers.visual = -1;
	free(nodes);
}

void act_int8(struct ui *ui)
{
	set_precision(ui, PREC_INT8);
}

void act_int16(struct ui *ui)
{
	set_precision(ui, PREC_INT16);
}

void act_float(struct ui *ui)
{
	set_precision(ui, PREC_FLOAT);
}

void act_auto(struct ui *ui)
{
	set_precision(ui, -1);
}

void act_cycle(struct ui *ui)
{
	int node = ui_chosen(ui), now;
	if (node < 0)
		return;
	now = ui->snap->row[node].requested >= 0 ? ui->snap->row[node].requested : (int)ui->snap->row[node].precision;
	set_precision(ui, (now + 1) % PREC_COUNT);
}

void act_set_scale(struct ui *ui)
{
	struct error err;
	int n, *outputs, node = ui_chosen(ui), at = node < 0 ? -1 : graph_output(ui->snap->g, node);
	if (node < 0)
		return;
	if (edit_outputs(&outputs, &n, ui, &err)) {
		ui_fail(ui, &err);
	} else if (n > 0) {
		prompt_open(ui, LINE_SCALE, "");
		ui->trial.value = n > 1 && at >= 0 ? at : outputs[0];
	}
	free(outputs);
}

static void step(struct ui *ui, int by)
{
	struct error err;
	if (trial_step(ui, by, &err))
		ui_fail(ui, &err);
}

void act_scale_up(struct ui *ui)
{
	step(ui, 1);
}

void act_scale_down(struct ui *ui)
{
	step(ui, -1);
}

void act_trial_up(struct ui *ui)
{
	step(ui, 1);
}

void act_trial_down(struct ui *ui)
{
	step(ui, -1);
}

void act_trial_apply(struct ui *ui)
{
	struct error err;
	struct trial t = ui->trial;
	trial_drop(ui);
	if (edit_scale(ui, &t.value, 1, t.scale, t.zero, &err))
		ui_fail(ui, &err);
}

void act_trial_drop(struct ui *ui)
{
	trial_drop(ui);
}

// That there is no such step is nothing to be alarmed by.
static bool went(struct ui *ui, enum status s, const struct error *err)
{
	if (s == STATUS_REFUSED)
		ui_note(ui, "%s", err->text);
	else if (s != STATUS_OK)
		ui_fail(ui, err);
	return s == STATUS_OK;
}

void act_undo(struct ui *ui)
{
	int current;
	struct error err;
	if (!went(ui, study_undo(ui->study, &err), &err))
		return;
	edit_done(ui);
	study_steps(ui->study, &current);
	edit_note(ui, "undone: ", study_step(ui->study, current));
}

void act_redo(struct ui *ui)
{
	int current;
	struct error err;
	if (!went(ui, study_redo(ui->study, &err), &err))
		return;
	edit_done(ui);
	study_steps(ui->study, &current);
	edit_note(ui, "redone: ", study_step(ui->study, current - 1));
}

void act_run(struct ui *ui)
{
	study_run(ui->study);
	ui->notes_run = true;
}

// Says what was stopped; NULL: nothing was running.
static const char *stop(struct ui *ui)
{
	const struct beside *beside = beside_first(ui);
	if (study_running(ui->study) || study_gathering(ui->study)) {
		study_cancel(ui->study);
		return "stopped; what is computed stays, r goes on";
	}
	if (!beside)
		return NULL;
	background_cancel(beside->job);
	return "stopped; what was kept stays";
}

void act_interrupt(struct ui *ui)
{
	double now = clock_seconds();
	const char *stopped;
	if (now - ui->cancelled_at < 1.0) {
		ui->quit = autosave_may_quit(ui);
		return;
	}
	ui->cancelled_at = now;
	stopped = stop(ui);
	if (stopped)
		ui_note(ui, "%s. Ctrl-c again quits", stopped);
	else
		ui_note(ui, "Ctrl-c again, or q, quits");
}

enum status command_cancel(struct ui *ui, char *args, struct error *err)
{
	const char *stopped = stop(ui);
	(void)args;
	(void)err;
	ui_note(ui, "%s", stopped ? stopped : "nothing is running");
	return STATUS_OK;
}

void act_mark(struct ui *ui)
{
	int node = ui_chosen(ui);
	if (node < 0)
		return;
	layers_mark(&ui->layers, node, !ui->layers.marked[node]);
	if (ui->view != VIEW_LAYERS) // marks are seen in the list of layers alone
		ui_note(ui, "%s: %s", ui->snap->g->node[node].name, ui->layers.marked[node] ? "marked" : "not marked any more");
	if (ui->focus == PANEL_MAIN && ui_rows_are_nodes(ui))
		act_down(ui);
}

void act_mark_all(struct ui *ui)
{
	struct layers *l = &ui->layers;
	bool all = true;
	if (!ui_lists_layers(ui))
		return;
	for (int i = 0; i < l->n; i++)
		all &= l->marked[l->order[i]];
	for (int i = 0; i < l->n; i++)
		layers_mark(l, l->order[i], !all);
	ui_note(ui, "%d node%s marked", l->n_marked, plural(l->n_marked));
}

void act_visual(struct ui *ui)
{
	if (!ui_lists_layers(ui))
		return;
	if (ui->layers.visual < 0 && ui_chosen(ui) < 0)
		return;
	ui->layers.visual = ui->layers.visual >= 0 ? -1 : layers_node(&ui->layers);
	layers_choose(&ui->layers);
}
