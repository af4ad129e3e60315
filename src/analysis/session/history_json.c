// The history of runs in a session (docs/SESSION.md). What is of the wrong kind is an error that names the run; nodes
// of a graph that has others now (another version of the program made more or fewer of the same file) are left out.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "qtui/base/json.h"
#include "qtui/base/mem.h"
#include "history_impl.h"
#include "../study/study_impl.h"

static const char precision_letter[PREC_COUNT] = {[PREC_INT8] = '8', [PREC_INT16] = '6', [PREC_FLOAT] = 'f'}; // the keys that set it
static const double END_OF_TIME = 253402300800.0; // the year 10000

// ---- saving

// Few digits, where cJSON's own printing would write the 17 that a decimal fraction needs.
static cJSON *snr_json(float db)
{
	char text[32];
	if (!isfinite(db))
		return isnan(db) ? cJSON_CreateNull() : cJSON_CreateTrue();
	snprintf(text, sizeof text, "%.2f", db);
	return cJSON_CreateRaw(text);
}

static cJSON *scale_json(float scale)
{
	char text[32];
	if (!(scale > 0))
		return cJSON_CreateNull();
	snprintf(text, sizeof text, "%.9g", scale);
	return cJSON_CreateRaw(text);
}

static void save_nodes(cJSON *o, const struct run_nodes *n)
{
	char *precision = xcalloc((size_t)n->n + 1, 1);
	cJSON *snr = cJSON_AddArrayToObject(o, "node_snr_db"), *scale = cJSON_AddArrayToObject(o, "node_scale");
	for (int i = 0; i < n->n; i++) {
		precision[i] = n->precision[i] >= 0 ? precision_letter[n->precision[i]] : '-';
		cJSON_AddItemToArray(snr, snr_json(n->snr_db[i]));
		cJSON_AddItemToArray(scale, scale_json(n->scale[i]));
	}
	cJSON_AddStringToObject(o, "node_precision", precision);
	free(precision);
}

static void save_task(cJSON *o, const struct run_note *n)
{
	if (isnan(n->task_quant))
		return;
	cJSON *task = cJSON_AddObjectToObject(o, "task");
	cJSON_AddStringToObject(task, "name", n->task_name);
	json_add_number(task, "float", n->task_float);
	json_add_number(task, "quantized", n->task_quant);
	if (!n->has_task_change)
		return;
	cJSON *change = cJSON_AddObjectToObject(task, "change");
	json_add_number(change, "value", n->task_change.difference);
	json_add_number(change, "low", n->task_change.low);
	json_add_number(change, "high", n->task_change.high);
	json_add_number(change, "samples", n->task_change.samples);
}

static void add_key(cJSON *o, const char *name, struct key k)
{
	char text[33];
	key_text(k, text);
	cJSON_AddStringToObject(o, name, text);
}

static void add_figure(cJSON *o, const char *name, double db)
{
	if (isinf(db))
		cJSON_AddTrueToObject(o, name);
	else
		json_add_number(o, name, db);
}

static cJSON *state_json(const struct run_state *s, const struct graph *g)
{
	cJSON *o = cJSON_CreateObject();
	cJSON_AddStringToObject(o, "target", s->target); // that of the run's line may be shortened
	way_add(o, &s->way);
	cJSON_AddItemToObject(o, "edits", edits_json(g, s->edits));
	return o;
}

static cJSON *run_json(const struct run_record *r, const struct graph *g)
{
	const struct run_note *n = &r->note;
	cJSON *o = cJSON_CreateObject();
	cJSON_AddNumberToObject(o, "run", n->number);
	cJSON_AddNumberToObject(o, "time", n->when);
	cJSON_AddStringToObject(o, "title", n->title);
	cJSON_AddStringToObject(o, "target", n->target);
	cJSON_AddStringToObject(o, "calibration", calib_name(n->method));
	cJSON_AddNumberToObject(o, "edits", n->n_edits);
	add_key(o, "decision", n->decision);
	add_key(o, "samples", n->samples);
	add_figure(o, "worst_snr_db", n->out_snr_db);
	add_figure(o, "mean_snr_db", n->mean_snr_db);
	cJSON_AddNumberToObject(o, "seconds", n->seconds);
	cJSON_AddNumberToObject(o, "computed", n->computed);
	cJSON_AddNumberToObject(o, "needed", n->total);
	save_task(o, n);
	if (r->nodes)
		save_nodes(o, r->nodes);
	if (r->state)
		cJSON_AddItemToObject(o, "state", state_json(r->state, g));
	return o;
}

