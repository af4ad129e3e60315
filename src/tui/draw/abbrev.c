#include "qtui/tui/abbrev.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "qtui/base/mem.h"
#include "qtui/tui/text.h"

struct name {
	const char *text;
	size_t length;
	size_t shared; // bytes at the end that the one before has too
	int i;
};

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static size_t common_end(const struct name *a, const struct name *b)
{
	size_t n = 0;
	while (n < a->length && n < b->length && a->text[a->length - 1 - n] == b->text[b->length - 1 - n])
		n++;
	return n;
}

static size_t common_begin(const struct name *a, const struct name *b, size_t most)
{
	size_t n = 0;
	while (n < most && n < b->length && a->text[n] == b->text[n])
		n++;
	return n;
}

// From the end: those that end alike stand together.
static int compare(const void *pa, const void *pb)
{
	const struct name *a = pa, *b = pb;
	size_t n = common_end(a, b);
	int x = n < a->length ? (unsigned char)a->text[a->length - 1 - n] : -1, y = n < b->length ? (unsigned char)b->text[b->length - 1 - n] : -1;
	return x != y ? x - y : a->i - b->i;
}

static bool is_ordered(const struct abbrev *s)
{
	for (int k = 1; k < s->n; k++)
		if (compare(&s->at[k - 1], &s->at[k]) > 0)
			return false;
	return true;
}

void abbrev_set(struct abbrev *s, int n, const char *(*name)(int i, const void *context), const void *context)
{
	if (n != s->n) {
		abbrev_done(s);
		*s = (struct abbrev){xcalloc((size_t)n + 1, sizeof *s->at), xcalloc((size_t)n + 1, sizeof *s->place), n};
		for (int k = 0; k < n; k++)
			s->at[k].i = k;
	}
	for (int k = 0; k < n; k++) {
		s->at[k].text = name(s->at[k].i, context);
		s->at[k].length = strlen(s->at[k].text);
	}
	if (!is_ordered(s))
		qsort(s->at, (size_t)n, sizeof *s->at, compare);
	for (int k = 0; k < n; k++) {
		s->place[s->at[k].i] = k;
		s->at[k].shared = k ? common_end(&s->at[k - 1], &s->at[k]) : 0;
	}
}

void abbrev_done(struct abbrev *s)
{
	free(s->at);
	free(s->place);
	*s = (struct abbrev){0};
}

// The names from low to high, which share an end, and what they have in common, in bytes.
struct alike {
	int low, high;
	size_t begin, low_end, high_end; // low_end: of those below
	size_t longest; // of the ends that the name shares with one other
	bool alone; // there is no other name among them
};

static struct alike begin_alike(const struct abbrev *s, int place)
{
	size_t length = s->at[place].length;
	return (struct alike){place, place, length, length, length, 0, true};
}

static void join(struct alike *a, const struct name *me, const struct name *you, size_t end)
{
	if (end == me->length && you->length == end)
		return; // the same name: nothing tells them apart
	a->alone = false;
	a->longest = end > a->longest ? end : a->longest;
	a->begin = common_begin(me, you, a->begin);
}

// Takes in all that share `tail` bytes, which are no more than before: each name is looked at once.
static void widen(struct alike *a, const struct abbrev *s, int place, size_t tail)
{
	const struct name *me = &s->at[place];
	for (; a->low > 0 && s->at[a->low].shared >= tail; a->low--) {
		a->low_end = least(a->low_end, s->at[a->low].shared);
		join(a, me, &s->at[a->low - 1], a->low_end);
	}
	for (; a->high + 1 < s->n && s->at[a->high + 1].shared >= tail; a->high++) {
		a->high_end = least(a->high_end, s->at[a->high + 1].shared);
		join(a, me, &s->at[a->high + 1], a->high_end);
	}
}

static bool is_inside_glyph(const char *p)
{
	return ((unsigned char)*p & 0xC0) == 0x80;
}

// Where what differs begins and ends in the text: in front of the longest end that it shares it need not be told apart again, as
// where each part of a path has the whole of the one before it. Whole components of the path, else whole glyphs.
struct span {
	size_t from, to;
};

static struct span span_of(const struct name *me, const struct alike *a, bool whole)
{
	size_t last = a->longest < me->length ? me->length - 1 - a->longest : 0;
	struct span d = {a->begin > last ? a->begin : last, me->length - least(a->low_end, a->high_end)};
	d.to = d.to < d.from ? d.from : d.to;
	while (d.from > 0 && (whole ? me->text[d.from] != '/' : is_inside_glyph(me->text + d.from)))
		d.from--;
	while (d.to < me->length && (whole ? me->text[d.to] != '/' : is_inside_glyph(me->text + d.to)))
		d.to++;
	return d;
}

static void put_apart(char *out, size_t size, const char *text, struct span d, const char *tail, bool whole)
{
	const char *left_out = whole ? "/…" : "…";
	snprintf(out, size, "%s%.*s%s%s", d.from ? "…" : "", (int)(d.to - d.from), text + d.from, tail > text + d.to ? left_out : "", tail);
}

// The longest end with which what differs has room; the shorter it is, the more names have it. False: there is none.
static bool cut_apart(char *out, size_t size, const struct abbrev *s, int place, int width, bool whole)
{
	const struct name *me = &s->at[place];
	const char *end = me->text + me->length;
	struct alike a = begin_alike(s, place);
	for (const char *tail = me->text + 1; tail < end; tail++) {
		if ((whole ? *tail != '/' : is_inside_glyph(tail)) || text_width(tail) > width - 2)
			continue;
		widen(&a, s, place, (size_t)(end - tail));
		struct span d = span_of(me, &a, whole);
		if (d.to - d.from > (size_t)width * 4)
			return false;
		if (a.alone || me->text + d.to > tail)
			continue;
		put_apart(out, size, me->text, d, tail, whole);
		if (text_width(out) <= width)
			return true;
	}
	return false;
}

static bool looks_alone(const struct abbrev *s, int place, size_t kept)
{
	struct alike a = begin_alike(s, place);
	widen(&a, s, place, kept);
	return a.alone;
}

void abbrev_cut(char *out, size_t size, const struct abbrev *s, int i, int width)
{
	const struct name *me = &s->at[s->place[i]];
	text_cut(out, size, me->text, width, CUT_LEFT);
	size_t kept = strlen(out) > strlen("…") ? strlen(out) - strlen("…") : 0;
	if (kept == 0 || strcmp(out, me->text) == 0 || looks_alone(s, s->place[i], kept))
		return;
	if (!cut_apart(out, size, s, s->place[i], width, true) && !cut_apart(out, size, s, s->place[i], width, false))
		text_cut(out, size, me->text, width, CUT_LEFT);
}
