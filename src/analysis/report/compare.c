// Two analyses side by side: rows are matched by the names of nodes and outputs.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "qtui/analysis/compare.h"
#include "qtui/base/hash.h"
#include "qtui/base/json.h"

enum { COMPARE_VERSION = 1 };
#define SHOWN_DB 0.005 // a smaller change of an SNR is none

static const cJSON *member(const cJSON *o, const char *key)
{
	return cJSON_GetObjectItemCaseSensitive(o, key);
}

// ---- pairs: {"a": .., "b": ..}, without the side that is not known

static bool same(const cJSON *a, const cJSON *b)
{
	return a == b || (a && b && cJSON_Compare(a, b, true));
}

static void add_pair(cJSON *to, const char *key, const cJSON *a, const cJSON *b)
{
	cJSON *pair = cJSON_AddObjectToObject(to, key);
	if (a)
		cJSON_AddItemToObject(pair, "a", cJSON_Duplicate(a, true));
	if (b)
		cJSON_AddItemToObject(pair, "b", cJSON_Duplicate(b, true));
}

// Whether it was worth a member.
static bool add_if_different(cJSON *to, const char *key, const cJSON *a, const cJSON *b)
{
	if (same(a, b))
		return false;
	add_pair(to, key, a, b);
	return true;
}

// The SNR and what B gained; true when they differ.
static bool add_snr(cJSON *to, const cJSON *a, const cJSON *b, const char *key, const char *gain)
{
	const cJSON *x = member(a, "snr_db"), *y = member(b, "snr_db");
	bool exact_a = json_bool(a, "exact", false), exact_b = json_bool(b, "exact", false);
	if (x || y)
		add_pair(to, key, x, y);
	if (exact_a != exact_b)
		cJSON_AddStringToObject(to, "exact", exact_a ? "a" : "b");
	if (!cJSON_IsNumber(x) || !cJSON_IsNumber(y))
		return exact_a != exact_b || !x != !y;
	cJSON_AddNumberToObject(to, gain, y->valuedouble - x->valuedouble);
	return fabs(y->valuedouble - x->valuedouble) >= SHOWN_DB;
}

// ---- nodes

static struct namemap *index_rows(const cJSON *rows, const char *key)
{
	struct namemap *m = namemap_new();
	const cJSON *row;
	int i = 0;
	cJSON_ArrayForEach(row, rows)
	{
		const char *name = json_text(row, key, NULL);
		if (name && namemap_get(m, name) < 0)
			namemap_put(m, name, i);
		i++;
	}
	return m;
}

static int count_rows(const cJSON *rows)
{
	return cJSON_GetArraySize(rows);
}

// Arrays of cJSON are lists: their items in one walk.
static const cJSON **list_rows(const cJSON *rows)
{
	const cJSON **list = xcalloc((size_t)count_rows(rows) + 1, sizeof *list), *row;
	int i = 0;
	cJSON_ArrayForEach(row, rows)
		list[i++] = row;
	return list;
}

// What two outputs differ in.
static bool add_differences(cJSON *row, const cJSON *out_a, const cJSON *out_b)
{
	bool differs = add_if_different(row, "scale", member(out_a, "scale"), member(out_b, "scale"));
	differs |= add_if_different(row, "zero_point", member(out_a, "zero_point"), member(out_b, "zero_point"));
	differs |= add_snr(row, member(out_a, "graphwise"), member(out_b, "graphwise"), "snr_db", "gain_db");
	differs |= add_snr(row, member(out_a, "layerwise"), member(out_b, "layerwise"), "layerwise_snr_db",
	    "layerwise_gain_db");
	return differs;
}

static void add_or_drop(cJSON *to, cJSON *row, bool differs)
{
	if (differs)
		cJSON_AddItemToArray(to, row);
	else
		cJSON_Delete(row);
}

static const cJSON *output_named(const cJSON *outputs, const char *tensor)
{
	const cJSON *o;
	cJSON_ArrayForEach(o, outputs)
		if (strcmp(json_text(o, "tensor", ""), tensor) == 0)
			return o;
	return NULL;
}

// Outputs behind the first that both have, each as a row of its own.
static void add_further(cJSON *to, const cJSON *a, const cJSON *b)
{
	const cJSON *of_a = member(a, "outputs"), *o = of_a ? of_a->child : NULL;
	while (o && (o = o->next)) {
		const char *tensor = json_text(o, "tensor", "");
		const cJSON *other = output_named(member(b, "outputs"), tensor);
		cJSON *row = cJSON_CreateObject();
		json_add_text(row, "name", json_text(a, "name", NULL));
		json_add_text(row, "op", json_text(a, "op", NULL));
		cJSON_AddStringToObject(row, "tensor", tensor);
		add_or_drop(to, row, other && add_differences(row, o, other));
	}
}

