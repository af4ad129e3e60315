#include "table.h"

#include <string.h>

static char *strip(char *text)
{
	text += strspn(text, " \t\r");
	size_t n = strlen(text);
	while (n && strchr(" \t\r", text[n - 1]))
		n--;
	text[n] = '\0';
	return text;
}

// Makes a cell in quotes, where a quote is written twice, its text;
// what is behind the quote that closes it, or NULL: none does.
static char *unquote(char *text)
{
	char *to = text, *from = text + 1;
	for (; *from && !(from[0] == '"' && from[1] != '"'); from++) {
		from += *from == '"';
		*to++ = *from;
	}
	*to = '\0'; // never at `from`, which is ahead
	return *from ? from + 1 : NULL;
}

void cells_cut(struct cells *c, char *line, char separator)
{
	char *at = separator == '|' ? strchr(line, '|') : line;
	*c = (struct cells){0};
	at = at && separator == '|' ? at + 1 : at;
	while (at && c->n < CELLS_MAX) {
		char *text = at + strspn(at, " "), *behind = text;
		bool quoted = *text == '"' && separator != '|';
		if (quoted && !(behind = unquote(text))) {
			c->open = true;
			return;
		}
		char *end = strchr(behind, separator);
		if (separator == '|' && !end)
			return;
		if (end)
			*end++ = '\0';
		c->at[c->n++] = quoted ? text : strip(text);
		at = end;
	}
}

bool cells_are_a_rule(const struct cells *c)
{
	for (int i = 0; i < c->n; i++)
		if (c->at[i][strspn(c->at[i], "-:=+")])
			return false;
	return true;
}
