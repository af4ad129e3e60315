// esp-ppq and PPQ: dispatching tables (operator -> platform, by number in settings and by name in exports), scales of a
// setting (operator -> scale of its first output) and the exported configuration, which has every quantizer.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "wishes.h"
#include "qtui/engine/op.h"

// The platforms of PPQ's TargetPlatform that say a width.
// What it calls SOI (shapes and indices) is the plan's own business.
static const struct platform {
	const char *name;
	int number;
	enum precision precision;
} platforms[] = {
    {"FP32", 0, PREC_FLOAT}, {"FP16", 1, PREC_FLOAT}, {"BF16", 2, PREC_FLOAT}, {"INT8", 4, PREC_INT8},
    {"TRT_INT8", 101, PREC_INT8}, {"NCNN_INT8", 102, PREC_INT8}, {"OPENVINO_INT8", 103, PREC_INT8}, {"TENGINE_INT8", 104, PREC_INT8},
    {"PPL_CUDA_INT8", 201, PREC_INT8}, {"PPL_CUDA_FP16", 203, PREC_FLOAT}, {"PPL_DSP_INT8", 301, PREC_INT8}, {"SNPE_INT8", 302, PREC_INT8},
    {"PPL_DSP_TI_INT8", 303, PREC_INT8}, {"QNN_DSP_INT8", 304, PREC_INT8}, {"HOST_INT8", 401, PREC_INT8}, {"NXP_INT8", 501, PREC_INT8},
    {"FPGA_INT8", 502, PREC_INT8}, {"RKNN_INT8", 601, PREC_INT8}, {"METAX_INT8_C", 701, PREC_INT8}, {"METAX_INT8_T", 702, PREC_INT8},
    {"HEXAGON_INT8", 801, PREC_INT8},
    {"ESPDL_INT8", 551, PREC_INT8}, {"ESPDL_INT16", 552, PREC_INT16}, {"ESPDL_S3_INT8", 553, PREC_INT8},
    {"ESPDL_S3_INT16", 554, PREC_INT16}, {"ESPDL_C_INT8", 557, PREC_INT8}, {"ESPDL_C_INT16", 558, PREC_INT16},
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

// An operator by its name there: the file's, or NAME/Swish for the Swish behind NAME.
static int find_operator(struct wishes *w, const char *name)
{
	static const char suffix[] = "/Swish";
	char *base = xstrdup(name);
	int node = graph_find_node(w->g, base), cut = 0;
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

static void read_dispatchings(struct wishes *w, const cJSON *table)
{
	const cJSON *item;
	cJSON_ArrayForEach(item, table)
	{
		const struct platform *p = find_platform(item);
		if (p == &shapes)
			continue;
		int node = p ? find_operator(w, item->string) : -1;
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

// The command that moves the same factors.
static void note_equalization(struct wishes *w, const cJSON *root)
{
	const cJSON *o = object_in(w, root, "equalization_setting");
	double rounds = json_number(o, "iterations", 10), threshold = json_number(o, "value_threshold", 0.5);
	struct str command = {0};
	if (!json_bool(root, "equalization", false))
		return;
	str_add(&command, "qtui equalize");
	str_add(&command, json_number(o, "opt_level", 1) >= 2 ? " --sums" : "");
	if (rounds != 10)
		str_addf(&command, " --rounds %.0f", rounds);
	if (threshold != 0.5)
		str_addf(&command, " --threshold %g", threshold);
	if (json_bool(o, "including_bias", false))
		str_addf(&command, " --bias %g", json_number(o, "bias_multiplier", 0.5));
	wish_note(w, "equalization: changes weights, which no edit says; for the same%s, open what %s writes",
	    json_bool(o, "including_act", false) ? " but for its including_act" : "", str_text(&command));
	str_done(&command);
}

// Passes that give the tool's run other weights than the model has.
static void note_weight_passes(struct wishes *w, const cJSON *root)
{
	static const struct {
		const char *name, *instead;
	} pass[] = {
	    {"ssd_equalization", "qtui equalize has equalization alone"},
	    {"channel_split", "give the node more bits"},
	    {"weight_split", "give the node more bits"},
	    {"bias_correct", "qtui tune corrects biases"},
	    {"lsq_optimization", "qtui tune fits weights in its own way"},
	    {"tqt_optimization", "qtui tune fits weights in its own way"},
	    {"blockwise_reconstruction", "qtui tune fits weights in its own way"},
	};
	note_equalization(w, root);
	for (size_t i = 0; i < sizeof pass / sizeof *pass; i++)
		if (json_bool(root, pass[i].name, false))
			wish_note(w, "%s: changes weights, which no edit says; %s", pass[i].name, pass[i].instead);
}

void read_esp_ppq_setting(struct wishes *w, const cJSON *root)
{
	const cJSON *item, *modify = object_in(w, root, "quant_config_modify_setting");
	enum calib_method m;
	const char *method = json_text(object_in(w, root, "quantize_activation_setting"), "calib_algorithm", NULL);
	if (method && calib_parse(&m, method))
		w->method = (int)m;
	else if (method)
		wish_note(w, "calib_algorithm %.40s is not known here", method);
	note_weight_passes(w, root);
	read_esp_ppq_dispatch(w, object_in(w, root, "dispatching_table"));
	if (!json_bool(root, "quant_config_modify", true))
		return;
	cJSON_ArrayForEach(item, object_in(w, modify, "custom_config"))
	{
		int node = find_operator(w, item->string), end = node >= 0 ? w->p->group[node].last : -1;
		if (node >= 0 && end != node)
			wish_note(w, "%.120s: esp-ppq skips its scale, as its output is quantized behind %.120s: name that", item->string,
			    w->g->node[end].name);
		else if (node >= 0 && cJSON_IsNumber(item) && graph_output(w->g, node) >= 0)
			wish_scale(w, graph_output(w->g, node), 8, item->valuedouble, ZERO_MIDDLE);
		else if (node >= 0)
			wish_note(w, "%.120s: its scale is not a number", item->string);
	}
}

// A quantizer that rules its own scale, one for the whole tensor.
static bool rules_itself(const cJSON *config)
{
	return strcmp(json_text(config, "state", ""), "ACTIVATED") == 0 && json_number(config, "hash", 0) == json_number(config, "dominator", 1);
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
	char hash[32];
	snprintf(hash, sizeof hash, "%.0f", json_number(config, "hash", 0));
	int place = namemap_get(values->place, hash);
	const cJSON *scale = place < 0 ? NULL : cJSON_GetObjectItemCaseSensitive(values->at[place], "scale");
	int v = graph_find_value(w->g, config->string);
	if (v < 0 || w->g->value[v].constant || !cJSON_IsNumber(scale)) // its constants have names of its own
		return;
	wish_tensor(w, config->string, json_number(config, "bit_width", 8), scale->valuedouble, ZERO_MIDDLE);
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
	double bits = json_number(item, "bit_width", 8), lowest = -json_number(item, "q_min", 0);
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
