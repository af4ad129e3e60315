// What the columns of a profiler's table mean, by the words of its heading.
// Profilers differ in names, not in what they say.
#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "qtui/analysis/latency.h"
#include "qtui/base/mem.h"
#include "table.h"

enum { WORDS_MAX = 8, WORD_MAX = 24, TEXT_MAX = WORDS_MAX * (WORD_MAX + 1), NUMBER_MAX = 48 };
struct words {
	char at[WORDS_MAX][WORD_MAX];
	int n;
};
typedef const char *const *list; // ends with NULL

// The first that a heading has is taken; a column of operator types ("op", "type") is none of them.
static const char *const names[] = {"node name", "full name", "layer name", "module name", "name", "node", "layer", "module", "operator",
    "tensor", NULL};
static const char *const indices[] = {"node index", "index", "idx", "node id", "layer id", "id", "order", NULL};
static const char *const precisions[] = {"precision", "bits", "bit", "bit width", "bitwidth", "data type", "dtype", "quant type", NULL};
// A heading of times has one of the first and otherwise only words of the second,
// so that "start time" and "time ratio" are none.
static const char *const times[] = {"latency", "time", "dur", "duration", "elapsed", "runtime", "avg", "average", "mean", "median", NULL};
static const char *const beside[] = {"execution", "exec", "run", "inference", "kernel", "layer", "node", "op", "module", "measured", "wall",
    NULL};

static const struct unit {
	const char *word;
	double us;
} units[] = {{"us", 1}, {"usec", 1}, {"microsecond", 1}, {"microseconds", 1}, {"ms", 1e3}, {"msec", 1e3}, {"millisecond", 1e3},
    {"milliseconds", 1e3}, {"ns", 1e-3}, {"nsec", 1e-3}, {"s", 1e6}, {"sec", 1e6}, {"second", 1e6}, {"seconds", 1e6}};

static bool has(list l, const char *word)
{
	for (; *l; l++)
		if (strcmp(*l, word) == 0)
			return true;
	return false;
}

static double unit_of(const char *word)
{
	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (strcmp(units[i].word, word) == 0)
			return units[i].us;
	return UNIT_UNKNOWN;
}

// Both characters that are written for micro, in UTF-8.
static bool is_micro(const char *text)
{
	return strncmp(text, "\xc2\xb5", 2) == 0 || strncmp(text, "\xce\xbc", 2) == 0;
}

// "averageMs", "average_ms" and "Average (ms)" are the same words, in small letters. Words beyond the last say nothing.
static void cut_words(struct words *w, const char *text)
{
	size_t length = 0;
	char before = '\0';
	*w = (struct words){0};
	for (; *text; before = *text++) {
		bool micro = is_micro(text), letter = micro || isalnum((unsigned char)*text);
		bool begins = letter && (length == 0 || (islower((unsigned char)before) && isupper((unsigned char)*text)));
		if (begins && w->n == WORDS_MAX)
			return;
		if (begins)
			w->n++, length = 0;
		if (letter && length < WORD_MAX - 1)
			w->at[w->n - 1][length++] = micro ? 'u' : (char)tolower((unsigned char)*text);
		text += micro;
		length = letter ? length : 0;
	}
}

static void join(char *out, size_t size, const struct words *w, const char *between)
{
	int used = 0;
	out[0] = '\0';
	for (int i = 0; i < w->n; i++)
		used += snprintf(out + used, size - (size_t)used, "%s%s", i ? between : "", w->at[i]);
}

// A column of times; *unit as its heading says. "dur" is what a Chrome trace calls its microseconds.
static bool is_time(const char *cell, double *unit)
{
	struct words w;
	bool any = false;
	*unit = UNIT_UNKNOWN;
	cut_words(&w, cell);
	for (int i = 0; i < w.n; i++) {
		double us = unit_of(w.at[i]);
		any |= us != UNIT_UNKNOWN || has(times, w.at[i]);
		if (us != UNIT_UNKNOWN)
			*unit = us;
		else if (!has(times, w.at[i]) && !has(beside, w.at[i]))
			return false;
	}
	if (*unit == UNIT_UNKNOWN && w.n == 1 && strcmp(w.at[0], "dur") == 0)
		*unit = 1;
	return any && !strchr(cell, '%');
}

