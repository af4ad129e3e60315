#include "qtui/tui/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "qtui/base/file.h"
#include "qtui/base/mem.h"
#include "qtui/base/str.h"
#include "qtui/tui/action.h"

static const struct command_row rows[] = {
#define COMMAND(name, brief, usage, first, last, help)                                                                 \
	{#name, brief, usage, COMPLETE_##first, COMPLETE_##last, help, command_##name},
#include "qtui/tui/commands.def"
#undef COMMAND
};
enum { N_ROWS = sizeof rows / sizeof *rows };

const struct command_row *command_rows(int *n)
{
	*n = N_ROWS;
	return rows;
}

static void replace(char *name, char from, char to)
{
	for (; *name; name++)
		if (*name == from)
			*name = to;
}

void command_typed(char out[COMMAND_NAME], const char *name)
{
	snprintf(out, COMMAND_NAME, "%s", name);
	replace(out, '_', '-');
}

// The exact name or the short one; else the only one that begins so.
static const struct command_row *find_command(const char *name)
{
	const struct command_row *only = NULL;
	int found = 0;
	for (int i = 0; i < N_ROWS; i++) {
		if (!strcmp(name, rows[i].name) || (*name && !strcmp(name, rows[i].brief)))
			return &rows[i];
		if (str_has_prefix(rows[i].name, name)) {
			only = &rows[i];
			found++;
		}
	}
	return found == 1 ? only : NULL;
}

static enum status unknown_command(const char *name, struct error *err)
{
	struct nearest near = {.name = name};
	char best[COMMAND_NAME];
	for (int i = 0; i < N_ROWS; i++)
		nearest_try(&near, rows[i].name);
	for (int a = 0; a < ACTION_COUNT; a++)
		nearest_try(&near, keys_row((enum action)a)->name);
	if (!near.best)
		return error_set(err, STATUS_USAGE, "no command \"%.40s\": Tab lists them, :help tells what they do", name);
	command_typed(best, near.best);
	return error_set(err, STATUS_USAGE, "no command \"%.40s\", did you mean \"%s\"?", name, best);
}

enum status command_usage(const char *name, struct error *err)
{
	const struct command_row *row = find_command(name);
	char shown[COMMAND_NAME];
	command_typed(shown, name);
	if (!row || !row->usage[0])
		return error_set(err, STATUS_USAGE, ":%s takes no argument", shown);
	return error_set(err, STATUS_USAGE, "usage: :%s %s", shown, row->usage);
}

// What is missing, and where it is one of a few, which.
static enum status missing(const struct ui *ui, const struct command_row *row, struct error *err)
{
	struct str choices = {0};
	char shown[COMMAND_NAME];
	command_typed(shown, row->name);
	command_choices(&choices, ui, row->first);
	error_set(err, STATUS_USAGE, "usage: :%s %s%s", shown, row->usage, str_text(&choices));
	str_done(&choices);
	return err->status;
}

// What may be a file: where one stands, a name of another kind never begins with "~".
static bool may_be_file(enum completion kind)
{
	static const bool file[COMPLETE_KINDS] = {
	    [COMPLETE_FILE] = true, [COMPLETE_SIDE] = true, [COMPLETE_TARGET] = true, [COMPLETE_THEME] = true};
	return file[kind];
}

static void add_at_home(struct str *out, enum completion kind, const char *text, size_t n)
{
	struct str word = {0};
	str_addn(&word, text, n);
	char *full = may_be_file(kind) ? file_at_home(str_text(&word)) : str_detach(&word);
	str_add(out, full);
	free(full);
	str_done(&word);
}

// The arguments with $HOME in the place of "~" before files: the first word, and what is behind it; heap.
static char *at_home(const struct command_row *row, const char *args)
{
	size_t first = strcspn(args, " "), gap = strspn(args + first, " ");
	struct str out = {0};
	add_at_home(&out, row->first, args, first);
	str_addn(&out, args + first, gap);
	add_at_home(&out, row->last, args + first + gap, strlen(args + first + gap));
	return str_detach(&out);
}

static enum status run_row(struct ui *ui, const struct command_row *row, const char *args, struct error *err)
{
	bool needs = row->usage[0] && row->usage[0] != '[', takes = row->usage[0];
	if (needs && !*args)
		return missing(ui, row, err);
	if (!takes && *args)
		return command_usage(row->name, err);
	char *full = at_home(row, args);
	enum status st = row->run(ui, full, err);
	free(full);
	return st;
}

// Who comes from vi types :q! and :w!. Force is not asked for here: what would be lost is told, and the same again goes on.
static void drop_force(char *name)
{
	size_t n = strlen(name);
	if (n > 1 && name[n - 1] == '!')
		name[n - 1] = '\0';
}

static void trim_end(char *s)
{
	size_t n = strlen(s);
	while (n > 0 && strchr(" \t\r\n", s[n - 1]))
		s[--n] = '\0';
}

enum status command_run(struct ui *ui, const char *line, struct error *err)
{
	char *text = xstrdup(line + strspn(line, ": \t")), *args;
	const struct command_row *row;
	enum action action;
	enum status st = STATUS_OK;
	*err = (struct error){0}; // a command that changes nothing says so in it, with STATUS_OK
	trim_end(text);
	args = text + strcspn(text, " \t");
	if (*args)
		*args++ = '\0';
	args += strspn(args, " \t");
	drop_force(text);
	replace(text, '-', '_');
	bool is_row = *text && !text[strspn(text, "0123456789")] && !*args; // as in vi and less
	action = keys_named(text);
	row = find_command(text);
	if (is_row)
		move_to_row(ui, strtol(text, NULL, 10));
	else if (row && (action == ACTION_NONE || !strcmp(row->name, text)))
		st = run_row(ui, row, args, err);
	else if (action != ACTION_NONE && *args)
		st = command_usage(text, err);
	else if (action != ACTION_NONE)
		action_do(ui, action);
	else if (*text)
		st = unknown_command(text, err);
	free(text);
	return st;
}
