#include "qtui/tui/prompt.h"

#include <stdio.h>
#include <stdlib.h>

#include "qtui/base/error.h"
#include "qtui/tui/command.h"
#include "qtui/tui/edit.h"
#include "qtui/tui/search.h"

static void show_match(struct ui *ui, int row)
{
	ui_scroll(ui)->cursor = row;
	if (ui_rows_are_nodes(ui))
		ui_new_node(ui);
}

// The first match from where the search began, as each letter is typed.
static void search_edited(struct ui *ui)
{
	int row;
	search_set(ui, ui->line.text);
	row = search_row(ui, ui->search_from, 1);
	show_match(ui, row >= 0 ? row : ui->search_from);
	ui->note[0] = '\0';
	if (row < 0 && ui->line.text[0])
		snprintf(ui->note, sizeof ui->note, "nothing matches");
}

static void search_closed(struct ui *ui)
{
	search_set(ui, "");
	show_match(ui, ui->search_from);
	ui->note[0] = '\0';
}

static void search_accepted(struct ui *ui)
{
	struct error err;
	ui->note[0] = '\0';
	if (!ui->search[0] || search_row(ui, ui->search_from, 1) >= 0)
		return;
	error_set(&err, STATUS_NOTFOUND, "no row matches \"%s\"", ui->search);
	search_set(ui, "");
	ui_fail(ui, &err);
}

static void command_accepted(struct ui *ui)
{
	struct error err;
	if (command_run(ui, ui->line.text, &err))
		ui_fail(ui, &err);
}

static void scale_edited(struct ui *ui)
{
	double scale;
	int32_t zero;
	if (scale_parse(ui->line.text, &scale, &zero) && scale > 0)
		trial_set(ui, ui->trial.value, scale, zero, true);
	else
		ui->trial.active = false;
}

static void scale_accepted(struct ui *ui)
{
	struct error err = {0}, ignored;
	double scale;
	int32_t zero;
	int n, *outputs;
	if (edit_outputs(&outputs, &n, ui, &ignored) || n <= 1)
		outputs[0] = ui->trial.value; // the cursor may stand on another one by now: a run moves rows
	trial_drop(ui);
	if (ui->line.text[0] && !scale_parse(ui->line.text, &scale, &zero))
		error_set(&err, STATUS_USAGE, "\"%.60s\" is no scale: write " SCALE_SYNTAX, ui->line.text);
	else if (ui->line.text[0] && !edit_scale(ui, outputs, n, scale, zero, &err))
		ui->layers.visual = -1;
	if (err.status)
		ui_fail(ui, &err);
	free(outputs);
}

struct prompt_ops {
	void (*edited)(struct ui *ui);
	void (*accepted)(struct ui *ui);
	void (*closed)(struct ui *ui);
};
static const struct prompt_ops ops[LINE_KINDS] = {
	[LINE_COMMAND] = {NULL, command_accepted, NULL},
	[LINE_SEARCH] = {search_edited, search_accepted, search_closed},
	[LINE_SCALE] = {scale_edited, scale_accepted, trial_drop},
};

void prompt_open(struct ui *ui, enum line_kind kind, const char *text)
{
	ui->note[0] = '\0';
	ui->search_from = ui_scroll(ui)->cursor;
	line_open(&ui->line, kind, text, kind == LINE_COMMAND ? command_complete : NULL, ui);
}

void prompt_key(struct ui *ui, int key)
{
	const struct prompt_ops *op = &ops[ui->line.kind];
	enum line_event event = line_key(&ui->line, key);
	if (event == LINE_EDITED && op->edited)
		op->edited(ui);
	else if (event == LINE_ACCEPTED)
		op->accepted(ui);
	else if (event == LINE_CLOSED && op->closed)
		op->closed(ui);
}
