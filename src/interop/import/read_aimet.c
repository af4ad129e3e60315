// AIMET's encodings: 0.6.1 (an object of lists), 1.0.0 (a list of objects with enc_type)
// and 2.x (ONNX's words, one list).
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "wishes.h"

static const cJSON *member(const cJSON *o, const char *name)
{
	return cJSON_GetObjectItemCaseSensitive(o, name);
}

static double only_number(const cJSON *a)
{
	double x;
	return one_number(&x, a) ? x : 0;
}

// The width, which is 8 where nothing is said.
static double bits_of(const cJSON *e, const char *name)
{
	double bits;
	return one_number(&bits, member(e, name)) ? bits : 8;
}

// Of an activation; 0, with a note, where it has several or a scale of scales.
static double scale_of(struct wishes *w, const char *tensor, const cJSON *scale)
{
	double x = 0;
	if (scale && !one_number(&x, scale)) {
		wish_note(w, "%.120s: its scale is not one number, and is not read", tensor);
		return 0;
	}
	return x;
}

// An offset is the lowest code, counted from zero. What AIMET calls symmetric may also have no negative values, and all
// codes above zero: so is_sym counts only where no offset is given.
static double zero_of(const cJSON *e, bool symmetric)
{
	const cJSON *offset = member(e, "offset");
	return offset ? fabs(only_number(offset)) : symmetric ? ZERO_MIDDLE : ZERO_UNSAID;
}

static void wish_float(struct wishes *w, const char *tensor, double bits)
{
	if (bits != 16 || !is_half_anyway(w))
		wish_tensor(w, tensor, WISH_FLOAT, 0, ZERO_MIDDLE);
}

// The layers in float are read first: an encoding of what one of them makes is the grid on which its readers round.
static void wish_codes(struct wishes *w, const char *tensor, double bits, double scale, double zero)
{
	const char *why;
	int value = quantized_output(w, tensor, &why), maker = value < 0 ? -1 : w->g->value[value].producer;
	if (maker < 0 || w->precision[w->p->group[maker].owner] != PREC_FLOAT)
		wish_tensor(w, tensor, bits, scale, zero);
	else if (scale != 0)
		wish_read_scale(w, value, bits, scale, zero);
}

static bool is_float(const char *dtype)
{
	return strcmp(dtype, "float") == 0 || strcmp(dtype, "FLOAT") == 0;
}

static void read_0_6(struct wishes *w, const cJSON *object)
{
	const cJSON *list;
	cJSON_ArrayForEach(list, object)
	{
		const cJSON *e = cJSON_GetArrayItem(list, 0), *symmetric = member(e, "is_symmetric");
		bool yes = cJSON_IsString(symmetric) ? strcmp(symmetric->valuestring, "True") == 0 : cJSON_IsTrue(symmetric);
		if (!cJSON_IsObject(e))
			wish_note(w, "%.120s: its encodings are no list of objects", list->string);
		else if (cJSON_GetArraySize(list) > 1)
			wish_note(w, "%.120s: an activation has one scale here, not %d: none is read", list->string, cJSON_GetArraySize(list));
		else if (is_float(json_text(e, "dtype", "int")))
			wish_float(w, list->string, bits_of(e, "bitwidth"));
		else
			wish_codes(w, list->string, bits_of(e, "bitwidth"), scale_of(w, list->string, member(e, "scale")), zero_of(e, yes));
	}
}

static void read_1_0(struct wishes *w, const cJSON *list)
{
	const cJSON *e;
	cJSON_ArrayForEach(e, list)
	{
		const char *name = json_text(e, "name", NULL);
		if (!name)
			wish_note(w, "activation_encodings: one has no name");
		else if (is_float(json_text(e, "dtype", "INT")))
			wish_float(w, name, bits_of(e, "bw"));
		else
			wish_codes(w, name, bits_of(e, "bw"), scale_of(w, name, member(e, "scale")), zero_of(e, json_bool(e, "is_sym", false)));
	}
}

