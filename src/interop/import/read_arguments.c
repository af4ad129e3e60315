// Arguments of ONNX Runtime's quantize_static and of Quark:
// lists of what stays in float or goes wide, types and scales of tensors.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "read_arguments.h"

// A name, or an expression when it begins with ^, as in Quark.
static void exclude(struct wishes *w, const char *name)
{
	int node = graph_find_node(w->g, name);
	if (name[0] == '^')
		wish_pattern(w, name, PREC_FLOAT);
	else if (node >= 0)
		wish_node_in_float(w, node);
	else
		wish_name(w, name, PREC_FLOAT); // with a note
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

// `code`: of zero.
static void wish_type_of_tensor(struct wishes *w, const char *tensor, const char *name, double scale, double code)
{
	const struct type *type = find_type(name);
	if (type)
		wish_tensor(w, tensor, type->bits, scale, code + (type->sign && type->bits > 0 ? ldexp(1, type->bits - 1) : 0));
	else
		wish_note(w, "%.120s: the type %.40s is not known here", tensor, name);
}

// What one entry fixes; what it has in place of a number is noted. False: nothing that can be taken.
static bool read_fixed(struct wishes *w, const char *tensor, const cJSON *o, double *scale, double *zero)
{
	const cJSON *given[] = {cJSON_GetObjectItemCaseSensitive(o, "scale"), cJSON_GetObjectItemCaseSensitive(o, "zero_point")};
	*scale = *zero = 0;
	bool sound = !given[0] || one_number(scale, given[0]);
	sound = (!given[1] || one_number(zero, given[1])) && sound;
	if (!sound)
		wish_note(w, "%.120s: its scale and zero point are not one number each, and are not read", tensor);
	return sound && given[0];
}

// One entry for the tensor, or one a channel.
static void read_weight_override(struct wishes *w, const cJSON *list)
{
	const cJSON *o;
	const char *name = json_text(list->child, "quant_type", "QInt8");
	const struct type *type = find_type(name);
	int n = 0;
	double *grid = xcalloc((size_t)cJSON_GetArraySize(list) * 2 + 1, sizeof *grid), *zero = grid + cJSON_GetArraySize(list);
	cJSON_ArrayForEach(o, list)
	{
		read_fixed(w, list->string, o, &grid[n], &zero[n]);
		zero[n++] += type && type->sign ? ldexp(1, type->bits - 1) : 0;
	}
	if (type && type->bits > 0)
		wish_parameter(w, list->string, type->bits, grid, zero, n);
	else
		wish_note(w, "%.120s: the type %.40s is not known here", list->string, name);
	free(grid);
}

// Members that the target decides, where no scale stands for them.
static void note_rules(struct wishes *w, const cJSON *o, const char *tensor, bool fixed)
{
	int v = graph_find_value(w->g, tensor);
	const struct quantizer *q = v >= 0 && !fixed ? tensor_quantizer(w->p, v) : NULL;
	const cJSON *symmetric = cJSON_GetObjectItemCaseSensitive(o, "symmetric");
	bool decided = q && q->kind == QUANT_LINEAR;
	if (decided && cJSON_IsBool(symmetric) && cJSON_IsTrue(symmetric) != q->symmetric)
		wish_note(w, "%.120s: symmetric: %s is not read, as the target decides it: choose another --target", tensor,
		    cJSON_IsTrue(symmetric) ? "true" : "false");
	if (decided && range_is_full(q->qmin, q->qmax, q->bits) && json_bool(o, "reduce_range", false))
		wish_note(w, "%.120s: reduce_range is not read, as the target decides it: choose another --target", tensor);
	note_unread(w, o, tensor, "quant_type scale zero_point rmin rmax symmetric reduce_range axis convert");
}

// Of a weight without a scale: its width is that of its node.
static void note_weight_rules(struct wishes *w, const cJSON *o, const char *tensor)
{
	const char *name = json_text(o, "quant_type", "QInt8");
	const struct type *type = find_type(name);
	if (!type || (type->bits != 8 && !(type->bits == 16 && target_widens_weights(w->p->target))))
		wish_note(w, "%.120s: the type %.40s is none that weights have here", tensor, name);
	if (cJSON_GetObjectItemCaseSensitive(o, "rmin") || cJSON_GetObjectItemCaseSensitive(o, "rmax"))
		wish_note(w, "%.120s: rmin and rmax of a weight are not read: give its scale", tensor);
	note_rules(w, o, tensor, false);
}

// An input of the network, or made by a node in float: it has the width of those that read it.
static bool comes_in_float(const struct wishes *w, int value)
{
	int node = w->g->value[value].producer, owner = node < 0 ? node : w->p->group[node].owner;
	return owner < 0 || !w->p->quantizable[owner] || w->precision[owner] == PREC_FLOAT;
}

// The first entry speaks of the tensor; "convert" follows from the widths of its readers.
// Where it has no type, `plain` holds.
static void read_override(struct wishes *w, const cJSON *list, const char *plain)
{
	const cJSON *o = cJSON_GetArrayItem(list, 0);
	const cJSON *min = cJSON_GetObjectItemCaseSensitive(o, "rmin"), *max = cJSON_GetObjectItemCaseSensitive(o, "rmax");
	double scale, zero;
	int v = graph_find_value(w->g, list->string);
	if (!cJSON_IsObject(o)) {
		wish_note(w, "%.120s: an override is a list of objects", list->string);
		return;
	}
	if (v >= 0 && w->g->value[v].constant) {
		if (cJSON_GetObjectItemCaseSensitive(o, "scale"))
			read_weight_override(w, list);
		else
			note_weight_rules(w, o, list->string);
		return;
	}
	bool fixed = read_fixed(w, list->string, o, &scale, &zero), ranged = cJSON_IsNumber(min) && cJSON_IsNumber(max) && !fixed;
	note_rules(w, o, list->string, fixed);
	if (v < 0 || !comes_in_float(w, v) || fixed || ranged)
		wish_type_of_tensor(w, list->string, json_text(o, "quant_type", plain), fixed ? scale : 0, zero);
	if (ranged)
		wish_range(w, list->string, min->valuedouble, max->valuedouble);
	else if (!fixed && (min || max))
		wish_note(w, "%.120s: rmin and rmax go together, as numbers", list->string);
}

// With whatever Python puts in front: CalibrationMethod, PowerOfTwoMethod, CalibMethod.
int quark_method(struct wishes *w, const char *name)
{
	static const struct word known[] = {{"MinMax", CALIB_MINMAX}, {"Percentile", CALIB_PERCENTILE},
	    {"Entropy", CALIB_MINMAX}, // clips nothing
	    {"NonOverflow", CALIB_MINMAX}, {"MinMSE", CALIB_MSE}};
	const char *dot = strrchr(name, '.');
	int method = WORD_MEANS(known, dot ? dot + 1 : name);
	if (method < 0)
		wish_note(w, "calibrate_method %.40s is not known here", name);
	return method;
}

// A node, or nodes by an expression, or by their type.
static void wish_layer(struct wishes *w, const char *name, bool types, enum precision p)
{
	if (types)
		wish_type(w, name, p);
	else if (name[0] == '^')
		wish_pattern(w, name, p);
	else
		wish_name(w, name, p);
}

static void note_layer_tensors(struct wishes *w, const cJSON *config, const char *where, enum precision p)
{
	const cJSON *inputs = object_in(w, config, "input_tensors");
	struct str begin = {0};
	str_addf(&begin, "%s: ", where);
	note_other_tensors(w, str_text(&begin), inputs ? inputs : object_in(w, config, "activation"), object_in(w, config, "weight"), p);
	str_done(&begin);
}

// Quark's configuration of a layer: {"input_tensors": {"data_type", "calibration_method"}, "output_tensors", "weight"}. A
// node has one width, the wider of its inputs and outputs; types that are no integers leave it in float. Weights are the
// target's own.
static bool read_layer(struct wishes *w, const cJSON *config, const char *where, enum precision *p)
{
	static const char *const part[] = {"activation", "input_tensors", "output_tensors"};
	int bits = -1;
	w->calibrates = -1;
	for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
		const cJSON *tensors = object_in(w, config, part[i]);
		const char *name = json_text(tensors, "data_type", "Int8"), *method = json_text(tensors, "calibration_method", NULL);
		const struct type *type = find_type(name);
		if (tensors && (!type || (type->bits != WISH_FLOAT && type->bits != 8 && type->bits != 16))) {
			wish_note(w, "%s: the type %.40s is not known here", where, name);
			return false;
		}
		if (tensors && bits != WISH_FLOAT)
			bits = type->bits == WISH_FLOAT ? WISH_FLOAT : type->bits > bits ? type->bits : bits;
		if (method && w->calibrates < 0)
			w->calibrates = quark_method(w, method);
	}
	*p = bits == WISH_FLOAT ? PREC_FLOAT : bits == 16 ? PREC_INT16 : PREC_INT8;
	if (*p != PREC_FLOAT && bits >= 0)
		note_layer_tensors(w, config, where, *p);
	if (bits < 0)
		wish_note(w, "%s: a configuration of weights alone is not read: nodes have one width", where);
	return bits >= 0;
}

