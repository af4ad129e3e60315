// The analysis as JSON: the contract of batch tools (docs/JSON.md). What is not known is absent.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "qtui/analysis/channels.h"
#include "qtui/analysis/cost.h"
#include "qtui/analysis/story.h"
#include "qtui/analysis/isolate.h"
#include "qtui/analysis/report.h"
#include "qtui/analysis/traffic.h"
#include "qtui/base/json.h"

enum { REPORT_VERSION = 1 };

static void add_metrics(cJSON *o, const struct figures *f, bool full)
{
	const struct metrics *m = &f->pooled;
	cJSON_AddNumberToObject(o, "n", f->known);
	if (m->exact)
		cJSON_AddBoolToObject(o, "exact", true);
	else
		json_add_number(o, "snr_db", m->snr_db);
	json_add_number(o, "nsr", m->nsr);
	json_add_number(o, "nsr_mean", f->nsr_mean);
	json_add_number(o, "cosine", m->cosine);
	json_add_number(o, "cosine_mean", f->cosine_mean);
	json_add_number(o, "mse", m->mse);
	if (!full)
		return;
	json_add_number(o, "max_error", m->max_error);
	json_add_number(o, "clipped", m->clipped);
}

static void add_figures(cJSON *o, const char *key, const struct figures *f, bool full)
{
	if (f->known)
		add_metrics(cJSON_AddObjectToObject(o, key), f, full);
}

static void add_hist(cJSON *o, const struct hist *h)
{
	uint64_t bin[STATS_SHOWN];
	if (!h)
		return;
	cJSON *a = cJSON_AddArrayToObject(o, "hist");
	hist_shrink(h, bin, STATS_SHOWN);
	for (int i = 0; i < STATS_SHOWN; i++)
		cJSON_AddItemToArray(a, cJSON_CreateNumber((double)bin[i]));
}

static void add_range(cJSON *o, const char *key, double min, double max, const struct hist *h)
{
	cJSON *r = cJSON_AddObjectToObject(o, key);
	json_add_number(r, "min", min);
	json_add_number(r, "max", max);
	add_hist(r, h);
}

static void add_quantizer(cJSON *o, const struct site *s)
{
	cJSON_AddNumberToObject(o, "bits", s->bits);
	if (s->n_scale == 0)
		return; // a cast
	cJSON *scale = cJSON_AddArrayToObject(o, "scale"), *zero = cJSON_AddArrayToObject(o, "zero_point");
	for (int i = 0; i < s->n_scale; i++) {
		cJSON_AddItemToArray(scale, cJSON_CreateNumber(s->scale[i]));
		cJSON_AddItemToArray(zero, cJSON_CreateNumber(s->zero ? s->zero[i] : 0));
	}
	if (s->axis >= 0)
		cJSON_AddNumberToObject(o, "axis", s->axis);
	else
		cJSON_AddNullToObject(o, "axis");
}

static const char *state_name(enum slot_state s)
{
	static const char *const name[] = {
	    [SLOT_FLOAT] = "float", [SLOT_ACTIVE] = "active", [SLOT_PASSIVE] = "passive", [SLOT_OVERLAPPED] = "shared"};
	return name[s];
}

// What a report is of, and what all its rows need.
struct subject {
	const struct snapshot *s;
	const struct isolation *isolation; // NULL: none was made
	int *axes;                         // along which the channels of values lie
};

static struct channel_split split_of(const struct subject *of, const struct site *s)
{
	const struct node *n = &of->s->g->node[s->node];
	int input = 0;
	while (input < n->n_in - 1 && n->in[input] != s->value)
		input++;
	return channel_split_constant(of->s->g, of->axes, s->node, input);
}

// How unlike the channels of a weight are. Not of what has no channels that could differ,
// as a bias with one element each.
static void add_channels(cJSON *o, const struct subject *of, const struct site *s)
{
	const struct tensor *w = of->s->g->value[s->value].constant;
	struct channel_split split = split_of(of, s);
	double *reach = split.n > 1 && tensor_count(w) > split.n ? mem_try_array((size_t)split.n, sizeof *reach) : NULL;
	if (!reach)
		return;
	channel_reach(reach, &split, w);
	struct channel_spread spread = channel_spread(reach, (int)split.n);
	cJSON *c = cJSON_AddObjectToObject(o, "channels");
	cJSON_AddNumberToObject(c, "axis", split.axis);
	cJSON_AddNumberToObject(c, "count", (double)split.n);
	json_add_number(c, "unused_bits", spread.unused_bits);
	cJSON_AddNumberToObject(c, "outliers", spread.outliers);
	cJSON_AddNumberToObject(c, "dead", spread.dead);
	free(reach);
}

