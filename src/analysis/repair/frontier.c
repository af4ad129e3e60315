#include "qtui/analysis/frontier.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../study/study_impl.h"
#include "qtui/base/json.h"
#include "repair_impl.h"

bool frontier_basis_equal(const struct frontier_basis *a, const struct frontier_basis *b)
{
	return strcmp(a->target, b->target) == 0 && key_equal(a->samples, b->samples) && key_equal(a->times, b->times) &&
	    strcmp(a->task, b->task) == 0 && key_equal(a->labels, b->labels) && a->boxes_and_points == b->boxes_and_points;
}

struct frontier *frontier_take(struct frontier *f)
{
	if (f)
		atomic_fetch_add(&f->refs, 1);
	return f;
}

void frontier_drop(struct frontier **fp)
{
	struct frontier *f = *fp;
	*fp = NULL;
	if (!f || atomic_fetch_sub(&f->refs, 1) != 1)
		return;
	for (int i = 0; i < f->n; i++)
		edits_free(&f->at[i].edits);
	free(f->at);
	free(f);
}

// ---- growing

static bool is_same(const struct repair_state *a, const struct repair_state *b)
{
	return a->method == b->method && edits_equal(a->edits, b->edits);
}

// An estimate beats no state that is known. Where both were asked of the task, it has a say: damage is a guide to it.
static bool beats(const struct repair_state *a, const struct repair_state *b)
{
	const struct repair_figures *x = &a->figures, *y = &b->figures;
	return x->cost <= y->cost && x->damage <= y->damage && !(x->score < y->score) && (a->as_run || !b->as_run);
}

// Of two measurements of one state: what its own run would say goes before an estimate,
// and with the task before without.
static bool knows_more(const struct repair_state *a, const struct repair_state *b)
{
	return a->as_run != b->as_run ? a->as_run : isnan(a->figures.score) < isnan(b->figures.score);
}

static int find(const struct frontier *f, const struct repair_state *s)
{
	for (int i = 0; f && i < f->n; i++)
		if (is_same(s, &f->at[i]))
			return i;
	return -1;
}

static bool is_beaten(const struct frontier *f, const struct repair_state *s, int but)
{
	for (int i = 0; f && i < f->n; i++)
		if (i != but && beats(&f->at[i], s))
			return true;
	return false;
}

static void put(struct frontier *f, const struct repair_state *s)
{
	f->at[f->n] = *s;
	f->at[f->n++].edits = edits_copy(s->edits);
}

// By cost; what costs the same, the worst first.
static bool comes_before(const struct repair_figures *a, const struct repair_figures *b)
{
	return a->cost != b->cost ? a->cost < b->cost : a->damage > b->damage;
}

struct frontier *frontier_with(const struct frontier *f, const struct repair_state *s, const struct frontier_basis *basis)
{
	int old = find(f, s);
	bool beaten = is_beaten(f, s, old), placed = beaten;
	if (old == 0 || (old > 0 && !knows_more(s, &f->at[old])) || (old < 0 && beaten))
		return NULL;
	struct frontier *new = xcalloc(1, sizeof *new);
	atomic_store(&new->refs, 1);
	new->basis = *basis;
	new->at = xcalloc((size_t)(f ? f->n : 0) + 1, sizeof *new->at);
	for (int i = 0; f && i < f->n; i++) {
		if (i > 0 && !placed && comes_before(&s->figures, &f->at[i].figures)) {
			put(new, s);
			placed = true;
		}
		if (i == 0 || (i != old && (beaten || !beats(s, &f->at[i]))))
			put(new, &f->at[i]);
	}
	if (!placed)
		put(new, s);
	return new;
}

// ---- showing

