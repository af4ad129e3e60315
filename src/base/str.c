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

void str_vaddline(struct str *s, const char *fmt, va_list ap)
{
	size_t begin = s->len;
	str_vaddf(s, fmt, ap);
	if (s->len > begin) {
		str_oneline(s->text + begin);
		s->len = begin + strlen(s->text + begin);
	}
	str_add(s, "\n");
}

void str_addline(struct str *s, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	str_vaddline(s, fmt, ap);
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

char *str_format(const char *fmt, ...)
{
	struct str s = {0};
	va_list ap;
	va_start(ap, fmt);
	str_vaddf(&s, fmt, ap);
	va_end(ap);
	return str_detach(&s);
}

char *str_trim(char *text)
{
	static const char blank[] = " \t\n\v\f\r";
	text += strspn(text, blank);
	size_t n = strlen(text);
	while (n && strchr(blank, text[n - 1]))
		n--;
	text[n] = '\0';
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

void str_fit(char *out, size_t size, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	str_vfit(out, size, fmt, ap);
	va_end(ap);
}