// The scale that an edit asks for, if one does.
static void add_requested(cJSON *o, const struct snapshot *s, int value)
{
	if (value < 0 || s->scale_requested[value] == 0)
		return;
	cJSON_AddNumberToObject(o, "scale_requested", s->scale_requested[value]);
	if (s->zero_requested[value] != ZERO_FOLLOWS)
		cJSON_AddNumberToObject(o, "zero_point_requested", s->zero_requested[value]);
}

static cJSON *site_json(const struct subject *of, const struct site *s)
{
	const struct graph *g = of->s->g;
	cJSON *o = cJSON_CreateObject();
	cJSON_AddStringToObject(o, "tensor", g->value[s->value].name);
	add_quantizer(o, s);
	cJSON_AddStringToObject(o, "state", state_name(s->state));
	if (s->state != SLOT_ACTIVE && s->follows >= 0)
		cJSON_AddStringToObject(o, "follows", g->value[s->follows].name);
	if (s->locked)
		cJSON_AddBoolToObject(o, "locked", true);
	if (graph_goes_by_own_name(g, s->value)) // of a first output the row has it
		add_requested(o, of->s, s->value);
	if (s->kind == SITE_WEIGHT) {
		if (s->graphwise.known)
			add_metrics(o, &s->graphwise, true);
		add_channels(o, of, s);
	} else {
		add_figures(o, "graphwise", &s->graphwise, true);
		add_figures(o, "layerwise", &s->layerwise, false);
	}
	if (s->range.n > 0)
		add_range(o, "float", s->range.min, s->range.max, s->hist_float);
	if (s->graphwise.known)
		add_range(o, "quantized", s->graphwise.min, s->graphwise.max, s->hist_quant);
	if (s->used_levels >= 0)
		cJSON_AddNumberToObject(o, "used_levels", s->used_levels);
	return o;
}

static void add_sites(cJSON *o, const struct subject *of, const struct node_row *r, const char *key, enum site_kind kind, enum site_kind or)
{
	const struct snapshot *s = of->s;
	cJSON *a = NULL;
	for (int i = r->first_site; i < r->first_site + r->n_sites; i++) {
		if (s->site[i].kind != kind && s->site[i].kind != or)
			continue;
		if (!a)
			a = cJSON_AddArrayToObject(o, key);
		cJSON_AddItemToArray(a, site_json(of, &s->site[i]));
	}
}

// What the board takes for the node at its width, and at the others; `known` says how each was come by.
static void add_time(cJSON *o, const struct costs *c, int node, enum precision p)
{
	if (!c->latency || c->node[node].source[p] == COST_NOTHING)
		return;
	cJSON_AddNumberToObject(o, "time_us", c->node[node].at[p]);
	cJSON *times = cJSON_AddObjectToObject(o, "times");
	for (int i = 0; i < PREC_COUNT; i++) {
		cJSON *one = cJSON_AddObjectToObject(times, precision_name((enum precision)i));
		cJSON_AddNumberToObject(one, "us", c->node[node].at[i]);
		cJSON_AddStringToObject(one, "known", cost_source_name(c->node[node].source[i]));
	}
}

static void add_row(cJSON *o, const struct snapshot *s, int node)
{
	const struct node_row *r = &s->row[node];
	cJSON_AddStringToObject(o, "precision", precision_name(r->precision));
	cJSON_AddBoolToObject(o, "edited", r->edited);
	if (r->requested >= 0)
		cJSON_AddStringToObject(o, "requested", precision_name((enum precision)r->requested));
	add_requested(o, s, graph_output(s->g, node));
	if (r->calibrator >= 0)
		cJSON_AddStringToObject(o, "calibration", calib_name((enum calib_method)r->calibrator));
	json_add_text(o, "refused", r->refused);
	if (r->macs > 0)
		cJSON_AddNumberToObject(o, "macs", (double)r->macs);
	add_time(o, s->costs, node, r->precision);
}

// What the node alone does to the network's outputs stands with its own output, where that is quantized.
static void add_isolated(cJSON *row, const struct isolation *i, int node)
{
	cJSON *output = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(row, "outputs"), 0);
	if (i)
		add_figures(output ? output : row, "layerwise_output", &i->node[node], false);
}

// A node of the file that is none of the graph's: computed when the model was loaded,
// left out, or part of the node `into`.
static void add_vanished(cJSON *o, const struct snapshot *s, const struct origin *from, int into)
{
	cJSON_AddStringToObject(o, "precision", precision_name(into >= 0 ? s->row[into].precision : PREC_FLOAT));
	cJSON_AddBoolToObject(o, "edited", false);
	if (from->fate != FATE_FUSED)
		cJSON_AddStringToObject(o, "state", from->fate == FATE_FOLDED ? "folded" : "removed");
}

