// Decisions: edits, target and calibrator, as a history of whole states. Undo is going back to a state; nothing is ever inverted.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "qtui/base/str.h"
#include "study_impl.h"

int edits_count(const struct edits *e)
{
	int n = 0;
	for (int i = 0; i < e->n_nodes; i++)
		n += (e->precision[i] >= 0) + (e->scale[i] != 0);
	return n + (tuning_count(e->tuning) > 0);
}

const struct edits *study_edits(const struct study *s)
{
	return s->step[s->current].edits;
}

int study_steps(const struct study *s, int *current)
{
	*current = (int)s->current;
	return (int)s->n_steps - 1;
}

const char *study_step(const struct study *s, int i)
{
	return s->step[i + 1].text;
}

static void forget_redo(struct study *s)
{
	while (s->n_steps > s->current + 1) {
		struct decision *d = &s->step[--s->n_steps];
		edits_free(&d->edits);
		free(d->text);
	}
}

static void show_decision(struct study *s)
{
	s->generation++;
	struct snapshot *prev = study_latest(s), *now = snapshot_before_run(s, prev);
	snapshot_drop(&prev);
	study_publish(s, now);
}

// A new state behind the one in force, equal to it so far; the caller changes it and calls commit.
static struct decision *branch(struct study *s, char *text)
{
	forget_redo(s);
	s->step = xgrow(s->step, &s->cap_steps, s->n_steps + 1, sizeof *s->step);
	struct decision *from = &s->step[s->current], *d = &s->step[s->n_steps++];
	*d = *from;
	d->edits = edits_copy(from->edits);
	d->text = text;
	return d;
}

static void commit(struct study *s)
{
	s->current = s->n_steps - 1;
	show_decision(s);
}

// Words of a command: blanks and backslashes in names are escaped by a backslash.
void study_add_word(struct str *out, const char *word)
{
	for (; *word; word++) {
		if (*word == ' ' || *word == '\\')
			str_add(out, "\\");
		str_addn(out, word, 1);
	}
}

static void add_nodes(struct str *out, const struct graph *g, const int *nodes, int n)
{
	for (int i = 0; i < n; i++) {
		str_add(out, " ");
		study_add_word(out, g->node[nodes[i]].name);
	}
}

static enum status nothing_changed(struct error *err, const char *why)
{
	snprintf(err->text, sizeof err->text, "nothing changed: %s", why);
	return err->status = STATUS_OK;
}

enum status study_set(struct study *s, const int *nodes, int n, int precision, int *refused, struct error *err)
{
	const struct edits *now = study_edits(s);
	int *kept = xcalloc((size_t)n + 1, sizeof *kept), n_kept = 0, n_same = 0, n_refused = 0;
	for (int i = 0; i < n; i++) {
		if (precision >= 0 && plan_check_edit(s->g, s->target, nodes[i], (enum precision)precision, 0, err) != STATUS_OK)
			n_refused++;
		else if (now->precision[nodes[i]] == precision)
			n_same++;
		else
			kept[n_kept++] = nodes[i];
	}
	if (refused)
		*refused = n_refused;
	enum status st = STATUS_OK;
	if (n_kept > 0) {
		struct str text = {0};
		const char *word = precision < 0 ? "auto" : precision_name((enum precision)precision);
		str_add(&text, "set");
		add_nodes(&text, s->g, kept, n_kept);
		str_addf(&text, " %s", word);
		struct decision *d = branch(s, str_detach(&text));
		for (int i = 0; i < n_kept; i++)
			d->edits->precision[kept[i]] = (signed char)precision;
		commit(s);
	} else if (n_refused > 0 && n_same == 0) {
		st = STATUS_REFUSED; // err has the reason of the last one
	} else {
		st = nothing_changed(err, n == 1 ? "the node is set so already" : "the nodes are set so already");
	}
	free(kept);
	return st;
}

void study_scale_text(char *out, size_t size, double scale)
{
	int exponent;
	if (scale == 0)
		snprintf(out, size, "auto");
	else if (frexp(scale, &exponent) == 0.5)
		snprintf(out, size, "2^%d", exponent - 1);
	else
		snprintf(out, size, "%.9g", scale);
}

static enum status check_scale(const struct study *s, const struct scale_edit *e, struct error *err)
{
	if (e->scale == 0)
		return STATUS_OK;
	if (!isfinite(e->scale) || e->scale < 0x1p-60 || e->scale > 0x1p60)
		return error_set(err, STATUS_REFUSED, "a scale is a positive number, like 2^-4 or 0.0625");
	return plan_check_edit(s->g, s->target, e->node, PREC_INT8, e->scale, err);
}

