// Parsing by the table of options.def. What the words say is checked in options_resolve.c.
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "config.h"
#include "qtui/base/json.h"
#include "qtui/base/str.h"
#include "qtui/cli/options.h"
#include "shapes.h"

enum kind { TEXT, LIST, FLAG, COUNT };
struct row {
	const char *name;
	char letter;
	enum kind kind;
	size_t offset;
	const char *argument;
	unsigned verbs;
	const char *help;
};
static const struct row rows[] = {
#define OPTION(name, letter, kind, field, argument, verbs, help) {name, letter, kind, offsetof(struct options, field), argument, verbs, help},
#include "options.def"
#undef OPTION
};
enum { N_ROWS = sizeof rows / sizeof *rows };

enum { HELP_LEFT = 28, HELP_WIDTH = 80 }; // columns

// Broken between words, so that what follows the first line stands below it.
void options_help_row(const char *left, int indent, const char *text)
{
	printf("  %-*s", indent - 2, left);
	if ((int)strlen(left) > indent - 3)
		printf("\n%*s", indent, "");
	while (*text) {
		size_t n = strlen(text), room = (size_t)(HELP_WIDTH - indent);
		if (n > room)
			for (n = room; n > 0 && text[n] != ' ';)
				n--;
		if (n == 0)
			n = strcspn(text, " "); // a word that is longer than a line
		printf("%.*s\n", (int)n, text);
		text += n + (text[n] == ' ');
		if (*text)
			printf("%*s", indent, "");
	}
}

// Whether an option is one of a few verbs, decides something about the quantized network, or means the same everywhere.
enum option_group { OF_VERB, OF_DECISIONS, OF_ALL, N_GROUPS };
static enum option_group group_of(const struct row *r)
{
	static const unsigned many[] = {VERB_STUDY, VERB_SAMPLES, VERB_TASK, VERB_ANY};
	for (size_t i = 0; i < sizeof many / sizeof *many; i++)
		if ((r->verbs & many[i]) == many[i])
			return r->verbs & VERB_DECISION ? OF_DECISIONS : OF_ALL;
	return OF_VERB;
}

void options_help(unsigned verb)
{
	static const char *const heading[N_GROUPS] = {"", "Decisions, saved with a session (defaults in brackets):", "Everywhere:"};
	bool before = false;
	for (int g = 0; g < N_GROUPS; g++) {
		bool any = false;
		for (int i = 0; i < N_ROWS; i++) {
			char left[64], letter[8] = "";
			if (!(rows[i].verbs & verb) || group_of(&rows[i]) != (enum option_group)g)
				continue;
			if (!any && before)
				printf("\n%s\n", heading[g]);
			any = before = true;
			if (rows[i].letter)
				snprintf(letter, sizeof letter, "-%c, ", rows[i].letter);
			snprintf(left, sizeof left, "%s--%s %s", letter, rows[i].name, rows[i].argument ? rows[i].argument : "");
			options_help_row(left, HELP_LEFT, rows[i].help);
		}
	}
}

static const struct row *find(const char *name, size_t len)
{
	for (int i = 0; i < N_ROWS; i++)
		if (strlen(rows[i].name) == len && strncmp(rows[i].name, name, len) == 0)
			return &rows[i];
	return NULL;
}

static const struct row *find_letter(char c)
{
	for (int i = 0; i < N_ROWS; i++)
		if (rows[i].letter && rows[i].letter == c)
			return &rows[i];
	return NULL;
}

static bool takes_word(const char *arg)
{
	const struct row *r = arg[1] == '-' ? find(arg + 2, strlen(arg + 2)) : arg[2] ? NULL : find_letter(arg[1]);
	return r && r->kind != FLAG;
}

int options_first_word(int argc, char **argv)
{
	int i = 1;
	while (i < argc && argv[i][0] == '-' && argv[i][1] && strcmp(argv[i], "--") != 0)
		i += takes_word(argv[i]) ? 2 : 1;
	return i;
}

static const char *nearest(const char *name)
{
	struct nearest near = {.name = name};
	for (int i = 0; i < N_ROWS; i++)
		nearest_try(&near, rows[i].name);
	return near.best;
}

void list_add(struct list *l, const char *text)
{
	l->at = xrealloc(l->at, ((size_t)l->n + 1) * sizeof *l->at);
	l->at[l->n++] = text;
}

static enum status store(struct options *o, const struct row *r, const char *value, struct error *err)
{
	void *field = (char *)o + r->offset;
	long long n;
	switch (r->kind) {
	case TEXT:
		*(const char **)field = value;
		return STATUS_OK;
	case LIST:
		list_add(field, value);
		return STATUS_OK;
	case FLAG:
		*(bool *)field = true;
		return STATUS_OK;
	case COUNT:
		if (!str_to_int(value, &n) || n < 1 || n > 1000000)
			return error_set(err, STATUS_USAGE, "--%s %s: a whole number from 1 to 1000000 is needed", r->name, value);
		*(int *)field = (int)n;
		return STATUS_OK;
	}
	return STATUS_OK;
}

