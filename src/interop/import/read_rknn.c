// RKNN-Toolkit2's .quantization.cfg: custom_quantize_layers, a type for tensors,
// and quantize_parameters, the scales of its step 1.
#include <math.h>
#include <string.h>
#include "wishes.h"

static const struct word types[] = {{"int8", PREC_INT8}, {"int16", PREC_INT16}, {"float16", PREC_FLOAT}, {"float32", PREC_FLOAT}};

static void read_type(struct wishes *w, const cJSON *item)
{
	int p = cJSON_IsString(item) ? WORD_MEANS(types, item->valuestring) : -1, node = node_of_tensor(w, item->string);
	if (p < 0)
		wish_note(w, "%.120s: its type is not known here: int8, int16, float16 and float32 are", item->string);
	else if (node < 0)
		wish_note(w, "%.120s: no operator of the model makes such a tensor (RKNN names some of its own: -rs, _sw ...)", item->string);
	else
		wish_precision(w, node, (enum precision)p);
}

// The one number of a list, or the number itself; 0 when there is none.
static double only_number(const cJSON *entry, const char *name)
{
	const cJSON *m = cJSON_GetObjectItemCaseSensitive(entry, name), *x = cJSON_IsArray(m) && cJSON_GetArraySize(m) == 1 ? m->child : m;
	return cJSON_IsNumber(x) ? x->valuedouble : 0;
}

// False: not a scale that an edit can be. Step 1 writes all of its own graph's tensors, most with a zero point.
static bool read_scale(struct wishes *w, const cJSON *entry)
{
	const char *dtype = json_text(entry, "dtype", ""), *why;
	int value = quantized_output(w, entry->string, &why);
	double scale = only_number(entry, "scale");
	int bits = strcmp(dtype, "int16") == 0 ? 16 : 8;
	return value >= 0 && str_has_prefix(dtype, "int") && scale != 0 &&
	    wish_scale(w, value, bits, scale, only_number(entry, "zero_point") + ldexp(1, bits - 1));
}

void read_rknn(struct wishes *w, const cJSON *root)
{
	const cJSON *item, *parameters = object_in(w, root, "quantize_parameters");
	int left = 0;
	cJSON_ArrayForEach(item, object_in(w, root, "custom_quantize_layers"))
		read_type(w, item);
	cJSON_ArrayForEach(item, parameters)
		left += !read_scale(w, item);
	if (left)
		wish_note(w, "quantize_parameters: %d of %d scales are not taken: of parameters, with a zero point, "
		    "or of tensors that nothing quantizes here", left, cJSON_GetArraySize(parameters));
}
