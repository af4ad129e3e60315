// Session files: see docs/SESSION.md for the members. Unknown members are kept;
// malformed ones are errors that name the member.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "qtui/analysis/session.h"
#include "qtui/base/file.h"
#include "qtui/base/json.h"
#include "qtui/base/log.h"
#include "../study/study_impl.h"
#include "session_impl.h"

static char *copy_member(const cJSON *obj, const char *key)
{
	return xstrdup(json_text(obj, key, NULL));
}

static enum status read_count(int *out, const cJSON *obj, const char *key, struct error *err)
{
	double n = json_number(obj, key, 0);
	if (!(n >= 0 && n <= 1e9))
		return error_set(err, STATUS_FORMAT, "\"calibration.%s\" must be a number from 0 to 1000000000", key);
	*out = (int)n;
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

bool session_shape(struct shape *out, const struct cJSON *sizes)
{
	const cJSON *item;
	bool right = cJSON_IsArray(sizes) && cJSON_GetArraySize(sizes) <= SHAPE_MAX_RANK;
	*out = (struct shape){0};
	for (item = right ? sizes->child : NULL; item; item = item->next) {
		double n = cJSON_IsNumber(item) ? item->valuedouble : 0;
		if (out->rank == 0 && !(n >= 1))
			n = 1;
		right &= n >= 1 && n <= INT32_MAX && n == floor(n);
		out->dim[out->rank++] = right ? (int64_t)n : 0;
	}
	return right;
}

static enum status read_shapes(struct session *s, const cJSON *shapes, struct error *err)
{
	const cJSON *item;
	s->shape = xcalloc((size_t)cJSON_GetArraySize(shapes) + 1, sizeof *s->shape);
	cJSON_ArrayForEach(item, shapes)
	{
		struct onnx_input_shape *at = &s->shape[s->n_shapes++];
		*at = (struct onnx_input_shape){.name = item->string, .file = s->path};
		if (!session_shape(&at->shape, item))
			return error_set(err, STATUS_FORMAT, "\"calibration.shapes\": %.80s must be a list of sizes", item->string);
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
	if (read_count(&s->data.samples, c, "samples", err) || read_count(&s->data.random, c, "random", err) ||
	    read_count(&seed, c, "seed", err))
		return err->status;
	s->data.seed = (uint64_t)seed;
	if (preprocess_parse(&s->data.pre, cJSON_GetObjectItemCaseSensitive(c, "preprocess"), err) != STATUS_OK)
		return error_prefix(err, "\"calibration.preprocess\"");
	if (read_shapes(s, cJSON_GetObjectItemCaseSensitive(c, "shapes"), err) != STATUS_OK)
		return err->status;
	if (!method)
		return STATUS_OK;
	if (!calib_parse(&m, method))
		return error_set(err, STATUS_FORMAT, "\"calibration.method\": unknown calibrator %s", method);
	s->method = (int)m;
	return STATUS_OK;
}

void session_read_task(struct task_wish *w, const cJSON *o)
{
	double iou = json_number(o, "nms", 0);
	*w = (struct task_wish){.data = json_text(o, "data", NULL),
	    .labels = json_text(o, "labels", NULL),
	    .decoder = json_text(o, "decoder", NULL),
	    .kind = json_text(o, "kind", NULL),
	    .scorer = json_text(o, "scorer", NULL),
	    .boxes_by = json_text(o, "boxes", NULL),
	    .iou = iou <= 1 ? iou : 0};
	w->rests = w->scorer || w->boxes_by;
}

static const struct json_member members[] = {
    {NULL, "qtui_session", cJSON_Number}, {NULL, "model", cJSON_Object}, {"model", "path", cJSON_String}, {"model", "sha256", cJSON_String},
    {NULL, "calibration", cJSON_Object}, {"calibration", "path", cJSON_String}, {"calibration", "method", cJSON_String},
    {"calibration", "samples", cJSON_Number}, {"calibration", "random", cJSON_Number}, {"calibration", "seed", cJSON_Number},
    {"calibration", "preprocess", cJSON_Object}, {"calibration", "fingerprint", cJSON_String},
    {"calibration", "shapes", cJSON_Object},
    {NULL, "target", cJSON_String}, {NULL, "task", cJSON_Object}, {"task", "data", cJSON_String}, {"task", "labels", cJSON_String},
    {"task", "decoder", cJSON_String}, {"task", "kind", cJSON_String}, {"task", "scorer", cJSON_String}, {"task", "boxes", cJSON_String},
    {"task", "nms", cJSON_Number}, {NULL, "edits", cJSON_Array}, {NULL, "journal", cJSON_Array}, {NULL, "truncate", cJSON_Array},
    {NULL, "current", cJSON_Number}, {NULL, "tuned", cJSON_Array}, {NULL, "variants", cJSON_Array}, {NULL, "runs", cJSON_Array},
    {NULL, "latency", cJSON_Object}, {"latency", "path", cJSON_String}, {NULL, "results", cJSON_Object}, {NULL, "pareto", cJSON_Object},
    {NULL, "target_files", cJSON_Object},
};
enum { N_MEMBERS = sizeof members / sizeof *members };

bool session_has_member(const char *in, const char *name)
{
	for (int i = 0; i < N_MEMBERS; i++) {
		const char *of = members[i].in;
		if ((in && of ? strcmp(of, in) == 0 : of == in) && strcmp(members[i].name, name) == 0)
			return true;
	}
	return false;
}

static enum status check_target_files(const cJSON *files, struct error *err)
{
	const cJSON *item;
	cJSON_ArrayForEach(item, files)
		if (!cJSON_IsString(item))
			return error_set(err, STATUS_FORMAT, "\"target_files\", %.200s: must be the text of the file", item->string);
	return STATUS_OK;
}

static enum status read_members(struct session *s, struct error *err)
{
	const cJSON *root = s->root, *model = cJSON_GetObjectItemCaseSensitive(root, "model");
	double version = json_number(root, "qtui_session", 0);
	if (version != SESSION_VERSION)
		return error_set(err, STATUS_FORMAT, version > SESSION_VERSION ? "written by a newer qtui: update it" : "not a qtui session");
	if (json_check(root, members, N_MEMBERS, false, err) != STATUS_OK) // one that is ignored would be lost with the next writing
		return err->status;
	s->model = copy_member(model, "path");
	s->model_sha256 = copy_member(model, "sha256");
	s->target = copy_member(root, "target");
	s->results = cJSON_GetObjectItemCaseSensitive(root, "results");
	session_read_task(&s->task, cJSON_GetObjectItemCaseSensitive(root, "task"));
	enum status st = read_calibration(s, cJSON_GetObjectItemCaseSensitive(root, "calibration"), err);
	if (st == STATUS_OK)
		st = read_strings(cJSON_GetObjectItemCaseSensitive(root, "journal"), &s->command, &s->n_commands, "journal", err);
	if (st == STATUS_OK)
		st = check_target_files(cJSON_GetObjectItemCaseSensitive(root, "target_files"), err);
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
	free(s->shape);
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
		into->resize = from->resize, into->share = from->share, into->resize_set = true;
}

static bool is_other_file(const char *given, const char *own)
{
	return given && !(own && file_is_same(given, own));
}

// Other data, labels or programs than the session's are another task; the same under any name are not. How its outputs are
// read is decided for that of the session, unless a program reads them, which stands in the place of that.
static bool is_another_task(const struct task_wish *w, const struct session *of)
{
	const struct task_wish *s = &of->task;
	bool read = w->decoder || w->kind || w->iou != 0;
	bool other = is_other_file(w->data, s->data ? s->data : of->calib) || is_other_file(w->labels, s->labels);
	return other || w->none || (w->scorer && !s->scorer) || (w->boxes_by && !s->boxes_by) ||
	    (read && (s->scorer || s->boxes_by));
}

static void merge_task(struct task_wish *w, const struct session *of)
{
	const struct task_wish given = *w, *s = &of->task;
	if (is_another_task(w, of))
		return;
	*w = *s;
	w->data = given.data ? given.data : s->data;
	w->labels = given.labels ? given.labels : s->labels;
	w->decoder = given.decoder ? given.decoder : s->decoder;
	w->kind = given.kind ? given.kind : s->kind;
	w->iou = given.iou != 0 ? given.iou : s->iou;
	if (given.scorer || given.boxes_by) {
		w->scorer = given.scorer;
		w->boxes_by = given.boxes_by;
		w->rests = false;
	}
	if (w->rests)
		log_warn("the session's task is measured by a program, which a file does not start by itself: %s '%s'",
		    w->scorer ? "--scorer" : "--boxes", w->scorer ? w->scorer : w->boxes_by);
}

// The journal's last word about pictures, where that is in force.
static bool prepares(const struct session *s)
{
	static const char word[] = "preprocess ";
	bool prepared = false;
	for (int i = 0; i < s->current; i++)
		if (str_has_prefix(s->command[i], word))
			prepared = strcmp(s->command[i] + sizeof word - 1, "auto") != 0;
	return prepared;
}

void session_options(const struct session *s, struct study_options *opt)
{
	opt->data.prepared = prepares(s);
	if (!opt->model)
		opt->model = s->model;
	if (!opt->calib && opt->data.random == 0) {
		opt->calib = s->calib;
		opt->data.random = s->data.random;
	}
	if (!opt->data.seed_set)
		opt->data.seed = s->data.seed; // of another number of random samples, too
	if (!opt->target)
		opt->target = s->target;
	if (opt->method < 0)
		opt->method = s->method;
	if (opt->data.samples <= 0)
		opt->data.samples = s->data.samples;
	if (opt->n_truncate == 0) {
		opt->truncate = (const char *const *)s->truncate;
		opt->n_truncate = s->n_truncate;
		opt->truncate_in = s->path;
	}
	if (opt->n_shapes == 0) {
		opt->shape = s->shape;
		opt->n_shapes = s->n_shapes;
	}
	merge_preprocess(&opt->data.pre, &s->data.pre);
	merge_task(&opt->task, s);
}
