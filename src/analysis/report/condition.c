#include "qtui/analysis/condition.h"

#include <string.h>
#include "qtui/base/str.h"

enum { WORD_MAX = 64 };

const struct drop_row *drop_row(enum drop d)
{
	static const struct drop_row rows[] = {
#define DROP(id, name, figure, ...) {name, figure},
#include "qtui/analysis/drops.def"
#undef DROP
	};
	return &rows[d];
}

static enum status parse_one(void *out, const struct condition *table, size_t n, const char *words, const char *word, struct error *err)
{
	size_t sign = strcspn(word, "<>"), name = sign;
	while (name && word[name - 1] == ' ')
		name--;
	for (size_t i = 0; i < n; i++) {
		const struct condition *c = &table[i];
		double value;
		if (strlen(c->name) != name || strncmp(word, c->name, name) != 0 || word[sign] != c->sign)
			continue;
		const char *number = word + sign + 1;
		if (!str_to_double(number + strspn(number, " "), &value) || !(value >= c->low && value <= c->high))
			return error_set(err, STATUS_USAGE, "%s: %s takes a number from %g to %g", word, c->name, c->low, c->high);
		*(double *)(void *)((char *)out + c->field) = value;
		return STATUS_OK;
	}
	return error_set(err, STATUS_USAGE, "\"%s\" is no condition: %s", word, words);
}

enum status conditions_parse(void *out, const struct condition *table, size_t n, const char *words, const char *text, struct error *err)
{
	enum status st;
	for (const char *p = text;; p++) {
		char word[WORD_MAX];
		p += strspn(p, " ");
		size_t length = strcspn(p, ",");
		if (length >= sizeof word)
			return error_set(err, STATUS_USAGE, "\"%.40s...\" is no condition: %s", p, words);
		memcpy(word, p, length);
		while (length && word[length - 1] == ' ')
			length--;
		word[length] = '\0';
		st = parse_one(out, table, n, words, word, err);
		p += strcspn(p, ",");
		if (st != STATUS_OK || *p == '\0')
			return st;
	}
}
