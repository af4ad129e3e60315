#include "qtui/tui/filter.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "qtui/base/mem.h"
#include "qtui/base/str.h"
#include "qtui/tui/text.h"

#define FILTER_TERMS 16
#define FILTER_TEXT 128

// Words that stand alone in a filter, and what they ask of a node.
enum flag { FLAG_NONE, FLAG_INT8, FLAG_INT16, FLAG_FLOAT, FLAG_EDITED, FLAG_PENDING, FLAG_REFUSED, FLAG_MARKED };
static const char *const flag_names[] = {
	[FLAG_INT8] = "int8", [FLAG_INT16] = "int16", [FLAG_FLOAT] = "float", [FLAG_EDITED] = "edited",
	[FLAG_PENDING] = "pending", [FLAG_REFUSED] = "refused", [FLAG_MARKED] = "marked",
};
enum { N_FLAGS = sizeof flag_names / sizeof *flag_names };

enum relation { REL_FLAG, REL_LESS, REL_LESS_EQUAL, REL_MORE, REL_MORE_EQUAL, REL_EQUAL, REL_GLOB, REL_PART };
struct term {
	enum relation relation;
	bool negated;
	enum flag flag;
	enum column column;
	double number;
	char text[FILTER_TEXT];
};
struct filter {
	int n;
	struct term term[FILTER_TERMS];
};

const char *filter_help(int i)
{
	static const char *const lines[] = {
		"op:Conv op:*Pool       the operator, with * and ?",
		"name~cv3 or just cv3   a part of the name",
		"name:/model.24/*       the whole name, with * and ?",
		"snr<20 macs>=10M       any column of numbers: < <= > >= =",
		"int8 int16 float       the precision",
		"edited pending refused marked",
		"!term                  all that do not match it",
	};
	return i < (int)(sizeof lines / sizeof *lines) ? lines[i] : NULL;
}

const char *filter_word(int i)
{
	return i >= 0 && i + 1 < N_FLAGS ? flag_names[i + 1] : NULL;
}

static enum relation read_relation(const char **p)
{
	char c = *(*p)++;
	bool equal = (c == '<' || c == '>') && **p == '=';
	*p += equal;
	switch (c) {
	case '<':
		return equal ? REL_LESS_EQUAL : REL_LESS;
	case '>':
		return equal ? REL_MORE_EQUAL : REL_MORE;
	case ':':
		return REL_GLOB;
	case '~':
		return REL_PART;
	default:
		return REL_EQUAL;
	}
}

// "20", "1e-3", "10M"
static bool read_number(const char *s, double *out)
{
	static const char unit[] = "kMGT";
	char digits[FILTER_TEXT];
	size_t n = strlen(s);
	const char *u = n ? strchr(unit, s[n - 1]) : NULL;
	snprintf(digits, sizeof digits, "%.*s", (int)(u ? n - 1 : n), s);
	if (!str_to_double(digits, out))
		return false;
	if (u)
		*out *= pow(1000, (double)(u - unit + 1));
	return true;
}

static enum status parse_comparison(struct term *t, const char *word, const char *at, struct error *err)
{
	char name[FILTER_TEXT];
	bool text;
	snprintf(name, sizeof name, "%.*s", (int)(at - word), word);
	if (columns_find(&t->column, name, err))
		return err->status;
	t->relation = read_relation(&at);
	text = !columns_row(t->column)->value;
	if (text && t->relation == REL_EQUAL)
		t->relation = REL_GLOB;
	if (text != (t->relation == REL_GLOB || t->relation == REL_PART))
		return error_set(err, STATUS_USAGE, text ? "\"%s\" is text: write %s:PATTERN or %s~PART"
		    : "\"%s\" is a number: write %s<NUMBER or %s>NUMBER", name, name, name);
	snprintf(t->text, sizeof t->text, "%s", at);
	if (!text && !read_number(at, &t->number))
		return error_set(err, STATUS_USAGE, "\"%.60s\" in \"%.60s\" is no number", at, word);
	return STATUS_OK;
}

static enum status parse_term(struct term *t, const char *word, struct error *err)
{
	const char *at;
	*t = (struct term){.negated = word[0] == '!'};
	word += t->negated;
	if (!*word)
		return error_set(err, STATUS_USAGE, "\"!\" stands before a term, without a space");
	for (int i = 1; i < N_FLAGS; i++)
		if (!strcmp(word, flag_names[i])) {
			t->flag = (enum flag)i;
			return STATUS_OK;
		}
	at = strpbrk(word, "<>=:~");
	if (at && at > word)
		return parse_comparison(t, word, at, err);
	t->relation = REL_PART;
	t->column = COLUMN_NAME;
	snprintf(t->text, sizeof t->text, "%s", word);
	return STATUS_OK;
}

enum status filter_parse(struct filter **out, const char *text, struct error *err)
{
	struct filter *f = xcalloc(1, sizeof *f);
	char word[FILTER_TEXT];
	*out = NULL;
	for (;;) {
		size_t n;
		text += strspn(text, " \t");
		n = strcspn(text, " \t");
		if (!n)
			break;
		if (n >= sizeof word || f->n == FILTER_TERMS) {
			error_set(err, STATUS_USAGE, "a filter has at most %d terms of %d characters", FILTER_TERMS, FILTER_TEXT - 1);
			goto fail;
		}
		snprintf(word, sizeof word, "%.*s", (int)n, text);
		text += n;
		if (parse_term(&f->term[f->n], word, err))
			goto fail;
		f->n++;
	}
	if (f->n)
		*out = f;
	else
		filter_free(&f);
	return STATUS_OK;
fail:
	filter_free(&f);
	return err->status;
}

void filter_free(struct filter **f)
{
	free(*f);
	*f = NULL;
}

static bool has_flag(enum flag flag, const struct node_row *row, bool marked)
{
	switch (flag) {
	case FLAG_INT8:
		return row->precision == PREC_INT8;
	case FLAG_INT16:
		return row->precision == PREC_INT16;
	case FLAG_FLOAT:
		return row->precision == PREC_FLOAT;
	case FLAG_EDITED:
		return row->edited;
	case FLAG_PENDING:
		return row->pending;
	case FLAG_REFUSED:
		return row->refused != NULL;
	default:
		return marked;
	}
}

static bool holds(enum relation r, double v, double limit)
{
	switch (r) {
	case REL_LESS:
		return v < limit;
	case REL_LESS_EQUAL:
		return v <= limit;
	case REL_MORE:
		return v > limit;
	case REL_MORE_EQUAL:
		return v >= limit;
	default:
		return v == limit;
	}
}

// A node whose figure is not known is left out, by a condition and by its opposite.
static bool term_matches(const struct term *t, const struct snapshot *s, bool marked, int node)
{
	const struct column_row *col = columns_row(t->column);
	bool yes;
	if (t->relation == REL_FLAG) {
		yes = has_flag(t->flag, &s->row[node], marked);
	} else if (col->value) {
		double v = col->value(s, node);
		if (isnan(v))
			return false;
		yes = holds(t->relation, v, t->number);
	} else {
		const char *text = col->text(s, node);
		yes = t->relation == REL_GLOB ? str_glob(t->text, text) : text_find(text, t->text) != NULL;
	}
	return yes != t->negated;
}

bool filter_match(const struct filter *f, const struct snapshot *s, const bool *marked, int node)
{
	for (int i = 0; f && i < f->n; i++)
		if (!term_matches(&f->term[i], s, marked && marked[node], node))
			return false;
	return true;
}
