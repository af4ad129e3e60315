#include "qtui/tui/text.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include "qtui/base/str.h"

static bool is_continuation(unsigned char c)
{
	return (c & 0xC0) == 0x80;
}

uint32_t text_next(const char **p)
{
	static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
	const unsigned char *s = (const unsigned char *)*p;
	int n = s[0] < 0x80 ? 1 : (s[0] >> 5) == 6 ? 2 : (s[0] >> 4) == 14 ? 3 : (s[0] >> 3) == 30 ? 4 : 0;
	uint32_t g = n == 1 ? s[0] : n ? s[0] & (0x7Fu >> n) : TEXT_UNKNOWN;
	if (!s[0])
		return 0;
	for (int i = 1; i < n; i++) {
		if (!is_continuation(s[i])) {
			n = 0;
			break;
		}
		g = g << 6 | (s[i] & 0x3Fu);
	}
	*p += n ? n : 1;
	if (!n || g < least[n] || g > 0x10FFFF || (g >= 0xD800 && g < 0xE000) || str_is_hidden(g))
		return TEXT_UNKNOWN;
	return g;
}

int text_encode(uint32_t g, char out[5])
{
	int n = g < 0x80 ? 1 : g < 0x800 ? 2 : g < 0x10000 ? 3 : 4;
	if (n == 1) {
		out[0] = (char)g;
	} else {
		for (int i = n - 1; i > 0; i--, g >>= 6)
			out[i] = (char)(0x80 | (g & 0x3F));
		out[0] = (char)((0xF00 >> n) | g);
	}
	out[n] = '\0';
	return n;
}

struct range {
	uint32_t first, last;
};

static bool in_ranges(const struct range *r, size_t n, uint32_t g)
{
	for (size_t i = 0; i < n; i++)
		if (g >= r[i].first && g <= r[i].last)
			return true;
	return false;
}

// Not wcwidth: what is drawn, and therefore what tests compare, must not depend on the locale.
int text_glyph_width(uint32_t g)
{
	static const struct range none[] = {
		{0x300, 0x36F}, {0x483, 0x489}, {0x591, 0x5BD}, {0x610, 0x61A}, {0x64B, 0x65F}, {0x1AB0, 0x1AFF},
		{0x1DC0, 0x1DFF}, {0x200B, 0x200F}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}, {0xFEFF, 0xFEFF},
	};
	static const struct range two[] = {
		{0x1100, 0x115F}, {0x2E80, 0x303E}, {0x3041, 0xA4CF}, {0xAC00, 0xD7A3}, {0xF900, 0xFAFF}, {0xFE30, 0xFE6F},
		{0xFF00, 0xFF60}, {0xFFE0, 0xFFE6}, {0x1F300, 0x1F64F}, {0x1F680, 0x1F6FF}, {0x1F900, 0x1F9FF},
		{0x20000, 0x3FFFD},
	};
	if (g < 0x300)
		return 1;
	if (in_ranges(none, sizeof none / sizeof *none, g))
		return 0;
	return in_ranges(two, sizeof two / sizeof *two, g) ? 2 : 1;
}

int text_width(const char *s)
{
	int w = 0;
	for (uint32_t g; (g = text_next(&s));)
		w += text_glyph_width(g);
	return w;
}

// Past as many whole glyphs as fit into `width` columns.
static const char *skip_columns(const char *s, int width)
{
	for (const char *next = s; *s; s = next) {
		uint32_t g = text_next(&next);
		width -= text_glyph_width(g);
		if (width < 0)
			break;
	}
	return s;
}

// The shortest way in from the left after which at most `width` columns are left.
static const char *skip_until(const char *s, int width)
{
	int w = text_width(s);
	while (*s && w > width) {
		uint32_t g = text_next(&s);
		w -= text_glyph_width(g);
	}
	return s;
}

static const char *tail_from_slash(const char *tail, int width)
{
	size_t at = strcspn(tail, "/");
	return tail[at] && at <= (size_t)width / 4 ? tail + at : tail;
}

void text_cut(char *out, size_t size, const char *s, int width, enum cut cut)
{
	int head, tail;
	const char *end;
	if (width <= 0) {
		out[0] = '\0';
		return;
	}
	if (text_width(s) <= width) {
		snprintf(out, size, "%s", s);
		return;
	}
	head = cut == CUT_RIGHT ? width - 1 : cut == CUT_LEFT ? 0 : (width - 1) / 2;
	tail = width - 1 - head;
	end = cut == CUT_RIGHT ? "" : skip_until(s, tail);
	if (cut == CUT_LEFT)
		end = tail_from_slash(end, width);
	snprintf(out, size, "%.*s…%s", (int)(skip_columns(s, head) - s), s, end);
}

const char *text_find(const char *s, const char *part)
{
	size_t n = strlen(part);
	for (; *s; s++)
		if (!strncasecmp(s, part, n))
			return s;
	return n ? NULL : s;
}

// A number stays on the line of its unit.
static bool is_unit(const char *p)
{
	return p[0] == '%' || (p[0] == 'd' && p[1] == 'B');
}

int text_line(const char *text, int width)
{
	const char *at = text, *before = text, *end = NULL;
	for (uint32_t g; (g = text_next(&at)); before = at) {
		if (g == ' ' && !is_unit(at))
			end = before;
		width -= text_glyph_width(g);
		if (width < 0)
			return (int)((end ? end : before) - text);
		if (g == '|')
			end = at;
	}
	return (int)(before - text);
}

int text_lines(const char *text, int width)
{
	int lines = 0;
	for (; *text && width > 0; lines++) {
		int n = text_line(text, width);
		text += n > 0 ? n : 1;
		text += *text == ' ';
	}
	return lines;
}
