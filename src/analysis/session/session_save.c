// Writing a session: what is in force is noted at once, in the study's thread;
// the many figures become text later, in any thread, from snapshots that nothing changes any more.
#include <stdlib.h>
#include <string.h>
#include "qtui/analysis/frontier.h"
#include "qtui/analysis/latency.h"
#include "qtui/analysis/session.h"
#include "qtui/base/file.h"
#include "qtui/base/hash.h"
#include "qtui/base/json.h"
#include "qtui/engine/onnx.h"
#include "../study/study_impl.h"
#include "session_impl.h"

struct session_save {
	cJSON *root;                 // all but the results
	struct results_save *results;
	struct history history;
	const struct graph *g;       // the study's
	struct tuning **tuning;      // that steps and variants speak of
	size_t n_tunings;
	bool over;                   // only over the file with this stamp
	struct file_stamp read;
};

static void absolute(cJSON *o, const char *key, const char *path)
{
	char *full = path ? realpath(path, NULL) : NULL;
	json_add_text(o, key, full ? full : path);
	free(full);
}

static cJSON *model_json(const struct study *st)
{
	cJSON *o = cJSON_CreateObject();
	absolute(o, "path", study_graph(st)->path);
	cJSON_AddStringToObject(o, "sha256", study_graph(st)->sha256);
	return o;
}

// What pictures are brought to, where the model leaves it open.
static cJSON *shapes_json(const struct graph *g)
{
	cJSON *o = cJSON_CreateObject();
	for (int i = 0; i < g->n_inputs; i++) {
		const struct value *v = &g->value[g->input[i]];
		cJSON *a = cJSON_AddArrayToObject(o, v->name);
		for (int k = 0; k < v->shape.rank; k++)
			cJSON_AddItemToArray(a, cJSON_CreateNumber((double)v->shape.dim[k]));
	}
	return o;
}

static cJSON *calibration_json(const struct study *st)
{
	char text[33];
	const struct dataset *d = study_first_dataset(st);
	const struct study_options *opt = study_options(st);
	cJSON *o = cJSON_CreateObject();
	key_text(all_samples_key(d), text);
	absolute(o, "path", opt->calib);
	if (opt->method >= 0)
		cJSON_AddStringToObject(o, "method", calib_name((enum calib_method)opt->method));
	cJSON_AddNumberToObject(o, "samples", opt->data.samples);
	if (opt->data.random) {
		cJSON_AddNumberToObject(o, "random", opt->data.random);
		cJSON_AddNumberToObject(o, "seed", (double)opt->data.seed);
	}
	cJSON_AddStringToObject(o, "fingerprint", text);
	cJSON_AddItemToObject(o, "preprocess", preprocess_json(dataset_preprocess(d)));
	if (opt->n_shapes)
		cJSON_AddItemToObject(o, "shapes", shapes_json(study_graph(st)));
	return o;
}

static cJSON *journal_json(const struct study *st, int *current)
{
	cJSON *a = cJSON_CreateArray();
	int n = study_steps(st, current);
	for (int i = 0; i < n; i++)
		cJSON_AddItemToArray(a, cJSON_CreateString(study_step(st, i)));
	return a;
}

static cJSON *task_json(const struct study *st)
{
	const struct task_wish *w = study_task_wish(st);
	cJSON *o = cJSON_CreateObject();
	absolute(o, "data", w->data);
	absolute(o, "labels", w->labels);
	json_add_text(o, "decoder", w->decoder);
	json_add_text(o, "kind", w->kind);
	json_add_text(o, "scorer", w->scorer);
	json_add_text(o, "boxes", w->boxes_by);
	if (w->iou != 0)
		cJSON_AddNumberToObject(o, "nms", w->iou);
	return o;
}

static cJSON *latency_json(const struct study *st)
{
	cJSON *o = cJSON_CreateObject();
	absolute(o, "path", study_latency(st) ? study_latency(st)->path : st->latency_missed);
	return o;
}

// What else the file held that was read, itself (NULL) or in one of its objects.
static void keep_unknown(cJSON *into, const cJSON *from, const char *in)
{
	for (const cJSON *item = from ? from->child : NULL; item; item = item->next)
		if (!session_has_member(in, item->string))
			cJSON_AddItemToObject(into, item->string, cJSON_Duplicate(item, true));
}

