#include "qtui/tui/ui.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "qtui/analysis/frontier.h"
#include "qtui/base/log.h"
#include "qtui/tui/action.h"
#include "qtui/tui/edit.h"
#include "qtui/tui/help.h"
#include "qtui/tui/mouse.h"
#include "qtui/tui/prompt.h"
#include "qtui/tui/repair.h"
#include "qtui/tui/run_news.h"
#include "qtui/tui/search.h"
#include "qtui/tui/view_layers.h"

// Those of the last finished run stay until there are others.
static void read_findings(struct ui *ui)
{
	if (!ui->snap->story || ui->snap->dirty)
		return;
	findings_drop(&ui->findings);
	ui->findings = findings_take(ui->snap->findings);
	story_drop(&ui->story);
	ui->story = story_take(ui->snap->story);
}

void ui_init(struct ui *ui, struct study *study, struct snapshot *snap, const struct theme *theme, bool ascii)
{
	*ui = (struct ui){
	    .study = study, .snap = snap, .theme = *theme, .ascii = ascii, .blocks = !ascii, .cancelled_at = -1e9, .detail_site = -1};
	layers_init(&ui->layers, snap->n_rows);
	channel_list_init(&ui->channels);
	layers_update(&ui->layers, snap);
	read_findings(ui);
	if (study)
		repair_take_kept(ui);
	ui_resize(ui, 80, 24);
}

void ui_done(struct ui *ui)
{
	repair_job_free(&ui->repair.job);
	frontier_drop(&ui->repair.frontier);
	survey_job_free(&ui->survey);
	equalizing_free(&ui->equalizing);
	file_forget(ui);
	search_set(ui, "");
	line_close(&ui->line);
	layers_done(&ui->layers);
	diff_done(&ui->diff);
	findings_drop(&ui->findings);
	story_drop(&ui->story);
	task_list_done(&ui->task);
	channel_list_done(&ui->channels);
	log_rows_done(&ui->log);
	snapshot_drop(&ui->snap);
	session_free(&ui->opened);
	free(ui->session_path);
	free(ui->autosave_path);
	free(ui->offered);
}

void ui_resize(struct ui *ui, int w, int h)
{
	ui->w = w;
	ui->h = h;
	ui_arrange(ui);
}

int ui_node(const struct ui *ui)
{
	const struct graph *g = ui->snap->g;
	int row = ui->scroll[VIEW_OUTPUTS].cursor;
	if (ui->view == VIEW_DIFF)
		return ui->scroll[VIEW_DIFF].cursor < ui->diff.n ? ui->diff.row[ui->scroll[VIEW_DIFF].cursor].node : -1;
	if (ui->view != VIEW_OUTPUTS)
		return layers_node(&ui->layers);
	if (row >= g->n_outputs || g->value[g->output[row]].producer < 0)
		return -1;
	return around_owner(ui->snap, g->value[g->output[row]].producer);
}

int ui_chosen(struct ui *ui)
{
	int node = ui_node(ui);
	if (node < 0)
		ui_note(ui, "no node is selected");
	return node;
}

// The tensor that the cursor's row names, or -1: it stands for a node.
static int named_value(const struct ui *ui)
{
	int row = ui_cursor(ui)->cursor;
	if (ui->view == VIEW_OUTPUTS && row < ui->snap->g->n_outputs)
		return ui->snap->g->output[row];
	return ui->view == VIEW_DIFF && row < ui->diff.n ? ui->diff.row[row].value : -1;
}

// What the detail is about before somebody chooses.
static const struct site *site_of_row(const struct ui *ui, int node)
{
	const struct snapshot *s = ui->snap;
	const struct node_row *row = &s->row[node];
	const struct site *first = &s->site[row->first_site], *worst = snapshot_made(s, node);
	int value = named_value(ui);
	for (const struct site *i = first; i < first + row->n_sites && site_is_made(i); i++)
		if (i->value == value)
			return i;
	return worst ? worst : first;
}

