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

static enum status take(void *out, const struct condition *c, const char *word, const char *sign, struct error *err)
{
	double value = NAN;
	bool right = *sign == c->sign && str_to_double(sign + 1 + strspn(sign + 1, " "), &value) && value >= c->low && value <= c->high;
	if (right)
		*(double *)(void *)((char *)out + c->field) = value;
	return right ? STATUS_OK
	             : error_set(err, STATUS_USAGE, "%s: it is written %s%cNUMBER, with a number from %g to %g%s", word, c->name, c->sign, c->low,
	                   c->high, *sign && strpbrk(sign + 1, "<>") ? "; a comma stands between two conditions" : "");
}

static enum status parse_one(void *out, const struct condition *table, size_t n, const char *words, const char *word, struct error *err)
{
	size_t sign = strcspn(word, "<>="), name = sign;
	while (name && word[name - 1] == ' ')
		name--;
	for (size_t i = 0; i < n; i++)
		if (strlen(table[i].name) == name && strncmp(word, table[i].name, name) == 0)
			return take(out, &table[i], word, word + sign, err);
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
		if (length == 0 && *text)
			return error_set(err, STATUS_USAGE, "\"%.80s\": a condition is missing beside a comma", text);
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
