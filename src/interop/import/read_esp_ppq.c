// esp-ppq and PPQ: dispatching tables (operator -> platform, by number in settings and by name in exports) and what they
// export: the configuration, which has every quantizer, and PPQ's scales for TensorRT and PPL.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "read_esp_ppq.h"
#include "qtui/engine/op.h"

// The platforms of PPQ's TargetPlatform that say a width.
// What it calls SOI (shapes and indices) is the plan's own business.
static const struct platform {
	const char *name;
	int number;
	enum precision precision;
} platforms[] = {
    {"FP32", 0, PREC_FLOAT}, {"FP16", 1, PREC_FLOAT}, {"BF16", 2, PREC_FLOAT}, {"INT8", 4, PREC_INT8},
    {"MNN_INT8", 100, PREC_INT8}, {"ASC_INT8", 106, PREC_INT8}, {"TRT_INT8", 101, PREC_INT8},
    {"NCNN_INT8", 102, PREC_INT8}, {"OPENVINO_INT8", 103, PREC_INT8}, {"TENGINE_INT8", 104, PREC_INT8},
    {"PPL_CUDA_INT8", 201, PREC_INT8}, {"PPL_CUDA_FP16", 203, PREC_FLOAT}, {"PPL_DSP_INT8", 301, PREC_INT8}, {"SNPE_INT8", 302, PREC_INT8},
    {"PPL_DSP_TI_INT8", 303, PREC_INT8}, {"QNN_DSP_INT8", 304, PREC_INT8}, {"HOST_INT8", 401, PREC_INT8}, {"NXP_INT8", 501, PREC_INT8},
    {"FPGA_INT8", 502, PREC_INT8}, {"RKNN_INT8", 601, PREC_INT8}, {"METAX_INT8_C", 701, PREC_INT8}, {"METAX_INT8_T", 702, PREC_INT8},
    {"HEXAGON_INT8", 801, PREC_INT8},
    {"ESPDL_INT8", 551, PREC_INT8}, {"ESPDL_INT16", 552, PREC_INT16}, {"ESPDL_S3_INT8", 553, PREC_INT8},
    {"ESPDL_S3_INT16", 554, PREC_INT16}, {"ESPDL_C_INT8", 557, PREC_INT8}, {"ESPDL_C_INT16", 558, PREC_INT16},
    // "high precision": the tool computes these in float64, on the same codes
    {"ESPDL_H_PRE_INT16", 555, PREC_INT16}, {"ESPDL_S3_H_PRE_INT16", 556, PREC_INT16}, {"ESPDL_C_H_PRE_INT16", 559, PREC_INT16},
};
static const struct platform shapes = {"SOI", -1, PREC_INT8};

static const struct platform *find_platform(const cJSON *j)
{
	const char *name = cJSON_IsString(j) ? j->valuestring : NULL;
	if (name ? strcmp(name, shapes.name) == 0 : cJSON_IsNumber(j) && j->valuedouble < 0)
		return &shapes;
	for (size_t i = 0; i < sizeof platforms / sizeof *platforms; i++)
		if (name ? strcmp(platforms[i].name, name) == 0 : cJSON_IsNumber(j) && j->valuedouble == platforms[i].number)
			return &platforms[i];
	return NULL;
}

// The Swish that reads what `node` makes: Sigmoid and Mul, one operator there. -1: there is none.
static int swish_behind(const struct wishes *w, int node)
{
	const struct value *y = node >= 0 && w->g->node[node].n_out ? &w->g->value[w->g->node[node].out[0]] : NULL;
	for (int i = 0; y && i < y->n_consumers; i++) {
		const struct group *group = &w->p->group[y->consumer[i]];
		if (group->kind == GROUP_SWISH && w->g->node[y->consumer[i]].op->id == OP_Sigmoid)
			return group->owner;
	}
	return -1;
}

// The node where a normalization ends that is one operator there, or -1.
static int normalization(const struct wishes *w, const char *name)
{
	char *base = xstrdup(name), *cut = strrchr(base, '_');
	if (cut)
		*cut = '\0';
	int node = cut ? graph_find_node(w->g, base) : -1;
	const struct written_out *whole = node >= 0 ? plan_written_out(w->p, node) : NULL;
	const char *suffix = whole && whole->last == node ? esp_ppq_suffix(whole->op_type) : NULL;
	bool found = suffix && strcmp(name + (cut - base), suffix) == 0;
	free(base);
	return found ? node : -1;
}

int esp_ppq_operator(struct wishes *w, const char *name)
{
	static const char suffix[] = "/Swish";
	char *base = xstrdup(name);
	int node = graph_find_node(w->g, base), cut = 0;
	node = node < 0 ? normalization(w, base) : node;
	for (size_t len; node < 0 && str_has_suffix(base, suffix); cut++) {
		len = strlen(base) - strlen(suffix);
		base[len] = '\0';
		node = graph_find_node(w->g, base);
	}
	for (; node >= 0 && cut > 0; cut--)
		node = swish_behind(w, node);
	if (node < 0)
		wish_note(w, "%.120s: the model has no such operator", name);
	free(base);
	return node;
}

// What stands in the tools' own tables before anybody has written into them.
static bool is_example(const char *name)
{
	return str_has_suffix(name, " OPERATION NAME") || strcmp(name, "YOUR OEPRATION NAME") == 0;
}

