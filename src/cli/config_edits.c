// What an xquant configuration says of nodes, as edits: the levels of precision_level,
// custom_setting with its calibrators, and the lists to ignore.
#include <stdlib.h>
#include <string.h>
#include "config_impl.h"
#include "qtui/base/log.h"
#include "qtui/engine/op.h"

enum { LEVEL_FLOAT_TAILS = 2, LEVEL_FLOAT = 3 };

// XSlim leaves these in float at level 2: arithmetic of two activations, Softmax and Sigmoid.
static bool is_float_tail(const struct graph *g, int node)
{
	static const enum op_id arithmetic[] = {OP_Mul, OP_Add, OP_Sub, OP_Div};
	const struct node *n = &g->node[node];
	for (size_t i = 0; i < sizeof arithmetic / sizeof *arithmetic; i++)
		if (n->op->id == arithmetic[i])
			return !g->value[n->in[0]].constant && !g->value[n->in[1]].constant;
	return n->op->id == OP_Softmax || n->op->id == OP_Sigmoid;
}

static bool names_value(const struct graph *g, const cJSON *list, int value)
{
	const cJSON *item;
	cJSON_ArrayForEach(item, list)
		if (cJSON_IsString(item) && graph_find_value(g, item->valuestring) == value)
			return true;
	return false;
}

static enum status check_tensors(const struct config *c, const struct graph *g, const cJSON *list, struct error *err)
{
	const cJSON *item;
	cJSON_ArrayForEach(item, list)
		if (!cJSON_IsString(item) || graph_find_value(g, item->valuestring) < 0)
			return error_set(err, STATUS_NOTFOUND, "%s: custom_setting: the model has no tensor %s", c->path,
			    cJSON_IsString(item) ? item->valuestring : "of such a name");
	return STATUS_OK;
}

// Nodes that XSlim reaches from the tensors `from` (none: the inputs),
// going into all that reads them until it meets a tensor of `to`.
static bool *find_region(const struct graph *g, const cJSON *from, const cJSON *to)
{
	bool *below = xcalloc((size_t)g->n_values + 1, 1), *hit = xcalloc((size_t)g->n_nodes + 1, 1);
	for (int v = 0; v < g->n_values; v++)
		below[v] = cJSON_GetArraySize(from) ? names_value(g, from, v) : g->value[v].is_input;
	for (int n = 0; n < g->n_nodes; n++) {
		for (int i = 0; i < g->node[n].n_in; i++)
			hit[n] |= g->node[n].in[i] >= 0 && below[g->node[n].in[i]];
		for (int i = 0; hit[n] && i < g->node[n].n_out; i++)
			if (g->node[n].out[i] >= 0)
				below[g->node[n].out[i]] = !names_value(g, to, g->node[n].out[i]);
	}
	free(below);
	return hit;
}

// How many nodes of a region are on no way to the tensors `to`, which its author will not have meant.
static int count_strays(const struct graph *g, const bool *hit, const cJSON *to)
{
	bool *above = xcalloc((size_t)g->n_values + 1, 1);
	int strays = 0;
	for (int v = 0; v < g->n_values; v++)
		above[v] = names_value(g, to, v);
	for (int n = g->n_nodes - 1; n >= 0; n--) {
		bool up = false;
		for (int i = 0; hit[n] && i < g->node[n].n_out; i++)
			up |= g->node[n].out[i] >= 0 && above[g->node[n].out[i]];
		strays += hit[n] && !up;
		for (int i = 0; up && i < g->node[n].n_in; i++)
			if (g->node[n].in[i] >= 0)
				above[g->node[n].in[i]] = true;
	}
	free(above);
	return strays;
}

static int *list_nodes(const struct graph *g, const bool *hit, int *n)
{
	int *nodes = xcalloc((size_t)g->n_nodes + 1, sizeof *nodes);
	*n = 0;
	for (int i = 0; i < g->n_nodes; i++)
		if (hit[i])
			nodes[(*n)++] = i;
	return nodes;
}

// One step of the history for all that is marked; what the target refuses is said.
static enum status set_float(const struct config *c, struct study *st, const bool *hit, const char *why, struct error *err)
{
	int n, refused = 0, *nodes = list_nodes(study_graph(st), hit, &n);
	enum status s = n ? study_set(st, nodes, n, PREC_FLOAT, &refused, err) : STATUS_OK;
	if (refused)
		log_warn("%s: %s: %d of %d nodes refused: %s", c->path, why, refused, n, err->text);
	free(nodes);
	return s == STATUS_REFUSED ? STATUS_OK : s;
}

static enum status apply_level(const struct config *c, struct study *st, bool *within, double level, const char *why, struct error *err)
{
	const struct graph *g = study_graph(st);
	if (level > LEVEL_FLOAT || level < LEVEL_FLOAT_TAILS) {
		if (level > LEVEL_FLOAT)
			log_warn("%s: %s: precision_level %g is not simulated: taken as 0", c->path, why, level);
		return STATUS_OK;
	}
	for (int n = 0; n < g->n_nodes; n++)
		within[n] &= level == LEVEL_FLOAT || is_float_tail(g, n);
	return set_float(c, st, within, why, err);
}

