// Comparing names: globs, words, affixes, distance.
#include "qtui/base/str.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "str_utf8.h"

#define NO_CHARACTER 0x110000u // above all of them: stands for a byte that is no UTF-8

// The character at *s, which moves behind it.
static uint32_t take_character(const char **s)
{
	const unsigned char *p = (const unsigned char *)*s;
	size_t bytes = utf8_bytes(p);
	*s += bytes ? bytes : 1;
	return bytes ? utf8_decode(p, bytes) : NO_CHARACTER + *p;
}

// Behind the ']' of the set that begins at p ("[..."), or NULL when it has no end.
static const char *set_end(const char *p)
{
	p++;
	if (*p == '!' || *p == '^')
		p++;
	if (*p == ']')
		p++;
	p = strchr(p, ']');
	return p ? p + 1 : NULL;
}

// Is the character in the set [p, end)?
static bool set_has(const char *p, const char *end, uint32_t c)
{
	bool negated = p[1] == '!' || p[1] == '^', in = false;
	p += negated ? 2 : 1;
	end--;
	while (p < end) {
		uint32_t low = take_character(&p), high = low;
		if (p + 1 < end && *p == '-') {
			p++;
			high = take_character(&p);
		}
		in |= low <= c && c <= high;
	}
	return in != negated;
}

// Takes one element of the pattern (not a '*') against one character; false when it does not match.
static bool step(const char **pattern, const char **text)
{
	const char *p = *pattern, *end;
	if (*p == '[' && (end = set_end(p))) {
		*pattern = end;
		return set_has(p, end, take_character(text));
	}
	if (*p == '?') {
		*pattern = p + 1;
		take_character(text);
		return true;
	}
	if (*p == '\\' && p[1])
		p++;
	if (*p == '\0' || *p != **text)
		return false;
	*pattern = p + 1;
	*text += 1;
	return true;
}

// Only the last '*' needs to be tried again, so the time is at most the product of the lengths.
bool str_glob(const char *pattern, const char *text)
{
	const char *star = NULL, *resume = NULL;
	if (strcmp(pattern, text) == 0)
		return true;
	while (*text) {
		if (*pattern == '*') {
			star = ++pattern;
			resume = text;
		} else if (!step(&pattern, &text)) {
			if (!star)
				return false;
			take_character(&resume);
			pattern = star;
			text = resume;
		}
	}
	while (*pattern == '*')
		pattern++;
	return *pattern == '\0';
}

// The largest number of "{n}", "{n,}" or "{n,m}" at p, at least 1.
static unsigned long repetitions(const char *p)
{
	unsigned long most = 1;
	while (isdigit((unsigned char)*++p) || *p == ',')
		if (*p != ',') {
			char *end;
			unsigned long n = strtoul(p, &end, 10);
			most = n > most ? n : most;
			p = end - 1;
		}
	return most;
}

// Copies of brackets around nothing cost the third power of their number.
bool str_is_small_regex(const char *pattern)
{
	enum { SIZE_MOST = 1 << 15, BRACKETS_MOST = 100 };
	size_t size = strlen(pattern), brackets = 0, copies = 1;
	for (const char *p = pattern; *p; p++) {
		brackets += *p == '(';
		if (*p == '\\' && p[1]) {
			if (isdigit((unsigned char)*++p))
				return false;
		} else if (*p == '{') {
			size_t n = repetitions(p), of_group = p > pattern && strchr(")*+?}", p[-1]) ? n : 1;
			if (__builtin_mul_overflow(size, n, &size) || __builtin_mul_overflow(copies, of_group, &copies))
				return false;
		}
	}
	return size <= SIZE_MOST && brackets <= BRACKETS_MOST && (brackets == 0 || copies <= BRACKETS_MOST / brackets);
}

bool str_has_suffix(const char *s, const char *suffix)
{
	size_t n = strlen(s), m = strlen(suffix);
	return n >= m && memcmp(s + n - m, suffix, m) == 0;
}

bool str_has_prefix(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

static int least3(int a, int b, int c)
{
	a = a < b ? a : b;
	return a < c ? a : c;
}

// One row of the table of distances at a time; `corner` is the cell up and to the left.
int str_distance(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b);
	int row[256];
	if (n > 255 || m > 255)
		return (int)(strcmp(a, b) == 0 ? 0 : n > m ? n : m);
	for (size_t j = 0; j <= m; j++)
		row[j] = (int)j;
	for (size_t i = 1; i <= n; i++) {
		int corner = row[0];
		row[0] = (int)i;
		for (size_t j = 1; j <= m; j++) {
			int above = row[j];
			row[j] = least3(above + 1, row[j - 1] + 1, corner + (a[i - 1] != b[j - 1]));
			corner = above;
		}
	}
	return row[m];
}

void nearest_try(struct nearest *n, const char *candidate)
{
	int d = str_distance(n->name, candidate);
	if (n->best ? d >= n->distance : d > ((int)strlen(n->name) + 1) / 3)
		return;
	n->best = candidate;
	n->distance = d;
}

bool str_has_word(const char *words, const char *word)
{
	size_t len = strlen(word);
	for (const char *at = words; len && (at = strstr(at, word)); at += len)
		if ((at == words || at[-1] == ' ') && (at[len] == ' ' || at[len] == '\0'))
			return true;
	return false;
}
