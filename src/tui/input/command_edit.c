// Commands that change edits, target or calibration.
#include <stdlib.h>
#include <string.h>

#include "qtui/analysis/latency.h"
#include "qtui/base/str.h"
#include "qtui/tui/command.h"
#include "qtui/tui/edit.h"

// Cuts the last word off, which may not be the only one: names may hold blanks, what follows them cannot.
static char *last_word(char *args)
{
	char *blank = strrchr(args, ' '), *end = blank;
	if (!blank)
		return NULL;
	while (end > args && end[-1] == ' ')
		end--;
	*end = '\0';
	return blank + 1;
}

static enum status parse_precision(int *out, const char *name, struct error *err)
{
	enum precision p;
	*out = -1;
	if (!strcmp(name, "auto"))
		return STATUS_OK;
	if (!precision_parse(&p, name))
		return error_set(err, STATUS_USAGE, "no precision \"%.40s\": use int8, int16, float or auto", name);
	*out = (int)p;
	return STATUS_OK;
}

enum status command_set(struct ui *ui, char *args, struct error *err)
{
	char *word = last_word(args);
	int *nodes = NULL, n = 0, precision;
	if (!word)
		return command_usage("set", err);
	if (parse_precision(&precision, word, err) ||
	    study_select(ui->study, args, ui->layers.marked, &nodes, &n, err))
		return err->status;
	err->status = edit_precision(ui, nodes, n, precision, err);
	free(nodes);
	return err->status;
}

// One node by name: the file's, also of one that is fused into another.
static enum status find_node(int *out, const struct ui *ui, const char *name, struct error *err)
{
	*out = graph_find_node(ui->snap->g, name);
	if (*out >= 0) {
		*out = around_owner(ui->snap, *out);
		return STATUS_OK;
	}
	return graph_no_node(ui->snap->g, name, err);
}

enum status command_scale(struct ui *ui, char *args, struct error *err)
{
	char *word = last_word(args);
	double scale;
	int32_t zero;
	int *outputs = NULL, n = 0;
	if (!word)
		return command_usage("scale", err);
	if (!scale_parse(word, &scale, &zero))
		return error_set(err, STATUS_USAGE, "\"%.60s\" is no scale: write " SCALE_SYNTAX, word);
	if (study_select_outputs(ui->study, args, ui->layers.marked, &outputs, &n, err))
		return err->status;
	for (int i = 0; i < n; i++)
		outputs[i] = edit_shown_output(ui->snap, outputs[i]);
	err->status = edit_scale(ui, outputs, n, scale, zero, err);
	free(outputs);
	return err->status;
}

enum status command_goto(struct ui *ui, char *args, struct error *err)
{
	int node;
	if (find_node(&node, ui, args, err))
		return err->status;
	return ui_go(ui, node, err) ? STATUS_OK : err->status;
}

enum status command_mark_nodes(struct ui *ui, char *args, struct error *err)
{
	int *nodes, n;
	if (study_select(ui->study, args, ui->layers.marked, &nodes, &n, err))
		return err->status;
	for (int i = 0; i < n; i++)
		layers_mark(&ui->layers, nodes[i], true);
	free(nodes);
	ui_note(ui, "%d node%s marked", ui->layers.n_marked, plural(ui->layers.n_marked));
	return STATUS_OK;
}

enum status command_target(struct ui *ui, char *args, struct error *err)
{
	if (study_set_target(ui->study, args, err))
		return err->status;
	if (edit_taken(ui, err))
		ui_note(ui, "target %s", ui->snap->target);
	return STATUS_OK;
}

static enum status calibrate_nodes(struct ui *ui, const char *selection, int method, struct error *err)
{
	int *nodes = NULL, n = 0;
	if (study_select(ui->study, selection, ui->layers.marked, &nodes, &n, err))
		return err->status;
	err->status = edit_calibrator(ui, nodes, n, method, err);
	free(nodes);
	return err->status;
}

enum status command_calibration(struct ui *ui, char *args, struct error *err)
{
	enum calib_method m = CALIB_MINMAX;
	char *word = last_word(args);
	bool is_auto = word && !strcmp(word, "auto");
	if (!*args)
		return command_usage("calibration", err);
	if (!is_auto && !calib_parse(&m, word ? word : args))
		return error_set(err, STATUS_USAGE, "no calibration \"%.40s\": use minmax, percentile, kl or mse%s", word ? word : args,
		    word ? ", or auto" : "");
	if (word)
		return calibrate_nodes(ui, args, is_auto ? -1 : (int)m, err);
	if (study_set_method(ui->study, m, err))
		return err->status;
	if (edit_taken(ui, err))
		ui_note(ui, "calibration %s", calib_name(m));
	return STATUS_OK;
}

enum status command_latency(struct ui *ui, char *args, struct error *err)
{
	struct latency *l = NULL;
	if (!*args)
		return command_usage("latency", err);
	if (strcmp(args, "none") && latency_read(&l, ui->snap->g, args, err))
		return err->status;
	study_set_latency(ui->study, l);
	edit_unsaved(ui);
	if (l) {
		latency_warn(l);
		ui_note(
		    ui, "%d of %d times are taken%s", l->taken, l->lines, l->n_notes ? "; what is to be said of the others is in the log" : "");
	} else {
		ui_note(ui, "costs are counted in multiply-accumulates");
	}
	latency_drop(&l);
	return STATUS_OK;
}

static void list_variants(struct ui *ui)
{
	struct str names = {0};
	int n = study_variants(ui->study);
	for (int i = 0; i < n; i++)
		str_addf(&names, "%s%s", i ? ", " : "", study_variant_name(ui->study, i));
	if (n)
		ui_note(ui, "variants: %s", str_text(&names));
	else
		ui_note(ui, "no variant has a name yet: :variant NAME names this state");
	str_done(&names);
}

enum status command_variant(struct ui *ui, char *args, struct error *err)
{
	const char *what = strspn(args, "0123456789") == strlen(args) ? "run" : "variant"; // as study_variant tells them apart
	int before, now;
	bool made;
	if (!*args) {
		list_variants(ui);
		return STATUS_OK;
	}
	study_steps(ui->study, &before);
	if (study_variant(ui->study, args, &made, err))
		return err->status;
	study_steps(ui->study, &now);
	if (made) {
		edit_unsaved(ui);
		ui_note(ui, "%s names this state: %d edit%s", args, ui->snap->n_edits, plural(ui->snap->n_edits));
		return STATUS_OK;
	}
	if (now == before) {
		ui_note(ui, "%s %s is in force", what, args);
		return STATUS_OK;
	}
	edit_done(ui);
	ui_note(ui, "%s %s: %d edit%s; u undoes", what, args, ui->snap->n_edits, plural(ui->snap->n_edits));
	return STATUS_OK;
}
