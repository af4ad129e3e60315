#include "qtui/tui/ask.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "qtui/base/thread.h"
#include "qtui/tui/overlay.h"

static const double PATIENCE = 10, PATIENCE_AGAIN = 1; // seconds in which an answer may come

// Terminals that would show a question, or have no pictures to offer.
static bool may_ask(void)
{
	static const char *const no[] = {"dumb", "vt", "linux", "ansi", "cons", "sun"};
	const char *term = getenv("TERM");
	for (size_t i = 0; i < sizeof no / sizeof *no; i++)
		if (!term || !strncmp(term, no[i], strlen(no[i])))
			return false;
	return true;
}

static bool in_multiplexer(void)
{
	const char *term = getenv("TERM");
	return getenv("TMUX") || getenv("STY") || !term || !strncmp(term, "screen", 6) || !strncmp(term, "tmux", 4);
}

static void write_text(const char *text)
{
	struct str s = {0};
	str_add(&s, text);
	overlay_write(&s);
	str_done(&s);
}

void ask_begin(struct ask *a)
{
	a->begun = may_ask();
	a->at = clock_seconds();
	if (a->begun)
		write_text(reply_question());
}

// The window's own size in pixels, where the terminal did not tell that of a cell.
static void measure_cell(struct reply *r)
{
	struct winsize ws;
	if (r->cell_w == 0 && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) && ws.ws_col > 0 && ws.ws_row > 0 && ws.ws_xpixel >= 2 * ws.ws_col &&
	    ws.ws_ypixel >= 4 * ws.ws_row) {
		r->cell_w = ws.ws_xpixel / ws.ws_col;
		r->cell_h = ws.ws_ypixel / ws.ws_row;
	}
}

void ask_go_on(struct ask *a)
{
	const char *question = a->begun && !a->again && !in_multiplexer() ? reply_second_question(&a->reply) : NULL;
	if (a->reply.da)
		measure_cell(&a->reply);
	if (question) {
		a->again = true;
		a->at = clock_seconds();
		write_text(question);
	}
}

bool ask_waits(const struct ask *a)
{
	double waited = clock_seconds() - a->at;
	return a->begun && (a->again ? waited < PATIENCE_AGAIN && !a->reply.kitty : waited < PATIENCE && !a->reply.da);
}

enum pictures ask_pictures(const struct ask *a)
{
	return a->begun ? reply_pictures(&a->reply) : PICTURES_CELLS;
}

void ask_cell(const struct ask *a, int *w, int *h)
{
	enum { CELL_W = 10, CELL_H = 20 }; // Kitty and iTerm2 scale to cells: any size will do
	bool pixels = ask_pictures(a) != PICTURES_CELLS;
	*w = !pixels ? 0 : a->reply.cell_w ? a->reply.cell_w : CELL_W;
	*h = !pixels ? 0 : a->reply.cell_h ? a->reply.cell_h : CELL_H;
}