const struct site *ui_site(const struct ui *ui)
{
	int node = ui_node(ui);
	const struct node_row *row = node >= 0 ? &ui->snap->row[node] : NULL;
	if (!row || row->n_sites <= 0)
		return NULL;
	if (ui->detail_site >= 0 && ui->detail_site < row->n_sites)
		return &ui->snap->site[row->first_site + ui->detail_site];
	return site_of_row(ui, node);
}

struct scroll *ui_scroll(struct ui *ui)
{
	if (ui->view == VIEW_TASK && ui->task.open)
		return &ui->task.changes;
	return ui->view == VIEW_LAYERS ? &ui->layers.scroll : &ui->scroll[ui->view];
}

const struct scroll *ui_cursor(const struct ui *ui)
{
	return ui_scroll((struct ui *)ui); // which one does not depend on who asks
}

int ui_head(const struct ui *ui)
{
	return view_row(ui->view)->head(ui);
}

int ui_columns(const struct ui *ui)
{
	return ui->view == VIEW_HELP ? help_columns(ui->layout.panel[PANEL_MAIN].w) : 1;
}

int ui_page(const struct ui *ui, enum panel p)
{
	bool main = p == PANEL_MAIN;
	int h = ui->layout.panel[p].h - 1 - (main ? ui_head(ui) : 0);
	return h > 0 ? h * (main ? ui_columns(ui) : 1) : 0;
}

static void arrange_around(struct ui *ui)
{
	struct around a;
	int page = ui_page(ui, PANEL_AROUND);
	around_build(&a, ui->snap, ui_node(ui), page);
	if (ui->around.cursor < 0)
		ui->around.cursor = a.centre;
	scroll_fit(&ui->around, a.n, page);
}

static void arrange_detail(struct ui *ui)
{
	const struct rect *r = &ui->layout.panel[PANEL_DETAIL];
	int most = r->w ? view_detail_height(ui, r->w, r->h - 1) - (r->h - 1) : 0;
	if (ui->detail_top > most)
		ui->detail_top = most;
	if (ui->detail_top < 0)
		ui->detail_top = 0;
}

void ui_arrange(struct ui *ui)
{
	bool companions = view_row(ui->view)->companions;
	struct layout_want want;
	if (!companions)
		ui->focus = PANEL_MAIN;
	want = (struct layout_want){.companions = companions, .focus = ui->focus, .zoom = ui->zoom, .trial = ui->trial.active,
	    .list = view_layers_width(ui)};
	layout_compute(&ui->layout, ui->w, ui->h, &want);
	task_list_refresh(&ui->task, ui->snap->task, &ui->scroll[VIEW_TASK]);
	if (ui->view == VIEW_TASK)
		ui_ask_sample(ui);
	if (ui->view == VIEW_CHANNELS)
		ui_ask_channels(ui);
	if (ui->view == VIEW_LOG)
		log_rows_refresh(&ui->log, ui->layout.panel[PANEL_MAIN].w);
	scroll_fit(ui_scroll(ui), view_row(ui->view)->count(ui), ui_page(ui, PANEL_MAIN));
	arrange_around(ui);
	arrange_detail(ui);
}

void ui_take(struct ui *ui, struct snapshot *snap)
{
	struct snapshot *was = ui->snap;
	ui->snap = snap;
	layers_update(&ui->layers, snap);
	read_findings(ui);
	if (snap->stage == STAGE_DONE && (was->stage != STAGE_DONE || was->dirty))
		ui->autosave_due |= ui->unsaved; // now with the figures of the edit
	run_news(ui, was);
	snapshot_drop(&was);
	if (ui->trial.active)
		trial_set(ui, ui->trial.value, ui->trial.scale, ui->trial.zero, ui->trial.typed);
}

void ui_update(struct ui *ui, struct snapshot *snap)
{
	ui_take(ui, snap);
	beside_news(ui);
}

void ui_show(struct ui *ui, enum view v)
{
	if (v == VIEW_HELP && ui->view != VIEW_HELP)
		ui->before_help = ui->view;
	if (v == VIEW_LOG || ui->view == VIEW_LOG)
		ui->warnings_seen = log_warnings();
	ui->view = v;
	ui->focus = PANEL_MAIN;
	ui->zoom = false;
	ui->detail_top = 0;
	ui->around.cursor = -1;
	trial_drop(ui);
}

