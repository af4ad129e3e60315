// Variants: states of the decisions that bear a name. Its figures are those of the latest run that ended in its state.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "qtui/base/json.h"
#include "study_impl.h"

static struct decision *find(const struct study *s, const char *name)
{
	for (size_t i = 0; i < s->n_variants; i++)
		if (strcmp(s->variant[i].text, name) == 0)
			return &s->variant[i];
	return NULL;
}

static bool same_state(const struct decision *a, const struct decision *b)
{
	return a->method == b->method && a->preparation == b->preparation && strcmp(a->target, b->target) == 0 &&
	       edits_equal(a->edits, b->edits);
}

static bool in_force(const struct study *s, const struct decision *v)
{
	return same_state(v, &s->step[s->current]);
}

void variants_cut(struct study *s, size_t n)
{
	while (s->n_variants > n)
		decision_done(&s->variant[--s->n_variants]);
}

void variants_free(struct study *s)
{
	variants_cut(s, 0);
	free(s->variant);
}

static struct decision *add_variant(struct study *s, const char *name, const struct decision *state)
{
	s->variant = xgrow(s->variant, &s->cap_variants, s->n_variants + 1, sizeof *s->variant);
	s->variant[s->n_variants] = decision_copy(state, xstrdup(name));
	return &s->variant[s->n_variants++];
}

static bool is_number(const char *text)
{
	return *text && text[strspn(text, "0123456789")] == '\0';
}

// A number is a run, and "now" is what is on the screen.
static enum status check_name(const char *name, struct error *err)
{
	if (!*name || strchr(name, ' ') || is_number(name) || strcmp(name, "now") == 0)
		return error_set(err, STATUS_USAGE, "a variant's name is one word, neither a number nor \"now\"");
	return STATUS_OK;
}

// A name of another state gets a number behind.
static void free_name(struct str *out, const struct study *s, const struct decision *wanted)
{
	const struct decision *v;
	str_add(out, wanted->text);
	for (int i = 2; (v = find(s, str_text(out))) && !same_state(v, wanted); i++) {
		str_clear(out);
		str_addf(out, "%s-%d", wanted->text, i);
	}
}

enum status study_become(struct study *s, const struct decision *wanted, struct error *err)
{
	struct str name = {0};
	free_name(&name, s, wanted);
	const struct decision *v = find(s, str_text(&name));
	bool made = !v;
	if (made)
		v = add_variant(s, str_text(&name), wanted);
	str_done(&name);
	enum status st = study_go_variant(s, v, err);
	if (st != STATUS_OK && made)
		variants_cut(s, s->n_variants - 1);
	return st;
}

static enum status no_run(const struct study *s, const char *what, struct error *err)
{
	const struct history *r = &s->history;
	if (r->n == 0)
		return error_set(err, STATUS_NOTFOUND, "no variant is named %.60s, and nothing has been run yet", what);
	return error_set(err, STATUS_NOTFOUND, "no variant or run is named %.60s: runs are %d to %d", what, r->at[0].note.number,
	    r->at[r->n - 1].note.number);
}

// NULL: `what` is not the number of a run. The caller holds the lock.
static const struct run_record *run_of(const struct study *s, const char *what)
{
	return is_number(what) && strlen(what) < 9 ? history_find(&s->history, atoi(what)) : NULL;
}

// The run of that number, whose parts the caller drops.
static enum status find_run(struct run_record *out, struct study *s, const char *number, struct error *err)
{
	study_lock(s);
	const struct run_record *found = run_of(s, number);
	enum status st = found ? STATUS_OK : no_run(s, number, err);
	if (found)
		*out = run_record_take(found);
	study_unlock(s);
	return st;
}

// What was decided when it ran becomes a variant, "run-12": the step that brings it back says so,
// whatever becomes of the history.
static enum status become_run(struct study *s, const struct run_record *run, struct error *err)
{
	const struct run_state *state = run->state;
	char name[24];
	int preparation = 0;
	if (!state)
		return error_set(err, STATUS_REFUSED, "run %d does not say what was decided: it is of an older session, or one of very many",
		    run->note.number);
	if (study_find_way(&preparation, s, &state->way, err) != STATUS_OK)
		return err->status;
	snprintf(name, sizeof name, "run-%d", run->note.number);
	struct decision v = {.text = name, .edits = state->edits, .method = state->method, .preparation = preparation};
	snprintf(v.target, sizeof v.target, "%s", state->target);
	return in_force(s, &v) ? STATUS_OK : study_become(s, &v, err);
}

