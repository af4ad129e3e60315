// What is looked at: views, panels, order, search; and the program itself.
#include <string.h>

#include "qtui/tui/action.h"
#include "qtui/tui/autosave.h"
#include "qtui/tui/command.h"
#include "qtui/tui/help.h"
#include "qtui/tui/prompt.h"
#include "qtui/tui/search.h"
#include "qtui/tui/view_layers.h"

void act_search(struct ui *ui)
{
	ui->focus = PANEL_MAIN;
	prompt_open(ui, LINE_SEARCH, "");
}

static void search_step(struct ui *ui, int by)
{
	int row = search_row(ui, ui_scroll(ui)->cursor + by, by);
	if (row < 0) {
		ui_note(ui, ui->search[0] ? "no row matches \"%s\"" : "nothing to search for: / begins a search", ui->search);
		return;
	}
	ui_scroll(ui)->cursor = row;
	if (ui_rows_are_nodes(ui))
		ui_new_node(ui);
}

void act_search_next(struct ui *ui)
{
	search_step(ui, 1);
}

void act_search_prev(struct ui *ui)
{
	search_step(ui, -1);
}

void act_filter_edit(struct ui *ui)
{
	char text[sizeof ui->layers.filter_text + 8] = "filter ";
	strcat(text, ui->layers.filter_text);
	prompt_open(ui, LINE_COMMAND, text);
}

static void sort_step(struct ui *ui, int by)
{
	if (ui_lists_layers(ui))
		view_layers_sort(ui, (enum column)(((int)ui->layers.sort + by + COLUMN_COUNT) % COLUMN_COUNT));
}

void act_sort_left(struct ui *ui)
{
	sort_step(ui, -1);
}

void act_sort_right(struct ui *ui)
{
	sort_step(ui, 1);
}

void act_sort_turn(struct ui *ui)
{
	sort_step(ui, 0);
}

static void focus_step(struct ui *ui, int by)
{
	if (!view_row(ui->view)->companions) {
		ui_note(ui, "this view has one panel");
		return;
	}
	ui->focus = (enum panel)(((int)ui->focus + by + PANEL_COUNT) % PANEL_COUNT);
}

void act_focus_next(struct ui *ui)
{
	focus_step(ui, 1);
}

void act_focus_prev(struct ui *ui)
{
	focus_step(ui, -1);
}

void act_zoom(struct ui *ui)
{
	int shown = 0;
	for (int p = 0; p < PANEL_COUNT; p++)
		shown += ui->layout.panel[p].w > 0;
	if (shown == 1 && !ui->zoom)
		ui_note(ui, "this panel has the whole screen");
	else
		ui->zoom = !ui->zoom;
}

static void drop_filter(struct ui *ui)
{
	struct error err;
	char all[] = "";
	if (command_filter(ui, all, &err))
		ui_fail(ui, &err);
	else
		ui_note(ui, "all %d nodes are shown", ui->layers.total);
}

// One step back from wherever one is; at the top it stops the run.
void act_back(struct ui *ui)
{
	struct layers *l = &ui->layers;
	if (l->visual >= 0 && ui->view == VIEW_LAYERS) {
		l->visual = -1;
	} else if (ui->zoom) {
		ui->zoom = false;
	} else if (ui->focus != PANEL_MAIN) {
		ui->focus = PANEL_MAIN;
	} else if (ui->view != VIEW_LAYERS) {
		ui_show(ui, ui->view == VIEW_DIFF ? VIEW_RUNS : VIEW_LAYERS); // a comparison is of runs
	} else if (l->n_marked) {
		for (int i = 0; i < l->n_nodes; i++)
			layers_mark(l, i, false);
	} else if (ui->search[0]) {
		search_set(ui, "");
	} else if (l->filter) {
		drop_filter(ui);
	} else if (ui->study && study_running(ui->study)) {
		study_cancel(ui->study);
		ui_note(ui, "stopped; what is computed stays, r goes on");
	}
}

// A panel may hide the list: how to come back is a hint there.
void act_panel_back(struct ui *ui)
{
	act_back(ui);
}

void act_help_close(struct ui *ui)
{
	ui_show(ui, ui->before_help);
}

void act_view_layers(struct ui *ui)
{
	ui_show(ui, VIEW_LAYERS);
}

void act_view_outputs(struct ui *ui)
{
	ui_show(ui, VIEW_OUTPUTS);
}

void act_view_runs(struct ui *ui)
{
	ui_show(ui, VIEW_RUNS);
}

void act_view_cost(struct ui *ui)
{
	ui_show(ui, VIEW_COST);
}

void act_view_log(struct ui *ui)
{
	ui_show(ui, VIEW_LOG);
	ui->scroll[VIEW_LOG].cursor = view_row(VIEW_LOG)->count(ui);
}

// At what it says of the view that is left for it.
void act_view_help(struct ui *ui)
{
	help_open(ui, help_of_view(ui->view));
}

void act_command(struct ui *ui)
{
	prompt_open(ui, LINE_COMMAND, "");
}

void act_save(struct ui *ui)
{
	struct error err;
	char none[] = "";
	if (command_write(ui, none, &err))
		ui_fail(ui, &err);
}

void act_redraw(struct ui *ui)
{
	ui->redraw = true;
}

void act_suspend(struct ui *ui)
{
	ui->suspend = true;
}

void act_exit(struct ui *ui)
{
	ui->quit = autosave_may_quit(ui);
}