static int find_column(const struct cells *c, list wanted)
{
	for (; *wanted; wanted++)
		for (int i = 0; i < c->n; i++) {
			struct words w;
			char text[TEXT_MAX];
			cut_words(&w, c->at[i]);
			join(text, sizeof text, &w, " ");
			if (strcmp(text, *wanted) == 0)
				return i;
		}
	return -1;
}

// Where there is a time of many runs, too, the mean of them is meant.
static bool is_mean(const char *cell)
{
	static const char *const mean[] = {"avg", "average", "mean", "median", NULL};
	struct words w;
	bool any = false;
	cut_words(&w, cell);
	for (int i = 0; i < w.n; i++)
		any |= has(mean, w.at[i]);
	return any;
}

bool heading_of(struct heading *h, const struct cells *c, char separator)
{
	*h = (struct heading){.separator = separator, .name = find_column(c, names), .index = find_column(c, indices), .time = -1,
	    .precision = find_column(c, precisions)};
	for (int i = 0; i < c->n; i++) {
		double unit;
		bool taken = i == h->name || i == h->index || i == h->precision;
		if (taken || !is_time(c->at[i], &unit) || (h->time >= 0 && (is_mean(c->at[h->time]) || !is_mean(c->at[i]))))
			continue;
		h->time = i;
		h->unit = unit;
	}
	return h->time >= 0 && (h->name >= 0 || h->index >= 0);
}

static bool read_with(struct heading *h, char *line, char separator)
{
	struct cells c;
	cells_cut(&c, line, separator);
	return heading_of(h, &c, separator);
}

bool heading_read(struct heading *h, const char *line)
{
	bool found = false;
	for (const char *s = "|\t;,"; *s && !found; s++) {
		char *copy = xstrdup(line);
		found = strchr(line, *s) && read_with(h, copy, *s);
		free(copy);
	}
	return found;
}

bool time_read(const char *cell, char separator, double *value, double *unit)
{
	char number[NUMBER_MAX], *comma;
	size_t n = strspn(cell, separator == ';' ? "0123456789.,+-eE" : "0123456789.+-eE");
	struct words w;
	if (n == 0 || n >= sizeof number)
		return false;
	memcpy(number, cell, n);
	number[n] = '\0';
	if ((comma = strchr(number, ',')) && !strchr(number, '.'))
		*comma = '.'; // where ';' parts cells, a comma is the decimal point
	cut_words(&w, cell + n);
	*unit = w.n == 1 ? unit_of(w.at[0]) : UNIT_UNKNOWN;
	return str_to_double(number, value) && (w.n == 0 || *unit != UNIT_UNKNOWN);
}

int precision_read(const char *cell)
{
	static const struct {
		int precision;
		const char *word[16];
	} known[] = {
	    {PREC_INT8, {"int8", "i8", "s8", "uint8", "u8", "qint8", "quint8", "8", "8bit", "8bits", "w8a8", "a8w8"}},
	    {PREC_INT16,
	        {"int16", "i16", "s16", "uint16", "u16", "qint16", "quint16", "16", "16bit", "16bits", "w16a16", "w8a16", "a16w8", "a16w16"}},
	    {PREC_FLOAT, {"float", "float32", "fp32", "f32", "32", "32bit", "float16", "fp16", "f16", "half", "bf16", "bfloat16", "f"}},
	    {LATENCY_UNSAID, {"", "int32", "i32", "int64", "i64", "uint32", "uint64", "bool", "none", "na"}},
	};
	struct words w;
	char text[TEXT_MAX];
	cut_words(&w, cell);
	join(text, sizeof text, &w, "");
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		for (size_t k = 0; k < 16 && known[i].word[k]; k++)
			if (strcmp(known[i].word[k], text) == 0)
				return known[i].precision;
	return -1;
}
