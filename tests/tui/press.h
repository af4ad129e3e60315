// Keys as a user types them, in the notation of keys_parse.
#ifndef TESTS_TUI_PRESS_H
#define TESTS_TUI_PRESS_H

#include "qtui/tui/ui.h"

static inline void press(struct ui *ui, const char *keys)
{
	while (*keys)
		ui_key(ui, keys_parse(&keys));
}

#endif
