// Text for people on standard output. Names in it come from files, and a terminal would obey their control bytes.
#include <stdio.h>
#include "qtui/base/str.h"
#include "verbs.h"

void say(const char *fmt, ...)
{
	struct str text = {0};
	va_list ap;
	va_start(ap, fmt);
	str_vaddf(&text, fmt, ap);
	va_end(ap);
	bool ends = str_has_suffix(fmt, "\n");
	if (ends)
		text.text[--text.len] = '\0';
	if (text.len)
		str_oneline(text.text);
	fputs(str_text(&text), stdout);
	if (ends)
		putchar('\n');
	str_done(&text);
}
