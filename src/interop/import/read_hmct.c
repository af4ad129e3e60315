// HMCT's quant_config: a qtype for the whole model, for types of operators and for nodes; the nearest to the node counts.
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
		wish_note(w, "%.120s: the qtype %.40s is not known here: int8, int16, dual-int16, float16 and float32 are", config->string, type);
	return p;
}

// The inputs of a node have one width here.
static void note_other_inputs(struct wishes *w, const cJSON *config, int p)
{
	const cJSON *item;
	cJSON_ArrayForEach(item, config)
		if (str_has_prefix(item->string, "input") && cJSON_IsString(item) && WORD_MEANS(qtypes, item->valuestring) != p)
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
}