struct cJSON *history_json(const struct history *r, const struct graph *g)
{
	cJSON *list = cJSON_CreateArray();
	for (size_t i = 0; i < r->n; i++)
		if (!isnan(r->at[i].note.out_snr_db) || !isnan(r->at[i].note.mean_snr_db)) // else it only calibrated
			cJSON_AddItemToArray(list, run_json(&r->at[i], g));
	return list;
}

// ---- loading

// A number of decibels, true for exact.
static double read_snr(const cJSON *item)
{
	if (cJSON_IsTrue(item))
		return INFINITY;
	return cJSON_IsNumber(item) && fabs(item->valuedouble) < 1e5 ? item->valuedouble : NAN;
}

static bool read_numbers(float *out, int n, const cJSON *list, bool scales)
{
	const cJSON *item;
	int i = 0;
	if (cJSON_GetArraySize(list) != n)
		return false;
	cJSON_ArrayForEach(item, list)
	{
		bool scale = cJSON_IsNumber(item) && item->valuedouble > 0 && item->valuedouble < 0x1p60;
		out[i++] = scales ? (float)(scale ? item->valuedouble : 0) : (float)read_snr(item);
	}
	return true;
}

static bool read_precisions(signed char *out, int n, const char *text)
{
	if (strlen(text) != (size_t)n)
		return false;
	for (int i = 0; i < n; i++) {
		const char *at = memchr(precision_letter, text[i], sizeof precision_letter);
		out[i] = (signed char)(at ? at - precision_letter : -1);
	}
	return true;
}

static struct run_nodes *read_nodes(const cJSON *o, const struct graph *g)
{
	const char *precision = json_text(o, "node_precision", "");
	int further;
	free(run_further(g, &further));
	struct run_record r = {.nodes = run_nodes_new(g->n_nodes + further)};
	bool nodes_only = strlen(precision) == (size_t)g->n_nodes; // in sessions of before
	int n = nodes_only ? g->n_nodes : g->n_nodes + further;
	bool fits = read_precisions(r.nodes->precision, n, precision) &&
	    read_numbers(r.nodes->snr_db, n, cJSON_GetObjectItemCaseSensitive(o, "node_snr_db"), false) &&
	    read_numbers(r.nodes->scale, n, cJSON_GetObjectItemCaseSensitive(o, "node_scale"), true);
	if (!fits)
		run_record_done(&r);
	return r.nodes;
}

static void read_task(struct run_note *n, const cJSON *task)
{
	const cJSON *change = cJSON_GetObjectItemCaseSensitive(task, "change");
	double was = json_number(task, "float", NAN), now = json_number(task, "quantized", NAN);
	n->task_float = n->task_quant = NAN;
	if (!isfinite(was) || !isfinite(now))
		return;
	snprintf(n->task_name, sizeof n->task_name, "%s", json_text(task, "name", ""));
	n->task_float = was;
	n->task_quant = now;
	n->task_change = (struct task_interval){.difference = json_number(change, "value", NAN), .low = json_number(change, "low", NAN),
	    .high = json_number(change, "high", NAN), .samples = json_count(change, "samples")};
	n->has_task_change = isfinite(n->task_change.difference) && isfinite(n->task_change.low) && isfinite(n->task_change.high);
}

static void read_key(struct key *out, const cJSON *o, const char *name)
{
	if (!key_parse(out, json_text(o, name, "")))
		*out = (struct key){0};
}

// Of nodes or tuned weights that are not there any more no state can be made: *out is NULL.
static enum status read_state(struct run_state **out, const struct study *s, enum calib_method method, const cJSON *o, struct error *err)
{
	static const struct json_member member[] = {{NULL, "target", cJSON_String}, {NULL, "edits", cJSON_Array}};
	struct run_state *state = xcalloc(1, sizeof *state);
	*state = (struct run_state){.method = method};
	atomic_store(&state->refs, 1);
	snprintf(state->target, sizeof state->target, "%s", json_text(o, "target", ""));
	enum status st = json_check(o, member, sizeof member / sizeof *member, false, err);
	if (st == STATUS_OK)
		st = way_parse(&state->way, o, err);
	if (st == STATUS_OK)
		st = edits_parse(&state->edits, s, cJSON_GetObjectItemCaseSensitive(o, "edits"), err);
	if (st != STATUS_OK)
		run_state_drop(&state);
	*out = state;
	return st == STATUS_NOTFOUND ? STATUS_OK : st;
}

