#include "qtui/tui/reply.h"

#include <stdio.h>
#include <string.h>

static const double PATIENCE = 1; // seconds for the rest of a sequence

// The name and version of the terminal, the size of a cell in pixels,
// and what kind of terminal it is, which all of them answer.
const char *reply_question(void)
{
	return "\033[>0q\033[16t\033[c";
}

// A pixel that is not shown. Multiplexers would take it for a title.
const char *reply_second_question(const struct reply *r)
{
	return r->da && !r->multiplexer ? "\033_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\033\\" : NULL;
}

enum pictures reply_pictures(const struct reply *r)
{
	if (r->kitty)
		return PICTURES_KITTY;
	if (r->iterm)
		return PICTURES_ITERM;
	return r->sixel && r->cell_w > 0 ? PICTURES_SIXEL : PICTURES_CELLS;
}

// "?62;4;22": attribute 4 is sixel.
static void take_attributes(struct reply *r)
{
	const char *p = r->text + 1;
	r->da = true;
	for (int i = 0; p; i++) {
		int value = 0;
		if (sscanf(p, "%9d", &value) == 1 && i > 0 && value == 4)
			r->sixel = true;
		p = strchr(p, ';');
		p = p ? p + 1 : NULL;
	}
}

// "[1;3A", "[15~", "[3^" of rxvt: with numbers only, as the keys have them. The answers and reports of terminals end otherwise.
static bool is_key(const struct reply *r, int final)
{
	return strspn(r->text, "0123456789;[") == strlen(r->text) && (strchr("ABCDEFGHPQSZabcdu~^$@", final) || r->text[0] == '[');
}

static enum reply_verdict take_csi(struct reply *r, int final)
{
	int h, w;
	r->text[r->n] = '\0';
	r->state = REPLY_NONE;
	if (final == 'c' && r->text[0] == '?')
		take_attributes(r);
	else if (final == 't' && sscanf(r->text, "6;%4d;%4d", &h, &w) == 2 && h >= 4 && h <= 200 && w >= 2 && w <= 200) {
		r->cell_w = w;
		r->cell_h = h;
	}
	return is_key(r, final) ? REPLY_OTHER_KEY : REPLY_TAKEN;
}

static void take_string(struct reply *r)
{
	r->text[r->n] = '\0';
	if (r->kind == '_' && !strncmp(r->text, "Gi=31;OK", 8))
		r->kitty = true;
	if (r->kind != 'P' || strncmp(r->text, ">|", 2))
		return;
	r->iterm = !strncmp(r->text + 2, "iTerm2", 6) || !strncmp(r->text + 2, "WezTerm", 7);
	r->multiplexer = !strncmp(r->text + 2, "tmux", 4) || !strncmp(r->text + 2, "screen", 6);
}

static void add(struct reply *r, int c)
{
	if (r->n < (int)sizeof r->text - 1)
		r->text[r->n++] = (char)c;
}

static enum reply_verdict begin(struct reply *r, int c)
{
	r->n = 0;
	if (c == '[')
		r->state = REPLY_CSI;
	else if (c == 'O')
		r->state = REPLY_SS3;
	else if (c > 0 && c < 0x80 && strchr("P_]^X", c)) {
		r->state = REPLY_STRING;
		r->kind = (char)c;
	} else if (c == '\033') {
		return REPLY_ESC_KEY; // the one before was a key; this one is looked at
	} else {
		r->state = REPLY_NONE;
		return REPLY_ESC_KEY;
	}
	return REPLY_TAKEN;
}

// The function keys of Linux' console begin with a second bracket, which would end any other sequence.
static enum reply_verdict in_csi(struct reply *r, int c)
{
	if (c >= 0x40 && c <= 0x7e && !(c == '[' && r->n == 0))
		return take_csi(r, c);
	add(r, c);
	return REPLY_TAKEN;
}

// One character, in some terminals behind a number that says which of Shift, Alt and Ctrl is held.
static enum reply_verdict in_ss3(struct reply *r, int c)
{
	if (c >= '0' && c <= '9')
		return REPLY_TAKEN;
	r->state = REPLY_NONE;
	return REPLY_OTHER_KEY;
}

static void in_string(struct reply *r, int c)
{
	bool end = c == '\a' || (r->state == REPLY_STRING_ESC && c == '\\');
	if (end)
		take_string(r);
	else if (c != '\033')
		add(r, c);
	r->state = end ? REPLY_NONE : c == '\033' ? REPLY_STRING_ESC : REPLY_STRING;
}

enum reply_verdict reply_feed(struct reply *r, int c, double now)
{
	if (r->state != REPLY_NONE && now - r->since > PATIENCE)
		r->state = REPLY_NONE; // its end never came
	switch (r->state) {
	case REPLY_NONE:
		if (c != '\033')
			return REPLY_KEY;
		r->state = REPLY_ESC;
		r->since = now;
		return REPLY_TAKEN;
	case REPLY_ESC:
		return begin(r, c);
	case REPLY_CSI:
		return in_csi(r, c);
	case REPLY_SS3:
		return in_ss3(r, c);
	default:
		in_string(r, c);
		return REPLY_TAKEN;
	}
}

bool reply_give_up(struct reply *r, double now)
{
	bool escape = r->state == REPLY_ESC;
	if (escape || (r->state != REPLY_NONE && now - r->since > PATIENCE))
		r->state = REPLY_NONE;
	return escape;
}