static enum status go_run(struct study *s, const char *number, struct error *err)
{
	struct run_record run;
	enum status st = find_run(&run, s, number, err);
	if (st != STATUS_OK)
		return st;
	st = become_run(s, &run, err);
	run_record_done(&run);
	return st;
}

enum status study_variant(struct study *s, const char *name, bool *made, struct error *err)
{
	const struct decision *v = find(s, name);
	*made = false;
	if (is_number(name))
		return go_run(s, name, err);
	enum status st = check_name(name, err);
	if (st != STATUS_OK || (v && in_force(s, v)))
		return st;
	if (v)
		return study_go_variant(s, v, err);
	add_variant(s, name, &s->step[s->current]);
	*made = true;
	return STATUS_OK;
}

int study_variants(const struct study *s)
{
	return (int)s->n_variants;
}

const char *study_variant_name(const struct study *s, int i)
{
	return s->variant[i].text;
}

static struct key decision_of(const struct study *s, const struct decision *v)
{
	struct edits *effective = study_effective(s, v->edits);
	struct key k = decision_key(s->g, v->target, v->method, effective, &s->preparation[v->preparation]);
	edits_free(&effective);
	return k;
}

static struct run_record now(struct study *s)
{
	struct snapshot *snap = study_latest(s);
	struct run_record r = run_record_of(snap);
	r.note.samples = study_measured_key(s, snap->preparation);
	if (snap->task && !snap->task_old)
		run_note_task(&r.note, snap->task);
	snapshot_drop(&snap);
	return r;
}

enum status study_figures(struct run_record *out, struct study *s, const char *what, struct error *err)
{
	const struct decision *v = find(s, what);
	struct key decision = v ? decision_of(s, v) : (struct key){0}, samples = study_measured_key(s, v ? v->preparation : 0);
	enum status st = STATUS_OK;
	if (strcmp(what, "now") == 0) {
		*out = now(s);
		return STATUS_OK;
	}
	study_lock(s);
	const struct run_record *found = v ? history_of(&s->history, decision, samples) : run_of(s, what);
	if (found)
		*out = run_record_take(found);
	else if (v)
		st = error_set(
		    err, STATUS_NOTFOUND, "variant %s has not been run on these samples: :variant %s brings it back and runs it", what, what);
	else
		st = no_run(s, what, err);
	study_unlock(s);
	return st;
}

// ---- in a session

struct cJSON *study_save_variants(const struct study *s)
{
	cJSON *a = cJSON_CreateArray();
	for (size_t i = 0; i < s->n_variants; i++) {
		const struct decision *v = &s->variant[i];
		cJSON *o = cJSON_CreateObject();
		cJSON_AddStringToObject(o, "name", v->text);
		cJSON_AddStringToObject(o, "target", v->target);
		cJSON_AddStringToObject(o, "calibration", calib_name(v->method));
		const struct way w = study_way(s, v->preparation);
		way_add(o, &w);
		cJSON_AddItemToObject(o, "edits", edits_json(s->g, v->edits));
		cJSON_AddItemToArray(a, o);
	}
	return a;
}

static enum status read_variant(struct study *s, const cJSON *o, struct error *err)
{
	static const struct json_member member[] = {{NULL, "edits", cJSON_Array}};
	struct way way;
	const char *name = json_text(o, "name", ""), *target = json_text(o, "target", "");
	struct decision v = {0};
	enum status st = json_check(o, member, sizeof member / sizeof *member, false, err);
	if (st == STATUS_OK && check_name(name, err) != STATUS_OK)
		st = err->status = STATUS_FORMAT;
	if (st == STATUS_OK && (!calib_parse(&v.method, json_text(o, "calibration", "")) || !*target || strlen(target) >= sizeof v.target))
		st = error_set(err, STATUS_FORMAT, "variant %s: target or calibration is missing or unknown", name);
	if (st != STATUS_OK || find(s, name))
		return st;
	memcpy(v.target, target, strlen(target));
	st = way_parse(&way, o, err);
	if (st == STATUS_OK)
		st = study_find_way(&v.preparation, s, &way, err);
	if (st == STATUS_OK)
		st = edits_parse(&v.edits, s, cJSON_GetObjectItemCaseSensitive(o, "edits"), err);
	if (st != STATUS_OK)
		return error_prefix(err, "variant %s", name);
	add_variant(s, name, &v);
	edits_free(&v.edits);
	return st;
}

enum status study_load_variants(struct study *s, const struct cJSON *variants, struct error *err)
{
	const cJSON *o;
	enum status st = STATUS_OK;
	cJSON_ArrayForEach(o, variants)
		if (st == STATUS_OK)
			st = read_variant(s, o, err);
	return st;
}