// ---- parameters: one encoding, or one a channel

static void read_parameters_0_6(struct wishes *w, const cJSON *object)
{
	const cJSON *list, *e;
	cJSON_ArrayForEach(list, object)
	{
		cJSON *scale = cJSON_CreateArray(), *offset = cJSON_CreateArray();
		const cJSON *first = cJSON_GetArrayItem(list, 0);
		cJSON_ArrayForEach(e, list)
		{
			cJSON_AddItemToArray(scale, cJSON_CreateNumber(only_number(member(e, "scale"))));
			cJSON_AddItemToArray(
			    offset, member(e, "offset") ? cJSON_CreateNumber(only_number(member(e, "offset"))) : cJSON_CreateNull());
		}
		if (!is_float(json_text(first, "dtype", "int")))
			wish_parameter_lists(w, list->string, bits_of(first, "bitwidth"), scale, offset, ZERO_OFFSETS, 0);
		cJSON_Delete(scale);
		cJSON_Delete(offset);
	}
}

static void read_parameters_1_0(struct wishes *w, const cJSON *list)
{
	const cJSON *e;
	cJSON_ArrayForEach(e, list)
	{
		const char *name = json_text(e, "name", NULL), *kind = json_text(e, "enc_type", "PER_TENSOR");
		if (name && !is_float(json_text(e, "dtype", "INT")) && strstr(kind, "BLOCK"))
			wish_note(w, "%.120s: scales of blocks are not read", name);
		else if (name && !is_float(json_text(e, "dtype", "INT")))
			wish_parameter_lists(w, name, bits_of(e, "bw"), member(e, "scale"), member(e, "offset"), ZERO_OFFSETS, 0);
	}
}

static bool is_parameter(const struct wishes *w, const char *tensor)
{
	int v = graph_find_value(w->g, tensor);
	return v >= 0 && w->g->value[v].constant;
}

static void read_2_0(struct wishes *w, const cJSON *list)
{
	const cJSON *e;
	cJSON_ArrayForEach(e, list)
	{
		const char *name = json_text(e, "name", NULL), *dtype = json_text(e, "output_dtype", "int8");
		int bits = 0;
		if (name && str_has_prefix(dtype, "float8"))
			wish_note(w, "%.120s: %.40s is not known here: 8 and 16 bits and float are", name, dtype);
		else if (name && strstr(dtype, "float"))
			wish_float(w, name, strstr(dtype, "16") ? 16 : 32);
		else if (!name || sscanf(dtype, "%*[uint]%3d", &bits) != 1)
			wish_note(w, "%.120s: an encoding has a name, and an output_dtype like int8", name ? name : "encodings");
		else if (!is_parameter(w, name))
			wish_codes(w, name, bits, scale_of(w, name, member(e, "y_scale")),
			    only_number(member(e, "y_zero_point")) + (dtype[0] == 'i' ? ldexp(1, bits - 1) : 0));
		else if (member(e, "block_size"))
			wish_note(w, "%.120s: scales of blocks are not read", name);
		else
			wish_parameter_lists(w, name, bits, member(e, "y_scale"), member(e, "y_zero_point"), ZERO_POINTS,
			    dtype[0] == 'i' ? ldexp(1, bits - 1) : 0);
	}
}

static void exclude(struct wishes *w, const char *name)
{
	wish_name(w, name, PREC_FLOAT);
}

void read_aimet(struct wishes *w, const cJSON *root)
{
	const cJSON *parameters = member(root, "param_encodings");
	each_text_in(w, root, "excluded_layers", exclude);
	if (cJSON_IsArray(member(root, "activation_encodings")))
		read_1_0(w, member(root, "activation_encodings"));
	else
		read_0_6(w, object_in(w, root, "activation_encodings"));
	if (cJSON_IsArray(parameters))
		read_parameters_1_0(w, parameters);
	else
		read_parameters_0_6(w, object_in(w, root, "param_encodings"));
	read_2_0(w, list_in(w, root, "encodings"));
}
