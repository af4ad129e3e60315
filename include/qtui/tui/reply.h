// What a terminal answers when it is asked what it can. Answers come among the keys,
// at once, late, in pieces or never: whoever reads keys feeds every character here first.
// Any other sequence is swallowed whole too: its characters are no keys. Where it is a key that the terminal's entry does
// not have, it is one without a name.
#ifndef QTUI_TUI_REPLY_H
#define QTUI_TUI_REPLY_H

#include <stdbool.h>

enum pictures { PICTURES_CELLS, PICTURES_SIXEL, PICTURES_ITERM, PICTURES_KITTY }; // how a terminal is given pictures
struct reply {
	enum { REPLY_NONE, REPLY_ESC, REPLY_CSI, REPLY_SS3, REPLY_STRING, REPLY_STRING_ESC } state;
	char text[256]; // of the sequence so far, without its introducer
	int n;
	char kind;      // of a string: 'P', '_', ']', '^' or 'X'
	double since;   // time of its first character
	bool da, sixel, iterm, kitty, multiplexer; // what has been answered
	int cell_w, cell_h;                        // pixels; 0: not known
};
enum reply_verdict {
	REPLY_KEY,     // the character is a key
	REPLY_TAKEN,   // it belongs to a sequence
	REPLY_OTHER_KEY, // it ends a sequence that is a key of no name
	REPLY_ESC_KEY, // what came before was the Escape key after all; the character is a key of its own
};
// ESC itself is TAKEN: it is the Escape key when nothing follows (reply_give_up) or when no sequence begins.
enum reply_verdict reply_feed(struct reply *r, int c, double now);
// Nothing more has come: true when an Escape that was held back is a key. A sequence in pieces is waited for a second.
bool reply_give_up(struct reply *r, double now);
// What is to be written to ask: first what any terminal may be sent, then, when that was answered, for pictures.
const char *reply_question(void);
const char *reply_second_question(const struct reply *r); // NULL: none is to be asked
enum pictures reply_pictures(const struct reply *r);

#endif
