// HMCT's quant_config: a qtype for the whole model, for types of operators and for nodes; the nearest to the node
// counts. The configurations of Horizon's hb_mapper and hb_compile hold one, or say the same in older words.
#include <stdlib.h>
#include <string.h>
#include "wishes.h"

enum { OF_MODEL, OF_TYPE, OF_NODE }; // ranks

static const struct word qtypes[] = {{"int8", PREC_INT8}, {"int16", PREC_INT16}, {"dual-int16", PREC_INT16}, {"float16", PREC_FLOAT},
    {"float32", PREC_FLOAT}, {"float", PREC_FLOAT}};
static const struct word methods[] = {{"max", CALIB_MINMAX}, {"kl", CALIB_KL}};

// Of {"qtype": T} or {"input0": T, "input1": T}; -1, with a note, where it is none that a node can have here.
static int width_of(struct wishes *w, const cJSON *config)
{
	const cJSON *first = cJSON_GetObjectItemCaseSensitive(config, "input0");
	const char *type = json_text(config, "qtype", cJSON_IsString(first) ? first->valuestring : NULL);
	int p = type ? WORD_MEANS(qtypes, type) : -1;
	if (!type)
		wish_note(w, "%.120s: neither a qtype nor an input0 is given", config->string);
	else if (p < 0)
		wish_note(
		    w, "%.120s: the qtype %.40s is not known here: int8, int16, dual-int16, float16 and float32 are", config->string, type);
	return p;
}

// The inputs of a node have one width here.
static void note_other_inputs(struct wishes *w, const cJSON *config, int p)
{
	const cJSON *item;
	cJSON_ArrayForEach(
	    item, config) if (str_has_prefix(item->string, "input") && cJSON_IsString(item) && WORD_MEANS(qtypes, item->valuestring) != p)
	    wish_note(w, "%.120s: its %.20s is %.20s: a node has one width here, %s is taken", config->string, item->string, item->valuestring,
	        precision_name((enum precision)p));
}

static void read_configs(struct wishes *w, const cJSON *root, const char *member, bool of_types)
{
	const cJSON *config;
	w->rank = of_types ? OF_TYPE : OF_NODE;
	cJSON_ArrayForEach(config, object_in(w, root, member))
	{
		int p = width_of(w, config);
		if (p < 0)
			continue;
		note_other_inputs(w, config, p);
		if (of_types)
			wish_type(w, config->string, (enum precision)p);
		else
			wish_name(w, config->string, (enum precision)p);
	}
}

// int8 is where HMCT begins, as every target here does: it says nothing of single nodes.
static void read_all_nodes(struct wishes *w, const cJSON *model)
{
	const char *type = json_text(model, "all_node_type", "int8");
	int p = WORD_MEANS(qtypes, type);
	w->rank = OF_MODEL;
	if (p < 0)
		wish_note(w, "all_node_type: %.40s is not known here", type);
	else if (p != PREC_INT8)
		wish_all(w, (enum precision)p);
}

static void read_activation(struct wishes *w, const cJSON *activation)
{
	const cJSON *type = cJSON_GetObjectItemCaseSensitive(activation, "calibration_type");
	if (type)
		w->method = cJSON_IsString(type) ? WORD_MEANS(methods, type->valuestring) : -1;
	if (type && w->method < 0)
		wish_note(w, "calibration_type: one of max and kl is known here, not %.40s",
		    cJSON_IsString(type) ? type->valuestring : "a search among several");
	if (json_bool(activation, "per_channel", false) || json_bool(activation, "asymmetric", false))
		wish_note(w, "activation: per_channel and asymmetric are the target's own: choose one that has them");
}

void read_hmct(struct wishes *w, const cJSON *root)
{
	const cJSON *model = object_in(w, root, "model_config");
	read_all_nodes(w, model);
	read_activation(w, object_in(w, model, "activation"));
	if (cJSON_GetObjectItemCaseSensitive(object_in(w, model, "weight"), "bias_correction"))
		wish_note(w, "bias_correction: changes biases, which no edit says; qtui tune corrects them");
	read_configs(w, root, "op_config", true);
	if (cJSON_GetArraySize(object_in(w, root, "subgraph_config")))
		wish_note(w, "subgraph_config is not read: name its nodes in node_config");
	read_configs(w, root, "node_config", false);
	note_unread(w, root, "quant_config", "model_config op_config subgraph_config node_config");
	note_unread(w, model, "model_config", "all_node_type activation weight");
}

