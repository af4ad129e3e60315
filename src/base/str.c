#include "qtui/base/str.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "qtui/base/mem.h"

// Room for n more bytes and the NUL.
static void reserve(struct str *s, size_t n)
{
	s->text = xgrow(s->text, &s->cap, s->len + n + 1, 1);
}

void str_addn(struct str *s, const char *text, size_t n)
{
	reserve(s, n);
	if (n)
		memcpy(s->text + s->len, text, n);
	s->len += n;
	s->text[s->len] = '\0';
}

void str_add(struct str *s, const char *text)
{
	str_addn(s, text, strlen(text));
}

void str_vaddf(struct str *s, const char *fmt, va_list ap)
{
	va_list again;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	assert(n >= 0);
	if (n < 0)
		return;
	reserve(s, (size_t)n);
	vsnprintf(s->text + s->len, (size_t)n + 1, fmt, ap);
	s->len += (size_t)n;
}

void str_addf(struct str *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	str_vaddf(s, fmt, ap);
	va_end(ap);
}

const char *str_text(const struct str *s)
{
	return s->text ? s->text : "";
}

char *str_detach(struct str *s)
{
	char *text = s->text ? s->text : xstrdup("");

	*s = (struct str){0};
	return text;
}

void str_clear(struct str *s)
{
	s->len = 0;
	if (s->text)
		s->text[0] = '\0';
}

void str_done(struct str *s)
{
	free(s->text);
	*s = (struct str){0};
}

static bool continues_character(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

static void leave_out_middle(char *out, size_t size, const char *text, size_t len)
{
	static const char gap[] = "...";
	size_t head = size / 2;

	while (head && continues_character(text[head]))
		head--;
	const char *tail = text + len - (size - sizeof gap - head);
	while (continues_character(*tail))
		tail++;
	memcpy(out, text, head);
	memcpy(out + head, gap, sizeof gap - 1);
	strcpy(out + head + sizeof gap - 1, tail);
}

// Errors must be told where there is no memory, too: then the end goes.
void str_vfit(char *out, size_t size, const char *fmt, va_list ap)
{
	va_list again;
	va_copy(again, ap);
	int len = vsnprintf(out, size, fmt, ap);
	char *whole = len > 0 && (size_t)len >= size ? malloc((size_t)len + 1) : NULL;

	if (whole && vsnprintf(whole, (size_t)len + 1, fmt, again) == len)
		leave_out_middle(out, size, whole, (size_t)len);
	free(whole);
	va_end(again);
}

// Bytes of the character at p, which a NUL ends somewhere; 0 for a byte that does not begin one.
static size_t utf8_bytes(const unsigned char *p)
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
	static const uint32_t ranges[][2] = {{0, 0x1f}, {0x7f, 0x9f}, {0xad, 0xad}, {0x34f, 0x34f}, {0x61c, 0x61c}, {0x115f, 0x1160}, {0x17b4, 0x17b5},
	    {0x180b, 0x180e}, {0x200b, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f}, {0x3164, 0x3164}, {0xfeff, 0xfeff}, {0xffa0, 0xffa0},
	    {0xfff9, 0xfffb}, {0xe0000, 0xe0fff}};

	for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
		if (c <= ranges[i][1])
			return c >= ranges[i][0];
	return false;
}

static uint32_t decode(const unsigned char *p, size_t bytes)
{
	uint32_t c = bytes > 1 ? p[0] & (0x7fu >> bytes) : p[0];

	for (size_t i = 1; i < bytes; i++)
		c = c << 6 | (p[i] & 0x3fu);
	return c;
}

// A bare byte is a control character where UTF-8 is not spoken.
static bool is_hidden(const unsigned char *p, size_t bytes)
{
	return bytes ? str_is_hidden(decode(p, bytes)) : p[0] < 0xa0;
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
