// Keys through curses: those of the keyboard and the mouse, and among them what the terminal answers.
#define NCURSES_NOMACROS 1
#include "qtui/tui/keyboard.h"

#include <poll.h>
#include <unistd.h>
#include <curses.h>

#include "qtui/base/thread.h"
#include "qtui/tui/keys.h"

enum { K_END_OF_KEYS = -2 }; // nothing more is waiting
// Codes for what curses is told by define_key: behind those from KEY_MAX on that it gives to the keys which a terminal's
// entry adds to the common ones (rxvt's Ctrl-Down is KEY_MAX + 1).
enum { PASTE_BEGINS = KEY_MAX + 0x4000, PASTE_ENDS };

// How long the rest of a sequence may take behind its Escape. A user who presses Escape waits for it, a paste does not.
static void set_pasting(struct keyboard *k, bool on)
{
	enum { KEY_MS = 25, PASTE_MS = 500 };
	k->pasting = on;
	set_escdelay(on ? PASTE_MS : KEY_MS);
}

// What the common keys send, whatever the terminal's entry says of them: a multiplexer, a container and a board's console
// often have the entry of another terminal, and each of these means one key wherever it is sent.
static const struct {
	const char *sequence;
	int code;
} common_keys[] = {
	{"\033[200~", PASTE_BEGINS}, {"\033[201~", PASTE_ENDS},
	{"\033[A", KEY_UP}, {"\033[B", KEY_DOWN}, {"\033[C", KEY_RIGHT}, {"\033[D", KEY_LEFT},
	{"\033OA", KEY_UP}, {"\033OB", KEY_DOWN}, {"\033OC", KEY_RIGHT}, {"\033OD", KEY_LEFT},
	{"\033[H", KEY_HOME}, {"\033OH", KEY_HOME}, {"\033[1~", KEY_HOME}, {"\033[7~", KEY_HOME},
	{"\033[F", KEY_END}, {"\033OF", KEY_END}, {"\033[4~", KEY_END}, {"\033[8~", KEY_END},
	{"\033[5~", KEY_PPAGE}, {"\033[6~", KEY_NPAGE}, {"\033[3~", KEY_DC}, {"\033[Z", KEY_BTAB}, {"\033OM", KEY_ENTER},
	{"\033OP", KEY_F(1)}, {"\033[11~", KEY_F(1)}, {"\033[[A", KEY_F(1)},
};

void keyboard_begin(struct keyboard *k)
{
	set_pasting(k, false);
	for (size_t i = 0; i < sizeof common_keys / sizeof *common_keys; i++)
		define_key(common_keys[i].sequence, common_keys[i].code);
}

// The end of a paste may be lost on the line: then a pause ends it.
static bool is_pasted(struct keyboard *k)
{
	static const double PAUSE = 1; // s
	double now = clock_seconds();
	if (k->pasting && now - k->pasted_at > PAUSE)
		set_pasting(k, false);
	k->pasted_at = now;
	return k->pasting;
}

static int function_key(wint_t code)
{
	static const struct {
		wint_t code;
		int key;
	} map[] = {
		{KEY_UP, K_UP}, {KEY_DOWN, K_DOWN}, {KEY_LEFT, K_LEFT}, {KEY_RIGHT, K_RIGHT}, {KEY_PPAGE, K_PGUP},
		{KEY_NPAGE, K_PGDN}, {KEY_HOME, K_HOME}, {KEY_END, K_END}, {KEY_DC, K_DEL}, {KEY_BTAB, K_SHIFT_TAB},
		{KEY_BACKSPACE, K_BACKSPACE}, {KEY_ENTER, K_ENTER}, {KEY_MOUSE, K_MOUSE}, {KEY_F(1), K_F1},
		{KEY_RESIZE, K_NONE},
	};
	for (size_t i = 0; i < sizeof map / sizeof *map; i++)
		if (map[i].code == code)
			return map[i].key;
	return K_OTHER;
}

static struct screen_key mouse_key(void)
{
	struct screen_key out = {.key = K_NONE};
	MEVENT e;
	if (getmouse(&e) != OK)
		return out;
	out = (struct screen_key){.key = K_MOUSE, .x = e.x, .y = e.y};
	if (e.bstate & BUTTON1_PRESSED)
		out.button = MOUSE_LEFT;
	else if (e.bstate & BUTTON4_PRESSED)
		out.button = MOUSE_WHEEL_UP;
	else if (e.bstate & BUTTON5_PRESSED)
		out.button = MOUSE_WHEEL_DOWN;
	else
		out.key = K_NONE; // a button that means nothing, or one that is let go
	return out;
}

static int plain_key(wint_t c)
{
	return c == '\n' ? K_ENTER : c == '\b' ? K_BACKSPACE : (int)c;
}

// A character that is none of curses' keys: part of an answer, or a key. An Escape is one when no sequence follows it.
static int character(struct keyboard *k, wint_t c)
{
	switch (reply_feed(&k->ask.reply, (int)c, clock_seconds())) {
	case REPLY_KEY:
		return plain_key(c);
	case REPLY_OTHER_KEY:
		return K_OTHER;
	case REPLY_ESC_KEY:
		k->held = c == '\033' ? 0 : (int)c; // a second Escape is looked at by the reply itself
		return K_ESC;
	default:
		return K_NONE;
	}
}

// A line may be slow, and tear an answer behind its Escape.
static bool more_comes(const struct keyboard *k)
{
	enum { TORN_MS = 100 };
	struct pollfd fd = {.fd = STDIN_FILENO, .events = POLLIN};
	return k->ask.reply.state == REPLY_ESC && ask_waits(&k->ask) && poll(&fd, 1, TORN_MS) > 0;
}

static struct screen_key next_key(struct keyboard *k)
{
	wint_t c;
	int kind = get_wch(&c);
	if (kind == KEY_CODE_YES && (c == PASTE_BEGINS || c == PASTE_ENDS)) {
		set_pasting(k, c == PASTE_BEGINS);
		k->pasted_at = clock_seconds();
		return (struct screen_key){.key = K_NONE};
	}
	if (kind == KEY_CODE_YES)
		return c == KEY_MOUSE ? mouse_key() : (struct screen_key){.key = function_key(c)};
	if (kind != ERR)
		return (struct screen_key){.key = character(k, c)};
	if (more_comes(k))
		return (struct screen_key){.key = K_NONE};
	return (struct screen_key){.key = reply_give_up(&k->ask.reply, clock_seconds()) ? K_ESC : K_END_OF_KEYS};
}

struct screen_key keyboard_read(struct keyboard *k)
{
	struct screen_key out = {.key = K_NONE};
	if (k->held) {
		out.key = plain_key((wint_t)k->held);
		k->held = 0;
		return out;
	}
	// Keys that mean nothing here (KEY_RESIZE, a button of the mouse that is let go) are passed over.
	while (out.key == K_NONE)
		out = next_key(k);
	ask_go_on(&k->ask);
	if (out.key == K_END_OF_KEYS)
		out.key = K_NONE;
	else
		out.pasted = is_pasted(k);
	return out;
}
