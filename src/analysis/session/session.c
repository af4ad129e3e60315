// Session files: see docs/SESSION.md for the members. Unknown members are kept; malformed ones are errors that name the member.
#include <errno.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "qtui/analysis/frontier.h"
#include "qtui/analysis/latency.h"
#include "qtui/analysis/session.h"
#include "qtui/base/file.h"
#include "qtui/base/hash.h"
#include "qtui/base/json.h"
#include "qtui/base/log.h"
#include "qtui/engine/onnx.h"
#include "qtui/base/str.h"
#include "../study/study_impl.h"

// ---- reading

static char *copy_member(const cJSON *obj, const char *key)
{
	return xstrdup(json_text(obj, key, NULL));
}

// One number for all channels or one a channel; those that are not given get `rest`.
static enum status read_channels(bool *set, const cJSON *obj, const char *key, float rest, float out[4], struct error *err)
{
	const cJSON *a = cJSON_GetObjectItemCaseSensitive(obj, key), *item;
	int i = 0;
	*set = a != NULL;
	cJSON_ArrayForEach(item, a)
	{
		if (i == 4 || !cJSON_IsNumber(item) || !(fabs(item->valuedouble) <= FLT_MAX))
			return error_set(err, STATUS_FORMAT, "\"%s\" must be a list of 1 to 4 numbers", key);
		out[i++] = (float)item->valuedouble;
	}
	for (int k = i; k < 4; k++)
		out[k] = i == 1 ? out[0] : rest;
	return !a || i > 0 ? STATUS_OK : error_set(err, STATUS_FORMAT, "\"%s\" must be a list of 1 to 4 numbers", key);
}

static enum status read_count(int *out, const cJSON *obj, const char *key, struct error *err)
{
	double n = json_number(obj, key, 0);
	if (!(n >= 0 && n <= 1e9))
		return error_set(err, STATUS_FORMAT, "\"calibration.%s\" must be a number from 0 to 1000000000", key);
	*out = (int)n;
	return STATUS_OK;
}

enum status preprocess_parse(struct preprocess *p, const cJSON *obj, struct error *err)
{
	static const struct json_member member[] = {
	    {NULL, "mean", cJSON_Array}, {NULL, "std", cJSON_Array}, {NULL, "color", cJSON_String}, {NULL, "resize", cJSON_String}};
	const char *color = json_text(obj, "color", NULL), *resize = json_text(obj, "resize", NULL);
	*p = (struct preprocess){0};
	if (json_check(obj, member, sizeof member / sizeof *member, false, err) != STATUS_OK)
		return err->status;
	if (read_channels(&p->mean_set, obj, "mean", 0, p->mean, err) || read_channels(&p->std_set, obj, "std", 1, p->std, err))
		return err->status;
	p->color_set = color != NULL;
	p->bgr = color && strcmp(color, "bgr") == 0;
	p->resize_set = resize_parse(&p->resize, resize);
	if (color && !p->bgr && strcmp(color, "rgb") != 0)
		return error_set(err, STATUS_FORMAT, "\"color\": %s is neither rgb nor bgr", color);
	if (resize && !p->resize_set)
		return error_set(err, STATUS_FORMAT, "\"resize\": %s is none of stretch, letterbox, corner, crop", resize);
	for (int i = 0; i < 4 && p->std_set; i++)
		if (!(p->std[i] > 0))
			return error_set(err, STATUS_FORMAT, "\"std\": what x is divided by must be above 0");
	return STATUS_OK;
}

static enum status read_strings(const cJSON *a, char ***out, int *n, const char *what, struct error *err)
{
	const cJSON *item;
	*n = 0;
	if (!a)
		return STATUS_OK;
	*out = xcalloc((size_t)cJSON_GetArraySize(a) + 1, sizeof **out);
	cJSON_ArrayForEach(item, a)
	{
		if (!cJSON_IsString(item))
			return error_set(err, STATUS_FORMAT, "\"%s\" must be a list of texts", what);
		(*out)[(*n)++] = xstrdup(item->valuestring);
	}
	return STATUS_OK;
}