// Calls `read` with each part of a text between `separators`, blanks around it left out.
static void each_part(struct wishes *w, const char *text, const char *separators, void (*read)(struct wishes *w, char *part))
{
	char *copy = xstrdup(text), *rest = NULL;
	for (char *part = strtok_r(copy, separators, &rest); part; part = strtok_r(NULL, separators, &rest)) {
		part += strspn(part, " \t");
		part[strcspn(part, " \t\r\n")] = '\0';
		if (*part)
			read(w, part);
	}
	free(copy);
}

static void read_on_cpu(struct wishes *w, char *name)
{
	wish_name(w, name, PREC_FLOAT);
}

static void wish_width_by_name(struct wishes *w, const char *name, const char *type)
{
	int p = WORD_MEANS(qtypes, type);
	if (p < 0)
		wish_note(w, "%.120s: the type %.40s is not known here: int8 and int16 are", name, type);
	else
		wish_name(w, name, (enum precision)p);
}

// "NAME:int16"
static void read_short_info(struct wishes *w, char *part)
{
	char *colon = strrchr(part, ':');
	if (!colon) {
		wish_note(w, "node_info: %.120s: not NAME:TYPE", part);
		return;
	}
	*colon = '\0';
	wish_width_by_name(w, part, colon + 1);
}

// {"ON": "CPU"}, or {"ON": "BPU", "InputType": "int16", "OutputType": "int16"}. What the CPU runs is in float.
static void read_info(struct wishes *w, const cJSON *info)
{
	const char *in = json_text(info, "InputType", NULL), *out = json_text(info, "OutputType", NULL);
	if (strcmp(json_text(info, "ON", ""), "CPU") == 0) {
		wish_name(w, info->string, PREC_FLOAT);
		return;
	}
	if (in && out && strcmp(in, out) != 0)
		wish_note(w, "%.120s: its OutputType is %.20s: a node has one width here, %.20s is taken", info->string, out, in);
	if (in || out)
		wish_width_by_name(w, info->string, in ? in : out);
	else if (!cJSON_IsObject(info) || !cJSON_GetObjectItemCaseSensitive(info, "ON"))
		wish_note(w, "%.120s: its node_info has neither ON nor InputType", info->string);
}

static void read_node_info(struct wishes *w, const cJSON *model)
{
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(model, "node_info"), *info;
	w->rank = OF_NODE;
	if (cJSON_IsString(list))
		each_part(w, list->valuestring, ";", read_short_info);
	else
		cJSON_ArrayForEach(info, object_in(w, model, "node_info"))
			read_info(w, info);
}

// "set_all_nodes_int16", "set_Softmax_input_int8": of a type; what is said of its output is the same here.
static void read_optimization(struct wishes *w, char *option)
{
	static const char *const side[] = {"_input_", "_output_"};
	char *end = NULL;
	int p = -1;
	if (strcmp(option, "set_all_nodes_int16") == 0) {
		w->rank = OF_MODEL;
		wish_all(w, PREC_INT16);
		return;
	}
	for (size_t i = 0; i < sizeof side / sizeof *side && !end; i++)
		if ((end = strstr(option, side[i])))
			p = WORD_MEANS(qtypes, end + strlen(side[i]));
	if (p < 0 || !str_has_prefix(option, "set_") || str_has_prefix(option, "set_model_")) {
		wish_note(w, "optimization: %.60s is not read", option);
		return;
	}
	*end = '\0';
	w->rank = OF_TYPE;
	wish_type(w, option + strlen("set_"), (enum precision)p);
}

void read_horizon(struct wishes *w, const cJSON *root)
{
	const cJSON *calibration = object_in(w, root, "calibration_parameters");
	const cJSON *config = cJSON_GetObjectItemCaseSensitive(calibration, "quant_config");
	read_activation(w, calibration);
	note_unread(w, calibration, "calibration_parameters", "cal_data_dir cal_data_type calibration_type per_channel asymmetric optimization "
	    "run_on_cpu quant_config preprocess_on");
	each_part(w, json_text(calibration, "optimization", ""), ",;", read_optimization);
	read_node_info(w, object_in(w, root, "model_parameters"));
	each_part(w, json_text(calibration, "run_on_cpu", ""), ";", read_on_cpu);
	if (cJSON_IsString(config))
		wish_note(w, "quant_config: it is a file of its own: import %.120s too", config->valuestring);
	else if (cJSON_IsObject(config))
		read_hmct(w, config);
}
