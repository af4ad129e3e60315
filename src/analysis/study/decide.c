// Decisions: edits, target and calibrator, as a history of whole states.
// Undo is going back to a state; nothing is ever inverted.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "qtui/base/log.h"
#include "qtui/base/str.h"
#include "study_impl.h"

int edits_count(const struct edits *e)
{
	int n = 0;
	for (int i = 0; i < e->n_nodes; i++)
		n += (e->precision[i] >= 0) + (e->calibrator[i] >= 0);
	for (int i = 0; i < e->n_values; i++)
		n += e->scale[i] != 0;
	return n + (tuning_count(e->tuning) > 0);
}

const struct edits *study_edits(const struct study *s)
{
	return s->step[s->current].edits;
}

enum calib_method study_method(const struct study *s)
{
	return s->step[s->current].method;
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

struct decision decision_copy(const struct decision *from, char *text)
{
	struct decision d = *from;
	d.edits = edits_copy(from->edits);
	d.text = text;
	return d;
}

void decision_done(struct decision *d)
{
	edits_free(&d->edits);
	free(d->text);
}

static void forget_redo(struct study *s)
{
	while (s->n_steps > s->current + 1)
		decision_done(&s->step[--s->n_steps]);
}

static void show_decision(struct study *s)
{
	s->generation++;
	if (s->replaying)
		return;
	struct snapshot *prev = study_latest(s), *now = snapshot_before_run(s, prev);
	snapshot_drop(&prev);
	study_publish(s, now);
}

static struct decision *add_step(struct study *s, struct decision d)
{
	forget_redo(s);
	s->step = xgrow(s->step, &s->cap_steps, s->n_steps + 1, sizeof *s->step);
	s->step[s->n_steps] = d;
	return &s->step[s->n_steps++];
}

struct decision *decision_begin(struct study *s, char *text)
{
	return add_step(s, decision_copy(&s->step[s->current], text));
}

void decision_commit(struct study *s)
{
	s->current = s->n_steps - 1;
	show_decision(s);
}

static void add_nodes(struct str *out, const struct graph *g, const int *nodes, int n)
{
	for (int i = 0; i < n; i++) {
		str_add(out, " ");
		study_add_word(out, g->node[nodes[i]].name);
	}
}

enum status study_nothing_changed(struct error *err, const char *why)
{
	snprintf(err->text, sizeof err->text, "nothing changed: %s", why);
	return err->status = STATUS_OK;
}

// What a node is given of a kind, precision or calibrator, and how a command says it; to -1: nothing, "auto".
struct giving {
	const char *command;
	signed char *(*field)(const struct edits *e);
	int to;
	const char *word;
};

static signed char *precisions(const struct edits *e)
{
	return e->precision;
}

static signed char *calibrators(const struct edits *e)
{
	return e->calibrator;
}

static void commit_giving(struct study *s, const struct giving *g, const int *nodes, int n)
{
	struct str text = {0};
	str_add(&text, g->command);
	add_nodes(&text, s->g, nodes, n);
	str_addf(&text, " %s", g->to < 0 ? "auto" : g->word);
	struct decision *d = decision_begin(s, str_detach(&text));
	for (int i = 0; i < n; i++)
		g->field(d->edits)[nodes[i]] = (signed char)g->to;
	decision_commit(s);
}

// To the nodes that do not refuse it and do not have it; err has the reason of one that is refused.
static enum status give(
    struct study *s, const struct giving *g, const int *nodes, int n, const bool *is_refused, int *refused, struct error *err)
{
	const signed char *now = g->field(study_edits(s));
	int *kept = xcalloc((size_t)n + 1, sizeof *kept), n_kept = 0, n_refused = 0;
	for (int i = 0; i < n; i++) {
		n_refused += is_refused[i];
		if (!is_refused[i] && now[nodes[i]] != g->to)
			kept[n_kept++] = nodes[i];
	}
	if (refused)
		*refused = n_kept > 0 || n_refused == n ? n_refused : 0;
	enum status st = STATUS_OK;
	if (n_kept > 0)
		commit_giving(s, g, kept, n_kept);
	else if (n_refused > 0 && n_refused == n)
		st = STATUS_REFUSED;
	else if (n_refused > 0)
		st = study_nothing_changed(err, "the nodes are set so already, or refuse it");
	else
		st = study_nothing_changed(err, n == 1 ? "the node is set so already" : "the nodes are set so already");
	free(kept);
	return st;
}

// Behind nodes[n] those of their operators that must be set with them.
static int with_operators(struct study *s, int *all, int n, const bool *is_refused, int precision)
{
	int *taken = xcalloc((size_t)n + 1, sizeof *taken), n_taken = 0;
	for (int i = 0; i < n; i++)
		if (!is_refused[i])
			taken[n_taken++] = all[i];
	if (n_taken > 0)
		n += plan_operator_nodes(refusals_bare(s), study_edits(s), taken, n_taken, precision, all + n);
	free(taken);
	return n;
}

static enum status set(struct study *s, const int *nodes, int n, int precision, bool whole, int *refused, struct error *err)
{
	struct giving g = {"set", precisions, precision, precision < 0 ? NULL : precision_name((enum precision)precision)};
	size_t room = (size_t)n + (size_t)s->g->n_nodes + 1;
	int *all = xcalloc(room, sizeof *all);
	bool *is_refused = xcalloc(room, sizeof *is_refused);
	memcpy(all, nodes, (size_t)n * sizeof *all);
	if (precision >= 0)
		refusals_of(s, nodes, n, (enum precision)precision, is_refused, err);
	int n_all = whole ? with_operators(s, all, n, is_refused, precision) : n;
	enum status st = give(s, &g, all, n_all, is_refused, refused, err);
	free(all);
	free(is_refused);
	return st;
}

enum status study_set(struct study *s, const int *nodes, int n, int precision, int *refused, struct error *err)
{
	return set(s, nodes, n, precision, true, refused, err);
}

enum status study_set_only(struct study *s, const int *nodes, int n, int precision, int *refused, struct error *err)
{
	return set(s, nodes, n, precision, false, refused, err);
}

enum status study_set_calibrator(struct study *s, const int *nodes, int n, int method, int *refused, struct error *err)
{
	struct giving g = {"calibration", calibrators, method, method < 0 ? NULL : calib_name((enum calib_method)method)};
	bool *is_refused = xcalloc((size_t)n + 1, sizeof *is_refused);
	int said = -1;
	for (int i = 0; i < n && method >= 0; i++)
		if ((is_refused[i] = plan_check_calibrator(refusals_bare(s), nodes[i], err) != STATUS_OK))
			said = nodes[i];
	if (said >= 0)
		refusals_name_nodes(err, s->g, nodes, is_refused, n, said);
	enum status st = give(s, &g, nodes, n, is_refused, refused, err);
	free(is_refused);
	return st;
}

// The study's own target is the one of the decision in force.
static enum status reload_target(struct study *s, const char *name, struct error *err)
{
	struct target *t = NULL;
	enum status st = target_load(&t, name, err);
	if (st == STATUS_OK) {
		refusals_forget(s);
		target_free(&s->target);
		s->target = t;
	}
	return st;
}

// By its absolute path, so that a session is the same wherever it is opened.
static enum status set_target(struct study *s, const char *name, struct error *err)
{
	struct str text = {0};
	if (strlen(name) >= sizeof s->step->target)
		return error_set(err, STATUS_USAGE, "the target's name is too long");
	if (strcmp(s->step[s->current].target, name) == 0)
		return study_nothing_changed(err, "this is the target already");
	enum status st = reload_target(s, name, err);
	if (st != STATUS_OK)
		return st;
	str_add(&text, "target ");
	study_add_word(&text, name);
	struct decision *d = decision_begin(s, str_detach(&text));
	snprintf(d->target, sizeof d->target, "%s", name);
	d->method = target_default_calibration(s->target);
	decision_commit(s);
	return STATUS_OK;
}

enum status study_set_target(struct study *s, const char *name, struct error *err)
{
	char *full = target_absolute(name);
	enum status st = set_target(s, full, err);
	free(full);
	return st;
}

enum status study_set_method(struct study *s, enum calib_method m, struct error *err)
{
	struct str text = {0};
	if (s->step[s->current].method == m)
		return study_nothing_changed(err, "this is the calibrator already");
	str_addf(&text, "calibration %s", calib_name(m));
	decision_begin(s, str_detach(&text))->method = m;
	decision_commit(s);
	return STATUS_OK;
}

void study_take_preparation(struct study *s, int preparation, char *text)
{
	decision_begin(s, text)->preparation = preparation;
	decision_commit(s);
}

enum status study_tune(struct study *s, const char *name, struct error *err)
{
	bool none = strcmp(name, "auto") == 0;
	struct tuning *t = none ? NULL : repair_memo_tuning(s->repairs, name);
	if (!none && !t)
		return error_set(err, STATUS_NOTFOUND, "tuned weights %.40s are not there: :tune makes new ones", name);
	if (key_equal(tuning_key(t), tuning_key(study_edits(s)->tuning))) {
		tuning_drop(&t);
		return study_nothing_changed(err, "the weights are these already");
	}
	struct str text = {0};
	str_addf(&text, "tune %s", name);
	struct decision *d = decision_begin(s, str_detach(&text));
	tuning_drop(&d->edits->tuning);
	d->edits->tuning = t;
	decision_commit(s);
	return STATUS_OK;
}

enum status study_take_tuning(struct study *s, struct tuning *t, struct error *err)
{
	char name[TUNING_NAME];
	if (!tuning_count(t))
		return study_tune(s, "auto", err);
	tuning_name(t, name);
	repair_memo_keep_tuning(s->repairs, t);
	return study_tune(s, name, err);
}

// Refused where the target's file was changed or has gone meanwhile.
static enum status go_to(struct study *s, size_t step, struct error *err)
{
	if (strcmp(s->step[step].target, s->step[s->current].target) != 0 && reload_target(s, s->step[step].target, err) != STATUS_OK)
		return err->status;
	s->current = step;
	show_decision(s);
	return STATUS_OK;
}

void study_replay(struct study *s, bool begin)
{
	s->replaying = begin;
	if (!begin)
		show_decision(s);
}

void study_fall_back(struct study *s, size_t step)
{
	struct error err;
	if (s->current <= step)
		return;
	if (go_to(s, step, &err) == STATUS_OK)
		forget_redo(s);
	else
		log_warn("what was begun stays, since it cannot be taken back: %s", err.text);
}

void study_join_steps(struct study *s, size_t from)
{
	struct str text = {0};
	struct decision last = s->step[s->current];
	if (s->current <= from + 1)
		return;
	for (size_t i = from + 1; i <= s->current; i++)
		study_add_command(&text, s->step[i].text);
	free(last.text);
	last.text = str_detach(&text);
	forget_redo(s);
	while (s->n_steps > from + 1)
		if (--s->n_steps < s->current)
			decision_done(&s->step[s->n_steps]);
	s->step[s->n_steps++] = last;
	s->current = from + 1;
}

enum status study_undo(struct study *s, struct error *err)
{
	return s->current > 0 ? go_to(s, s->current - 1, err) : error_set(err, STATUS_REFUSED, "nothing to undo");
}

enum status study_redo(struct study *s, struct error *err)
{
	return s->current + 1 < s->n_steps ? go_to(s, s->current + 1, err) : error_set(err, STATUS_REFUSED, "nothing to redo");
}

enum status study_go_variant(struct study *s, const struct decision *v, struct error *err)
{
	struct str text = {0};
	enum status st = reload_target(s, v->target, err);
	if (st != STATUS_OK)
		return st;
	str_add(&text, "variant ");
	study_add_word(&text, v->text);
	add_step(s, decision_copy(v, str_detach(&text)));
	decision_commit(s);
	return STATUS_OK;
}
