// Lists of what stays in float or goes wide: arguments of ONNX Runtime's quantize_static and of Quark, NNCF's IgnoredScope.
#include <string.h>
#include "wishes.h"

// A name, or an expression when it begins with ^, as in Quark.
static void exclude(struct wishes *w, const cJSON *list, const char *what)
{
	const cJSON *item;
	cJSON_ArrayForEach(item, list)
	{
		if (!cJSON_IsString(item))
			wish_note(w, "%s: only names are read, no subgraphs", what);
		else if (item->valuestring[0] == '^')
			wish_pattern(w, item->valuestring, PREC_FLOAT);
		else
			wish_name(w, item->valuestring, PREC_FLOAT);
	}
}

static int bits_of(const char *quant_type)
{
	return strstr(quant_type, "16") ? 16 : 8;
}

// The first entry speaks of the tensor; "convert" follows from the widths of its readers.
static void read_override(struct wishes *w, const cJSON *list)
{
	const cJSON *o = cJSON_GetArrayItem(list, 0), *scale = cJSON_GetObjectItemCaseSensitive(o, "scale");
	bool fixed = cJSON_IsNumber(scale), symmetric = json_number(o, "zero_point", 0) == 0;
	int v = graph_find_value(w->g, list->string);
	if (v >= 0 && (w->g->value[v].constant || w->g->value[v].producer < 0) && !fixed)
		return;
	if (fixed && !symmetric)
		wish_note(w, "%.120s: a scale with a zero point cannot be fixed here", list->string);
	if (cJSON_GetObjectItemCaseSensitive(o, "rmin") || cJSON_GetObjectItemCaseSensitive(o, "rmax"))
		wish_note(w, "%.120s: rmin and rmax are not read: give the scale", list->string);
	wish_tensor(w, list->string, bits_of(json_text(o, "quant_type", "QInt8")), fixed && symmetric ? scale->valuedouble : 0);
}

static void read_method(struct wishes *w, const char *name)
{
	static const struct {
		const char *name;
		enum calib_method method;
	} known[] = {{"MinMax", CALIB_MINMAX}, {"Percentile", CALIB_PERCENTILE}, {"Entropy", CALIB_KL}};
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (strcmp(known[i].name, name) == 0)
			w->method = (int)known[i].method;
	if (w->method < 0)
		wish_note(w, "calibrate_method %.40s is not known here", name);
}

void read_arguments(struct wishes *w, const cJSON *root)
{
	const cJSON *item, *tensor, *extra = object_in(root, "extra_options");
	const char *method = json_text(root, "calibrate_method", NULL);
	if (method)
		read_method(w, method);
	exclude(w, list_in(root, "nodes_to_exclude"), "nodes_to_exclude");
	exclude(w, list_in(root, "exclude"), "exclude");
	cJSON_ArrayForEach(item, object_in(extra, "TensorQuantOverrides"))
		if (cJSON_IsArray(item))
			read_override(w, item);
	cJSON_ArrayForEach(item, object_in(extra, "MixedPrecisionTensor"))
		cJSON_ArrayForEach(tensor, item)
			if (cJSON_IsString(tensor))
				wish_tensor(w, tensor->valuestring, bits_of(item->string), 0);
}

void read_nncf(struct wishes *w, const cJSON *root)
{
	const cJSON *inner = object_in(root, "ignored_scope"), *scope = inner ? inner : root, *item;
	exclude(w, list_in(scope, "names"), "names");
	cJSON_ArrayForEach(item, list_in(scope, "patterns"))
		if (cJSON_IsString(item))
			wish_pattern(w, item->valuestring, PREC_FLOAT);
	cJSON_ArrayForEach(item, list_in(scope, "types"))
		if (cJSON_IsString(item))
			wish_type(w, item->valuestring, PREC_FLOAT);
	if (cJSON_GetArraySize(list_in(scope, "subgraphs")))
		wish_note(w, "subgraphs are not read: name their nodes");
}