enum status study_scales(struct study *s, const struct scale_edit *e, int n, struct error *err)
{
	struct str text = {0};
	enum status st = STATUS_OK;
	bool any = false;
	for (int i = 0; i < n && st == STATUS_OK; i++) {
		st = check_scale(s, &e[i], err);
		any |= study_edits(s)->scale[e[i].node] != e[i].scale;
	}
	if (st != STATUS_OK)
		return st;
	if (!any)
		return nothing_changed(err, "the scale is set so already");
	str_add(&text, "scale");
	for (int i = 0; i < n; i++) {
		char value[40];
		add_nodes(&text, s->g, &e[i].node, 1);
		study_scale_text(value, sizeof value, e[i].scale);
		str_addf(&text, " %s", value);
	}
	struct decision *d = branch(s, str_detach(&text));
	for (int i = 0; i < n; i++)
		d->edits->scale[e[i].node] = e[i].scale;
	commit(s);
	return STATUS_OK;
}

enum status study_scale(struct study *s, int node, double scale, struct error *err)
{
	return study_scales(s, &(struct scale_edit){node, scale}, 1, err);
}

// The study's own target is the one of the decision in force.
static enum status reload_target(struct study *s, const char *name, struct error *err)
{
	struct target *t = NULL;
	enum status st = target_load(&t, name, err);
	if (st == STATUS_OK) {
		target_free(&s->target);
		s->target = t;
	}
	return st;
}

enum status study_set_target(struct study *s, const char *name, struct error *err)
{
	struct str text = {0};
	if (strlen(name) >= sizeof s->step->target)
		return error_set(err, STATUS_USAGE, "the target's name is too long");
	if (strcmp(s->step[s->current].target, name) == 0)
		return nothing_changed(err, "this is the target already");
	enum status st = reload_target(s, name, err);
	if (st != STATUS_OK)
		return st;
	str_add(&text, "target ");
	study_add_word(&text, name);
	struct decision *d = branch(s, str_detach(&text));
	snprintf(d->target, sizeof d->target, "%s", name);
	d->method = target_default_calibration(s->target);
	commit(s);
	return STATUS_OK;
}

enum status study_set_method(struct study *s, enum calib_method m, struct error *err)
{
	struct str text = {0};
	if (s->step[s->current].method == m)
		return nothing_changed(err, "this is the calibrator already");
	str_addf(&text, "calibration %s", calib_name(m));
	branch(s, str_detach(&text))->method = m;
	commit(s);
	return STATUS_OK;
}

enum status study_preprocess(struct study *s, char **word, int n, struct error *err)
{
	struct str text = {0};
	int bench;
	enum status st = study_find_bench(&bench, s, word, n, err);
	if (st != STATUS_OK)
		return st;
	if (bench == s->step[s->current].bench)
		return nothing_changed(err, "pictures are prepared so already");
	str_add(&text, "preprocess");
	for (int i = 0; i < n; i++)
		str_addf(&text, " %s", word[i]);
	branch(s, str_detach(&text))->bench = bench;
	commit(s);
	return STATUS_OK;
}

enum status study_tune(struct study *s, const char *name, struct error *err)
{
	bool none = strcmp(name, "auto") == 0;
	struct tuning *t = none ? NULL : repair_memo_tuning(s->repairs, name);
	if (!none && !t)
		return error_set(err, STATUS_NOTFOUND, "tuned weights %.40s are not there: :tune makes new ones", name);
	if (key_equal(tuning_key(t), tuning_key(study_edits(s)->tuning))) {
		tuning_drop(&t);
		return nothing_changed(err, "the weights are these already");
	}
	struct str text = {0};
	str_addf(&text, "tune %s", name);
	struct decision *d = branch(s, str_detach(&text));
	tuning_drop(&d->edits->tuning);
	d->edits->tuning = t;
	commit(s);
	return STATUS_OK;
}

static bool go_to(struct study *s, size_t step)
{
	struct error err = {0};
	if (strcmp(s->step[step].target, s->step[s->current].target) != 0 && reload_target(s, s->step[step].target, &err) != STATUS_OK)
		return false; // the target's file is gone
	s->current = step;
	show_decision(s);
	return true;
}

bool study_undo(struct study *s)
{
	return s->current > 0 && go_to(s, s->current - 1);
}

bool study_redo(struct study *s)
{
	return s->current + 1 < s->n_steps && go_to(s, s->current + 1);
}

enum status study_go_variant(struct study *s, const struct variant *v, struct error *err)
{
	struct str text = {0};
	enum status st = reload_target(s, v->target, err);
	if (st != STATUS_OK)
		return st;
	str_add(&text, "variant ");
	study_add_word(&text, v->name);
	struct decision *d = branch(s, str_detach(&text));
	edits_free(&d->edits);
	d->edits = edits_copy(v->edits);
	d->method = v->method;
	d->bench = v->bench;
	snprintf(d->target, sizeof d->target, "%s", v->target);
	commit(s);
	return STATUS_OK;
}

