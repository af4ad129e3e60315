// The `:` commands: commands.def has a row for each; every action of keys.def is one too.
#ifndef QTUI_TUI_COMMAND_H
#define QTUI_TUI_COMMAND_H

#include "qtui/tui/ui.h"

enum completion {
	COMPLETE_NOTHING, COMPLETE_SELECTION, COMPLETE_OUTPUT, COMPLETE_NODE, COMPLETE_COLUMN, COMPLETE_TERM, COMPLETE_TARGET,
	COMPLETE_FILE, COMPLETE_FORMAT, COMPLETE_THEME, COMPLETE_VARIANT, COMPLETE_SIDE, COMPLETE_TOPIC, COMPLETE_DECODER,
	COMPLETE_PREPARATION, COMPLETE_KINDS
};
struct command_row {
	const char *name, *brief, *usage; // the name with '_', written with '-'
	enum completion first, last; // beside the words that `usage` has in lower case
	const char *help;
	enum status (*run)(struct ui *ui, char *args, struct error *err); // args: trimmed, may be changed; empty only where usage has it so
};
const struct command_row *command_rows(int *n);
enum { COMMAND_NAME = 48 };
void command_typed(char out[COMMAND_NAME], const char *name); // a name of the tables with '-'
// Runs a line, with or without its ':'. STATUS_OK, or what went wrong.
MUST_CHECK enum status command_run(struct ui *ui, const char *line, struct error *err);
// The error that says how it is used: "usage: :goto NODE".
enum status command_usage(const char *name, struct error *err);
// ": minmax, kl, ..." of a kind of which there are few; "" of others.
struct str;
void command_choices(struct str *out, const struct ui *ui, enum completion kind);
// For line_open.
char *command_complete(void *ui, const char *text, int start, int i);

#define COMMAND(name, ...) enum status command_##name(struct ui *ui, char *args, struct error *err);
#include "qtui/tui/commands.def"
#undef COMMAND

#endif