// In a region there are always nodes that have no quantizer of their own.
static enum status apply_calibrator(const struct config *c, struct study *st, const bool *hit, const char *type, struct error *err)
{
	enum calib_method m;
	int n, refused = 0;
	if (strcmp(type, "default") == 0)
		return STATUS_OK;
	if (!calib_parse(&m, type))
		return error_set(
		    err, STATUS_FORMAT, "%s: custom_setting: calibration_type %s: default, minmax, percentile, kl or mse", c->path, type);
	int *nodes = list_nodes(study_graph(st), hit, &n);
	enum status s = n ? study_set_calibrator(st, nodes, n, (int)m, &refused, err) : STATUS_OK;
	if (s == STATUS_REFUSED)
		log_warn("%s: custom_setting: calibration_type %s finds nothing to calibrate: %s", c->path, type, err->text);
	free(nodes);
	return s == STATUS_REFUSED ? STATUS_OK : s;
}

static enum status apply_region(const struct config *c, struct study *st, const cJSON *region, struct error *err)
{
	const cJSON *from = cJSON_GetObjectItemCaseSensitive(region, "input_names"),
	            *to = cJSON_GetObjectItemCaseSensitive(region, "output_names");
	enum status s = check_tensors(c, study_graph(st), from, err);
	if (s == STATUS_OK)
		s = check_tensors(c, study_graph(st), to, err);
	if (s != STATUS_OK)
		return s;
	bool *hit = find_region(study_graph(st), from, to);
	int strays = count_strays(study_graph(st), hit, to);
	if (strays)
		log_warn("%s: custom_setting: %d node%s on no way to output_names in it, as for XSlim: name there also where the other ways end",
		    c->path, strays, strays == 1 ? " is" : "s are");
	s = apply_calibrator(c, st, hit, json_text(region, "calibration_type", "default"), err);
	if (s == STATUS_OK) // which changes `hit`
		s = apply_level(c, st, hit, json_number(region, "precision_level", 0), "custom_setting", err);
	free(hit);
	return s;
}

static enum status apply_whole(const struct config *c, struct study *st, double level, struct error *err)
{
	int n = study_graph(st)->n_nodes;
	if (level >= LEVEL_FLOAT) {
		log_warn("%s: precision_level %g quantizes while it runs, or not to integers: not simulated, taken as 0", c->path, level);
		return STATUS_OK;
	}
	bool *all = xcalloc((size_t)n + 1, 1);
	memset(all, 1, (size_t)n);
	enum status s = apply_level(c, st, all, level, "precision_level", err);
	free(all);
	return s;
}

// XSlim reads these two lists for float16 and dynamic quantization only; what they ask for is done here.
static enum status apply_ignored(const struct config *c, struct study *st, const char *member, bool types, struct error *err)
{
	const struct graph *g = study_graph(st);
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(config_section(c, "quantization_parameters"), member), *item;
	bool *hit = xcalloc((size_t)g->n_nodes + 1, 1);
	cJSON_ArrayForEach(item, list)
	{
		const char *name = cJSON_IsString(item) ? item->valuestring : "";
		int node = types ? -1 : graph_find_node(g, name);
		bool found = node >= 0;
		if (found)
			hit[node] = true;
		for (int n = 0; types && n < g->n_nodes; n++)
			if (strcmp(g->node[n].op->name, name) == 0)
				found = hit[n] = true;
		if (!found)
			log_warn("%s: %s: the model has no %s", c->path, member, name);
	}
	if (cJSON_GetArraySize(list))
		log_warn("%s: %s is taken as float here; XSlim does not read it for static int8", c->path, member);
	enum status s = set_float(c, st, hit, member, err);
	free(hit);
	return s;
}

// xquant finds its inputs by name; here they are those of the model.
static void warn_of_inputs(const struct config *c, const struct graph *g)
{
	const cJSON *list = c ? config_inputs(c) : NULL, *item;
	cJSON_ArrayForEach(item, list)
	{
		const char *name = json_text(item, "input_name", NULL);
		int v = name ? graph_find_value(g, name) : -1;
		if (name && (v < 0 || !g->value[v].is_input))
			log_warn("%s: input_name %s: the model has no such input; its first is %s", c->path, name,
			    g->n_inputs ? g->value[g->input[0]].name : "(none)");
	}
}

// The tool's own number is another, where there are as many.
static void warn_of_samples(const struct config *c, const struct study *st)
{
	enum { OWN = 32, OF_XSLIM = 500 };
	if (c && c->no_step && study_dataset(st) && dataset_count(study_dataset(st)) == OWN)
		log_warn("%s: it says no calibration_step, which is %d for XSlim then: here are the first %d samples, --samples %d takes as many as it",
		    c->path, OF_XSLIM, OWN, OF_XSLIM);
}

enum status config_apply(const struct config *c, struct study *st, struct error *err)
{
	warn_of_inputs(c, study_graph(st));
	warn_of_samples(c, st);
	const cJSON *q = c ? config_section(c, "quantization_parameters") : NULL, *region;
	if (!q)
		return STATUS_OK;
	enum status s = apply_whole(c, st, json_number(q, "precision_level", 0), err);
	if (s == STATUS_OK)
		s = apply_ignored(c, st, "ignore_op_types", true, err);
	if (s == STATUS_OK)
		s = apply_ignored(c, st, "ignore_op_names", false, err);
	cJSON_ArrayForEach(region, cJSON_GetObjectItemCaseSensitive(q, "custom_setting"))
		if (s == STATUS_OK)
			s = apply_region(c, st, region, err);
	return s;
}
