// qtui compare: two sessions or analyses, or two models on the same samples: what differs, node by node, and what it
// bought; or two directories, files of arrays (.npz, .npy) or pictures.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "qtui/analysis/compare.h"
#include "qtui/analysis/report.h"
#include "qtui/base/file.h"
#include "qtui/base/json.h"
#include "qtui/base/str.h"
#include "compare_print.h"
#include "verbs.h"

// ---- what is compared

static enum status analyse_session(cJSON **out, const char *path, const struct options *o, struct error *err)
{
	struct study *st = NULL;
	struct session *se = NULL;
	struct options own = {.session = path, .quiet = o->quiet, .study = o->study};
	own.study.batch = true;
	enum status status = open_study(&st, &se, &own, err);
	if (status == STATUS_OK)
		status = run_study(st, o->quiet, err);
	if (status == STATUS_OK) {
		struct snapshot *s = study_snapshot(st);
		*out = report_json(st, s);
		snapshot_drop(&s);
	}
	study_close(&st);
	session_free(&se);
	return status;
}

static enum status read_analysis(cJSON **out, const char *path, const struct options *o, struct error *err)
{
	cJSON *root = NULL;
	enum status st = json_read(&root, path, err);
	if (st != STATUS_OK)
		return st;
	if (cJSON_GetObjectItemCaseSensitive(root, "qtui_session")) {
		cJSON_Delete(root);
		return analyse_session(out, path, o, err);
	}
	if (cJSON_GetObjectItemCaseSensitive(root, "qtui")) {
		*out = root;
		return STATUS_OK;
	}
	cJSON_Delete(root);
	return error_set(err, STATUS_FORMAT, "%s: neither a session nor an analysis (qtui analyze --json): nothing to compare", path);
}

static enum status compare_files(cJSON **out, struct options *o, struct error *err)
{
	cJSON *side[2] = {NULL, NULL};
	enum status st = STATUS_OK;
	for (int i = 0; st == STATUS_OK && i < 2; i++)
		st = read_analysis(&side[i], o->positional.at[i], o, err);
	if (st == STATUS_OK)
		*out = compare_analyses(side[0], side[1]);
	cJSON_Delete(side[0]);
	cJSON_Delete(side[1]);
	return st;
}

struct models {
	struct compare_models in;
	cJSON *out;
	atomic_int done;
	atomic_bool cancel;
};

static enum status run_models(void *arg, struct error *err)
{
	struct models *m = arg;
	return compare_models(&m->out, &m->in, &m->done, &m->cancel, err);
}

// The first model is opened as a study is, so that samples and preprocessing mean the same as everywhere.
static enum status compare_networks(cJSON **out, struct options *o, struct error *err)
{
	struct study *st = NULL;
	struct session *se = NULL;
	struct graph *b = NULL;
	struct models m = {0};
	const char *second = o->positional.at[1];
	o->positional.n -= 1;
	o->positional.at[1] = o->positional.n > 1 ? o->positional.at[2] : NULL;
	enum status status = open_study(&st, &se, o, err);
	if (status == STATUS_OK)
		status = study_load(&b, st, second, true, err);
	if (status == STATUS_OK)
		status = graph_fits(b, 1, err);
	if (status == STATUS_OK) {
		const struct study_options *so = study_options(st);
		m.in = (struct compare_models){.a = study_graph(st), .b = b, .d = study_dataset(st),
		    .engine = {.backend = so->backend, .threads = so->threads, .memory = so->memory}};
		const struct watch work = {run_models, &m, "comparing", &m.done, dataset_count(m.in.d), &m.cancel, .quiet = o->quiet};
		status = run_watched(&work, err);
	}
	*out = m.out;
	session_free(&se);
	study_close(&st);
	graph_free(&b);
	return status;
}

struct collected {
	const char *const *path; // [2]
	cJSON *out;
	atomic_int done;
	atomic_bool cancel;
};

static enum status run_collected(void *arg, struct error *err)
{
	struct collected *c = arg;
	return compare_collections(&c->out, c->path[0], c->path[1], &c->done, &c->cancel, err);
}

static enum status compare_collected(cJSON **out, struct options *o, struct error *err)
{
	struct collected c = {.path = o->positional.at};
	const struct watch work = {run_collected, &c, "comparing", &c.done, COMPARE_ALL, &c.cancel, .quiet = o->quiet};
	enum status status = run_watched(&work, err);
	*out = c.out;
	return status;
}

// ---- the verb

struct kind {
	enum status (*compare)(cJSON **out, struct options *o, struct error *err);
	void (*print)(const cJSON *j, const char *const *path);
	const char *what;
	int words; // at the most
};

static const struct kind figures = {compare_files, compare_print_comparison, "a session or an analysis", 2},
                         models = {compare_networks, compare_print_models, "a model", 3},
                         collections = {compare_collected, compare_print_collections, "a directory, a file of arrays or a picture", 2};

static enum status kind_of(const struct kind **out, const char *path, struct error *err)
{
	bool json = false;
	if (file_is_dir(path) || str_has_suffix(path, ".npz") || str_has_suffix(path, ".npy") || image_is_name(path)) {
		*out = &collections;
		return STATUS_OK;
	}
	enum status st = json_is_file(&json, path, err);
	*out = json ? &figures : &models;
	return st;
}

static enum status compare(struct options *o, struct error *err)
{
	const char *path[2];
	const struct kind *kind[2];
	cJSON *j = NULL;
	if (o->positional.n < 2)
		return error_set(err, STATUS_USAGE,
		    "two are needed: sessions, analyses (qtui analyze --json), models, directories, files of arrays (.npz, .npy) or pictures");
	memcpy(path, o->positional.at, sizeof path);
	for (int i = 0; i < 2; i++)
		if (kind_of(&kind[i], path[i], err) != STATUS_OK)
			return err->status;
	if (kind[0] != kind[1])
		return error_set(err, STATUS_USAGE,
		    "%s is %s, %s %s: compare two sessions or analyses, two models, or two directories, files of arrays (.npz, .npy) or pictures",
		    path[0], kind[0]->what, path[1], kind[1]->what);
	if (o->positional.n > kind[0]->words)
		return error_set(err, STATUS_USAGE, "unexpected argument %s", o->positional.at[kind[0]->words]);
	enum status st = check_output(o->json, err);
	if (st == STATUS_OK)
		st = kind[0]->compare(&j, o, err);
	if (st == STATUS_OK)
		st = check_output(o->json, err); // what a directory has is known now, too
	if (st == STATUS_OK && o->json)
		st = json_write(j, o->json, false, err);
	else if (st == STATUS_OK)
		kind[0]->print(j, path);
	cJSON_Delete(j);
	return st;
}

int verb_compare(struct options *o)
{
	struct error err = {0};
	return compare(o, &err) == STATUS_OK ? EXIT_DONE : fail(&err);
}