bool ui_lists_layers(struct ui *ui)
{
	if (ui->view != VIEW_LAYERS)
		ui_note(ui, "this key is for the list of layers: 1 shows it");
	return ui->view == VIEW_LAYERS;
}

bool ui_rows_are_nodes(const struct ui *ui)
{
	return view_row(ui->view)->companions && ui->view != VIEW_CHANNELS;
}

void ui_new_node(struct ui *ui)
{
	layers_choose(&ui->layers);
	ui->detail_site = -1;
	ui->detail_top = 0;
	ui->around.cursor = -1;
	trial_drop(ui); // which is of the node that is left
}

static void remember_jump(struct ui *ui, int node)
{
	if (node < 0)
		return;
	if (ui->n_jumps == UI_JUMPS) {
		memmove(ui->jump, ui->jump + 1, (UI_JUMPS - 1) * sizeof *ui->jump);
		ui->n_jumps--;
	}
	ui->jump[ui->n_jumps++] = node;
}

bool ui_go(struct ui *ui, int node, struct error *err)
{
	int owner = around_owner(ui->snap, node), from = layers_node(&ui->layers);
	if (owner < 0) {
		error_set(err, STATUS_NOTFOUND, "this is an input or output of the network, not a node");
		return false;
	}
	if (ui->view != VIEW_LAYERS && ui->view != VIEW_CHANNELS)
		ui_show(ui, VIEW_LAYERS);
	if (layers_row(&ui->layers, owner) < 0) {
		filter_free(&ui->layers.filter);
		ui->layers.filter_text[0] = '\0';
		layers_refresh(&ui->layers, ui->snap);
	}
	layers_go(&ui->layers, owner);
	if (owner != from)
		remember_jump(ui, from);
	ui_new_node(ui);
	return true;
}

void ui_note(struct ui *ui, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(ui->note, sizeof ui->note, fmt, ap);
	va_end(ap);
	ui->note_role = ROLE_NOTE;
}

void ui_fail(struct ui *ui, const struct error *err)
{
	int before = log_warnings();
	snprintf(ui->note, sizeof ui->note, "E: %s", err->text);
	ui->note_role = ROLE_ERROR;
	log_add(LOG_ERROR, "%s", err->text);
	ui->warnings_seen += log_warnings() - before; // it stands on the bottom line
}

unsigned ui_contexts(const struct ui *ui)
{
	const struct view_row *view = view_row(ui->view);
	return (ui->trial.active ? 1u << CTX_TRIAL : 0) | (view_runs_at(ui) ? 1u << CTX_RUN : 0) |
	    (view_blame_ranks(ui) ? 1u << CTX_BLAME : 0) | (ui->focus != PANEL_MAIN ? 1u << CTX_PANEL : 0) |
	    (ui->view == VIEW_TASK && ui->task.open ? 1u << CTX_PICTURE : 0) |
	    (ui->view == VIEW_TASK && ui->task.of_class ? 1u << CTX_CLASS : 0) | (view->companions ? 1u << CTX_NODE : 0) | 1u << view->context;
}

static void bound_key(struct ui *ui, int key)
{
	enum action a = keys_action(key, ui_contexts(ui));
	char name[16];
	if (ui->trial.active && (a == ACTION_NONE || keys_row(a)->context != CTX_TRIAL))
		trial_drop(ui);
	if (a != ACTION_NONE) {
		action_do(ui, a);
		return;
	}
	keys_text(name, sizeof name, key);
	ui_note(ui, "%s does nothing here; ? lists the keys", name);
}

void ui_pasted(struct ui *ui, int key)
{
	if (ui->line.kind)
		ui_key(ui, key < ' ' ? ' ' : key);
	else
		ui_note(ui, "pasted text is not taken for keys; : opens the command line for it");
}

void ui_key(struct ui *ui, int key)
{
	if (key == K_MOUSE) {
		mouse_do(ui);
	} else if (ui->line.kind) {
		prompt_key(ui, key);
	} else {
		ui->note[0] = '\0';
		bound_key(ui, key);
	}
	ui_arrange(ui);
}
