// What a screen shows, as text.
#ifndef TESTS_TUI_SHOWN_H
#define TESTS_TUI_SHOWN_H

#include <string.h>

#include "support.h"
#include "qtui/base/str.h"
#include "qtui/tui/draw.h"
#include "qtui/tui/ui.h"

// The user interface on a snapshot that nobody computes, which it takes; ui_done ends it.
static inline void show(struct ui *ui, struct snapshot *s, bool ascii)
{
	struct theme theme;
	struct error err;
	assert_int_equal(theme_load(&theme, "default", &err), STATUS_OK);
	ui_init(ui, NULL, s, &theme, ascii);
}

// The screen line by line; `roles`: the roles of its cells behind it. The caller frees it.
static inline struct str shown(const struct ui *ui, bool roles)
{
	struct canvas c;
	struct str text = {0};
	canvas_init(&c, ui->w, ui->h, &ui->theme, ui->ascii);
	draw_screen(&c, ui);
	canvas_dump(&c, &text, roles);
	canvas_done(&c);
	return text;
}

static inline bool is_shown(const struct ui *ui, const char *what)
{
	struct str text = shown(ui, false);
	bool is = strstr(str_text(&text), what) != NULL;
	str_done(&text);
	return is;
}

#endif
