// Parsing by the table of options.def.
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "config.h"
#include "qtui/analysis/preprocess.h"
#include "qtui/base/file.h"
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
		return error_set(err, STATUS_USAGE, "--%s has no meaning here", r->name);
	if (r->kind != FLAG && !value) {
		if (*i + 1 >= argc)
			return error_set(err, STATUS_USAGE, "--%s needs %s", r->name, r->argument);
		value = argv[++*i];
	}
	if (r->kind != FLAG && !*value) // a variable of a script that is not set, mostly
		return error_set(err, STATUS_USAGE, "--%s needs %s, and has an empty word", r->name, r->argument);
	return store(o, r, value, err);
}

static enum status read_channels(float out[4], bool *set, const char *option, const char *text, bool divides, struct error *err)
{
	if (!text)
		return STATUS_OK;
	*set = true;
	return channels_parse(out, text, divides, err) == STATUS_OK ? STATUS_OK : error_set(err, STATUS_USAGE, "%s %s", option, err->text);
}

static enum status resolve_numbers(struct options *o, struct error *err)
{
	static const long long most = 1000000000;
	long long samples = 0, threads = 0, seed = 0;
	const struct {
		const char *option, *text;
		long long least, *out;
	} number[] = {{"samples", o->samples, 1, &samples}, {"threads", o->threads, 1, &threads}, {"seed", o->seed, 0, &seed}};
	for (size_t i = 0; i < sizeof number / sizeof *number; i++)
		if (number[i].text &&
		    (!str_to_int(number[i].text, number[i].out) || *number[i].out < number[i].least || *number[i].out > most))
			return error_set(err, STATUS_USAGE, "--%s %s: a whole number from %lld to %lld is needed", number[i].option, number[i].text,
			    number[i].least, most);
	o->study.data.samples = (int)samples;
	o->study.threads = threads > 512 ? 512 : (int)threads;
	o->study.data.seed = (uint64_t)seed;
	o->study.data.seed_set = o->seed != NULL;
	if (o->memory && (!str_to_size(o->memory, &o->study.memory) || o->study.memory == 0))
		return error_set(err, STATUS_USAGE, "--memory %s: a size like 512M or 2G is needed", o->memory);
	return STATUS_OK;
}

// "NODE=METHOD" is an edit.
static void take_method(struct options *o)
{
	for (int i = 0; i < o->calibration.n; i++)
		if (!strchr(o->calibration.at[i], '='))
			o->method = o->calibration.at[i];
}

static enum status resolve_names(struct options *o, struct error *err)
{
	struct preprocess *p = &o->study.data.pre;
	enum calib_method m;
	o->study.method = -1;
	if (o->method) {
		if (!calib_parse(&m, o->method))
			return error_set(err, STATUS_USAGE, "--calibration %s: minmax, percentile, kl or mse", o->method);
		o->study.method = (int)m;
	}
	if (o->backend && !backend_parse(&o->study.backend, o->backend))
		return error_set(err, STATUS_USAGE, "--backend %s: onednn, blas or ref", o->backend);
	if (o->color) {
		p->color_set = true;
		p->bgr = strcmp(o->color, "bgr") == 0;
		if (!p->bgr && strcmp(o->color, "rgb") != 0)
			return error_set(err, STATUS_USAGE, "--color %s: rgb or bgr", o->color);
	}
	if (o->resize && !(p->resize_set = resize_parse(p, o->resize)))
		return error_set(err, STATUS_USAGE, "--resize %s: " RESIZE_SYNTAX, o->resize);
	return STATUS_OK;
}

// They are read behind the run, which may take minutes.
static enum status check_data(const struct options *o, struct error *err)
{
	const struct {
		const char *option, *path;
	} needed[] = {{"--eval", o->eval}, {"--labels", o->labels}, {"--calib", o->calib}};
	for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
		if (needed[i].path && !file_exists(needed[i].path))
			return error_set(err, STATUS_NOTFOUND, "%s %s: there is no such file or directory", needed[i].option, needed[i].path);
	return STATUS_OK;
}

// A program of the user's stands in for what these options say.
static enum status check_programs(const struct options *o, enum task_kind kind, struct error *err)
{
	static const char boxes[] = "a program of your own reads the boxes, for --task detect";
	static const char scorer[] = "the scorer finds what is right by itself";
	const struct {
		const char *program, *given, *option, *beside, *why;
	} rule[] = {
	    {"--boxes", o->boxes, "--decoder", o->decoder, boxes},
	    {"--boxes", o->boxes, "--scorer", o->scorer, boxes},
	    {"--boxes", o->boxes, "--task", kind == TASK_DETECT ? NULL : o->task, boxes},
	    {"--scorer", o->scorer, "--labels", o->labels, scorer},
	    {"--scorer", o->scorer, "--decoder", o->decoder, scorer},
	    {"--scorer", o->scorer, "--nms", o->nms, scorer},
	    {"--scorer", o->scorer, "--task", kind == TASK_SCORE ? NULL : o->task, scorer},
	};
	for (size_t i = 0; i < sizeof rule / sizeof *rule; i++)
		if (rule[i].given && rule[i].beside)
			return error_set(err, STATUS_USAGE, "%s and %s exclude each other: %s", rule[i].program, rule[i].option, rule[i].why);
	if (kind == TASK_SCORE && !o->scorer)
		return error_set(err, STATUS_USAGE, "--task score: --scorer COMMAND says which program gives the score");
	return STATUS_OK;
}