static enum status read_calibration(struct session *s, const cJSON *c, struct error *err)
{
	const char *method = json_text(c, "method", NULL);
	enum calib_method m;
	s->calib = copy_member(c, "path");
	int seed = 0;
	s->method = -1;
	if (read_count(&s->data.samples, c, "samples", err) || read_count(&s->data.random, c, "random", err) || read_count(&seed, c, "seed", err))
		return err->status;
	s->data.seed = (uint64_t)seed;
	if (preprocess_parse(&s->data.pre, cJSON_GetObjectItemCaseSensitive(c, "preprocess"), err) != STATUS_OK)
		return error_prefix(err, "\"calibration.preprocess\"");
	if (!method)
		return STATUS_OK;
	if (!calib_parse(&m, method))
		return error_set(err, STATUS_FORMAT, "\"calibration.method\": unknown calibrator %s", method);
	s->method = (int)m;
	return STATUS_OK;
}

// The texts stay those of the tree.
static void read_task(struct task_wish *w, const cJSON *o)
{
	double iou = json_number(o, "nms", 0);
	*w = (struct task_wish){.data = json_text(o, "data", NULL),
	    .labels = json_text(o, "labels", NULL),
	    .decoder = json_text(o, "decoder", NULL),
	    .kind = json_text(o, "kind", NULL),
	    .iou = iou <= 1 ? iou : 0};
}

// A member that is ignored would be lost with the next writing.
static enum status check_members(const cJSON *root, struct error *err)
{
	static const struct json_member member[] = {
	    {NULL, "model", cJSON_Object}, {"model", "path", cJSON_String}, {"model", "sha256", cJSON_String},
	    {NULL, "calibration", cJSON_Object}, {"calibration", "path", cJSON_String}, {"calibration", "method", cJSON_String},
	    {"calibration", "samples", cJSON_Number}, {"calibration", "random", cJSON_Number}, {"calibration", "seed", cJSON_Number},
	    {"calibration", "preprocess", cJSON_Object}, {NULL, "target", cJSON_String}, {NULL, "task", cJSON_Object},
	    {"task", "data", cJSON_String}, {"task", "labels", cJSON_String}, {"task", "decoder", cJSON_String}, {"task", "kind", cJSON_String},
	    {"task", "nms", cJSON_Number}, {NULL, "edits", cJSON_Array}, {NULL, "journal", cJSON_Array}, {NULL, "truncate", cJSON_Array},
	    {NULL, "current", cJSON_Number}, {NULL, "tuned", cJSON_Array}, {NULL, "variants", cJSON_Array}, {NULL, "runs", cJSON_Array},
	    {NULL, "latency", cJSON_Object}, {"latency", "path", cJSON_String}, {NULL, "results", cJSON_Object}, {NULL, "pareto", cJSON_Object},
	};
	return json_check(root, member, sizeof member / sizeof *member, false, err);
}

static enum status read_members(struct session *s, struct error *err)
{
	const cJSON *root = s->root, *model = cJSON_GetObjectItemCaseSensitive(root, "model");
	double version = json_number(root, "qtui_session", 0);
	if (version != SESSION_VERSION)
		return error_set(err, STATUS_FORMAT, version > SESSION_VERSION ? "written by a newer qtui: update it" : "not a qtui session");
	if (check_members(root, err) != STATUS_OK)
		return err->status;
	s->model = copy_member(model, "path");
	s->model_sha256 = copy_member(model, "sha256");
	s->target = copy_member(root, "target");
	s->results = cJSON_GetObjectItemCaseSensitive(root, "results");
	read_task(&s->task, cJSON_GetObjectItemCaseSensitive(root, "task"));
	enum status st = read_calibration(s, cJSON_GetObjectItemCaseSensitive(root, "calibration"), err);
	if (st == STATUS_OK)
		st = read_strings(cJSON_GetObjectItemCaseSensitive(root, "journal"), &s->command, &s->n_commands, "journal", err);
	if (st == STATUS_OK)
		st = read_strings(cJSON_GetObjectItemCaseSensitive(root, "truncate"), &s->truncate, &s->n_truncate, "truncate", err);
	double current = json_number(root, "current", s->n_commands);
	s->current = current >= 0 && current <= s->n_commands ? (int)current : s->n_commands;
	return st;
}

