#include "gather.h"

#include <stdlib.h>
#include <string.h>
#include "qtui/base/hash.h"
#include "qtui/base/mem.h"

enum { NAMED_MOST = 3, NAMED_BYTES = 100 }; // names that stand in a line, and their length from the second on

struct said {
	struct str names;
	int named, all;
	char *what; // with the colon
};
struct gathered {
	struct said *said;
	size_t n, cap;
	struct namemap *at;    // what is said -> its index
	struct namemap *lines; // those that were seen
};

static struct said *said_of(struct gathered *g, const char *what)
{
	int at = namemap_get(g->at, what);
	if (at >= 0)
		return &g->said[at];
	g->said = xgrow(g->said, &g->cap, g->n + 1, sizeof *g->said);
	namemap_put(g->at, what, (int)g->n);
	g->said[g->n] = (struct said){.what = xstrdup(what)};
	return &g->said[g->n++];
}

static void add_name(struct said *s, const char *name, size_t bytes)
{
	s->all++;
	if (s->named && (s->named != s->all - 1 || s->named == NAMED_MOST || s->names.len + bytes > NAMED_BYTES))
		return;
	if (s->named++)
		str_add(&s->names, ", ");
	str_addn(&s->names, name, bytes);
}

static void add_line(struct gathered *g, const char *line)
{
	const char *what = strstr(line, ": ");
	if (namemap_get(g->lines, line) >= 0)
		return;
	namemap_put(g->lines, line, 0);
	if (!what)
		what = line;
	add_name(said_of(g, what), line, (size_t)(what - line));
}

static void put(struct str *out, struct said *s)
{
	str_add(out, str_text(&s->names));
	if (s->all > s->named)
		str_addf(out, " and %d more", s->all - s->named);
	str_addf(out, "%s\n", s->what);
	str_done(&s->names);
	free(s->what);
}

struct str gather_lines(const char *lines)
{
	struct gathered g = {.at = namemap_new(), .lines = namemap_new()};
	struct str line = {0}, out = {0};
	for (const char *end; (end = strchr(lines, '\n')); lines = end + 1) {
		str_clear(&line);
		str_addn(&line, lines, (size_t)(end - lines));
		add_line(&g, str_text(&line));
	}
	for (size_t i = 0; i < g.n; i++)
		put(&out, &g.said[i]);
	namemap_free(&g.at);
	namemap_free(&g.lines);
	free(g.said);
	str_done(&line);
	return out;
}
