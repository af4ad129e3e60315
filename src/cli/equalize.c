// qtui equalize: which weights can be equalized across layers, what that gains, and the float model that comes of it.
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "qtui/base/file.h"
#include "qtui/base/json.h"
#include "qtui/base/str.h"
#include "qtui/analysis/equalizing.h"
#include "qtui/engine/equalize.h"
#include "qtui/engine/onnx.h"
#include "shapes.h"
#include "verbs.h"

// ---- showing

static void add_names(struct str *out, const struct graph *g, const int *node, int n)
{
	enum { SHOWN = 3 };
	for (int i = 0; i < n && i < SHOWN; i++)
		str_addf(out, "%s%s", i ? ", " : "", g->node[node[i]].name);
	if (n > SHOWN)
		str_addf(out, " and %d more", n - SHOWN);
}

static void print_group(const struct equalization *e, const struct equalize_group *x, const struct graph *g)
{
	double before = e->by_reach ? x->reach_before : x->front_before, after = e->by_reach ? x->reach_after : x->front_after;
	struct str names = {0};
	add_names(&names, g, x->front, x->n_front);
	str_add(&names, " -> ");
	add_names(&names, g, x->behind, x->n_behind);
	say("%9lld%7.2f to %5.2f%7.2f to %5.2f  %s\n", (long long)x->channels, before, after, x->behind_before, x->behind_after,
	    str_text(&names));
	str_done(&names);
}

static void print_groups(const struct equalization *e, const struct graph *g)
{
	if (e->n_groups)
		printf("bits that a channel leaves unused under one scale, on average\n%9s%16s%16s  weights\n", "channels",
		    e->by_reach ? "activations" : "in front", "behind");
	for (int i = 0; i < e->n_groups; i++)
		print_group(e, &e->group[i], g);
	printf("%d group%s of tensors, weights of %d node%s changed\n", e->n_groups, plural(e->n_groups), tuning_count(e->weights),
	    plural(tuning_count(e->weights)));
}

static void add_nodes(cJSON *o, const char *key, const struct graph *g, const int *node, int n)
{
	cJSON *a = cJSON_AddArrayToObject(o, key);
	for (int i = 0; i < n; i++)
		cJSON_AddItemToArray(a, cJSON_CreateString(g->node[node[i]].name));
}

static cJSON *json_group(const struct equalization *e, const struct equalize_group *x, const struct graph *g)
{
	cJSON *o = cJSON_CreateObject();
	add_nodes(o, "front", g, x->front, x->n_front);
	add_nodes(o, "behind", g, x->behind, x->n_behind);
	cJSON_AddNumberToObject(o, "channels", (double)x->channels);
	json_add_number(o, "front_unused_bits_before", x->front_before);
	json_add_number(o, "front_unused_bits_after", x->front_after);
	json_add_number(o, "behind_unused_bits_before", x->behind_before);
	json_add_number(o, "behind_unused_bits_after", x->behind_after);
	if (e->by_reach) {
		json_add_number(o, "activation_unused_bits_before", x->reach_before);
		json_add_number(o, "activation_unused_bits_after", x->reach_after);
	}
	return o;
}

static enum status write_json(const struct equalization *e, const struct graph *g, const char *rules, const char *path, struct error *err)
{
	cJSON *o = cJSON_CreateObject();
	cJSON_AddNumberToObject(o, "qtui", 1);
	json_add_text(o, "model", g->path);
	json_add_text(o, "rules", rules);
	cJSON_AddNumberToObject(o, "changed_nodes", tuning_count(e->weights));
	cJSON *groups = cJSON_AddArrayToObject(o, "groups");
	for (int i = 0; i < e->n_groups; i++)
		cJSON_AddItemToArray(groups, json_group(e, &e->group[i], g));
	enum status st = json_write(o, path, false, err);
	cJSON_Delete(o);
	return st;
}

// ---- the verb

struct work {
	struct options *o;
	struct equalize_options opt;
	struct study *study;       // where there are samples
	struct session *session;   // none
	struct graph *own;         // where there are not
	const struct graph *g;
	double **reach;
	struct equalization out;
	atomic_bool cancel;
	atomic_int done;
};

static const char *rules_of(const struct work *w)
{
	return w->opt.rules == EQUALIZE_QUARK ? "quark" : w->out.by_reach ? "samples" : "ppq";
}

