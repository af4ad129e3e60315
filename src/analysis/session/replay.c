// Decisions as texts: the commands that the history writes, parsed and taken again, as sessions and batch verbs do.
#include <stdlib.h>
#include <string.h>
#include "qtui/base/file.h"
#include "qtui/base/log.h"
#include "qtui/base/str.h"
#include "../study/study_impl.h"

// Splits in place; returns the number of words.
static int split_words(char *text, char **word, int max)
{
	int n = 0;
	char *to = text;
	while (*text && n < max) {
		while (*text == ' ')
			text++;
		if (!*text)
			break;
		word[n++] = to;
		while (*text && *text != ' ') {
			if (*text == '\\' && text[1])
				text++;
			*to++ = *text++;
		}
		bool more = *text != '\0';
		*to++ = '\0';
		text += more;
	}
	return n;
}

static enum status replay_giving(struct study *s, study_give_fn *give, char **name, int n, int what, struct error *err)
{
	int *nodes = xcalloc((size_t)n + 1, sizeof *nodes), refused = 0;
	enum status st = STATUS_OK;
	for (int i = 0; st == STATUS_OK && i < n; i++) {
		nodes[i] = graph_find_node(s->g, name[i]);
		if (nodes[i] < 0)
			st = graph_no_node(s->g, name[i], err);
	}
	if (st == STATUS_OK)
		st = give(s, nodes, n, what, &refused, err);
	if (st == STATUS_OK && refused)
		log_warn("%d of %d nodes that are set refuse it: %s", refused, n, err->text);
	free(nodes);
	return st;
}

static enum status replay_set(struct study *s, char **word, int n, struct error *err)
{
	enum precision p = PREC_INT8;
	bool is_auto = n >= 3 && strcmp(word[n - 1], "auto") == 0;
	if (n < 3 || (!is_auto && !precision_parse(&p, word[n - 1])))
		return error_set(err, STATUS_FORMAT, "set needs nodes and int8, int16, float or auto");
	return replay_giving(s, study_set_only, word + 1, n - 2, is_auto ? -1 : (int)p, err);
}

static enum status replay_scale(struct study *s, char **word, int n, struct error *err)
{
	struct scale_edit *e = xcalloc((size_t)n, sizeof *e);
	enum status st = n >= 3 && n % 2 == 1 ? STATUS_OK : STATUS_FORMAT;
	for (int i = 1; i < n && st == STATUS_OK; i += 2) {
		if (!scale_parse(word[i + 1], &e[i / 2].scale, &e[i / 2].zero))
			st = STATUS_FORMAT;
		else
			st = study_find_output(&e[i / 2].value, s->g, word[i], err);
	}
	if (st == STATUS_FORMAT)
		error_set(err, st, "scale needs nodes or tensors, each with " SCALE_SYNTAX);
	else if (st == STATUS_OK)
		st = study_scales(s, e, n / 2, err);
	free(e);
	return st;
}

static enum status replay_target(struct study *s, char **word, int n, struct error *err)
{
	if (n != 2)
		return error_set(err, STATUS_FORMAT, "target needs a name");
	enum status st = study_set_target(s, word[1], err);
	struct str path = {0};
	str_addn(&path, word[1], target_path(word[1]));
	if (st != STATUS_OK && path.len && !file_exists(str_text(&path))) // session_find_targets has looked there
		error_set(err, st, "%s; a copy of it beside the session takes its place", err->text);
	str_done(&path);
	return st;
}

static enum status replay_calibration(struct study *s, char **word, int n, struct error *err)
{
	enum calib_method m = CALIB_MINMAX;
	bool is_auto = n >= 3 && strcmp(word[n - 1], "auto") == 0;
	if (n < 2 || (!is_auto && !calib_parse(&m, word[n - 1])))
		return error_set(err, STATUS_FORMAT, "calibration needs minmax, percentile, kl or mse; for nodes, in front of it, also auto");
	return n == 2 ? study_set_method(s, m, err) : replay_giving(s, study_set_calibrator, word + 1, n - 2, is_auto ? -1 : (int)m, err);
}

static enum status replay_variant(struct study *s, char **word, int n, struct error *err)
{
	bool made;
	return n == 2 ? study_variant(s, word[1], &made, err) : error_set(err, STATUS_FORMAT, "variant needs a name");
}

static enum status replay_preprocess(struct study *s, char **word, int n, struct error *err)
{
	return study_preprocess(s, word + 1, n - 1, err);
}

