// Themes: what each role looks like. A theme is a JSON file: `palette` gives a name its colour on true-colour,
// 256- and 8-colour terminals, `roles` gives a role foreground, background and attributes, `glyphs` replaces marks.
// Roles that are not named inherit: snr.bad from snr from text. The struct holds no pointers.
#ifndef QTUI_TUI_THEME_H
#define QTUI_TUI_THEME_H

#include <stdint.h>
#include <cjson/cJSON.h>
#include "qtui/base/error.h"

enum {
	INK_BOLD = 1 << 0, INK_DIM = 1 << 1, INK_REVERSE = 1 << 2, INK_UNDERLINE = 1 << 3, INK_ITALIC = 1 << 4,
};
enum role {
#define ROLE(id, name, mono, help) ROLE_##id,
#include "qtui/tui/roles.def"
#undef ROLE
	ROLE_COUNT
};
enum glyph {
#define GLYPH(id, name, utf8, ascii) GLYPH_##id,
#include "qtui/tui/glyphs.def"
#undef GLYPH
	GLYPH_COUNT
};

struct colour { // -1: the terminal's own
	int rgb, c256, c8;
};
struct style {
	struct colour fg, bg;
	unsigned attr, mono; // INK_* bits, with colours and without
};
struct theme {
	char name[48];
	struct style style[ROLE_COUNT];
	uint32_t glyph[2][GLYPH_COUNT]; // UTF-8, ASCII
};
const char *role_name(enum role r);
// "●" as the views write it; what is shown in its place is the theme's.
const char *glyph_text(enum glyph g);
// The row that a view's glyph stands for, or -1.
int glyph_find(uint32_t utf8);

// A name (looked for in the user's configuration, then among those built in) or a path to a JSON file.
MUST_CHECK enum status theme_load(struct theme *out, const char *name, struct error *err);
MUST_CHECK enum status theme_parse(struct theme *out, const cJSON *json, const char *file, struct error *err);
// The names that theme_load knows: of the themes built in, then of the user's own, both in order, each once.
void theme_each(void (*take)(void *arg, const char *name), void *arg);

#endif
