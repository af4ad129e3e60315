// Scripts: a line that begins with ':' is a command, any other line is keys, such as `jj/cv3<Enter>8`; blanks between
// keys are skipped (a blank key is <Space>), '#' begins a comment line. Both go the same way as the keyboard.
#ifndef QTUI_TUI_SCRIPT_H
#define QTUI_TUI_SCRIPT_H

#include "qtui/base/error.h"
#include "qtui/tui/ui.h"

struct script;
MUST_CHECK enum status script_read(struct script **out, const char *path, struct error *err);
// Checks the syntax of every line first: a script with a malformed key does nothing at all.
MUST_CHECK enum status script_parse(struct script **out, const char *text, const char *name, struct error *err);
void script_free(struct script **s);
bool script_over(const struct script *s);
// Does the next line. The error names file and line; the script is then over.
MUST_CHECK enum status script_step(struct script *s, struct ui *ui, struct error *err);

#endif