static enum status unknown(const char *arg, struct error *err)
{
	const char *near = arg[1] == '-' ? nearest(arg + 2) : NULL;
	return error_set(err, STATUS_USAGE, "unknown option %s%s%s", arg, near ? "; did you mean --" : "", near ? near : "");
}

static enum status misplaced(const struct row *r, struct error *err)
{
	static const struct { unsigned bit; const char *name; } places[] = {
	    {VERB_TUI, "the screen"},
#define VERB(name, bit, usage, about) {VERB_##bit, #name},
#include "verbs.def"
#undef VERB
	};
	struct str s = {0};
	for (size_t i = 0; i < sizeof places / sizeof *places; i++)
		if (r->verbs & places[i].bit)
			str_addf(&s, "%s%s", s.len ? ", " : "", places[i].name);
	error_set(err, STATUS_USAGE, "--%s has no meaning here: it is an option of %s", r->name, str_text(&s));
	str_done(&s);
	return STATUS_USAGE;
}

// One option at argv[*i]; moves *i onto its argument when that is a word of its own.
static enum status parse_one(struct options *o, int argc, char **argv, int *i, unsigned verb, struct error *err)
{
	const char *arg = argv[*i], *value = NULL;
	const struct row *r;
	if (arg[1] == '-') {
		const char *equals = strchr(arg, '=');
		r = find(arg + 2, equals ? (size_t)(equals - arg - 2) : strlen(arg + 2));
		value = equals ? equals + 1 : NULL;
	} else {
		r = find_letter(arg[1]);
		value = r && arg[2] ? arg + 2 : NULL;
	}
	if (!r || (r->kind == FLAG && value))
		return unknown(arg, err);
	if (!(r->verbs & verb))
		return misplaced(r, err);
	if (r->kind != FLAG && !value) {
		if (*i + 1 >= argc)
			return error_set(err, STATUS_USAGE, "--%s needs %s", r->name, r->argument);
		value = argv[++*i];
	}
	if (r->kind != FLAG && !*value) // a variable of a script that is not set, mostly
		return error_set(err, STATUS_USAGE, "--%s needs %s, and has an empty word", r->name, r->argument);
	return store(o, r, value, err);
}

// By its name also where it is not there: then it is missed as a session.
static bool is_session(const char *path)
{
	struct error err;
	bool json = false;
	return str_has_suffix(path, ".json") || (json_is_file(&json, path, &err) == STATUS_OK && json);
}

// A session alone names its model and samples itself: it may stand in their place.
static void take_session(struct options *o, unsigned verb)
{
	if ((verb & VERB_STUDY) && !o->session && o->positional.n == 1 && is_session(o->positional.at[0])) {
		o->session = o->positional.at[0];
		o->positional.n = 0;
	}
}

enum status options_parse(struct options *o, int argc, char **argv, int first, unsigned verb, struct error *err)
{
	bool only_words = false;
	memset(o, 0, sizeof *o);
	o->study.backend = BACKEND_ONEDNN;
	for (int i = first; i < argc; i++) {
		enum status st = STATUS_OK;
		if (!only_words && strcmp(argv[i], "--") == 0)
			only_words = true;
		else if (!only_words && argv[i][0] == '-' && argv[i][1])
			st = parse_one(o, argc, argv, &i, verb, err);
		else if (!*argv[i]) // a variable of a script that is not set, mostly
			st = error_set(err, STATUS_USAGE, "the word behind %s is empty: a file or a directory is needed there", argv[i - 1]);
		else
			list_add(&o->positional, argv[i]);
		if (st != STATUS_OK)
			return st;
	}
	take_session(o, verb);
	return STATUS_OK;
}

static bool is_given(const struct options *o, const struct row *r)
{
	const void *field = (const char *)o + r->offset;
	switch (r->kind) {
	case TEXT:
		return *(const char *const *)field != NULL;
	case LIST:
		return ((const struct list *)field)->n > 0;
	case FLAG:
		return *(const bool *)field;
	case COUNT:
		return *(const int *)field > 0;
	}
	return false;
}

const char *options_decision(const struct options *o, unsigned but)
{
	for (int i = 0; i < N_ROWS; i++)
		if ((rows[i].verbs & VERB_DECISION) && !(rows[i].verbs & but) && is_given(o, &rows[i]))
			return rows[i].name;
	return NULL;
}

void options_done(struct options *o)
{
	for (int i = 0; i < N_ROWS; i++)
		if (rows[i].kind == LIST)
			free(((struct list *)((char *)o + rows[i].offset))->at);
	free(o->positional.at);
	shapes_free(o);
	config_free(&o->config_data);
}