static enum status resolve_task(struct options *o, struct error *err)
{
	struct task_wish *w = &o->study.task;
	enum task_kind kind = TASK_KINDS;
	*w = (struct task_wish){.data = o->eval, .labels = o->labels, .decoder = o->decoder, .kind = o->task, .scorer = o->scorer,
	    .boxes_by = o->boxes};
	if (check_data(o, err) != STATUS_OK)
		return err->status;
	if (o->task && !task_kind_parse(&kind, o->task))
		return task_kind_unknown("--task", o->task, err);
	if (check_programs(o, kind, err) != STATUS_OK)
		return err->status;
	if (o->scorer)
		w->kind = NULL; // which the scorer says; a session keeps a kind and starts no program
	if (o->decoder && task_decoder_check(o->decoder, err) != STATUS_OK)
		return err->status = STATUS_USAGE;
	if (o->nms && strcmp(o->nms, "none") == 0)
		w->iou = -1;
	else if (o->nms && (!str_to_double(o->nms, &w->iou) || w->iou <= 0 || w->iou > 1))
		return error_set(err, STATUS_USAGE, "--nms %s: a number above 0 and up to 1, or none", o->nms);
	return STATUS_OK;
}

// Of two results in one file, or on standard output, one would be lost or both.
static enum status check_results_apart(const struct options *o, struct error *err)
{
	const struct {
		const char *option, *path;
	} result[] = {{"--json", o->json}, {"--report", o->report}, {"-o", o->output}};
	for (size_t i = 0; i < sizeof result / sizeof *result; i++)
		for (size_t k = 0; k < i; k++)
			if (result[i].path && result[k].path && file_is_same(result[i].path, result[k].path))
				return error_set(err, STATUS_USAGE, "%s and %s are both to be written to %s", result[k].option, result[i].option,
				    result[i].path);
	return STATUS_OK;
}

// A decision that is read is a file that somebody wrote. (Models and samples are kept by file_keep.)
// What export writes is a decision, too: a table may be brought up to date in its place.
static enum status check_decisions_stay(const struct options *o, unsigned verb, struct error *err)
{
	const char *const result[] = {o->json, o->report, verb == VERB_EXPORT ? NULL : o->output};
	const char *const read[] = {o->config, o->target, o->theme, o->script};
	enum { N_READ = sizeof read / sizeof *read };
	for (size_t i = 0; i < sizeof result / sizeof *result; i++)
		for (int k = 0; result[i] && k < N_READ + o->import.n; k++) {
			const char *path = k < N_READ ? read[k] : o->import.at[k - N_READ];
			if (path && file_exists(path) && !file_is_dir(path) && file_is_same(path, result[i]))
				return error_set(err, STATUS_USAGE, "%s is read here and is not written over: give another name", result[i]);
		}
	return STATUS_OK;
}

bool options_take_stdout(const struct options *o)
{
	const char *const result[] = {o->json, o->report, o->output, o->session};
	for (size_t i = 0; i < sizeof result / sizeof *result; i++)
		if (result[i] && strcmp(result[i], "-") == 0)
			return true;
	return false;
}

enum status options_resolve(struct options *o, unsigned verb, struct error *err)
{
	struct preprocess *p = &o->study.data.pre;
	take_method(o);
	enum status st = shapes_read(o, err);
	if (st == STATUS_OK && o->config)
		st = config_read(o, verb, err);
	if (st == STATUS_OK)
		st = resolve_names(o, err);
	if (st == STATUS_OK)
		st = resolve_numbers(o, err);
	if (st == STATUS_OK)
		st = resolve_task(o, err);
	if (st == STATUS_OK)
		st = read_channels(p->mean, &p->mean_set, "--mean", o->mean, false, err);
	if (st == STATUS_OK)
		st = read_channels(p->std, &p->std_set, "--std", o->std, true, err);
	if (st == STATUS_OK)
		st = check_results_apart(o, err);
	if (st == STATUS_OK)
		st = check_decisions_stay(o, verb, err);
	o->study.data.random = o->random;
	o->study.target = o->target;
	o->study.truncate = o->truncate.at;
	o->study.n_truncate = o->truncate.n;
	return st;
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
	struct list *const l[] = {
	    &o->positional, &o->import, &o->set, &o->scale, &o->calibration, &o->truncate, &o->shape, &o->input, &o->until, &o->check};
	for (size_t i = 0; i < sizeof l / sizeof *l; i++)
		free(l[i]->at);
	shapes_free(o);
	config_free(&o->config_data);
}
