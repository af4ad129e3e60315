// Lists of what stays in float or goes wide: arguments of ONNX Runtime's quantize_static and of Quark, NNCF's IgnoredScope.
#include <stdlib.h>
#include <string.h>
#include "wishes.h"

static void exclude_name(struct wishes *w, const char *name)
{
	wish_name(w, name, PREC_FLOAT);
}

// A name, or an expression when it begins with ^, as in Quark.
static void exclude(struct wishes *w, const char *name)
{
	if (name[0] == '^')
		wish_pattern(w, name, PREC_FLOAT);
	else
		exclude_name(w, name);
}

// Names, and subgraphs: a list of nodes where they begin and one where they end, each a tuple in Python.
static void exclude_list(struct wishes *w, const cJSON *root, const char *name)
{
	const cJSON *item;
	cJSON_ArrayForEach(item, list_in(w, root, name))
	{
		if (cJSON_IsString(item))
			exclude(w, item->valuestring);
		else if (cJSON_IsArray(item) && cJSON_GetArraySize(item) == 2)
			wish_region(w, cJSON_GetArrayItem(item, 0), cJSON_GetArrayItem(item, 1), PREC_FLOAT);
		else
			wish_note(w, "%s: neither a name nor [[starts], [ends]]", name);
	}
}

static void exclude_pattern(struct wishes *w, const char *pattern)
{
	wish_pattern(w, pattern, PREC_FLOAT);
}

static void exclude_type(struct wishes *w, const char *op_type)
{
	wish_type(w, op_type, PREC_FLOAT);
}

// Types by the names of ONNX Runtime's and Quark's enumerations, with whatever Python puts in front.
static void wish_type_of_tensor(struct wishes *w, const char *tensor, const char *quant_type, double scale)
{
	static const struct {
		const char *name;
		int bits;
	} type[] = {{"QInt4", 4}, {"QUInt4", 4}, {"QInt8", 8}, {"QUInt8", 8}, {"QInt16", 16}, {"QUInt16", 16}, {"QInt32", 32}, {"QUInt32", 32},
	    {"QFloat16", WISH_FLOAT}, {"QBFloat16", WISH_FLOAT}, {"Float16", WISH_FLOAT}, {"BFloat16", WISH_FLOAT}};
	const char *dot = strrchr(quant_type, '.'), *name = dot ? dot + 1 : quant_type;
	for (size_t i = 0; i < sizeof type / sizeof *type; i++)
		if (strcmp(type[i].name, name) == 0) {
			wish_tensor(w, tensor, type[i].bits, scale);
			return;
		}
	wish_note(w, "%.120s: the type %.40s is not known here", tensor, quant_type);
}

// A zero point then follows from the range, as it does for every scale that is given.
static bool target_has_zeros(const struct wishes *w, const char *tensor)
{
	const char *why;
	int value = quantized_output(w, tensor, &why);
	return value >= 0 && !output_quantizer(w->p, value)->symmetric;
}

// The first entry speaks of the tensor; "convert" follows from the widths of its readers.
static void read_override(struct wishes *w, const cJSON *list)
{
	const cJSON *o = cJSON_GetArrayItem(list, 0), *scale = cJSON_GetObjectItemCaseSensitive(o, "scale");
	bool fixed = cJSON_IsNumber(scale), taken = fixed && (json_number(o, "zero_point", 0) == 0 || target_has_zeros(w, list->string));
	int v = graph_find_value(w->g, list->string);
	if (!cJSON_IsObject(o)) {
		wish_note(w, "%.120s: an override is a list of objects", list->string);
		return;
	}
	if (v >= 0 && (w->g->value[v].constant || w->g->value[v].producer < 0) && !fixed)
		return;
	if (fixed && !taken)
		wish_note(w, "%.120s: a scale with a zero point cannot be fixed here", list->string);
	if (cJSON_GetObjectItemCaseSensitive(o, "rmin") || cJSON_GetObjectItemCaseSensitive(o, "rmax"))
		wish_note(w, "%.120s: rmin and rmax are not read: give the scale", list->string);
	wish_type_of_tensor(w, list->string, json_text(o, "quant_type", "QInt8"), taken ? scale->valuedouble : 0);
}

// With whatever Python puts in front: CalibrationMethod, PowerOfTwoMethod, CalibMethod.
static void read_method(struct wishes *w, const char *name)
{
	static const struct {
		const char *name;
		enum calib_method method;
	} known[] = {{"MinMax", CALIB_MINMAX}, {"Percentile", CALIB_PERCENTILE}, {"Entropy", CALIB_MINMAX}, // clips nothing
	    {"NonOverflow", CALIB_MINMAX}, {"MinMSE", CALIB_MSE}};
	const char *dot = strrchr(name, '.');
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (strcmp(known[i].name, dot ? dot + 1 : name) == 0)
			w->method = (int)known[i].method;
	if (w->method < 0)
		wish_note(w, "calibrate_method %.40s is not known here", name);
}

