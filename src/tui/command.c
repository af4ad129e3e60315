#include "qtui/tui/command.h"

#include <stdlib.h>
#include <string.h>

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

static void to_internal(char *name)
{
	for (; *name; name++)
		if (*name == '-')
			*name = '_';
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
	const char *best = rows[0].name;

	for (int i = 0; i < N_ROWS; i++)
		if (str_distance(name, rows[i].name) < str_distance(name, best))
			best = rows[i].name;
	for (int a = 0; a < ACTION_COUNT; a++)
		if (str_distance(name, keys_row((enum action)a)->name) < str_distance(name, best))
			best = keys_row((enum action)a)->name;
	return error_set(err, STATUS_USAGE, "no command \"%.40s\", did you mean \"%s\"?", name, best);
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

	trim_end(text);
	args = text + strcspn(text, " \t");
	if (*args)
		*args++ = '\0';
	args += strspn(args, " \t");
	to_internal(text);
	action = keys_named(text);
	row = find_command(text);
	if (row && (action == ACTION_NONE || !strcmp(row->name, text)))
		st = row->run(ui, args, err);
	else if (action != ACTION_NONE && *args)
		st = error_set(err, STATUS_USAGE, ":%s takes no argument", text);
	else if (action != ACTION_NONE)
		action_do(ui, action);
	else if (*text)
		st = unknown_command(text, err);
	free(text);
	return st;
}