enum status session_read(struct session **out, const char *path, struct error *err)
{
	struct session *s = xcalloc(1, sizeof *s);
	s->stamp = file_stamp(path); // before it is read: what is written over it meanwhile counts as another
	enum status st = json_read(&s->root, path, err);
	s->path = xstrdup(path);
	if (st == STATUS_OK && (st = read_members(s, err)) != STATUS_OK)
		st = error_prefix(err, "%s", path);
	if (st != STATUS_OK) {
		session_free(&s);
		return st;
	}
	*out = s;
	return STATUS_OK;
}

static void free_strings(char **list, int n)
{
	for (int i = 0; i < n; i++)
		free(list[i]);
	free(list);
}

void session_free(struct session **sp)
{
	struct session *s = *sp;
	if (!s)
		return;
	free(s->path);
	free(s->model);
	free(s->model_sha256);
	free(s->calib);
	free(s->target);
	free_strings(s->command, s->n_commands);
	free_strings(s->truncate, s->n_truncate);
	cJSON_Delete(s->root);
	free(s);
	*sp = NULL;
}

static void merge_preprocess(struct preprocess *into, const struct preprocess *from)
{
	if (!into->mean_set && from->mean_set)
		memcpy(into->mean, from->mean, sizeof into->mean), into->mean_set = true;
	if (!into->std_set && from->std_set)
		memcpy(into->std, from->std, sizeof into->std), into->std_set = true;
	if (!into->color_set && from->color_set)
		into->bgr = from->bgr, into->color_set = true;
	if (!into->resize_set && from->resize_set)
		into->resize = from->resize, into->resize_set = true;
}

void session_options(const struct session *s, struct study_options *opt)
{
	if (!opt->model)
		opt->model = s->model;
	if (!opt->calib && opt->data.random == 0) {
		opt->calib = s->calib;
		opt->data.random = s->data.random;
		opt->data.seed = opt->data.seed ? opt->data.seed : s->data.seed;
	}
	if (!opt->target)
		opt->target = s->target;
	if (opt->method < 0)
		opt->method = s->method;
	if (opt->data.samples <= 0)
		opt->data.samples = s->data.samples;
	if (opt->n_truncate == 0) {
		opt->truncate = (const char *const *)s->truncate;
		opt->n_truncate = s->n_truncate;
	}
	merge_preprocess(&opt->data.pre, &s->data.pre);
	const struct task_wish *t = &opt->task;
	if (!t->data && !t->labels && !t->decoder && !t->kind && t->iou == 0 && !t->none)
		opt->task = s->task;
}

// "edits" says what is in force. Where it is another thing than the journal amounts to (a file that a script wrote, or a hand
// changed), the difference becomes the journal's next steps.
static enum status settle(const struct session *s, struct study *st, struct error *err)
{
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(s->root, "edits");
	const enum calib_method method = st->step[st->current].method;
	struct edits *want = NULL;
	int n = 0;
	enum status status = list ? edits_parse(&want, st, list, err) : STATUS_OK;
	char **command = want ? edits_commands(st->g, study_edits(st), method, want, method, &n) : NULL;
	for (int i = 0; i < n && status == STATUS_OK; i++)
		status = study_command(st, command[i], err);
	edits_commands_free(command, n);
	if (want)
		edits_free(&want);
	return status;
}

char *session_tuned_path(const char *session, const char *name)
{
	struct str path = {0};
	str_addf(&path, "%s.%s.onnx", session, name);
	return str_detach(&path);
}

static bool is_tuning_name(const cJSON *item)
{
	return cJSON_IsString(item) && strlen(item->valuestring) == TUNING_NAME - 1 &&
	    strspn(item->valuestring, "0123456789abcdef") == TUNING_NAME - 1;
}

