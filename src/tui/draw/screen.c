#define NCURSES_NOMACROS 1
#include "qtui/tui/screen.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <curses.h>
#include <term.h>

#include "qtui/base/mem.h"
#include "qtui/tui/graphics.h"
#include "qtui/tui/guard.h"
#include "qtui/tui/keyboard.h"
#include "qtui/tui/overlay.h"

enum depth { DEPTH_MONO, DEPTH_8, DEPTH_256, DEPTH_PALETTE, DEPTH_RGB };
enum { BEHIND_BYTES = 4096, PAIRS = 1024, SLOTS = 128, FIRST_SLOT = 128 }; // slots of the palette that true colours are put into

struct pair {
	int fg, bg;
};
struct screen {
	SCREEN *term;
	enum depth depth;
	bool direct; // the terminal takes 24-bit colours
	int n_pairs, n_slots;
	struct pair pair[PAIRS];
	int slot[SLOTS]; // rgb
	struct canvas shown;
	bool forgotten;
	struct keyboard keyboard;
	struct graphics graphics;
};

static bool says_truecolor(void)
{
	const char *s = getenv("COLORTERM");
	return s && (!strcmp(s, "truecolor") || !strcmp(s, "24bit"));
}

static enum depth find_depth(bool mono)
{
	const char *no = getenv("NO_COLOR");
	if (mono || (no && *no) || !has_colors())
		return DEPTH_MONO;
	start_color();
	use_default_colors();
	if (COLORS >= 1 << 24)
		return DEPTH_RGB;
	if (COLORS >= 256)
		return says_truecolor() && can_change_color() ? DEPTH_PALETTE : DEPTH_256;
	return DEPTH_8;
}

// Pasted text comes between marks, so that it is not taken for keys.
// Only to terminals of ECMA-48, which pass over what they do not know.
static void mark_pastes(bool on)
{
	const char *move = tigetstr("cup");
	struct str out = {0};
	if (!move || move == (const char *)-1 || strncmp(move, "\033[", 2) != 0)
		return;
	str_add(&out, on ? "\033[?2004h" : "\033[?2004l");
	overlay_write(&out);
	str_done(&out);
}

// What leaves the screen if we cannot: end of the alternate screen, cursor, attributes, keypad, mouse, marks of pastes.
static void arm_crash(void)
{
	const char *name[] = {"sgr0", "op", "cnorm", "rmkx", "rmcup"};
	char reset[256] = "\033[?1000l\033[?1006l\033[?2004l";
	for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
		const char *s = tigetstr(name[i]);
		if (s && s != (char *)-1)
			strncat(reset, s, sizeof reset - strlen(reset) - 1);
	}
	guard_crash(reset, NULL);
}

static void set_up(bool mouse)
{
	raw();
	noecho();
	nonl();
	idcok(stdscr, FALSE); // shifting a line would take a picture's colours along
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	curs_set(0);
	if (mouse) {
		// Those of buttons that mean nothing, too: for an event that it is not asked for curses waits on, and nothing is drawn.
		mousemask(BUTTON1_PRESSED | BUTTON2_PRESSED | BUTTON3_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED, NULL);
		mouseinterval(0);
	}
}

// A terminal that knows no cursor addressing ("dumb") would show one line over and over.
static bool can_place_cursor(void)
{
	const char *move = tigetstr("cup");
	return move && move != (const char *)-1;
}

void screen_cell(const struct screen *s, int *w, int *h)
{
	ask_cell(&s->keyboard.ask, w, h);
}

enum status screen_open(struct screen **out, bool mono, bool mouse, struct error *err)
{
	struct screen *s = xcalloc(1, sizeof *s);
	const char *term = getenv("TERM");
	*out = NULL;
	s->term = newterm(NULL, stdout, stdin);
	if (!s->term) {
		free(s);
		return error_set(err, STATUS_UNSUPPORTED, "the terminal \"%s\" is not known: set TERM, for example to xterm-256color",
		    term ? term : "");
	}
	canvas_init(&s->shown, 1, 1, NULL, false);
	if (!can_place_cursor()) {
		screen_close(&s);
		return error_set(err, STATUS_UNSUPPORTED,
		    "the terminal \"%s\" cannot place the cursor: set TERM to what it is, or use qtui analyze", term ? term : "");
	}
	s->depth = find_depth(mono);
	s->direct = s->depth == DEPTH_RGB || says_truecolor();
	s->n_pairs = 1;
	s->forgotten = true;
	set_up(mouse);
	keyboard_begin(&s->keyboard);
	mark_pastes(true);
	arm_crash();
	if (screen_shows_pictures(s))
		ask_begin(&s->keyboard.ask);
	*out = s;
	return STATUS_OK;
}

// A terminal without a second screen keeps what was drawn: the shell's prompt is to stand on a line of its own.
static void give_back(void)
{
	const char *second = tigetstr("rmcup");
	if (!second || second == (const char *)-1) {
		move(LINES - 1, 0);
		clrtoeol();
		refresh();
	}
	endwin();
}

// Takes pictures away that the terminal keeps beside its text.
static void end_pictures(struct screen *s)
{
	struct str out = {0};
	graphics_end(&out, &s->graphics);
	overlay_write(&out);
	str_done(&out);
}

void screen_close(struct screen **s)
{
	if (!*s)
		return;
	end_pictures(*s);
	mark_pastes(false);
	give_back();
	delscreen((*s)->term);
	canvas_done(&(*s)->shown);
	free(*s);
	*s = NULL;
	guard_crash("", NULL);
}

void screen_size(int *w, int *h)
{
	struct winsize ws;
	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) && ws.ws_col > 0 && ws.ws_row > 0) {
		*w = ws.ws_col;
		*h = ws.ws_row;
	} else {
		*w = 80;
		*h = 24;
	}
}

