// UTF-8 as RFC 3629 has it (no surrogates, nothing longer than it need be, nothing above
// U+10FFFF), and text made safe to show.
#include "str_utf8.h"

#include <stdbool.h>
#include <string.h>
#include "qtui/base/str.h"

size_t utf8_bytes(const unsigned char *p)
{
	size_t n = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : p[0] < 0xf5 ? 4 : 0;
	bool too_long = (p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xf0 && p[1] < 0x90);
	bool no_character = (p[0] == 0xed && p[1] > 0x9f) || (p[0] == 0xf4 && p[1] > 0x8f);
	for (size_t i = 1; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	return too_long || no_character ? 0 : n;
}

void str_add_utf8(struct str *s, const char *text)
{
	while (*text) {
		size_t n = 0, sound;
		while (text[n] && (sound = utf8_bytes((const unsigned char *)text + n)) > 0)
			n += sound;
		str_addn(s, text, n);
		text += n;
		if (*text) {
			str_add(s, "\xef\xbf\xbd");
			text++;
		}
	}
}

// Drops a last UTF-8 character that has fewer bytes than its first byte says.
static void drop_cut_character(char *text)
{
	size_t len = strlen(text), back = 0;
	unsigned char lead;
	size_t want;
	while (back < len && back < 3 && ((unsigned char)text[len - 1 - back] & 0xc0) == 0x80)
		back++;
	if (back == len)
		return;
	lead = (unsigned char)text[len - 1 - back];
	want = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : lead >= 0xc0 ? 1 : 0;
	if (back < want)
		text[len - 1 - back] = '\0';
}

bool str_is_hidden(uint32_t c)
{
	static const uint32_t ranges[][2] = { // from, to; rising
	    {0, 0x1f}, {0x7f, 0x9f}, {0xad, 0xad}, {0x34f, 0x34f}, {0x61c, 0x61c}, {0x115f, 0x1160}, {0x17b4, 0x17b5}, {0x180b, 0x180e},
	    {0x200b, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f}, {0x3164, 0x3164}, {0xfeff, 0xfeff}, {0xffa0, 0xffa0}, {0xfff9, 0xfffb},
	    {0xe0000, 0xe0fff}};
	for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
		if (c <= ranges[i][1])
			return c >= ranges[i][0];
	return false;
}

uint32_t utf8_decode(const unsigned char *p, size_t bytes)
{
	uint32_t c = bytes > 1 ? p[0] & (0x7fu >> bytes) : p[0];
	for (size_t i = 1; i < bytes; i++)
		c = c << 6 | (p[i] & 0x3fu);
	return c;
}

// A bare byte is a control character where UTF-8 is not spoken.
static bool is_hidden(const unsigned char *p, size_t bytes)
{
	return bytes ? str_is_hidden(utf8_decode(p, bytes)) : p[0] < 0xa0;
}

void str_oneline(char *text)
{
	char *to = text;
	drop_cut_character(text);
	while (*text) {
		size_t bytes = utf8_bytes((const unsigned char *)text), len = bytes ? bytes : 1;
		if (strchr("\n\r\t", *text))
			*to++ = ' ';
		else if (is_hidden((const unsigned char *)text, bytes))
			*to++ = '?';
		else
			for (size_t i = 0; i < len; i++)
				*to++ = text[i];
		text += len;
	}
	*to = '\0';
}