static enum status write_model(const struct work *w, struct error *err)
{
	const char *path = w->o->output;
	if (!tuning_count(w->out.weights))
		return error_set(err, STATUS_REFUSED, "no weights of %s can be equalized: %s is not written", w->g->path, path);
	return onnx_save_tuned(path, w->g, w->out.weights, err);
}

// `text` NULL: *out stays as it is.
static enum status read_number(double *out, const char *option, const char *text, struct error *err)
{
	if (text && (!str_to_double(text, out) || !(*out >= 0) || isinf(*out)))
		return error_set(err, STATUS_USAGE, "--%s %s: a number, 0 or more", option, text);
	return STATUS_OK;
}

static enum status read_options(struct work *w, struct error *err)
{
	const struct options *o = w->o;
	bool quark = o->rules && strcmp(o->rules, "quark") == 0;
	if (o->rules && !quark && strcmp(o->rules, "ppq") != 0)
		return error_set(err, STATUS_USAGE, "--rules %s: ppq or quark", o->rules);
	if (o->rules && (o->positional.n > 1 || o->random))
		return error_set(err, STATUS_USAGE, "--rules is about weights: it has no meaning beside samples");
	if (quark && (o->sums || o->bias))
		return error_set(err, STATUS_USAGE, "--%s is not among the rules of quark", o->sums ? "sums" : "bias");
	w->opt = quark ? EQUALIZE_DEFAULT_QUARK : EQUALIZE_DEFAULT;
	w->opt.sums = o->sums;
	w->opt.rounds = o->rounds ? o->rounds : w->opt.rounds;
	if (o->positional.n < 1)
		return error_set(err, STATUS_USAGE, "a MODEL is needed");
	enum status st = read_number(&w->opt.threshold, "threshold", o->threshold, err);
	st = st == STATUS_OK ? read_number(&w->opt.bias, "bias", o->bias, err) : st;
	st = st == STATUS_OK ? check_output(o->json, err) : st;
	return st == STATUS_OK ? check_output(o->output, err) : st;
}

static enum status read_reach(void *arg, struct error *err)
{
	struct work *w = arg;
	return study_reach(&w->reach, w->study, study_dataset(w->study), w->opt.sums, &w->cancel, err);
}

// With samples activations are evened out, without them weights.
static enum status open_model(struct work *w, struct error *err)
{
	enum status st;
	if (w->o->positional.n < 2 && !w->o->random) {
		st = onnx_load(&w->own, w->o->positional.at[0], &(struct onnx_options){.shape = w->o->study.shape, .n_shapes = w->o->study.n_shapes}, err);
		w->g = w->own;
		return st == STATUS_OK ? shapes_check(w->o, w->g, err) : st;
	}
	if (w->o->threshold || w->o->bias)
		return error_set(
		    err, STATUS_USAGE, "--%s is about weights: it has no meaning beside samples", w->o->threshold ? "threshold" : "bias");
	const struct watch watch = {read_reach, w, "ranges", &w->done, 0, &w->cancel, .quiet = w->o->quiet};
	w->o->study.task.none = true;
	st = open_study(&w->study, &w->session, w->o, err);
	if (st == STATUS_OK) {
		w->g = study_graph(w->study);
		st = run_watched(&watch, err);
		w->opt.reach = w->reach;
	}
	return st;
}

static enum status run(struct work *w, struct error *err)
{
	const struct options *o = w->o;
	struct error of_model = {0};
	enum status st = read_options(w, err);
	if (st == STATUS_OK)
		st = open_model(w, err);
	if (st == STATUS_OK)
		st = equalize(&w->out, w->g, &w->opt, err);
	if (st != STATUS_OK)
		return st;
	if (!options_take_stdout(o))
		print_groups(&w->out, w->g);
	if (o->json)
		st = write_json(&w->out, w->g, rules_of(w), o->json, err);
	return o->output ? first_failure(st, write_model(w, &of_model), &of_model, err) : st;
}

int verb_equalize(struct options *o)
{
	struct error err = {0};
	struct work w = {.o = o};
	enum status st = run(&w, &err);
	equalization_done(&w.out);
	if (w.reach)
		equalize_reach_free(&w.reach, w.g);
	graph_free(&w.own);
	if (w.study)
		study_close(&w.study);
	return st == STATUS_OK ? EXIT_DONE : fail(&err);
}