bool screen_is_behind(void)
{
	int queued = 0;
	return !ioctl(STDOUT_FILENO, TIOCOUTQ, &queued) && queued > BEHIND_BYTES;
}

static int slot_of(struct screen *s, const struct colour *c)
{
	for (int i = 0; i < s->n_slots; i++)
		if (s->slot[i] == c->rgb)
			return FIRST_SLOT + i;
	if (s->n_slots == SLOTS || FIRST_SLOT + s->n_slots >= COLORS)
		return c->c256;
	s->slot[s->n_slots] = c->rgb;
	init_extended_color(FIRST_SLOT + s->n_slots, (c->rgb >> 16) * 1000 / 255, (c->rgb >> 8 & 255) * 1000 / 255,
	    (c->rgb & 255) * 1000 / 255);
	return FIRST_SLOT + s->n_slots++;
}

static int colour_of(struct screen *s, const struct colour *c)
{
	switch (s->depth) {
	case DEPTH_8:
		return c->c8;
	case DEPTH_256:
		return c->c256;
	case DEPTH_PALETTE:
		return c->rgb < 0 ? -1 : slot_of(s, c);
	case DEPTH_RGB:
		return c->rgb;
	default:
		return -1;
	}
}

static int pair_of(struct screen *s, int fg, int bg)
{
	if (fg < 0 && bg < 0)
		return 0;
	for (int i = 1; i < s->n_pairs; i++)
		if (s->pair[i].fg == fg && s->pair[i].bg == bg)
			return i;
	if (s->n_pairs == PAIRS || s->n_pairs >= COLOR_PAIRS || init_extended_pair(s->n_pairs, fg, bg) == ERR)
		return 0;
	s->pair[s->n_pairs] = (struct pair){fg, bg};
	return s->n_pairs++;
}

static attr_t attributes(unsigned ink)
{
	static const attr_t attr[] = {A_BOLD, A_DIM, A_REVERSE, A_UNDERLINE, A_ITALIC}; // in the order of INK_*
	attr_t out = A_NORMAL;

	for (size_t i = 0; i < sizeof attr / sizeof *attr; i++)
		if (ink >> i & 1)
			out |= attr[i];
	return out;
}

// A ground lends its background, and its foreground to text that has none of its own.
// Of eight colours most cannot be read on one another: there all text on a coloured ground takes the ground's.
static void look(struct screen *s, const struct theme *t, const struct cell *cell, attr_t *attr, int *pair)
{
	const struct style *role = &t->style[cell->role], *ground = &t->style[cell->ground];
	int fg = colour_of(s, &role->fg), bg = colour_of(s, &role->bg);
	if (s->depth == DEPTH_MONO) {
		*attr = attributes(role->mono | ground->mono);
		*pair = 0;
		return;
	}
	if (cell->ground != ROLE_TEXT) {
		fg = fg < 0 ? colour_of(s, &ground->fg) : fg;
		bg = cell->role == ROLE_MATCH ? bg : colour_of(s, &ground->bg);
		fg = cell->role != ROLE_MATCH && s->depth == DEPTH_8 && bg >= 0 ? colour_of(s, &ground->fg) : fg;
	}
	*attr = attributes(role->attr | ground->attr);
	*pair = pair_of(s, fg, bg);
}

static void put_cell(struct screen *s, const struct theme *t, int x, int y, const struct cell *cell)
{
	wchar_t text[2] = {(wchar_t)cell->glyph, 0};
	cchar_t out;
	attr_t attr;
	int pair;

	look(s, t, cell, &attr, &pair);
	setcchar(&out, text, attr, 0, &pair);
	mvadd_wch(y, x, &out);
}

static void show_cursor(const struct canvas *c)
{
	curs_set(c->cursor_x >= 0);
	if (c->cursor_x >= 0)
		move(c->cursor_y, c->cursor_x);
}

static void forget(struct screen *s, int w, int h)
{
	resizeterm(h, w);
	canvas_reset(&s->shown, w, h);
	erase();
	clearok(curscr, TRUE);
	s->forgotten = false;
}

void screen_show(struct screen *s, const struct canvas *c)
{
	size_t n = (size_t)c->w * (size_t)c->h;
	struct str picture = {0};
	bool all = s->forgotten || c->w != s->shown.w || c->h != s->shown.h;
	if (all)
		forget(s, c->w, c->h);
	for (size_t i = 0; i < n; i++)
		if (c->cell[i].glyph && (all || !cell_equal(&c->cell[i], &s->shown.cell[i])))
			put_cell(s, c->theme, (int)(i % (size_t)c->w), (int)(i / (size_t)c->w), &c->cell[i]);
	show_cursor(c);
	refresh();
	all |= graphics_text(&picture, &s->graphics, c, &s->shown, all);
	overlay_text(&picture, c, &s->shown, all, s->direct);
	overlay_write(&picture);
	str_done(&picture);
	memcpy(s->shown.cell, c->cell, n * sizeof *c->cell);
}

bool screen_shows_pictures(const struct screen *s)
{
	return s->depth >= DEPTH_256;
}

void screen_forget(struct screen *s)
{
	s->forgotten = true;
}

struct screen_key screen_read(struct screen *s)
{
	struct screen_key out = keyboard_read(&s->keyboard);
	s->graphics.how = ask_pictures(&s->keyboard.ask);
	return out;
}

void screen_suspend(struct screen *s)
{
	struct sigaction stop = {.sa_handler = SIG_DFL}, old;
	end_pictures(s);
	mark_pastes(false);
	give_back();
	sigaction(SIGTSTP, &stop, &old);
	raise(SIGTSTP);
	sigaction(SIGTSTP, &old, NULL);
	refresh();
	mark_pastes(true);
	screen_forget(s);
}
