#include "qtui/tui/edit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "qtui/base/log.h"
#include "qtui/base/mem.h"
#include "qtui/base/str.h"
#include "qtui/tui/format.h"
#include "qtui/tui/repair.h"

void edit_unsaved(struct ui *ui)
{
	ui->autosave_due = ui->unsaved = true;
	ui->edits++;
	ui->quit_warned = false;
}

void edit_done(struct ui *ui)
{
	edit_unsaved(ui);
	repair_edited(ui);
	ui->notes_run = true;
	ui_take(ui, study_snapshot(ui->study)); // before the run, which may be over at once: its end is news
	study_run(ui->study);
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

static bool are_all(const struct ui *ui, const int *nodes, int n, int precision)
{
	for (int i = 0; i < n; i++)
		if ((int)ui->snap->row[nodes[i]].precision != precision)
			return false;
	return true;
}

// What nodes are given, and how a message says it: "int8", "calibration kl"; to -1: "auto".
struct giving {
	study_give_fn *give;
	int to;
	const char *kind, *word;
	bool same; // all of them have it
};

static enum status give_nodes(struct ui *ui, const struct giving *g, const int *nodes, int n, struct error *err)
{
	int refused = 0;
	char done[UI_TEXT];
	if (n == 0)
		return error_set(err, STATUS_NOTFOUND, "no node is selected");
	*err = (struct error){0};
	if (g->give(ui->study, nodes, n, g->to, &refused, err))
		return err->status;
	if (!nodes_taken(ui, nodes, n, refused, err))
		return STATUS_OK;
	if (n == 1)
		snprintf(done, sizeof done, "%s: %s%s%s", ui->snap->g->node[nodes[0]].name, g->kind, g->word, g->same ? ", as it was" : "");
	else
		snprintf(
		    done, sizeof done, "%s%s: %d node%s%s", g->kind, g->word, n - refused, plural(n - refused), g->same ? ", as they were" : "");
	note_nodes(ui, done, refused, err);
	return STATUS_OK;
}

// The mark of an edited row is that of its scale as well, which stays.
static bool only_scale_is_edited(const struct ui *ui, const int *nodes, int n)
{
	const struct node_row *row = n == 1 ? &ui->snap->row[nodes[0]] : NULL;
	return row && row->edited && row->requested < 0 && row->calibrator < 0;
}

enum status edit_precision(struct ui *ui, const int *nodes, int n, int precision, struct error *err)
{
	if (precision < 0 && only_scale_is_edited(ui, nodes, n))
		return error_set(err, STATUS_REFUSED, "%s has the target's precision; its scale is yours: s and auto give it back",
		    ui->snap->g->node[nodes[0]].name);
	const char *word = precision < 0 ? "auto" : precision_name((enum precision)precision);
	return give_nodes(ui, &(struct giving){study_set, precision, "", word, are_all(ui, nodes, n, precision)}, nodes, n, err);
}

enum status edit_calibrator(struct ui *ui, const int *nodes, int n, int method, struct error *err)
{
	const char *word = method < 0 ? "auto" : calib_name((enum calib_method)method);
	return give_nodes(ui, &(struct giving){study_set_calibrator, method, "calibration ", word, false}, nodes, n, err);
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

int edit_shown_output(const struct snapshot *s, int value)
{
	int node = s->g->value[value].producer;
	if (node < 0)
		return value;
	int owner = around_owner(s, node);
	return owner == node ? value : graph_output(s->g, owner);
}

// Where a key gives a scale to one tensor, the output that it goes to: the one that the detail shows.
// STATUS_REFUSED: that is none of a node.
MUST_CHECK static enum status edit_output(int *value, const struct ui *ui, struct error *err)
{
	int node = ui_node(ui);
	const struct site *site = ui_site(ui);
	if (node < 0)
		return error_set(err, STATUS_NOTFOUND, "no node is selected");
	*value = snapshot_made(ui->snap, node) ? snapshot_scalable(ui->snap, site) : graph_output(ui->snap->g, node);
	if (*value >= 0)
		return STATUS_OK;
	if (!site)
		return error_set(err, STATUS_REFUSED, "%s has no output that anybody reads", ui->snap->g->node[node].name);
	return error_set(err, STATUS_REFUSED,
	    "%s keeps its scale: one by hand is that of a node's output, to which h goes, or of an input of the network",
	    ui->snap->g->value[site->value].name);
}

// Of several marked nodes each one's output whose figures stand in its row.
static int output_of_row(const struct snapshot *s, int node)
{
	const struct site *made = snapshot_made(s, node);
	return made ? snapshot_scalable(s, made) : graph_output(s->g, node);
}

enum status edit_outputs(int **values, int *n, const struct ui *ui, struct error *err)
{
	int *nodes = edit_selection(ui, n), kept = 0;
	enum status st = *n == 1 ? edit_output(&nodes[0], ui, err) : STATUS_OK;
	for (int i = 0; *n > 1 && i < *n; i++) {
		int value = output_of_row(ui->snap, nodes[i]);
		if (value >= 0)
			nodes[kept++] = value;
	}
	*n = *n > 1 ? kept : *n;
	*values = nodes;
	return st;
}

// The row in which a scale is seen: an input of the network has none of its own.
static int node_of_scale(const struct snapshot *s, int value)
{
	int node = graph_node_of(s->g, value);
	return node >= 0 ? around_owner(s, node) : -1;
}

enum status edit_scale(struct ui *ui, const int *outputs, int n, double scale, int32_t zero, struct error *err)
{
	char text[FIGURE] = "auto", done[UI_TEXT];
	int refused = 0, *nodes;
	bool taken;
	if (n == 0)
		return error_set(err, STATUS_NOTFOUND, "no node is selected");
	*err = (struct error){0};
	if (study_scale_all(ui->study, outputs, n, scale, zero, &refused, err))
		return err->status;
	nodes = xcalloc((size_t)n, sizeof *nodes);
	for (int i = 0; i < n; i++)
		nodes[i] = node_of_scale(ui->snap, outputs[i]);
	taken = nodes_taken(ui, nodes, n, refused, err);
	free(nodes);
	if (!taken)
		return STATUS_OK;
	if (scale > 0)
		format_scale(text, scale);
	if (n == 1)
		snprintf(done, sizeof done, "%s: scale %s", graph_output_name(ui->snap->g, outputs[0]), text);
	else
		snprintf(done, sizeof done, "%d node%s: scale %s", n - refused, plural(n - refused), text);
	note_nodes(ui, done, refused, err);
	return STATUS_OK;
}

static int site_of_output(const struct snapshot *s, int value)
{
	int node = node_of_scale(s, value);
	if (node < 0)
		return -1;
	const struct node_row *row = &s->row[node];
	for (int i = row->first_site; i < row->first_site + row->n_sites; i++)
		if (snapshot_scalable(s, &s->site[i]) == edit_shown_output(s, value))
			return i;
	return -1;
}

void trial_set(struct ui *ui, int value, double scale, int32_t zero, bool typed)
{
	ui->trial = (struct trial){.active = true, .typed = typed, .value = value, .scale = scale, .zero = zero};
	ui->trial.site = site_of_output(ui->snap, value);
	if (ui->trial.site >= 0)
		ui->trial.predicted = study_predict_scale(ui->snap, ui->trial.site, scale, zero);
}

const struct site *trial_site(const struct ui *ui)
{
	return ui->trial.site >= 0 ? &ui->snap->site[ui->trial.site] : NULL;
}

void trial_drop(struct ui *ui)
{
	ui->trial.active = ui->trial.typed = false;
}

enum status trial_step(struct ui *ui, int by, struct error *err)
{
	const struct site *site;
	int value = ui->trial.value, at;
	double from;
	if (!ui->trial.active && edit_output(&value, ui, err))
		return err->status;
	at = site_of_output(ui->snap, value);
	site = at >= 0 ? &ui->snap->site[at] : NULL;
	if (!site || !site->bits)
		return error_set(err, STATUS_REFUSED, "this output is in float: it has no scale");
	if (site->n_scale != 1)
		return error_set(err, STATUS_UNSUPPORTED, "%s has a scale for each channel; an override is one scale for the tensor",
		    graph_output_name(ui->snap->g, value));
	from = ui->trial.active ? ui->trial.scale : ldexp(1, (int)lround(log2((double)site->scale[0])));
	if (ui->study && study_check_scale(ui->study, &(struct scale_edit){value, from * ldexp(1, by), ZERO_FOLLOWS}, err))
		return err->status;
	trial_set(ui, value, from * ldexp(1, by), ZERO_FOLLOWS, false);
	return STATUS_OK;
}