// [[null, ["Gemm", "Softmax"]], [{..}, [..]]]: layers that are left in float, and layers with a configuration of their own.
static void read_layers(struct wishes *w, const cJSON *root, const char *where, bool types)
{
	const cJSON *pair, *name;
	cJSON_ArrayForEach(pair, list_in(w, root, where))
	{
		const cJSON *config = cJSON_GetArrayItem(pair, 0), *names = cJSON_GetArrayItem(pair, 1);
		enum precision p = PREC_FLOAT;
		if (!cJSON_IsArray(pair) || !(cJSON_IsNull(config) || cJSON_IsObject(config)) || !cJSON_IsArray(names)) {
			wish_note(w, "%s: neither [null, [names]] nor [{..}, [names]]", where);
			continue;
		}
		bool read = cJSON_IsNull(config) || read_layer(w, config, where, &p);
		cJSON_ArrayForEach(name, names)
			if (read && cJSON_IsString(name))
				wish_layer(w, name->valuestring, types, p);
		w->calibrates = -1;
	}
}

#define WEIGHT_STEP "what it does to weights is no edit: see qtui equalize --rules quark, and qtui tune"

void note_weight_step(struct wishes *w, const char *member, const char *step)
{
	wish_note(w, "%s: %.40s is not read: " WEIGHT_STEP, member, step);
}