// One row per node of the file; what vanished into another node names it and has no figures.
static cJSON *origin_json(const struct subject *of, const struct origin *from)
{
	const struct snapshot *s = of->s;
	const struct graph *g = s->g;
	int node = from->fate == FATE_FOLDED ? from->serves : from->node;
	const struct node_row *r = node >= 0 ? &s->row[node] : NULL;
	int into = r && r->fused_into >= 0 ? r->fused_into : from->fate == FATE_KEPT ? -1 : node;
	cJSON *o = cJSON_CreateObject();
	cJSON_AddStringToObject(o, "name", from->name);
	cJSON_AddStringToObject(o, "op", from->op_type);
	if (from->fate == FATE_KEPT)
		add_row(o, s, node);
	else
		add_vanished(o, s, from, into);
	if (into >= 0)
		cJSON_AddStringToObject(o, "fused_into", g->node[into].name);
	if (into >= 0 || !r)
		return o;
	add_sites(o, of, r, "outputs", SITE_OUTPUT, SITE_FLOAT);
	add_sites(o, of, r, "weights", SITE_WEIGHT, SITE_WEIGHT);
	add_sites(o, of, r, "inputs", SITE_INPUT, SITE_INPUT);
	add_isolated(o, of->isolation, node);
	return o;
}

// Inputs that are constants by now.
static void add_fixed(cJSON *model, const struct graph *g)
{
	cJSON *fixed = cJSON_CreateObject();
	for (int i = 0; i < g->n_inputs; i++)
		if (g->value[g->input[i]].fixed)
			cJSON_AddNumberToObject(fixed, g->value[g->input[i]].name, (double)*g->value[g->input[i]].fixed);
	if (fixed->child)
		cJSON_AddItemToObject(model, "fixed", fixed);
	else
		cJSON_Delete(fixed);
}

static void add_model(cJSON *root, const struct graph *g)
{
	cJSON *m = cJSON_AddObjectToObject(root, "model");
	cJSON_AddStringToObject(m, "path", g->path);
	cJSON_AddStringToObject(m, "sha256", g->sha256);
	cJSON_AddNumberToObject(m, "opset", g->opset);
	cJSON_AddNumberToObject(m, "nodes", g->n_origins);
	add_fixed(m, g);
}

static void add_timing(cJSON *root, const struct snapshot *s)
{
	const struct timing *t = &s->timing;
	cJSON *o = cJSON_AddObjectToObject(root, "timing");
	cJSON_AddNumberToObject(o, "load_s", t->load_s);
	cJSON_AddNumberToObject(o, "calibrate_s", t->calibrate_s);
	cJSON_AddNumberToObject(o, "graphwise_s", t->graphwise_s);
	cJSON_AddNumberToObject(o, "layerwise_s", t->layerwise_s);
	cJSON_AddNumberToObject(o, "total_s", t->total_s);
	if (t->task_s > 0)
		cJSON_AddNumberToObject(o, "task_s", t->task_s);
	if (s->findings && s->findings->survey_s > 0)
		cJSON_AddNumberToObject(o, "survey_s", s->findings->survey_s);
	cJSON_AddNumberToObject(o, "peak_rss_mb", t->peak_rss_mb);
}

static void add_cost(cJSON *root, const struct snapshot *s)
{
	cJSON *o = cJSON_AddObjectToObject(root, "macs");
	for (int p = 0; p < PREC_COUNT; p++)
		cJSON_AddNumberToObject(o, precision_name((enum precision)p), (double)s->macs[p]);
}

static void add_traffic(cJSON *root, const struct snapshot *s)
{
	struct traffic t;
	if (!traffic_of(&t, s))
		return;
	cJSON *o = cJSON_AddObjectToObject(root, "bytes");
	cJSON_AddNumberToObject(o, "weights", t.weights);
	cJSON_AddNumberToObject(o, "weights_float", t.weights_float);
	cJSON_AddNumberToObject(o, "written", t.activations);
	cJSON_AddNumberToObject(o, "written_float", t.activations_float);
	o = cJSON_AddObjectToObject(root, "conversions");
	for (int from = 0; from < PREC_COUNT; from++)
		for (int to = 0; to < PREC_COUNT; to++) {
			char name[32];
			snprintf(name, sizeof name, "%s to %s", precision_name((enum precision)from), precision_name((enum precision)to));
			if (t.conversion[from][to])
				cJSON_AddNumberToObject(o, name, t.conversion[from][to]);
		}
}

