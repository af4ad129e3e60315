// qtui equalize: which weights can be equalized across layers, what that gains, and the float model that comes of it.
#include <stdio.h>
#include <string.h>
#include "qtui/base/file.h"
#include "qtui/base/json.h"
#include "qtui/base/str.h"
#include "qtui/engine/equalize.h"
#include "qtui/engine/onnx.h"
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

static void print_groups(const struct equalization *e, const struct graph *g)
{
	if (e->n_groups)
		printf("bits that a channel leaves unused under one scale, on average\n%9s%16s%16s  weights\n", "channels", "in front", "behind");
	for (int i = 0; i < e->n_groups; i++) {
		const struct equalize_group *x = &e->group[i];
		struct str names = {0};
		add_names(&names, g, x->front, x->n_front);
		str_add(&names, " -> ");
		add_names(&names, g, x->behind, x->n_behind);
		say("%9lld%7.2f to %5.2f%7.2f to %5.2f  %s\n", (long long)x->channels, x->front_before, x->front_after,
		    x->behind_before, x->behind_after, str_text(&names));
		str_done(&names);
	}
	printf("%d group%s of tensors, weights of %d node%s changed\n", e->n_groups, e->n_groups == 1 ? "" : "s", tuning_count(e->weights),
	    tuning_count(e->weights) == 1 ? "" : "s");
}

static void add_nodes(cJSON *o, const char *key, const struct graph *g, const int *node, int n)
{
	cJSON *a = cJSON_AddArrayToObject(o, key);
	for (int i = 0; i < n; i++)
		cJSON_AddItemToArray(a, cJSON_CreateString(g->node[node[i]].name));
}

static cJSON *json_group(const struct equalize_group *x, const struct graph *g)
{
	cJSON *o = cJSON_CreateObject();
	add_nodes(o, "front", g, x->front, x->n_front);
	add_nodes(o, "behind", g, x->behind, x->n_behind);
	cJSON_AddNumberToObject(o, "channels", (double)x->channels);
	json_add_number(o, "front_unused_bits_before", x->front_before);
	json_add_number(o, "front_unused_bits_after", x->front_after);
	json_add_number(o, "behind_unused_bits_before", x->behind_before);
	json_add_number(o, "behind_unused_bits_after", x->behind_after);
	return o;
}

static enum status write_json(const struct equalization *e, const struct graph *g, const char *path, struct error *err)
{
	cJSON *o = cJSON_CreateObject();
	cJSON_AddNumberToObject(o, "qtui", 1);
	json_add_text(o, "model", g->path);
	cJSON_AddNumberToObject(o, "changed_nodes", tuning_count(e->weights));
	cJSON *groups = cJSON_AddArrayToObject(o, "groups");
	for (int i = 0; i < e->n_groups; i++)
		cJSON_AddItemToArray(groups, json_group(&e->group[i], g));
	enum status st = json_write(o, path, false, err);
	cJSON_Delete(o);
	return st;
}

// ---- the verb

static enum status write_model(const struct equalization *e, const struct graph *g, const char *path, struct error *err)
{
	struct bytes model = {0};
	enum status st = tuning_count(e->weights) ? onnx_write_tuned(&model, g, e->weights, err) :
	    error_set(err, STATUS_REFUSED, "no weights of %s can be equalized: %s is not written", g->path, path);
	if (st == STATUS_OK)
		st = file_write(path, model.data, model.size, err);
	bytes_done(&model);
	return st;
}

static enum status read_options(struct equalize_options *opt, const struct options *o, struct error *err)
{
	*opt = EQUALIZE_DEFAULT;
	opt->sums = o->sums;
	opt->rounds = o->rounds ? o->rounds : opt->rounds;
	if (o->positional.n < 1)
		return error_set(err, STATUS_USAGE, "a MODEL is needed");
	if (o->positional.n > 1)
		return error_set(err, STATUS_USAGE, "unexpected argument %s", o->positional.at[1]);
	if (o->threshold && (!str_to_double(o->threshold, &opt->threshold) || !(opt->threshold >= 0)))
		return error_set(err, STATUS_USAGE, "--threshold %s: a number, 0 or more", o->threshold);
	enum status st = check_output(o->json, err);
	return st == STATUS_OK ? check_output(o->output, err) : st;
}

static enum status run(struct equalization *e, struct graph **g, const struct options *o, struct error *err)
{
	struct equalize_options opt;
	enum status st = read_options(&opt, o, err);
	if (st == STATUS_OK)
		st = onnx_load(g, o->positional.at[0], &(struct onnx_options){0}, err);
	if (st == STATUS_OK)
		st = equalize(e, *g, &opt, err);
	if (st == STATUS_OK && !options_take_stdout(o))
		print_groups(e, *g);
	if (st == STATUS_OK && o->json)
		st = write_json(e, *g, o->json, err);
	return st == STATUS_OK && o->output ? write_model(e, *g, o->output, err) : st;
}

int verb_equalize(struct options *o)
{
	struct error err = {0};
	struct equalization e = {0};
	struct graph *g = NULL;
	enum status st = run(&e, &g, o, &err);
	equalization_done(&e);
	graph_free(&g);
	return st == STATUS_OK ? EXIT_DONE : fail(&err);
}