// Members that would quantize otherwise, or less, than what is read here says; what is left is of the file that is written.
static void note_what_is_not_read(struct wishes *w, const cJSON *o, const char *where, const char *known)
{
	static const char to_weights[] = WEIGHT_STEP;
	static const char *const name[][2] = {
	    {"algo_config", to_weights}, {"include_cle", to_weights}, {"include_fast_ft", to_weights}, {"include_sq", to_weights},
	    {"FastFinetune", to_weights}, {"SmoothQuant", to_weights},
	};
	struct str all = {0};
	str_add(&all, known);
	for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
		const cJSON *m = cJSON_GetObjectItemCaseSensitive(o, name[i][0]);
		str_addf(&all, " %s", name[i][0]);
		if (m && !cJSON_IsNull(m) && !cJSON_IsFalse(m) && !(cJSON_IsArray(m) && cJSON_GetArraySize(m) == 0))
			wish_note(w, "%s is not read: %s", name[i][0], name[i][1]);
	}
	note_unread(w, o, where, str_text(&all));
	str_done(&all);
}

enum { OF_MODEL, OF_TYPE, OF_NODE }; // ranks

static void read_mixed(struct wishes *w, const cJSON *list)
{
	const cJSON *tensor;
	cJSON_ArrayForEach(tensor, list)
	{
		if (cJSON_IsString(tensor))
			wish_type_of_tensor(w, tensor->valuestring, list->string, 0, 0);
		else
			wish_note(w, "MixedPrecisionTensor: %.60s is a list of names", list->string);
	}
}