// ---- replay

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

static enum status replay_set(struct study *s, char **word, int n, struct error *err)
{
	enum precision p = PREC_INT8;
	bool is_auto = n >= 3 && strcmp(word[n - 1], "auto") == 0;
	if (n < 3 || (!is_auto && !precision_parse(&p, word[n - 1])))
		return error_set(err, STATUS_FORMAT, "set needs nodes and int8, int16, float or auto");
	int *nodes = xcalloc((size_t)n, sizeof *nodes);
	enum status st = STATUS_OK;
	for (int i = 1; st == STATUS_OK && i < n - 1; i++) {
		nodes[i - 1] = graph_find_node(s->g, word[i]);
		if (nodes[i - 1] < 0)
			st = error_set(err, STATUS_NOTFOUND, "the model has no node %s", word[i]);
	}
	if (st == STATUS_OK)
		st = study_set(s, nodes, n - 2, is_auto ? -1 : (int)p, NULL, err);
	free(nodes);
	return st;
}

bool scale_parse(const char *text, double *out)
{
	double exponent;
	if (strcmp(text, "auto") == 0) {
		*out = 0;
		return true;
	}
	if (str_has_prefix(text, "2^") && str_to_double(text + 2, &exponent) && exponent == rint(exponent) && fabs(exponent) <= 60) {
		*out = ldexp(1, (int)exponent);
		return true;
	}
	return str_to_double(text, out) && *out > 0;
}

static enum status replay_scale(struct study *s, char **word, int n, struct error *err)
{
	struct scale_edit *e = xcalloc((size_t)n, sizeof *e);
	enum status st = n >= 3 && n % 2 == 1 ? STATUS_OK : STATUS_FORMAT;
	for (int i = 1; i < n && st == STATUS_OK; i += 2) {
		e[i / 2].node = graph_find_node(s->g, word[i]);
		if (!scale_parse(word[i + 1], &e[i / 2].scale))
			st = STATUS_FORMAT;
		else if (e[i / 2].node < 0)
			st = error_set(err, STATUS_NOTFOUND, "the model has no node %s", word[i]);
	}
	if (st == STATUS_FORMAT)
		error_set(err, st, "scale needs nodes, each with 2^-4, a number or auto");
	else if (st == STATUS_OK)
		st = study_scales(s, e, n / 2, err);
	free(e);
	return st;
}

static enum status replay_target(struct study *s, char **word, int n, struct error *err)
{
	return n == 2 ? study_set_target(s, word[1], err) : error_set(err, STATUS_FORMAT, "target needs a name");
}

static enum status replay_calibration(struct study *s, char **word, int n, struct error *err)
{
	enum calib_method m;
	if (n != 2 || !calib_parse(&m, word[1]))
		return error_set(err, STATUS_FORMAT, "calibration needs minmax, percentile, kl or mse");
	return study_set_method(s, m, err);
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

static enum status replay_tune(struct study *s, char **word, int n, struct error *err)
{
	return n == 2 ? study_tune(s, word[1], err) : error_set(err, STATUS_FORMAT, "tune needs a name");
}

enum status study_command(struct study *s, const char *text, struct error *err)
{
	static const struct {
		const char *name;
		enum status (*apply)(struct study *, char **, int, struct error *);
	} table[] = {{"set", replay_set}, {"scale", replay_scale}, {"target", replay_target}, {"calibration", replay_calibration},
	    {"variant", replay_variant}, {"preprocess", replay_preprocess}, {"tune", replay_tune}};
	char *copy = xstrdup(text), **word = xcalloc(strlen(text) / 2 + 2, sizeof *word);
	int n = split_words(copy, word, (int)(strlen(text) / 2 + 1));
	enum status st = STATUS_NOTFOUND;
	for (size_t i = 0; n > 0 && i < sizeof table / sizeof *table; i++)
		if (strcmp(word[0], table[i].name) == 0)
			st = table[i].apply(s, word, n, err);
	if (st == STATUS_NOTFOUND && err->text[0] == '\0')
		error_set(err, st, "unknown edit: %.80s", text);
	free(copy);
	free(word);
	return st;
}

enum status study_restore(struct study *s, const char *const *command, int n, int current, struct error *err)
{
	size_t base = s->current;
	for (int i = 0; i < n; i++) {
		enum status st = study_command(s, command[i], err);
		if (st != STATUS_OK)
			return error_prefix(err, "edit %d", i + 1);
	}
	while (s->current > base + (size_t)current && study_undo(s))
		;
	return STATUS_OK;
}
