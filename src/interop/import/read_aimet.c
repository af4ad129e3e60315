// AIMET's encodings: 0.6.1 (an object of lists), 1.0.0 (a list of objects with enc_type)
// and 2.x (ONNX's words, one list).
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "wishes.h"

static const cJSON *member(const cJSON *o, const char *name)
{
	return cJSON_GetObjectItemCaseSensitive(o, name);
}

static double only_number(const cJSON *a)
{
	const cJSON *x = cJSON_IsArray(a) && cJSON_GetArraySize(a) == 1 ? cJSON_GetArrayItem(a, 0) : a;
	return cJSON_IsNumber(x) ? x->valuedouble : 0;
}

// Codes are counted from zero there, so that those of a symmetric scale have their zero in the middle,
// or one below it where the lowest code is not used. What AIMET calls symmetric may also have no negative values,
// and all codes above zero: then its scale covers twice the range.
static bool is_centred(double bits, double zero)
{
	double middle = bits >= 1 && bits <= 32 ? ldexp(1, (int)bits - 1) : 0;
	return zero == middle || zero == middle - 1;
}

// Where no offset is given, what is_sym says.
static bool is_symmetric(const cJSON *e, double bits, bool said)
{
	const cJSON *offset = member(e, "offset");
	return offset ? is_centred(bits, -only_number(offset)) : said;
}

static void take(struct wishes *w, const char *tensor, double bits, bool symmetric, const cJSON *scale)
{
	double one = only_number(scale);
	bool taken = symmetric || has_zero_point(w, tensor);
	const char *why; // where nothing is quantized, which wish_tensor says
	if (!taken && one != 0 && quantized_output(w, tensor, &why) >= 0)
		wish_note(w, "%.120s: an asymmetric scale cannot be fixed here", tensor);
	wish_tensor(w, tensor, bits, taken ? one : 0);
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
		double bits = json_number(e, "bitwidth", 8);
		if (!cJSON_IsObject(e))
			wish_note(w, "%.120s: its encodings are no list of objects", list->string);
		else
			take(w, list->string, is_float(json_text(e, "dtype", "int")) ? WISH_FLOAT : bits, is_symmetric(e, bits, yes), member(e, "scale"));
	}
}

static void read_1_0(struct wishes *w, const cJSON *list)
{
	const cJSON *e;
	cJSON_ArrayForEach(e, list)
	{
		const char *name = json_text(e, "name", NULL);
		double bits = json_number(e, "bw", 8);
		if (!name)
			wish_note(w, "activation_encodings: one has no name");
		else
			take(w, name, is_float(json_text(e, "dtype", "INT")) ? WISH_FLOAT : bits, is_symmetric(e, bits, json_bool(e, "is_sym", false)),
			    member(e, "scale"));
	}
}

static void read_2_0(struct wishes *w, const cJSON *list)
{
	const cJSON *e;
	cJSON_ArrayForEach(e, list)
	{
		const char *name = json_text(e, "name", NULL), *dtype = json_text(e, "output_dtype", "int8");
		int bits = 0;
		if (name && strstr(dtype, "float"))
			wish_tensor(w, name, WISH_FLOAT, 0);
		else if (!name || sscanf(dtype, "%*[uint]%3d", &bits) != 1)
			wish_note(w, "%.120s: an encoding has a name, and an output_dtype like int8", name ? name : "encodings");
		else
			take(w, name, bits, is_centred(bits, only_number(member(e, "y_zero_point")) + (dtype[0] == 'i' ? ldexp(1, bits - 1) : 0)),
			    member(e, "y_scale"));
	}
}

static void exclude(struct wishes *w, const char *name)
{
	wish_name(w, name, PREC_FLOAT);
}

void read_aimet(struct wishes *w, const cJSON *root)
{
	if (cJSON_IsArray(member(root, "activation_encodings")))
		read_1_0(w, member(root, "activation_encodings"));
	else
		read_0_6(w, object_in(w, root, "activation_encodings"));
	read_2_0(w, list_in(w, root, "encodings"));
	each_text_in(w, root, "excluded_layers", exclude);
}