// The tuned weights that lie beside a session, as a list that ends with NULL.
static char **tuned_beside(const char *path)
{
	struct error err = {0};
	cJSON *root = NULL;
	const cJSON *item, *list = json_read(&root, path, &err) == STATUS_OK ? cJSON_GetObjectItemCaseSensitive(root, "tuned") : NULL;
	char **names = xcalloc((size_t)cJSON_GetArraySize(list) + 1, sizeof *names);
	int n = 0;
	cJSON_ArrayForEach(item, list)
		if (is_tuning_name(item))
			names[n++] = xstrdup(item->valuestring);
	cJSON_Delete(root);
	return names;
}

static void free_names(char **names)
{
	for (int i = 0; names[i]; i++)
		free(names[i]);
	free(names);
}

void session_remove(const char *path)
{
	char **names = tuned_beside(path);
	for (int i = 0; names[i]; i++) {
		char *tuned = session_tuned_path(path, names[i]);
		unlink(tuned);
		free(tuned);
	}
	free_names(names);
	unlink(path);
}

static bool move_tuned(const char *name, const char *from, const char *to)
{
	char *old = session_tuned_path(from, name), *new = session_tuned_path(to, name);
	bool moved = rename(old, new) == 0;
	free(old);
	free(new);
	return moved;
}

// The session last: one that is there can be opened.
enum status session_move(const char *from, const char *to, struct error *err)
{
	char **names = tuned_beside(from);
	int n = 0;
	session_remove(to);
	while (names[n] && move_tuned(names[n], from, to))
		n++;
	enum status st = !names[n] && rename(from, to) == 0 ? STATUS_OK : error_set(err, STATUS_IO, "%s: %s", to, strerror(errno));
	while (st != STATUS_OK && n-- > 0)
		(void)move_tuned(names[n], to, from);
	free_names(names);
	return st;
}

static enum status read_one_tuned(const struct session *s, struct study *st, const char *wanted, struct error *err)
{
	struct tuning *t = NULL;
	char name[TUNING_NAME], *path;
	if ((t = repair_memo_tuning(st->repairs, wanted))) { // named after its content
		tuning_drop(&t);
		return STATUS_OK;
	}
	path = session_tuned_path(s->path, wanted);
	enum status status = onnx_read_tuned(&t, st->g, path, err);
	if (status == STATUS_OK)
		tuning_name(t, name);
	if (status == STATUS_OK && strcmp(name, wanted) != 0)
		status = error_set(err, STATUS_FORMAT, "%s has other weights than those that were tuned", path);
	if (status == STATUS_OK)
		repair_memo_keep_tuning(st->repairs, t);
	tuning_drop(&t);
	free(path);
	return status;
}

static enum status check_model(const struct session *s, const struct graph *g, struct error *err)
{
	if (!s->model_sha256 || strcmp(s->model_sha256, g->sha256) == 0)
		return STATUS_OK;
	return error_set(err, STATUS_FORMAT, "%s: made for another model than %s (sha256 %.12s..., not %.12s...)", s->path, g->path, s->model_sha256,
	    g->sha256);
}

enum status session_read_tuned(const struct session *s, struct study *st, struct error *err)
{
	const cJSON *item;
	enum status status = check_model(s, st->g, err);
	cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(s->root, "tuned"))
	{
		if (status == STATUS_OK && !is_tuning_name(item))
			status = error_set(err, STATUS_FORMAT, "\"tuned\" must be a list of names of %d hexadecimal digits", TUNING_NAME - 1);
		if (status == STATUS_OK)
			status = read_one_tuned(s, st, item->valuestring, err);
	}
	return status;
}

static enum status load_history(const struct session *s, struct study *st, struct error *err)
{
	pthread_mutex_lock(&st->lock);
	enum status status = history_load(&st->history, st, cJSON_GetObjectItemCaseSensitive(s->root, "runs"), err);
	pthread_mutex_unlock(&st->lock);
	return status;
}

static bool is_edited_since(const struct session *s, const struct study *st, const struct run_record *run)
{
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(s->root, "edits");
	struct edits *now = NULL;
	struct error ignored;
	if (!list || !run->state || edits_parse(&now, st, list, &ignored) != STATUS_OK)
		return false;
	bool other = !edits_equal(now, run->state->edits);
	edits_free(&now);
	return other;
}

