// NAME=VALUE arguments: '=' in a name is escaped by a backslash.
#include "qtui/base/mem.h"
#include "verbs.h"

static const char *unescaped_equals(const char *text, bool last)
{
	const char *found = NULL;
	for (const char *p = text; *p; p++)
		if (*p == '=' && (p == text || p[-1] != '\\')) {
			found = p;
			if (!last)
				break;
		}
	return found;
}

const char *name_value(char **name, const char *text, bool last)
{
	const char *at = unescaped_equals(text, last);
	if (!at || at == text)
		return NULL;
	char *to = *name = xmalloc((size_t)(at - text) + 1);
	for (const char *p = text; p < at; p++)
		if (!(*p == '\\' && p[1] == '='))
			*to++ = *p;
	*to = '\0';
	return at + 1;
}