static enum status replay_samples(struct study *s, char **word, int n, struct error *err)
{
	return n == 2 ? study_samples(s, word[1], err) : error_set(err, STATUS_FORMAT, "samples needs a number");
}

static enum status replay_tune(struct study *s, char **word, int n, struct error *err)
{
	return n == 2 ? study_tune(s, word[1], err) : error_set(err, STATUS_FORMAT, "tune needs a name");
}

static enum status apply(struct study *s, const char *text, struct error *err)
{
	static const struct {
		const char *name;
		enum status (*apply)(struct study *, char **, int, struct error *);
	} table[] = {{"set", replay_set}, {"scale", replay_scale}, {"target", replay_target}, {"calibration", replay_calibration},
	    {"variant", replay_variant}, {"preprocess", replay_preprocess}, {"samples", replay_samples}, {"tune", replay_tune}};
	char *copy = xstrdup(text), **word = xcalloc(strlen(text) / 2 + 2, sizeof *word);
	int n = split_words(copy, word, (int)(strlen(text) / 2 + 1));
	size_t i = 0, rows = sizeof table / sizeof *table;
	while (i < rows && (n == 0 || strcmp(word[0], table[i].name) != 0))
		i++;
	enum status st = i < rows ? table[i].apply(s, word, n, err) : error_set(err, STATUS_NOTFOUND, "unknown edit: %.80s", text);
	free(copy);
	free(word);
	return st;
}

enum status study_command(struct study *s, const char *text, struct error *err)
{
	size_t from = s->current;
	enum status st = STATUS_OK;
	const char *rest = text;
	do {
		char *command = study_next_command(&rest);
		st = apply(s, command, err);
		free(command);
	} while (*rest && st == STATUS_OK);
	if (st != STATUS_OK)
		study_fall_back(s, from);
	else if (s->current > from)
		err->text[0] = '\0'; // of one among them that changed nothing
	study_join_steps(s, from);
	return st;
}

struct asking {
	int *node, n;
	size_t cap;
};

// The nodes of a command that sets a width. False: it goes to another target.
static bool add_asked(struct asking *of, const struct graph *g, char *command)
{
	char **word = xcalloc(strlen(command) / 2 + 2, sizeof *word);
	int words = split_words(command, word, (int)(strlen(command) / 2 + 1));
	enum precision p;
	bool stays = words == 0 || strcmp(word[0], "target") != 0;
	bool sets = words >= 3 && strcmp(word[0], "set") == 0 && precision_parse(&p, word[words - 1]);
	for (int k = 1; sets && k < words - 1; k++) {
		int node = graph_find_node(g, word[k]);
		of[p].node = xgrow(of[p].node, &of[p].cap, (size_t)of[p].n + 1, sizeof *of[p].node);
		if (node >= 0)
			of[p].node[of[p].n++] = node;
	}
	free(word);
	return stays;
}

// All that a journal sets to a width before it goes to another target, which forgets what was asked, told to the
// study's memory: the nodes of many steps cost some plans, those of each by themselves some each. What cannot be read
// is said when its turn comes.
static void ask_ahead(struct study *s, const char *const *command, int n)
{
	struct error ignored;
	struct asking of[PREC_COUNT] = {0};
	bool stays = true;
	for (int i = 0; i < n && stays; i++)
		for (const char *rest = command[i]; *rest;) {
			char *one = study_next_command(&rest);
			stays &= add_asked(of, s->g, one) || i == 0;
			free(one);
		}
	for (int p = 0; p < PREC_COUNT; p++) {
		bool *refused = xcalloc((size_t)of[p].n + 1, sizeof *refused);
		refusals_of(s, of[p].node, of[p].n, (enum precision)p, refused, &ignored);
		free(refused);
		free(of[p].node);
	}
}

enum status study_restore(struct study *s, const char *const *command, int n, int current, struct error *err)
{
	size_t base = s->current;
	int in_force = current; // a command that changes nothing, as the study was opened otherwise, is no step
	for (int i = 0; i < n; i++) {
		size_t before = s->current;
		if (i == 0 || !s->refusals) // another target forgets what was asked
			ask_ahead(s, command + i, n - i);
		enum status st = study_command(s, command[i], err);
		if (st != STATUS_OK)
			return error_prefix(err, "edit %d", i + 1);
		in_force -= i < current && s->current == before;
	}
	while (s->current > base + (size_t)in_force)
		if (study_undo(s, err) != STATUS_OK)
			return err->status;
	return STATUS_OK;
}