// Quark: [[null, ["Gemm", "Softmax"]], [{..}, [..]]]: types that are left in float, and types with a way of their own.
static void read_types(struct wishes *w, const cJSON *root)
{
	const cJSON *pair, *type;
	cJSON_ArrayForEach(pair, list_in(w, root, "layer_type_config"))
	{
		const cJSON *types = cJSON_GetArrayItem(pair, 1);
		if (!cJSON_IsArray(pair) || !cJSON_IsNull(cJSON_GetArrayItem(pair, 0)) || !cJSON_IsArray(types)) {
			wish_note(w, "layer_type_config: only types that stay in float (null) are read");
			continue;
		}
		cJSON_ArrayForEach(type, types)
			if (cJSON_IsString(type))
				exclude_type(w, type->valuestring);
	}
}

// Members that would quantize otherwise, or less, than what is read here says.
static void note_what_is_not_read(struct wishes *w, const cJSON *root)
{
	static const char *const name[][2] = {
	    {"nodes_to_quantize", "name what is left out in nodes_to_exclude"},
	    {"op_types_to_quantize", "the target says which types are; name others in nodes_to_exclude"},
	    {"specific_layer_config", "give tensors in MixedPrecisionTensor"},
	};
	for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
		const cJSON *m = cJSON_GetObjectItemCaseSensitive(root, name[i][0]);
		if (m && !cJSON_IsNull(m) && !(cJSON_IsArray(m) && cJSON_GetArraySize(m) == 0))
			wish_note(w, "%s is not read: %s", name[i][0], name[i][1]);
	}
}

static void read_mixed(struct wishes *w, const cJSON *list)
{
	const cJSON *tensor;
	cJSON_ArrayForEach(tensor, list)
	{
		if (cJSON_IsString(tensor))
			wish_type_of_tensor(w, tensor->valuestring, list->string, 0);
		else
			wish_note(w, "MixedPrecisionTensor: %.60s is a list of names", list->string);
	}
}

void read_arguments(struct wishes *w, const cJSON *root)
{
	const cJSON *item, *extra = object_in(w, root, "extra_options");
	const cJSON *inputs = object_in(w, object_in(w, root, "global_config"), "input_tensors"); // Quark's newer way to say it
	const char *method = json_text(root, "calibrate_method", json_text(inputs, "calibration_method", NULL));
	if (method)
		read_method(w, method);
	exclude_list(w, root, "nodes_to_exclude");
	exclude_list(w, root, "subgraphs_to_exclude");
	exclude_list(w, root, "exclude");
	read_types(w, root);
	note_what_is_not_read(w, root);
	cJSON_ArrayForEach(item, object_in(w, extra, "TensorQuantOverrides"))
		read_override(w, item);
	cJSON_ArrayForEach(item, object_in(w, extra, "MixedPrecisionTensor"))
		read_mixed(w, item);
}

// In an IR that OpenVINO made of the model, a Conv or Gemm with a bias is NAME/WithoutBiases, and NAME is the sum behind it.
static void ignore_name(struct wishes *w, const char *name)
{
	static const char suffix[] = "/WithoutBiases";
	char *base = xstrdup(name);
	if (graph_find_node(w->g, name) < 0 && str_has_suffix(name, suffix))
		base[strlen(name) - strlen(suffix)] = '\0';
	exclude_name(w, base);
	free(base);
}

// OpenVINO's words for types of operators, where they are not ONNX's.
static void ignore_type(struct wishes *w, const char *type)
{
	static const char *const word[][2] = {{"Multiply", "Mul"}, {"Subtract", "Sub"}, {"Divide", "Div"}, {"Power", "Pow"}, {"Minimum", "Min"},
	    {"Maximum", "Max"}, {"Interpolate", "Resize"}, {"Clamp", "Clip"}, {"HSwish", "HardSwish"}, {"ConvolutionBackpropData", "ConvTranspose"}};
	for (size_t i = 0; i < sizeof word / sizeof *word; i++)
		if (strcmp(type, word[i][0]) == 0)
			type = word[i][1];
	exclude_type(w, type);
}

void read_nncf(struct wishes *w, const cJSON *root)
{
	const cJSON *item, *inner = object_in(w, root, "ignored_scope"), *scope = inner ? inner : root;
	each_text_in(w, scope, "names", ignore_name);
	each_text_in(w, scope, "patterns", exclude_pattern);
	each_text_in(w, scope, "types", ignore_type);
	cJSON_ArrayForEach(item, list_in(w, scope, "subgraphs"))
		wish_region(w, cJSON_GetObjectItemCaseSensitive(item, "inputs"), cJSON_GetObjectItemCaseSensitive(item, "outputs"), PREC_FLOAT);
}
