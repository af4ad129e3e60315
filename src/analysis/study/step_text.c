// The text of a step: one command, or several that are done and undone together, with a word ";" between them.
#include <stdlib.h>
#include <string.h>
#include "qtui/base/str.h"
#include "study_impl.h"

static const char AND[] = ";";

// Blanks and backslashes in names are escaped by a backslash, and so is a name that would stand between commands.
void study_add_word(struct str *out, const char *word)
{
	if (strcmp(word, AND) == 0)
		str_add(out, "\\");
	for (; *word; word++) {
		if (*word == ' ' || *word == '\\')
			str_add(out, "\\");
		str_addn(out, word, 1);
	}
}

static const char *word_end(const char *p)
{
	while (*p && *p != ' ')
		p += p[0] == '\\' && p[1] ? 2 : 1;
	return p;
}

// Past a word and the blanks behind it.
static const char *next_word(const char *p)
{
	p = word_end(p);
	return p + strspn(p, " ");
}

void study_add_command(struct str *out, const char *command)
{
	str_addf(out, "%s%s", out->len ? " ; " : "", command);
}

char *study_next_command(const char **rest)
{
	struct str text = {0};
	const char *p = *rest + strspn(*rest, " "), *begin = p, *end = p;
	for (; *p && !(*p == AND[0] && word_end(p) == p + 1); p = next_word(p))
		end = word_end(p);
	*rest = *p ? p + 1 : p;
	str_addn(&text, begin, (size_t)(end - begin));
	return str_detach(&text);
}

// "set A B and 20 more float", "scale A 2^-2 and 11 more": whole words, at least one node, and how many are left out. The
// last word of set and calibration is what the nodes are given.
static void add_shortened(struct str *out, const char *edit, int room)
{
	bool scales = str_has_prefix(edit, "scale ");
	const char *first = next_word(edit), *end = first, *p = first, *next;
	int left = 0;
	if (!scales && !str_has_prefix(edit, "set ") && !str_has_prefix(edit, "calibration ")) {
		str_add(out, edit);
		return;
	}
	for (; *p; p = next) {
		next = scales ? next_word(next_word(p)) : next_word(p);
		if (!scales && !*next)
			break;
		if (left || (next - edit > room && end > first))
			left++;
		else
			end = next;
	}
	str_addn(out, edit, (size_t)(end - edit));
	if (left)
		str_addf(out, "and %d more%s", left, *p ? " " : "");
	str_add(out, p);
}

void study_add_step(struct str *out, const char *step, int room)
{
	int n = 0;
	for (const char *rest = step; *rest; n++) {
		char *command = study_next_command(&rest);
		str_add(out, n ? "; " : "");
		add_shortened(out, command, *rest || n ? room / 2 : room);
		free(command);
	}
}
