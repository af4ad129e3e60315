#include "qtui/tui/edit.h"

#include <math.h>
#include <stdio.h>

#include "qtui/base/log.h"
#include "qtui/base/str.h"
#include "qtui/tui/format.h"

void edit_unsaved(struct ui *ui)
{
	ui->autosave_due = ui->unsaved = true;
	ui->edits++;
	ui->quit_warned = false;
}

void edit_done(struct ui *ui)
{
	edit_unsaved(ui);
	ui->notes_run = true;
	study_run(ui->study);
	ui_take(ui, study_snapshot(ui->study));
}

bool edit_taken(struct ui *ui, const struct error *err)
{
	if (err->text[0])
		ui_note(ui, "%s", err->text);
	else
		edit_done(ui);
	return !err->text[0];
}

// As edit_taken, for nodes some of which may have refused. The cursor follows an edited row to wherever the new figures
// sort it.
static bool nodes_taken(struct ui *ui, const int *nodes, int n, int refused, const struct error *err)
{
	if (!refused && err->text[0])
		return edit_taken(ui, err);
	for (int i = 0; i < n; i++)
		if (nodes[i] == layers_node(&ui->layers))
			layers_choose(&ui->layers);
	edit_done(ui);
	return true;
}

static void note_nodes(struct ui *ui, const char *done, int refused, const struct error *err)
{
	if (!refused) {
		ui_note(ui, "%s", done);
		return;
	}
	log_warn("%s; %d refused: %s", done, refused, err->text);
	ui_note(ui, "%s; %d refused (%s)", done, refused, err->text);
}

void edit_note(struct ui *ui, const char *what, const char *step)
{
	enum { ROOM = 120 };
	struct str text = {0};
	study_add_step(&text, step, ROOM);
	ui_note(ui, "%s%s", what, str_text(&text));
	str_done(&text);
}

static const char *precision_text(int precision)
{
	return precision < 0 ? "auto" : precision_name((enum precision)precision);
}

static bool are_all(const struct ui *ui, const int *nodes, int n, int precision)
{
	for (int i = 0; i < n; i++)
		if ((int)ui->snap->row[nodes[i]].precision != precision)
			return false;
	return true;
}

enum status edit_precision(struct ui *ui, const int *nodes, int n, int precision, struct error *err)
{
	bool same = are_all(ui, nodes, n, precision);
	int refused = 0;
	char done[UI_TEXT];
	if (n == 0)
		return error_set(err, STATUS_NOTFOUND, "no node is selected");
	*err = (struct error){0};
	if (study_set(ui->study, nodes, n, precision, &refused, err))
		return err->status;
	if (!nodes_taken(ui, nodes, n, refused, err))
		return STATUS_OK;
	if (n == 1)
		snprintf(done, sizeof done, "%s: %s%s", ui->snap->g->node[nodes[0]].name, precision_text(precision), same ? ", as it was" : "");
	else
		snprintf(done, sizeof done, "%s: %d node%s%s", precision_text(precision), n - refused, plural(n - refused), same ? ", as they were" : "");
	note_nodes(ui, done, refused, err);
	return STATUS_OK;
}

int *edit_selection(const struct ui *ui, int *n)
{
	int *nodes = layers_selection(&ui->layers, n);
	if (ui->view != VIEW_LAYERS && ui_node(ui) >= 0) {
		nodes[0] = ui_node(ui);
		*n = 1;
	}
	return nodes;
}

enum status edit_scale(struct ui *ui, const int *nodes, int n, double scale, struct error *err)
{
	char text[FIGURE] = "auto", done[UI_TEXT];
	int refused = 0;
	if (n == 0)
		return error_set(err, STATUS_NOTFOUND, "no node is selected");
	*err = (struct error){0};
	if (study_scale_all(ui->study, nodes, n, scale, &refused, err))
		return err->status;
	if (!nodes_taken(ui, nodes, n, refused, err))
		return STATUS_OK;
	if (scale > 0)
		format_scale(text, scale);
	if (n == 1)
		snprintf(done, sizeof done, "%s: scale %s", ui->snap->g->node[nodes[0]].name, text);
	else
		snprintf(done, sizeof done, "%d node%s: scale %s", n - refused, plural(n - refused), text);
	note_nodes(ui, done, refused, err);
	return STATUS_OK;
}

void trial_set(struct ui *ui, int node, double scale, bool typed)
{
	const struct node_row *row = &ui->snap->row[node];
	ui->trial = (struct trial){.active = true, .typed = typed, .node = node, .scale = scale, .site = row->first_site};
	if (row->n_sites > 0)
		ui->trial.predicted = study_predict_scale(ui->snap, row->first_site, scale);
}

void trial_drop(struct ui *ui)
{
	ui->trial.active = ui->trial.typed = false;
}

enum status trial_step(struct ui *ui, int by, struct error *err)
{
	int node = ui_node(ui);
	const struct site *site = node >= 0 ? snapshot_output(ui->snap, node) : NULL;
	double from;
	if (!site || !site->bits)
		return error_set(err, STATUS_REFUSED, "%s", node >= 0 ? "this output is in float: it has no scale" : "no node is selected");
	if (site->n_scale != 1)
		return error_set(err, STATUS_UNSUPPORTED, "%s has a scale for each channel; an override is one scale for the tensor",
		    ui->snap->g->node[node].name);
	from = ui->trial.active ? ui->trial.scale : ldexp(1, (int)lround(log2((double)site->scale[0])));
	trial_set(ui, node, from * ldexp(1, by), false);
	return STATUS_OK;
}
