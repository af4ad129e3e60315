// Blame as data: shared between snapshots, written to sessions and read back.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "qtui/analysis/blame.h"
#include "qtui/analysis/task.h"
#include "qtui/base/json.h"
#include "qtui/base/mem.h"
#include "qtui/base/str.h"
#include "qtui/engine/graph.h"

static const double SHARE_FLOOR = 0.005; // added to a part's share of the work, so that next to no work is not free

void blame_name(struct str *out, const struct blame *b, const struct graph *g)
{
	const char *first = g->node[b->node].name, *last = g->node[b->last_node].name;
	if (b->run && b->node == b->last_node)
		str_addf(out, "%d parts of %s", b->parts, first);
	else if (b->run)
		str_addf(out, "%d parts, %s to %s", b->parts, first, last);
	else
		str_addf(out, "%s%s", b->value < 0 ? "constants of " : "", first);
}

static void add_half(struct str *out, const struct blames *b, const char *name, const struct blame_half *half)
{
	str_addf(out, "%s %.4f", name, half->damage);
	if (isfinite(half->snr_db))
		str_addf(out, " (%.1f dB", half->snr_db);
	if (isfinite(half->snr_db) && b->task[0] && !isnan(half->score_loss))
		str_addf(out, ", %s %+.3f", task_word(b->task), 0 - half->score_loss);
	str_add(out, isfinite(half->snr_db) ? ")" : "");
}

void blames_halves(struct str *out, const struct blames *b)
{
	if (isnan(b->weights.damage) || isnan(b->activations.damage))
		return;
	add_half(out, b, "weights", &b->weights);
	add_half(out, b, ", activations", &b->activations);
}

struct blames *blames_take(struct blames *b)
{
	if (b)
		atomic_fetch_add(&b->refs, 1);
	return b;
}

void blames_drop(struct blames **bp)
{
	struct blames *b = *bp;
	*bp = NULL;
	if (!b || atomic_fetch_sub(&b->refs, 1) != 1)
		return;
	free(b->at);
	free(b->of_node);
	free(b);
}

double blame_worth(const struct blame *b)
{
	double gain = isnan(b->in_wide.score) ? b->in_wide.damage : b->in_wide.score;
	return gain / (100 * ((isnan(b->cost) ? b->wide : fmax(b->cost, 0)) + SHARE_FLOOR));
}

bool blames_are_timed(const struct blames *b)
{
	for (int i = 0; i < b->n; i++)
		if (!isnan(b->at[i].cost))
			return true;
	return false;
}

double blames_gain(const struct blames *b, const struct blame_gain *g)
{
	return b->task[0] ? g->score : g->damage;
}

// ---- sessions

static void add_figures(cJSON *to, const char *name, double damage, double snr_db, const char *task, double score)
{
	cJSON *o = cJSON_CreateObject();
	json_add_number(o, "damage", damage);
	json_add_number(o, "snr_db", snr_db);
	json_add_number(o, task, score);
	cJSON_AddItemToObject(to, name, o);
}

static void add_gain(cJSON *to, const char *name, const struct blame_gain *g)
{
	add_figures(to, name, g->damage, g->snr_db, "task", g->score);
}

static void add_half_json(cJSON *to, const char *name, const struct blame_half *half)
{
	add_figures(to, name, half->damage, half->snr_db, "task_loss", half->score_loss);
}

static cJSON *one_json(const struct blame *b, const struct graph *g)
{
	cJSON *o = cJSON_CreateObject();
	json_add_text(o, "node", g->node[b->node].name);
	json_add_text(o, "last", b->run ? g->node[b->last_node].name : NULL);
	json_add_text(o, "tensor", b->value >= 0 ? g->value[b->value].name : NULL);
	cJSON_AddNumberToObject(o, "parts", b->parts);
	json_add_number(o, "alone", b->alone);
	json_add_number(o, "task_loss", b->score_loss);
	add_gain(o, "float", &b->in_float);
	add_gain(o, "wide", &b->in_wide);
	json_add_number(o, "macs", b->wide);
	json_add_number(o, "time", b->cost);
	return o;
}