static void keep_in_objects(cJSON *root, const cJSON *base)
{
	static const char *const objects[] = {"model", "calibration", "task", "latency"};
	for (size_t i = 0; i < sizeof objects / sizeof *objects; i++)
		keep_unknown(cJSON_GetObjectItemCaseSensitive(root, objects[i]), cJSON_GetObjectItemCaseSensitive(base, objects[i]), objects[i]);
}

static cJSON *find_edit(const cJSON *edits, const cJSON *like)
{
	cJSON *e;
	const char *key = cJSON_GetObjectItemCaseSensitive(like, "tensor") ? "tensor" : "node", *name = json_text(like, key, "");
	cJSON_ArrayForEach(e, edits)
		if (strcmp(json_text(e, key, ""), name) == 0)
			return *name ? e : NULL;
	return NULL;
}

// As long as the edit is in force: the reason that somebody wrote beside it, say.
static void keep_in_edits(cJSON *edits, const cJSON *before)
{
	static const char *const known[] = {"node", "tensor", "precision", "scale", "zero_point", "calibration", "tuned"};
	const cJSON *e, *item;
	cJSON_ArrayForEach(e, before)
		cJSON_ArrayForEach(item, e)
		{
			size_t i = 0;
			while (i < sizeof known / sizeof *known && strcmp(known[i], item->string) != 0)
				i++;
			cJSON *into = i < sizeof known / sizeof *known ? NULL : find_edit(edits, e);
			if (into)
				cJSON_AddItemToObject(into, item->string, cJSON_Duplicate(item, true));
		}
}

static bool has_tuning(const struct session_save *s, const struct tuning *t)
{
	for (size_t i = 0; i < s->n_tunings; i++)
		if (key_equal(tuning_key(s->tuning[i]), tuning_key(t)))
			return true;
	return false;
}

static void add_tuning(struct session_save *s, struct tuning *t)
{
	if (!tuning_count(t) || has_tuning(s, t))
		return;
	s->tuning = xrealloc(s->tuning, (s->n_tunings + 1) * sizeof *s->tuning);
	s->tuning[s->n_tunings++] = tuning_take(t);
}

static void add_tunings(struct session_save *s, const struct study *st)
{
	for (size_t i = 0; i < st->n_steps; i++)
		add_tuning(s, st->step[i].edits->tuning);
	for (size_t i = 0; i < st->n_variants; i++)
		add_tuning(s, st->variant[i].edits->tuning);
	for (int i = 0; st->frontier && i < st->frontier->n; i++)
		add_tuning(s, st->frontier->at[i].edits->tuning);
	cJSON *names = s->n_tunings ? cJSON_AddArrayToObject(s->root, "tuned") : NULL;
	for (size_t i = 0; i < s->n_tunings; i++) {
		char name[TUNING_NAME];
		tuning_name(s->tuning[i], name);
		cJSON_AddItemToArray(names, cJSON_CreateString(name));
	}
}

// A file that is there has these weights: it is named after them.
static enum status write_tuned(const struct session_save *s, const struct tuning *t, const char *session, struct error *err)
{
	char name[TUNING_NAME];
	enum status st = STATUS_OK;
	tuning_name(t, name);
	char *path = session_tuned_path(session, name);
	if (strcmp(session, "-") != 0 && !file_exists(path))
		st = onnx_save_tuned(path, s->g, t, err);
	free(path);
	return st;
}

static void save_done(struct session_save **sp)
{
	struct session_save *s = *sp;
	for (size_t i = 0; i < s->n_tunings; i++)
		tuning_drop(&s->tuning[i]);
	free(s->tuning);
	history_done(&s->history);
	cJSON_Delete(s->root);
	free(s);
	*sp = NULL;
}

static struct history take_history(const struct study *st)
{
	struct history copy = {0};
	study_lock(st);
	copy.at = xcalloc(st->history.n + 1, sizeof *copy.at);
	for (; copy.n < st->history.n; copy.n++)
		copy.at[copy.n] = run_record_take(&st->history.at[copy.n]);
	study_unlock(st);
	return copy;
}

// A file as large as the model is not kept for the sake of a run that nobody has gone back to.
static void leave_tuned_runs(struct session_save *s)
{
	for (size_t i = 0; i < s->history.n; i++) {
		struct run_state *state = s->history.at[i].state;
		if (state && tuning_count(state->edits->tuning) && !has_tuning(s, state->edits->tuning))
			run_state_drop(&s->history.at[i].state);
	}
}