static void exclude_type(struct wishes *w, const char *name)
{
	bool any = false;
	for (int i = 0; i < w->g->n_nodes; i++)
		if (strcmp(w->g->node[i].op->name, name) == 0) {
			wish_node_in_float(w, i);
			any = true;
		}
	if (!any)
		wish_type(w, name, PREC_FLOAT); // with a note
}

// What is read, and what is about the tool's run or the form of its file.
#define MEMBERS_READ "nodes_to_exclude subgraphs_to_exclude exclude op_types_to_exclude extra_options calibrate_method activation_type " \
	"nodes_to_quantize op_types_to_quantize " \
	"weight_type per_channel reduce_range global_config layer_type_config specific_layer_config specific_tensor_precision"
#define MEMBERS_OF_THE_FILE "model_input model_output calibration_data_reader calibration_providers execution_providers quant_format " \
	"use_external_data_format optimize_model print_summary log_severity_level debug_mode"
#define OPTIONS_READ "ActivationSymmetric WeightSymmetric CalibPercentile Percentile TensorQuantOverrides MixedPrecisionTensor"
#define OPTIONS_OF_THE_FILE "AddQDQPairToWeight UseQDQVitisCustomOps DedicatedQDQPair DisableShapeInference"
#define MEMBERS_KNOWN MEMBERS_READ " " MEMBERS_OF_THE_FILE
#define OPTIONS_KNOWN OPTIONS_READ " " OPTIONS_OF_THE_FILE

void read_arguments(struct wishes *w, const cJSON *root)
{
	const cJSON *item, *extra = object_in(w, root, "extra_options"), *inner = object_in(w, extra, "extra_options");
	const cJSON *global = object_in(w, root, "global_config"),
	            *inputs = object_in(w, global, "input_tensors"); // Quark's newer way to say it
	if (!inputs)
		inputs = object_in(w, global, "activation");
	if (inner) { // as Quark's to_dict writes what its QConfig was made with
		note_what_is_not_read(w, extra, "extra_options", "extra_options");
		extra = inner;
	}
	const char *method = json_text(root, "calibrate_method", json_text(inputs, "calibration_method", NULL));
	const char *type = json_text(root, "activation_type", json_text(inputs, "data_type", NULL));
	if (method)
		w->method = quark_method(w, method);
	if (method && strstr(method, "PowerOfTwoMethod"))
		note_scales(w, "", "calibrate_method", method, true, false);
	w->rank = OF_MODEL;
	if (type)
		read_activation_type(w, type, json_bool(inputs ? inputs : extra, inputs ? "symmetric" : "ActivationSymmetric", false));
	note_other_weights(w, root, extra);
	note_other_tensors(w, "", inputs, object_in(w, global, "weight"), PREC_INT8);
	w->rank = OF_TYPE;
	read_layers(w, root, "layer_type_config", true);
	each_text_in(w, root, "op_types_to_exclude", exclude_type);
	wish_only(w, list_in(w, root, "op_types_to_quantize"), true);
	w->rank = OF_NODE;
	read_layers(w, root, "specific_layer_config", false);
	wish_only(w, list_in(w, root, "nodes_to_quantize"), false);
	exclude_list(w, root, "nodes_to_exclude");
	exclude_list(w, root, "subgraphs_to_exclude");
	exclude_list(w, root, "exclude");
	bool quark = target_is_of(w->p->target, "Quark");
	if (quark)
		note_quark_options(w, root, extra);
	note_what_is_not_read(w, root, "arguments", quark ? MEMBERS_KNOWN " " QUARK_MEMBERS : MEMBERS_KNOWN);
	note_what_is_not_read(w, extra, "extra_options", quark ? OPTIONS_KNOWN " " QUARK_OPTIONS : OPTIONS_KNOWN);
	note_percentile(w, extra, "CalibPercentile");
	note_percentile(w, extra, "Percentile");
	cJSON_ArrayForEach(item, object_in(w, extra, "TensorQuantOverrides"))
		read_override(w, item, type ? type : "QInt8");
	cJSON_ArrayForEach(item, object_in(w, extra, "MixedPrecisionTensor"))
		read_mixed(w, item);
}
