// What accuracy costs, as a study keeps it: the list that the latest repair left, with what its figures are of,
// so that it is known when they speak of something else by now.
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "qtui/analysis/frontier.h"
#include "qtui/analysis/latency.h"
#include "qtui/base/json.h"
#include "study_task.h"

void study_set_frontier(struct study *s, struct frontier *f)
{
	struct frontier *old = s->frontier;
	s->frontier = frontier_take(f);
	frontier_drop(&old);
}

struct frontier *study_frontier(const struct study *s)
{
	return s->frontier;
}

// False also while no task is open: it may turn out to be the same one.
static bool is_other_task(const struct frontier_basis *b, const struct study *s)
{
	struct task_lease *l = study_task_lease(s);
	bool other = l && !key_is_zero(b->labels) && !key_equal(l->identity, b->labels);
	if (l)
		task_lease_drop(&l);
	return other;
}

const char *frontier_stale(const struct frontier *f, const struct study *s)
{
	const struct frontier_basis *b = &f->basis;
	if (strcmp(b->target, s->step[s->current].target) != 0)
		return "another target";
	if (!key_equal(b->samples, all_samples_key(study_dataset(s))))
		return "other samples, or prepared otherwise";
	if (!key_equal(b->times, latency_key(study_latency(s))))
		return "other times of a board, or none";
	return is_other_task(b, s) ? "another task" : NULL;
}

// ---- sessions

static void add_key(cJSON *o, const char *name, struct key k)
{
	char text[33];
	key_text(k, text);
	json_add_text(o, name, key_is_zero(k) ? NULL : text);
}

static cJSON *state_json(const struct repair_state *x, const struct graph *g)
{
	cJSON *o = cJSON_CreateObject();
	json_add_number(o, "steps", x->steps == FRONTIER_EARLIER ? NAN : x->steps);
	if (!x->as_run)
		cJSON_AddBoolToObject(o, "estimated", true);
	cJSON_AddStringToObject(o, "calibration", calib_name(x->method));
	cJSON_AddItemToObject(o, "edits", edits_json(g, x->edits));
	cJSON_AddItemToObject(o, "figures", repair_figures_json(&x->figures));
	return o;
}

struct cJSON *study_frontier_save(const struct study *s)
{
	const struct frontier *f = s->frontier;
	if (!f)
		return NULL;
	cJSON *o = cJSON_CreateObject(), *states = cJSON_CreateArray();
	cJSON_AddStringToObject(o, "target", f->basis.target);
	add_key(o, "samples", f->basis.samples);
	add_key(o, "times", f->basis.times);
	json_add_text(o, "task", f->basis.task[0] ? f->basis.task : NULL);
	add_key(o, "labels", f->basis.labels);
	if (f->basis.noisiest)
		cJSON_AddNumberToObject(o, "noisiest", f->basis.noisiest);
	if (f->basis.boxes_and_points)
		cJSON_AddBoolToObject(o, "boxes_and_points", true);
	for (int i = 0; i < f->n; i++)
		cJSON_AddItemToArray(states, state_json(&f->at[i], s->g));
	cJSON_AddItemToObject(o, "states", states);
	return o;
}

static enum status parse_state(struct repair_state *out, const struct study *s, const cJSON *o, struct error *err)
{
	static const struct json_member member[] = {
	    {NULL, "steps", cJSON_Number}, {NULL, "calibration", cJSON_String}, {NULL, "edits", cJSON_Array}, {NULL, "figures", cJSON_Object}};
	double steps = json_number(o, "steps", FRONTIER_EARLIER);
	*out = (struct repair_state){.as_run = !json_bool(o, "estimated", false)};
	if (json_check(o, member, sizeof member / sizeof *member, false, err) != STATUS_OK)
		return err->status;
	if (!calib_parse(&out->method, json_text(o, "calibration", "")))
		return error_set(err, STATUS_FORMAT, "\"calibration\" is missing or unknown");
	out->steps = steps >= 0 && steps < 1e6 ? (int)steps : FRONTIER_EARLIER;
	repair_figures_parse(&out->figures, cJSON_GetObjectItemCaseSensitive(o, "figures"));
	if (isnan(out->figures.cost) || isnan(out->figures.damage))
		return error_set(err, STATUS_FORMAT, "\"figures\" lack cost or damage");
	return edits_parse(&out->edits, s, cJSON_GetObjectItemCaseSensitive(o, "edits"), err);
}

// What cannot be read as a key becomes zero, which equals no key in use: the figures are then shown as those of other
// data.
static struct key read_key(const cJSON *o, const char *name)
{
	struct key k;
	return key_parse(&k, json_text(o, name, "")) ? k : (struct key){0};
}

static enum status parse_states(struct frontier *f, const struct study *s, const cJSON *states, struct error *err)
{
	const cJSON *o;
	f->at = xcalloc((size_t)cJSON_GetArraySize(states) + 1, sizeof *f->at);
	cJSON_ArrayForEach(o, states)
	{
		if (parse_state(&f->at[f->n++], s, o, err) != STATUS_OK)
			return error_prefix(err, "the %d. state", f->n);
	}
	return f->n ? STATUS_OK : error_set(err, STATUS_FORMAT, "there is no state");
}

enum status study_frontier_load(struct study *s, const struct cJSON *j, struct error *err)
{
	static const struct json_member member[] = {{NULL, "target", cJSON_String}, {NULL, "samples", cJSON_String},
	    {NULL, "times", cJSON_String}, {NULL, "task", cJSON_String}, {NULL, "labels", cJSON_String}, {NULL, "states", cJSON_Array}};
	if (!j)
		return STATUS_OK;
	struct frontier *f = xcalloc(1, sizeof *f);
	atomic_store(&f->refs, 1);
	f->basis = (struct frontier_basis){.samples = read_key(j, "samples"), .times = read_key(j, "times"), .labels = read_key(j, "labels"),
	    .noisiest = (int)fmin(fmax(json_number(j, "noisiest", 0), 0), INT32_MAX), .boxes_and_points = json_bool(j, "boxes_and_points", false)};
	snprintf(f->basis.target, sizeof f->basis.target, "%s", json_text(j, "target", ""));
	snprintf(f->basis.task, sizeof f->basis.task, "%.11s", json_text(j, "task", ""));
	enum status st = json_check(j, member, sizeof member / sizeof *member, false, err);
	if (st == STATUS_OK)
		st = parse_states(f, s, cJSON_GetObjectItemCaseSensitive(j, "states"), err);
	if (st == STATUS_OK)
		study_set_frontier(s, f);
	frontier_drop(&f);
	return st == STATUS_OK ? st : error_prefix(err, "\"pareto\"");
}
