// Text on a grid: UTF-8 one glyph at a time, columns taken, and shortening.
// Node names come from files: bytes that are no UTF-8 and hidden characters (str.h) become U+FFFD,
// so that nothing in a name reaches the terminal as a command or unseen.
#ifndef QTUI_TUI_TEXT_H
#define QTUI_TUI_TEXT_H

#include <stddef.h>
#include <stdint.h>

#define TEXT_UNKNOWN 0xFFFDu

// Decodes the glyph at *p and moves past it; 0 at the end, where it stays.
uint32_t text_next(const char **p);
int text_encode(uint32_t glyph, char out[5]); // bytes written without the NUL
int text_glyph_width(uint32_t glyph);         // 0 combining, 1, or 2
int text_width(const char *s);

enum cut { CUT_RIGHT, CUT_LEFT, CUT_MIDDLE };
// Copies `s`, shortened to `width` columns with an ellipsis where `cut` says. CUT_LEFT prefers to begin at a '/'.
void text_cut(char *out, size_t size, const char *s, int width, enum cut cut);
// Case-insensitive (ASCII) search; NULL when `part` is not in `s`.
const char *text_find(const char *s, const char *part);

// How many bytes of a text go on a line of `width` columns: up to the last blank (not before a % or dB) or behind the
// last | that fits, or all that fits.
int text_line(const char *text, int width);
int text_lines(const char *text, int width); // how many lines of that width it takes

#endif