const char *frontier_changes(char out[FRONTIER_CHANGES], const struct frontier *f, int i)
{
	const struct edits *from = f->at[0].edits, *to = f->at[i].edits;
	int at[PREC_COUNT + 1] = {0}, scales = 0, used = 0;
	for (int n = 0; n < to->n_nodes; n++)
		at[to->precision[n] < 0 ? PREC_COUNT : to->precision[n]] += to->precision[n] != from->precision[n];
	for (int v = 0; v < to->n_values; v++)
		scales += to->scale[v] != from->scale[v];
	const struct {
		int n;
		const char *what;
	} part[] = {{at[PREC_FLOAT], " float"}, {at[PREC_INT16], " int16"}, {at[PREC_INT8], " int8"}, {at[PREC_COUNT], " auto"},
	    {scales, scales == 1 ? " scale" : " scales"}};
	out[0] = '\0';
	for (size_t k = 0; k < sizeof part / sizeof *part; k++)
		if (part[k].n)
			used += snprintf(out + used, FRONTIER_CHANGES - (size_t)used, "%s%d%s", used ? ", " : "", part[k].n, part[k].what);
	if (f->at[i].method != f->at[0].method)
		used += snprintf(out + used, FRONTIER_CHANGES - (size_t)used, "%s%s", used ? ", " : "", calib_name(f->at[i].method));
	if (!key_equal(tuning_key(to->tuning), tuning_key(from->tuning)))
		used += snprintf(out + used, FRONTIER_CHANGES - (size_t)used, "%stuned weights", used ? ", " : "");
	return used ? out : "as it began";
}

static cJSON *commands_json(const struct frontier *f, int i, const struct graph *g)
{
	int n;
	char **command = edits_commands(g, f->at[0].edits, f->at[0].method, f->at[i].edits, f->at[i].method, &n);
	cJSON *a = cJSON_CreateArray();
	for (int k = 0; k < n; k++)
		cJSON_AddItemToArray(a, cJSON_CreateString(command[k]));
	edits_commands_free(command, n);
	return a;
}

struct cJSON *frontier_json(const struct frontier *f, const struct graph *g)
{
	cJSON *a = cJSON_CreateArray();
	for (int i = 0; i < f->n; i++) {
		char changes[FRONTIER_CHANGES];
		cJSON *o = cJSON_CreateObject();
		json_add_number(o, "steps", f->at[i].steps == FRONTIER_EARLIER ? NAN : f->at[i].steps);
		if (!f->at[i].as_run)
			cJSON_AddBoolToObject(o, "estimated", true);
		json_add_text(o, "changes", frontier_changes(changes, f, i));
		cJSON_AddItemToObject(o, "commands", commands_json(f, i, g));
		cJSON_AddItemToObject(o, "figures", repair_figures_json(&f->at[i].figures));
		cJSON_AddItemToArray(a, o);
	}
	return a;
}

// ---- taking

bool frontier_is_in_force(const struct frontier *f, int i, const struct study *s)
{
	struct edits *now = study_effective(s, study_edits(s));
	bool same = s->step[s->current].method == f->at[i].method && edits_equal(now, f->at[i].edits) &&
	    strcmp(s->step[s->current].target, f->basis.target) == 0;
	edits_free(&now);
	return same;
}

// What a truncation leaves in float needs no edit.
static struct edits *as_asked(const struct edits *effective, const struct study *s)
{
	struct edits *e = edits_copy(effective);
	for (int n = 0; n < e->n_nodes; n++)
		if (s->truncated[n] && e->precision[n] == PREC_FLOAT && study_edits(s)->precision[n] < 0)
			e->precision[n] = -1;
	return e;
}

enum status frontier_apply(const struct frontier *f, int i, struct study *s, struct error *err)
{
	if (strcmp(s->step[s->current].target, f->basis.target) != 0)
		return error_set(err, STATUS_REFUSED, "these states are of the target %s", f->basis.target);
	char name[40];
	struct decision v = {.text = name, .edits = as_asked(f->at[i].edits, s), .method = f->at[i].method,
	    .preparation = s->step[s->current].preparation};
	snprintf(name, sizeof name, "fix-%.3f", f->at[i].figures.cost);
	snprintf(v.target, sizeof v.target, "%s", f->basis.target);
	enum status st = study_become(s, &v, err);
	edits_free(&v.edits);
	return st;
}