static void read_dispatchings(struct wishes *w, const cJSON *table)
{
	const cJSON *item;
	cJSON_ArrayForEach(item, table)
	{
		const struct platform *p = find_platform(item);
		if (p == &shapes || is_example(item->string))
			continue;
		int node = p ? esp_ppq_operator(w, item->string) : -1;
		if (!p)
			wish_note(w, "%.120s: its platform is not known here", item->string);
		else if (node >= 0)
			wish_precision(w, node, p->precision);
	}
}

void read_esp_ppq_dispatch(struct wishes *w, const cJSON *root)
{
	read_dispatchings(w, object_in(w, root, "dispatchings"));
}

enum { HASH_TEXT = 32 };

// The number of a quantizer as the members of `values` are called; "" where it has none.
static const char *hash_of(char text[HASH_TEXT], const cJSON *config, const char *member)
{
	double hash;
	text[0] = '\0';
	if (one_number(&hash, cJSON_GetObjectItemCaseSensitive(config, member)))
		snprintf(text, HASH_TEXT, "%.0f", hash);
	return text;
}

// A quantizer that rules its own scale, one for the whole tensor.
static bool rules_itself(const cJSON *config)
{
	char own[HASH_TEXT], other[HASH_TEXT];
	return strcmp(json_text(config, "state", ""), "ACTIVATED") == 0 && *hash_of(own, config, "hash") &&
	    strcmp(own, hash_of(other, config, "dominator")) == 0;
}

// How many codes of the type lie below zero, where the lowest one that is used is `lowest`: a signed range may leave out its first.
static double below_zero(double bits, double lowest)
{
	return lowest < 0 && bits >= 1 && bits <= 32 ? ldexp(1, (int)bits - 1) : 0;
}

// The members of an object by name: there may be as many as quantizers, each of which asks for one.
struct members {
	struct namemap *place;
	const cJSON **at;
};

static struct members members_of(const cJSON *o)
{
	struct members m = {namemap_new(), xcalloc((size_t)cJSON_GetArraySize(o) + 1, sizeof *m.at)};
	const cJSON *item;
	int n = 0;
	cJSON_ArrayForEach(item, o)
	{
		m.at[n] = item;
		namemap_put(m.place, item->string, n++);
	}
	return m;
}

static void members_done(struct members *m)
{
	namemap_free(&m->place);
	free(m->at);
}

static void read_quantizer(struct wishes *w, const cJSON *config, const struct members *values)
{
	char hash[HASH_TEXT];
	int place = namemap_get(values->place, hash_of(hash, config, "hash"));
	const cJSON *value = place < 0 ? NULL : values->at[place];
	double scale, zero, bits = json_number(config, "bit_width", 8);
	int v = graph_find_value(w->g, config->string);
	if (v < 0 || w->g->value[v].constant) // its constants have names of its own
		return;
	if (!one_number(&scale, cJSON_GetObjectItemCaseSensitive(value, "scale"))) {
		wish_note(w, "%.120s: its scale in values is not one number", config->string);
		return;
	}
	bool given = one_number(&zero, cJSON_GetObjectItemCaseSensitive(value, "zero_point"));
	wish_tensor(w, config->string, bits, scale, given ? zero + below_zero(bits, json_number(config, "quant_min", -1)) : ZERO_MIDDLE);
}

static void read_quantizers(struct wishes *w, const cJSON *op, const struct members *values)
{
	const cJSON *config;
	if (!cJSON_IsObject(op)) {
		wish_note(w, "%.60s: it is not an object and is not read", op->string);
		return;
	}
	cJSON_ArrayForEach(config, op)
		if (!cJSON_IsObject(config))
			wish_note(w, "%.60s: its quantizer of %.60s is not an object and is not read", op->string, config->string);
		else if (rules_itself(config))
			read_quantizer(w, config, values);
}

void read_esp_ppq_config(struct wishes *w, const cJSON *root)
{
	const cJSON *op;
	struct members values = members_of(object_in(w, root, "values"));
	cJSON_ArrayForEach(op, object_in(w, root, "configs"))
		read_quantizers(w, op, &values);
	members_done(&values);
	read_esp_ppq_dispatch(w, root);
}

void read_act_quant_info(struct wishes *w, const cJSON *root)
{
	const cJSON *item;
	cJSON_ArrayForEach(item, object_in(w, root, "act_quant_info"))
		if (cJSON_IsNumber(item))
			wish_tensor(w, item->string, 8, item->valuedouble / 127, ZERO_MIDDLE);
}

// A quantizer of what PPQ writes for PPL: its zero point is a code, of which q_min is the lowest.
static void read_quant_info_of(struct wishes *w, const cJSON *item)
{
	const cJSON *scale = cJSON_GetObjectItemCaseSensitive(item, "scale"), *zero = cJSON_GetObjectItemCaseSensitive(item, "zero_point");
	int v = graph_find_value(w->g, item->string);
	double bits = json_number(item, "bit_width", 8), lowest = below_zero(bits, json_number(item, "q_min", 0));
	if (v >= 0 && w->g->value[v].constant)
		wish_parameter_lists(w, item->string, bits, scale, zero, ZERO_POINTS, lowest);
	else if (cJSON_IsNumber(scale) && cJSON_IsNumber(zero))
		wish_tensor(w, item->string, bits, scale->valuedouble, zero->valuedouble + lowest);
	else
		wish_note(w, "%.120s: its scale and zero point are no numbers", item->string);
}

void read_quant_info(struct wishes *w, const cJSON *root)
{
	const cJSON *item;
	cJSON_ArrayForEach(item, object_in(w, root, "quant_info"))
		if (cJSON_IsObject(item))
			read_quant_info_of(w, item);
		else
			wish_note(w, "%.120s: it is not an object and is not read", item->string);
}
