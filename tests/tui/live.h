// A screen on a study that runs.
#ifndef QTUI_TESTS_TUI_LIVE_H
#define QTUI_TESTS_TUI_LIVE_H

#include <string.h>

#include "../analysis/studies.h"
#include "qtui/tui/draw.h"
#include "qtui/tui/ui.h"

// A screen on a study of a small network whose first run is over.
struct live {
	struct study *st;
	struct ui ui;
};

static inline void live_study(struct live *l, const char *target, int samples)
{
	struct study_options o = {.model = "examples/digits.onnx", .calib = "examples/calib", .data = {.samples = samples}, .method = -1,
	    .threads = 1, .backend = BACKEND_ONEDNN, .target = target, .task = {.none = true}};
	l->st = open_for_test(o);
	wait_for_run(l->st);
}

static inline void live_screen(struct live *l)
{
	struct theme theme;
	struct error err;
	assert_int_equal(theme_load(&theme, "default", &err), STATUS_OK);
	ui_init(&l->ui, l->st, study_snapshot(l->st), &theme, false);
}

static inline void live_open(struct live *l, const char *target, int samples)
{
	live_study(l, target, samples);
	live_screen(l);
}

static inline void live_close(struct live *l)
{
	ui_done(&l->ui);
	study_close(&l->st);
}

// Waits for the run that an edit began.
static inline void live_wait(struct live *l)
{
	struct error err;
	assert_int_equal(study_wait(l->st, &err), STATUS_OK);
	ui_update(&l->ui, study_snapshot(l->st));
}

// The ASCII of a line of the screen, counted from below.
static inline bool line_has(const struct ui *ui, int from_below, const char *what)
{
	struct canvas c;
	char text[256] = "";
	canvas_init(&c, ui->w, ui->h, &ui->theme, false);
	draw_screen(&c, ui);
	for (int x = 0; x < c.w && x < (int)sizeof text - 1; x++) {
		uint32_t g = c.cell[(c.h - 1 - from_below) * c.w + x].glyph;
		text[x] = g >= ' ' && g < 127 ? (char)g : '?';
	}
	canvas_done(&c);
	return strstr(text, what) != NULL;
}

static inline bool screen_has(const struct ui *ui, const char *what)
{
	bool has = false;
	for (int y = 0; y < ui->h; y++)
		has |= line_has(ui, y, what);
	return has;
}

#endif
