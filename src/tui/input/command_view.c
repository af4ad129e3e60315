// Commands about what is seen, files, and the program.
#include <stdio.h>
#include <string.h>

#include "qtui/base/file.h"
#include "qtui/base/str.h"
#include "qtui/tui/autosave.h"
#include "qtui/tui/command.h"
#include "qtui/tui/draw.h"
#include "qtui/tui/help.h"
#include "qtui/tui/view_layers.h"

enum status command_sort(struct ui *ui, char *args, struct error *err)
{
	enum column c;
	for (char *p = args; *p; p++)
		if (*p == '-')
			*p = '_';
	if (columns_find(&c, args, err))
		return err->status;
	view_layers_sort(ui, c);
	return STATUS_OK;
}

enum status command_why(struct ui *ui, char *args, struct error *err)
{
	(void)err;
	(void)args;
	ui_show(ui, VIEW_WHY);
	return STATUS_OK;
}

enum status command_filter(struct ui *ui, char *args, struct error *err)
{
	struct filter *f;
	if (strlen(args) >= sizeof ui->layers.filter_text)
		return error_set(err, STATUS_USAGE, "a filter has at most %zu characters", sizeof ui->layers.filter_text - 1);
	if (filter_parse(&f, args, err))
		return err->status;
	filter_free(&ui->layers.filter);
	ui->layers.filter = f;
	snprintf(ui->layers.filter_text, sizeof ui->layers.filter_text, "%s", args);
	layers_refilter(&ui->layers, ui->snap);
	if (f)
		ui_note(ui, "%d of %d nodes match", ui->layers.n, ui->layers.total);
	return STATUS_OK;
}

enum status command_theme(struct ui *ui, char *args, struct error *err)
{
	struct theme t;
	if (theme_load(&t, args, err))
		return err->status;
	ui->theme = t;
	ui->redraw = true;
	return STATUS_OK;
}

enum status command_save_screen(struct ui *ui, char *args, struct error *err)
{
	char *blank = strrchr(args, ' ');
	bool roles = blank && !strcmp(blank + 1, "roles");
	struct canvas c;
	struct str text = {0};
	enum status st;
	if (roles)
		*blank = '\0';
	ui_arrange(ui);
	canvas_init(&c, ui->w, ui->h, &ui->theme, ui->ascii);
	draw_screen(&c, ui);
	canvas_dump(&c, &text, roles);
	st = file_write(args, str_text(&text), text.len, err);
	if (st == STATUS_OK)
		ui_note(ui, "screen written to %s", args);
	canvas_done(&c);
	str_done(&text);
	return st;
}

enum status command_wait(struct ui *ui, char *args, struct error *err)
{
	(void)args;
	(void)err;
	ui->waiting = true;
	return STATUS_OK;
}

enum status command_help(struct ui *ui, char *args, struct error *err)
{
	int row = *args ? help_find(args) : 0;
	if (row < 0)
		return error_set(err, STATUS_NOTFOUND, "the help says nothing of \"%.60s\": ? shows it, / searches it", args);
	help_open(ui, row);
	return STATUS_OK;
}

enum status command_wq(struct ui *ui, char *args, struct error *err)
{
	enum status st = command_write(ui, args, err);
	if (st == STATUS_OK)
		ui->quit = autosave_may_quit(ui); // not if the file cannot be written
	return st;
}

enum status command_quit(struct ui *ui, char *args, struct error *err)
{
	(void)args;
	(void)err;
	ui->quit = autosave_may_quit(ui);
	return STATUS_OK;
}
