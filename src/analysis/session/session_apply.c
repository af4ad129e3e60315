// What a study takes from a session that was read.
#include <stdlib.h>
#include <string.h>
#include "qtui/analysis/frontier.h"
#include "qtui/analysis/latency.h"
#include "qtui/analysis/session.h"
#include "qtui/base/json.h"
#include "qtui/base/log.h"
#include "qtui/base/str.h"
#include "qtui/engine/onnx.h"
#include "../study/study_impl.h"
#include "session_impl.h"

// Before sessions were followed through links, a link had the weights beside itself.
static char *tuned_file(const struct session *s, const char *name)
{
	char *path = session_tuned_path(s->path, name);
	struct str beside = {0};
	str_addf(&beside, "%s.%s.onnx", s->path, name);
	if (file_exists(path) || !file_exists(str_text(&beside))) {
		str_done(&beside);
		return path;
	}
	free(path);
	return str_detach(&beside);
}

static enum status read_one_tuned(const struct session *s, struct study *st, const char *wanted, struct error *err)
{
	struct tuning *t = NULL;
	char name[TUNING_NAME], *path;
	if ((t = repair_memo_tuning(st->repairs, wanted))) { // named after its content
		tuning_drop(&t);
		return STATUS_OK;
	}
	path = tuned_file(s, wanted);
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
	return error_set(err, STATUS_FORMAT, "%s: made for another model than %s (sha256 %.12s..., not %.12s...)", s->path, g->path,
	    s->model_sha256, g->sha256);
}

enum status session_read_tuned(const struct session *s, struct study *st, struct error *err)
{
	const cJSON *item;
	enum status status = check_model(s, st->g, err);
	cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(s->root, "tuned"))
	{
		if (status == STATUS_OK && !session_is_tuned(item))
			status = error_set(err, STATUS_FORMAT, "\"tuned\" must be a list of names of %d hexadecimal digits", TUNING_NAME - 1);
		if (status == STATUS_OK)
			status = read_one_tuned(s, st, item->valuestring, err);
	}
	return status;
}

static enum status load_history(const struct session *s, struct study *st, struct error *err)
{
	study_lock(st);
	enum status status = history_load(&st->history, st, cJSON_GetObjectItemCaseSensitive(s->root, "runs"), err);
	study_unlock(st);
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

// Takes the commands that lead to these edits.
static enum status go_to_edits(struct study *st, const struct edits *want, struct error *err)
{
	const enum calib_method method = st->step[st->current].method;
	int n;
	enum status status = STATUS_OK;
	char **command = edits_commands(st->g, study_edits(st), method, want, method, &n);
	for (int i = 0; i < n && status == STATUS_OK; i++)
		status = study_command(st, command[i], err);
	edits_commands_free(command, n);
	return status;
}

// "edits" says what is in force. Where the journal leads to something else (a script wrote the file,
// or somebody changed it by hand), the difference becomes the next step of the journal.
static enum status settle(const struct session *s, struct study *st, struct error *err)
{
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(s->root, "edits");
	struct edits *want = NULL;
	enum status status = list ? edits_parse(&want, st, list, err) : STATUS_OK;
	if (want)
		status = go_to_edits(st, want, err);
	if (want)
		edits_free(&want);
	return status;
}

// Brings the study to the target and the calibrator that the session begins from.
static enum status begin_as(const struct session *s, struct study *st, struct error *err)
{
	if (!s->target)
		return STATUS_OK;
	enum status status = study_set_target(st, s->target, err);
	if (status != STATUS_OK)
		return status;
	return study_set_method(st, s->method >= 0 ? (enum calib_method)s->method : target_default_calibration(st->target), err);
}

// The journal begins without edits: those of the study would mix with its own.
static enum status drop_edits(struct study *st, struct error *err)
{
	struct edits *none = edits_new(st->g);
	enum status status = go_to_edits(st, none, err);
	edits_free(&none);
	return status;
}

// Each undo leads to a state that was: one of the journal, and from its beginning back to what was in force before.
static enum status replay(const struct session *s, struct study *st, struct error *err)
{
	size_t from = st->current;
	enum status status = begin_as(s, st, err);
	if (s->n_commands > 0) {
		if (status == STATUS_OK)
			status = drop_edits(st, err);
		study_join_steps(st, from);
		if (status == STATUS_OK)
			status = study_restore(st, (const char *const *)s->command, s->n_commands, s->current, err);
		from = st->current;
	}
	if (status == STATUS_OK)
		status = settle(s, st, err);
	study_join_steps(st, from);
	return status;
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