struct cJSON *blames_json(const struct blames *b, const struct graph *g)
{
	char decision[33];
	cJSON *o = cJSON_CreateObject(), *parts = cJSON_CreateArray(), *rows = cJSON_CreateObject();
	key_text(b->decision, decision);
	json_add_text(o, "decision", decision);
	json_add_number(o, "damage", b->total);
	add_half_json(o, "weights", &b->weights);
	add_half_json(o, "activations", &b->activations);
	json_add_text(o, "metric", b->task[0] ? b->task : NULL);
	json_add_number(o, "task", b->total_score);
	json_add_number(o, "task_float", b->float_score);
	cJSON_AddBoolToObject(o, "complete", b->complete);
	for (int i = 0; i < b->n; i++)
		cJSON_AddItemToArray(parts, one_json(&b->at[i], g));
	for (int n = 0; n < b->n_nodes; n++)
		if (b->of_node[n] >= 0)
			cJSON_AddNumberToObject(rows, g->node[n].name, b->of_node[n]);
	cJSON_AddItemToObject(o, "parts", parts);
	cJSON_AddItemToObject(o, "rows", rows);
	return o;
}

static struct blame_gain parse_gain(const cJSON *o)
{
	return (struct blame_gain){json_number(o, "damage", NAN), json_number(o, "snr_db", NAN), json_number(o, "task", NAN)};
}

static struct blame_half parse_half(const cJSON *o)
{
	return (struct blame_half){json_number(o, "damage", NAN), json_number(o, "snr_db", NAN), json_number(o, "task_loss", NAN)};
}

static bool parse_one(struct blame *out, const cJSON *o, const struct graph *g)
{
	const char *node = json_text(o, "node", NULL), *last = json_text(o, "last", NULL), *tensor = json_text(o, "tensor", NULL);
	double parts = json_number(o, "parts", 1);
	*out = (struct blame){.node = node ? graph_find_node(g, node) : -1,
	    .run = last != NULL,
	    .value = tensor ? graph_find_value(g, tensor) : -1,
	    .parts = parts >= 1 && parts < 1e9 ? (int)parts : 1,
	    .alone = json_number(o, "alone", NAN),
	    .score_loss = json_number(o, "task_loss", NAN),
	    .in_float = parse_gain(cJSON_GetObjectItemCaseSensitive(o, "float")),
	    .in_wide = parse_gain(cJSON_GetObjectItemCaseSensitive(o, "wide")),
	    .wide = json_number(o, "macs", NAN),
	    .cost = json_number(o, "time", NAN)};
	out->last_node = last ? graph_find_node(g, last) : out->node;
	return out->node >= 0 && out->last_node >= 0 && !isnan(out->alone);
}

static void parse_rows(struct blames *b, const cJSON *rows, const struct graph *g)
{
	const cJSON *item;
	b->n_nodes = g->n_nodes;
	b->of_node = xcalloc((size_t)g->n_nodes + 1, sizeof *b->of_node);
	for (int n = 0; n < g->n_nodes; n++)
		b->of_node[n] = -1;
	cJSON_ArrayForEach(item, rows)
	{
		int n = item->string ? graph_find_node(g, item->string) : -1;
		if (n >= 0 && cJSON_IsNumber(item) && item->valuedouble >= 0 && item->valuedouble < b->n)
			b->of_node[n] = (int)item->valuedouble;
	}
}

struct blames *blames_parse(const struct cJSON *j, const struct graph *g)
{
	const cJSON *parts = cJSON_GetObjectItemCaseSensitive(j, "parts"), *item;
	struct blames *b = xcalloc(1, sizeof *b);
	bool good = cJSON_IsArray(parts) && key_parse(&b->decision, json_text(j, "decision", ""));
	*b = (struct blames){.refs = 1,
	    .decision = b->decision,
	    .total = json_number(j, "damage", NAN),
	    .total_score = json_number(j, "task", NAN),
	    .float_score = json_number(j, "task_float", NAN),
	    .weights = parse_half(cJSON_GetObjectItemCaseSensitive(j, "weights")),
	    .activations = parse_half(cJSON_GetObjectItemCaseSensitive(j, "activations")),
	    .complete = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(j, "complete"))};
	snprintf(b->task, sizeof b->task, "%.11s", json_text(j, "metric", ""));
	b->at = xcalloc((size_t)(good ? cJSON_GetArraySize(parts) : 0) + 1, sizeof *b->at);
	if (good)
		cJSON_ArrayForEach(item, parts)
			good = good && parse_one(&b->at[b->n++], item, g);
	parse_rows(b, cJSON_GetObjectItemCaseSensitive(j, "rows"), g);
	if (!good)
		blames_drop(&b);
	return b;
}