enum status session_last_run(struct run_record *out, bool *old, const struct session *s, const struct study *st, struct error *err)
{
	struct history h = {0};
	enum status status = check_model(s, st->g, err);
	if (status == STATUS_OK && history_load(&h, st, cJSON_GetObjectItemCaseSensitive(s->root, "runs"), err) != STATUS_OK)
		status = error_prefix(err, "%s", s->path);
	if (status == STATUS_OK && h.n == 0)
		status = error_set(err, STATUS_NOTFOUND, "%s holds no run to compare: qtui analyze --session %s makes one", s->path, s->path);
	if (status == STATUS_OK) {
		*out = run_record_take(&h.at[h.n - 1]);
		*old = is_edited_since(s, st, out);
	}
	history_done(&h);
	return status;
}

// A file that is gone, or says something else by now, is no reason not to go on.
static void read_latency(const struct session *s, struct study *st)
{
	const char *path = json_text(cJSON_GetObjectItemCaseSensitive(s->root, "latency"), "path", NULL);
	struct latency *l = NULL;
	struct error err;
	if (path && latency_read(&l, st->g, path, &err) != STATUS_OK) {
		log_warn("%s: no measured times: %s", s->path, err.text);
		study_miss_latency(st, path);
	}
	if (l)
		study_set_latency(st, l);
	latency_drop(&l);
}

// What the journal begins from, where the study stands elsewhere: as steps of its history.
static enum status begin_as(const struct session *s, struct study *st, struct error *err)
{
	if (!s->target)
		return STATUS_OK;
	enum status status = study_set_target(st, s->target, err);
	if (status != STATUS_OK)
		return status;
	return study_set_method(st, s->method >= 0 ? (enum calib_method)s->method : target_default_calibration(st->target), err);
}

static enum status replay(const struct session *s, struct study *st, struct error *err)
{
	enum status status = begin_as(s, st, err);
	if (status == STATUS_OK)
		status = study_restore(st, (const char *const *)s->command, s->n_commands, s->current, err);
	return status == STATUS_OK ? settle(s, st, err) : status;
}

static enum status take_all(const struct session *s, struct study *st, struct error *err)
{
	enum status status = session_read_tuned(s, st, err);
	if (status == STATUS_OK)
		status = study_load_variants(st, cJSON_GetObjectItemCaseSensitive(s->root, "variants"), err);
	if (status == STATUS_OK)
		status = study_frontier_load(st, cJSON_GetObjectItemCaseSensitive(s->root, "pareto"), err);
	if (status == STATUS_OK)
		status = replay(s, st, err);
	return status == STATUS_OK ? load_history(s, st, err) : status; // last: it takes all runs or none
}

// What cannot be taken as a whole is not taken at all.
enum status session_apply(struct session *s, struct study *st, struct error *err)
{
	if (check_model(s, st->g, err) != STATUS_OK)
		return err->status;
	const size_t step = st->current, variants = st->n_variants;
	struct frontier *frontier = frontier_take(study_frontier(st));
	study_replay(st, true);
	enum status status = take_all(s, st, err);
	if (status != STATUS_OK) {
		study_fall_back(st, step);
		variants_cut(st, variants);
		study_set_frontier(st, frontier);
	}
	study_replay(st, false);
	frontier_drop(&frontier);
	if (status != STATUS_OK)
		return error_prefix(err, "%s", s->path);
	read_latency(s, st);
	if (s->results)
		study_load_results(st, cJSON_DetachItemViaPointer(s->root, s->results));
	s->results = NULL;
	return STATUS_OK;
}

char *session_autosave_path(const char *model)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	char *full = realpath(model, NULL), hash[33];
	struct str path = {0};
	if (state && *state)
		str_addf(&path, "%s/qtui/", state);
	else
		str_addf(&path, "%s/.local/state/qtui/", home && *home ? home : "/tmp");
	key_text(key_of(full ? full : model, strlen(full ? full : model)), hash);
	str_addf(&path, "%s-%.8s.json", file_base(model), hash);
	free(full);
	return str_detach(&path);
}