static enum status read_run(struct run_record *out, const struct study *s, const cJSON *o, struct error *err)
{
	static const struct json_member member[] = {
	    {NULL, "run", cJSON_Number}, {NULL, "time", cJSON_Number}, {NULL, "title", cJSON_String}, {NULL, "target", cJSON_String},
	    {NULL, "calibration", cJSON_String}, {NULL, "edits", cJSON_Number}, {NULL, "decision", cJSON_String},
	    {NULL, "samples", cJSON_String}, {NULL, "seconds", cJSON_Number}, {NULL, "computed", cJSON_Number},
	    {NULL, "needed", cJSON_Number}, {NULL, "task", cJSON_Object}, {"task", "name", cJSON_String}, {"task", "float", cJSON_Number},
	    {"task", "quantized", cJSON_Number}, {"task", "change", cJSON_Object}, {NULL, "node_precision", cJSON_String},
	    {NULL, "node_snr_db", cJSON_Array}, {NULL, "node_scale", cJSON_Array}, {NULL, "state", cJSON_Object},
	};
	struct run_note n = {.earlier = true, .number = json_count(o, "run"), .when = json_number(o, "time", 0)};
	if (!cJSON_IsObject(o))
		return error_set(err, STATUS_FORMAT, "it must be an object");
	if (json_check(o, member, sizeof member / sizeof *member, false, err) != STATUS_OK)
		return err->status;
	if (!(n.when >= 0 && n.when < END_OF_TIME))
		return error_set(err, STATUS_FORMAT, "\"time\" must be in seconds since 1970");
	if (!calib_parse(&n.method, json_text(o, "calibration", "")))
		return error_set(err, STATUS_FORMAT, "\"calibration\" is missing or unknown");
	snprintf(n.title, sizeof n.title, "%s", json_text(o, "title", ""));
	snprintf(n.target, sizeof n.target, "%s", json_text(o, "target", ""));
	n.n_edits = json_count(o, "edits");
	read_key(&n.decision, o, "decision");
	read_key(&n.samples, o, "samples");
	n.out_snr_db = read_snr(cJSON_GetObjectItemCaseSensitive(o, "worst_snr_db"));
	n.mean_snr_db = read_snr(cJSON_GetObjectItemCaseSensitive(o, "mean_snr_db"));
	n.seconds = fmax(json_number(o, "seconds", 0), 0);
	n.computed = json_count(o, "computed");
	n.total = json_count(o, "needed");
	read_task(&n, cJSON_GetObjectItemCaseSensitive(o, "task"));
	const cJSON *state = cJSON_GetObjectItemCaseSensitive(o, "state");
	*out = (struct run_record){.note = n, .nodes = read_nodes(o, s->g)};
	enum status st = state ? read_state(&out->state, s, n.method, state, err) : STATUS_OK;
	if (st != STATUS_OK)
		run_record_done(out);
	return st == STATUS_OK ? st : error_prefix(err, "\"state\"");
}

static bool is_there(const struct history *r, const struct run_note *n)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->at[i].note.when == n->when && key_equal(r->at[i].note.decision, n->decision))
			return true;
	return false;
}

static void append(struct history *to, struct run_record *r)
{
	int last = to->n ? to->at[to->n - 1].note.number : 0;
	if (r->note.number <= last)
		r->note.number = last + 1;
	to->at = xgrow(to->at, &to->cap, to->n + 1, sizeof *to->at);
	to->at[to->n++] = *r;
}

// Those that are earlier already, the new ones, and this sitting's behind them, with numbers that rise.
static void merge(struct history *r, struct history *loaded)
{
	struct history all = {0};
	size_t own = 0;
	while (own < r->n && r->at[own].note.earlier)
		append(&all, &r->at[own++]);
	for (size_t i = 0; i < loaded->n; i++)
		append(&all, &loaded->at[i]);
	for (; own < r->n; own++)
		append(&all, &r->at[own]);
	free(r->at);
	free(loaded->at);
	*r = all;
	history_bound(r);
}

enum status history_load(struct history *r, const struct study *s, const struct cJSON *list, struct error *err)
{
	struct history loaded = {0};
	const cJSON *o;
	int at = 0, skip = cJSON_GetArraySize(list) - HISTORY_KEPT;
	enum status st = STATUS_OK;
	cJSON_ArrayForEach(o, list)
	{
		struct run_record one;
		if (st != STATUS_OK || at++ < skip)
			continue;
		st = read_run(&one, s, o, err);
		if (st != STATUS_OK) {
			error_prefix(err, "\"runs\", the %d.", at);
		} else if (is_there(r, &one.note) || is_there(&loaded, &one.note)) {
			run_record_done(&one);
		} else {
			append(&loaded, &one);
			history_bound(&loaded); // a file may have more nodes than there is room for
		}
	}
	if (st == STATUS_OK)
		merge(r, &loaded);
	else
		history_done(&loaded);
	return st;
}