// What one side does not have at all is NULL.
static void add_node(cJSON *to, const cJSON *a, const cJSON *b)
{
	const cJSON *out_a = cJSON_GetArrayItem(member(a, "outputs"), 0), *out_b = cJSON_GetArrayItem(member(b, "outputs"), 0);
	cJSON *row = cJSON_CreateObject();
	bool differs = !a != !b;
	json_add_text(row, "name", json_text(a ? a : b, "name", NULL));
	json_add_text(row, "op", json_text(a ? a : b, "op", NULL));
	if (!a != !b)
		cJSON_AddStringToObject(row, "only_in", a ? "a" : "b");
	differs |= add_if_different(row, "precision", member(a, "precision"), member(b, "precision"));
	differs |= add_if_different(row, "requested", member(a, "requested"), member(b, "requested"));
	differs |= add_if_different(row, "calibration", member(a, "calibration"), member(b, "calibration"));
	differs |= add_differences(row, out_a, out_b);
	add_or_drop(to, row, differs);
	add_further(to, a, b);
}

static void add_nodes(cJSON *to, const cJSON *a, const cJSON *b)
{
	const cJSON **of_a = list_rows(a), **of_b = list_rows(b);
	struct namemap *in_a = index_rows(a, "name"), *in_b = index_rows(b, "name");
	const int n_a = count_rows(a), n_b = count_rows(b);
	for (int i = 0; i < n_a; i++) {
		const char *name = json_text(of_a[i], "name", "");
		int other = namemap_get(in_b, name);
		add_node(to, of_a[i], other >= 0 ? of_b[other] : NULL);
	}
	for (int i = 0; i < n_b; i++)
		if (namemap_get(in_a, json_text(of_b[i], "name", "")) < 0)
			add_node(to, NULL, of_b[i]);
	namemap_free(&in_a);
	namemap_free(&in_b);
	free(of_a);
	free(of_b);
}

// ---- the rest

static void add_outputs(cJSON *to, const cJSON *a, const cJSON *b)
{
	struct namemap *in_b = index_rows(b, "tensor");
	const cJSON *x, **of_b = list_rows(b);
	cJSON_ArrayForEach(x, a)
	{
		int other = namemap_get(in_b, json_text(x, "tensor", ""));
		const cJSON *y = other >= 0 ? of_b[other] : NULL, *fx = member(x, "graphwise"), *fy = member(y, "graphwise");
		cJSON *row = cJSON_CreateObject();
		json_add_text(row, "tensor", json_text(x, "tensor", NULL));
		add_snr(row, fx, fy, "snr_db", "gain_db");
		add_pair(row, "cosine", member(fx, "cosine"), member(fy, "cosine"));
		cJSON_AddItemToArray(to, row);
	}
	namemap_free(&in_b);
	free(of_b);
}

static void add_side(cJSON *to, const char *key, const cJSON *analysis)
{
	static const char *const told[] = {"target", "calibration", "samples"};
	cJSON *side = cJSON_AddObjectToObject(to, key);
	json_add_text(side, "model", json_text(member(analysis, "model"), "path", NULL));
	json_add_text(side, "sha256", json_text(member(analysis, "model"), "sha256", NULL));
	for (int i = 0; i < 3; i++)
		if (member(analysis, told[i]))
			cJSON_AddItemToObject(side, told[i], cJSON_Duplicate(member(analysis, told[i]), true));
}

struct cJSON *compare_analyses(const struct cJSON *a, const struct cJSON *b)
{
	cJSON *root = cJSON_CreateObject();
	cJSON_AddNumberToObject(root, "qtui_compare", COMPARE_VERSION);
	add_side(root, "a", a);
	add_side(root, "b", b);
	add_outputs(cJSON_AddArrayToObject(root, "outputs"), member(a, "outputs"), member(b, "outputs"));
	add_if_different(root, "macs", member(a, "macs"), member(b, "macs"));
	add_if_different(root, "task", member(a, "task"), member(b, "task"));
	add_nodes(cJSON_AddArrayToObject(root, "nodes"), member(a, "nodes"), member(b, "nodes"));
	return root;
}