// Of all targets that something here leads to.
static void add_target_files(const struct session_save *s, const struct study *st)
{
	cJSON *files = cJSON_CreateObject();
	target_add_files(files, json_text(s->root, "target", ""));
	for (size_t i = 0; i < st->n_steps; i++)
		target_add_files(files, st->step[i].target);
	for (size_t i = 0; i < st->n_variants; i++)
		target_add_files(files, st->variant[i].target);
	for (size_t i = 0; i < s->history.n; i++)
		if (s->history.at[i].state)
			target_add_files(files, s->history.at[i].state->target);
	if (files->child)
		cJSON_AddItemToObject(s->root, "target_files", files);
	else
		cJSON_Delete(files);
}

struct session_save *session_save_begin(const struct study *st, const struct session *base)
{
	int current;
	const struct study_options *opt = study_options(st);
	struct session_save *s = xcalloc(1, sizeof *s);
	cJSON *root = s->root = cJSON_CreateObject();
	keep_unknown(root, base ? base->root : NULL, NULL);
	cJSON_AddNumberToObject(root, "qtui_session", SESSION_VERSION);
	cJSON_AddItemToObject(root, "model", model_json(st));
	cJSON_AddItemToObject(root, "calibration", calibration_json(st));
	cJSON_AddStringToObject(root, "target", opt->target ? opt->target : "esp32p4");
	cJSON_AddItemToObject(root, "truncate", cJSON_CreateStringArray(opt->truncate, opt->n_truncate));
	cJSON_AddItemToObject(root, "task", task_json(st));
	cJSON_AddItemToObject(root, "latency", latency_json(st));
	cJSON_AddItemToObject(root, "edits", edits_json(study_graph(st), study_edits(st))); // what the journal amounts to
	cJSON_AddItemToObject(root, "journal", journal_json(st, &current));
	cJSON_AddNumberToObject(root, "current", current);
	cJSON_AddItemToObject(root, "variants", study_save_variants(st));
	if (st->frontier)
		cJSON_AddItemToObject(root, "pareto", study_frontier_save(st));
	keep_in_objects(root, base ? base->root : NULL);
	keep_in_edits(cJSON_GetObjectItemCaseSensitive(root, "edits"), base ? cJSON_GetObjectItemCaseSensitive(base->root, "edits") : NULL);
	s->g = st->g;
	add_tunings(s, st);
	s->history = take_history(st);
	leave_tuned_runs(s);
	add_target_files(s, st);
	s->results = results_save_begin(st);
	return s;
}

// A session may well be read from a pipe, but what is written into that nobody reads.
static enum status refuse_pipe(const char *path, struct error *err)
{
	if (!file_exists(path) || file_is_dir(path) || file_is_regular(path))
		return STATUS_OK;
	return error_set(err, STATUS_IO, "%s is a pipe or a device: a session is kept in a file, name one", path);
}

enum status session_may_write(const char *path, struct error *err)
{
	enum status st = refuse_pipe(path, err);
	return st == STATUS_OK ? file_may_write(path, err) : st;
}

void session_save_over(struct session_save *s, const struct file_stamp *read)
{
	s->over = true;
	s->read = *read;
}

// Of runs that end at the same time each finds what the one before it has written.
static enum status write_held(const struct session_save *s, const char *path, struct error *err)
{
	enum status st = STATUS_OK;
	if (s->over && file_is_changed(path, &s->read))
		return error_set(err, STATUS_REFUSED,
		    file_is_dir(path) ? "%s is a directory: give another name"
		                      : "%s was written by another run since this one read it: give another name",
		    path);
	for (size_t i = 0; i < s->n_tunings && st == STATUS_OK; i++)
		st = write_tuned(s, s->tuning[i], path, err);
	return st == STATUS_OK ? json_write(s->root, path, true, err) : st;
}

enum status session_save_end(struct session_save **sp, const char *path, struct error *err)
{
	struct session_save *s = *sp;
	enum status st = refuse_pipe(path, err);
	cJSON_AddItemToObject(s->root, "runs", history_json(&s->history, s->g));
	cJSON_AddItemToObject(s->root, "results", results_save_end(&s->results));
	if (st == STATUS_OK) {
		int held = strcmp(path, "-") == 0 ? -1 : file_hold(path);
		st = write_held(s, path, err);
		file_release(held);
	}
	save_done(sp);
	return st;
}

void session_save_free(struct session_save **sp)
{
	if (!*sp)
		return;
	results_save_free(&(*sp)->results);
	save_done(sp);
}

enum status session_write(const struct study *st, const char *path, const struct session *base, struct error *err)
{
	struct session_save *s = session_save_begin(st, base);
	return session_save_end(&s, path, err);
}