static cJSON *notes_json(const struct latency *l)
{
	cJSON *a = cJSON_CreateArray();
	const char *end, *line = str_text(&l->notes);
	for (; (end = strchr(line, '\n')); line = end + 1) {
		struct str one = {0};
		str_addn(&one, line, (size_t)(end - line));
		cJSON_AddItemToArray(a, cJSON_CreateString(str_text(&one)));
		str_done(&one);
	}
	return a;
}

static cJSON *cost_sum_json(const struct cost_sum *sum)
{
	cJSON *o = cJSON_CreateObject(), *known = cJSON_CreateObject();
	cJSON_AddNumberToObject(o, "us", sum->all);
	for (int i = 0; i < COST_SOURCES; i++)
		if (cost_source_name((enum cost_source)i) && sum->nodes[i])
			cJSON_AddNumberToObject(known, cost_source_name((enum cost_source)i), sum->from[i]);
	cJSON_AddItemToObject(o, "known", known);
	return o;
}

struct cJSON *latency_json(const struct snapshot *s)
{
	const struct latency *l = s->costs->latency;
	if (!l)
		return NULL;
	const struct cost_sum sum = costs_sum(s);
	cJSON *o = cJSON_CreateObject(), *now = cost_sum_json(&sum), *widths = cJSON_AddObjectToObject(now, "by_precision"),
	    *all = cJSON_CreateObject();
	cJSON_AddStringToObject(o, "file", l->path);
	cJSON_AddNumberToObject(o, "lines", l->lines);
	cJSON_AddNumberToObject(o, "taken", l->taken);
	for (int p = 0; p < PREC_COUNT; p++) {
		const struct cost_sum one = costs_sum_all(s->costs, (enum precision)p);
		cJSON_AddNumberToObject(widths, precision_name((enum precision)p), sum.at[p]);
		cJSON_AddItemToObject(all, precision_name((enum precision)p), cost_sum_json(&one));
	}
	cJSON_AddItemToObject(o, "now", now);
	cJSON_AddItemToObject(o, "all", all);
	cJSON_AddItemToObject(o, "notes", notes_json(l));
	return o;
}

static void add_left_out(cJSON *root, const struct dataset *d)
{
	cJSON *list = dataset_left_out(d) ? cJSON_AddArrayToObject(root, "left_out") : NULL;
	for (int i = 0; i < dataset_left_out(d); i++)
		cJSON_AddItemToArray(list, cJSON_CreateString(dataset_left_out_why(d, i)));
}

struct cJSON *report_json(const struct study *st, const struct snapshot *s)
{
	const struct graph *g = s->g;
	cJSON *root = cJSON_CreateObject();
	cJSON_AddNumberToObject(root, "qtui", REPORT_VERSION);
	add_model(root, g);
	cJSON_AddStringToObject(root, "target", s->target);
	cJSON_AddStringToObject(root, "calibration", calib_name(s->method));
	cJSON_AddNumberToObject(root, "samples", s->samples);
	add_left_out(root, study_dataset(st));
	json_add_text(root, "preprocess", dataset_preprocess(study_dataset(st))->guess);
	add_timing(root, s);
	add_cost(root, s);
	add_traffic(root, s);
	if (s->costs->latency)
		cJSON_AddItemToObject(root, "latency", latency_json(s));
	cJSON *nodes = cJSON_AddArrayToObject(root, "nodes"), *outputs = cJSON_AddArrayToObject(root, "outputs");
	struct subject of = {s, study_isolation(st, s), channel_axes(g)};
	for (int i = 0; i < g->n_origins; i++)
		cJSON_AddItemToArray(nodes, origin_json(&of, &g->origin[i]));
	free(of.axes);
	for (int i = 0; i < g->n_outputs; i++) {
		cJSON *o = cJSON_CreateObject();
		cJSON_AddStringToObject(o, "tensor", g->value[g->output[i]].name);
		add_figures(o, "graphwise", &s->output[i], true);
		cJSON_AddItemToArray(outputs, o);
	}
	if (s->task) {
		cJSON *task = task_report_json(s->task);
		cJSON_AddBoolToObject(task, "calibration_samples", s->task_calibrated);
		cJSON_AddItemToObject(root, "task", task);
	}
	struct story *story = story_new(s, s->findings);
	cJSON_AddItemToObject(root, "findings", s->findings ? findings_json(s->findings, g) : cJSON_CreateArray());
	cJSON_AddItemToObject(root, "why", story_json(story, g));
	story_drop(&story);
	return root;
}
