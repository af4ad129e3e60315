// Axera Pulsar2: quant.layer_configs of a build configuration. An entry speaks of layers, of types of operators,
// or of what lies between tensors; this is also the order in which they count.
#include <string.h>
#include "wishes.h"

enum { OF_MODEL, OF_REGION, OF_TYPE, OF_LAYER }; // ranks

static const struct word data_types[] = {{"U8", PREC_INT8}, {"S8", PREC_INT8}, {"U16", PREC_INT16}, {"S16", PREC_INT16}, {"FP32", PREC_FLOAT}};
static const struct word methods[] = {{"MinMax", CALIB_MINMAX}, {"Percentile", CALIB_PERCENTILE}, {"KL", CALIB_KL}, {"MSE", CALIB_MSE}};

static void wish_layer(struct wishes *w, const char *name)
{
	wish_name(w, name, w->wanted);
}

static void wish_op_type(struct wishes *w, const char *type)
{
	wish_type(w, type, w->wanted);
}

// "layer_name": "a" and "layer_names": ["a", "b"].
static const struct naming {
	const char *one, *many;
	int rank;
	void (*wish)(struct wishes *w, const char *name);
} namings[] = {{"layer_name", "layer_names", OF_LAYER, wish_layer}, {"op_type", "op_types", OF_TYPE, wish_op_type}};

// Alone, or as a list.
static bool is_default(const cJSON *names)
{
	const cJSON *name = cJSON_IsArray(names) ? names->child : names;
	return cJSON_IsString(name) && strcmp(name->valuestring, "DEFAULT") == 0;
}

// DEFAULT is the whole model. There, int8 is where Pulsar2 begins, as every target here does:
// it says nothing of single nodes.
static void read_region(struct wishes *w, const cJSON *from, const cJSON *to)
{
	bool all = is_default(from) && is_default(to);
	w->rank = all ? OF_MODEL : OF_REGION;
	if (!all)
		wish_between(w, from, to, w->wanted);
	else if (w->wanted != PREC_INT8)
		wish_all(w, w->wanted);
}

static void read_entry(struct wishes *w, const cJSON *entry, int index)
{
	const cJSON *from = cJSON_GetObjectItemCaseSensitive(entry, "start_tensor_names");
	const cJSON *to = cJSON_GetObjectItemCaseSensitive(entry, "end_tensor_names");
	bool named = from && to;
	if (named)
		read_region(w, from, to);
	for (const struct naming *k = namings; k < namings + sizeof namings / sizeof *namings; k++) {
		const char *one = json_text(entry, k->one, NULL);
		w->rank = k->rank;
		if (one)
			k->wish(w, one);
		each_text_in(w, entry, k->many, k->wish);
		named |= one || cJSON_GetObjectItemCaseSensitive(entry, k->many);
	}
	if (!named)
		wish_note(
		    w, "layer_configs %d: it has no layer_names, no op_types, and not both start_tensor_names and end_tensor_names", index);
}

// A node has one width here; what a target does to weights is its own.
static void note_other_types(struct wishes *w, const cJSON *entry, int index)
{
	const char *output = json_text(entry, "output_data_type", NULL), *weight = json_text(entry, "weight_data_type", "S8");
	if (output && WORD_MEANS(data_types, output) != (int)w->wanted)
		wish_note(w, "layer_configs %d: output_data_type %.20s is not read: a node has one width here", index, output);
	if (strcmp(weight, "S8") != 0)
		wish_note(w, "layer_configs %d: weight_data_type %.20s is not read: weights are the target's own", index, weight);
}

static void read_layer_configs(struct wishes *w, const cJSON *list)
{
	const cJSON *entry;
	int index = -1;
	cJSON_ArrayForEach(entry, list)
	{
		const char *type = json_text(entry, "data_type", "U8");
		int p = WORD_MEANS(data_types, type);
		index++;
		if (p < 0 || !cJSON_IsObject(entry)) {
			wish_note(w, "layer_configs %d: %s%.40s", index, p < 0 ? "its data_type is not known here: " : "it is no object",
			    p < 0 ? type : "");
			continue;
		}
		w->wanted = (enum precision)p;
		read_entry(w, entry, index);
		note_other_types(w, entry, index);
	}
}

void read_pulsar2(struct wishes *w, const cJSON *root)
{
	const cJSON *inner = object_in(w, root, "quant"), *quant = inner ? inner : root;
	const char *method = json_text(quant, "calibration_method", NULL);
	read_layer_configs(w, list_in(w, quant, "layer_configs"));
	w->method = method ? WORD_MEANS(methods, method) : -1;
	if (method && w->method < 0)
		wish_note(w, "calibration_method %.40s is not known here", method);
}
