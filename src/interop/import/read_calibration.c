// ONNX Runtime's calibration.json, which write_calibration_table makes of what its calibrators return: the range of every
// tensor, as [least, greatest] or as an object TensorData with `lowest` and `highest`, all of them the file's
// members or those of `data` in an object TensorsData. Arrays of NumPy are objects with `data`.
#include <math.h>
#include <string.h>
#include "wishes.h"

// The one number that the array, of any rank, holds; NAN: it holds none, or one for each of several channels.
static double only_number(const cJSON *x)
{
	while (x && !cJSON_IsNumber(x)) {
		if (cJSON_IsArray(x))
			x = cJSON_GetArraySize(x) == 1 ? x->child : NULL;
		else
			x = cJSON_GetObjectItemCaseSensitive(x, "data");
	}
	return x ? x->valuedouble : NAN;
}

static bool is_class(const cJSON *o, const char *name)
{
	return cJSON_IsObject(o) && strcmp(json_text(o, "CLS", ""), name) == 0;
}

static bool is_value(const cJSON *x)
{
	return cJSON_IsNumber(x) || is_class(x, "numpy.array");
}

static bool is_entry(const cJSON *entry)
{
	return is_class(entry, "TensorData") ||
	    (cJSON_IsArray(entry) && cJSON_GetArraySize(entry) == 2 && is_value(entry->child) && is_value(entry->child->next));
}

// The object whose members are the tensors; NULL: it is no such file.
static const cJSON *tensors_of(const cJSON *root)
{
	const cJSON *entry, *tensors = is_class(root, "TensorsData") ? cJSON_GetObjectItemCaseSensitive(root, "data") : root;
	if (!cJSON_IsObject(tensors) || !tensors->child)
		return NULL;
	cJSON_ArrayForEach(entry, tensors)
		if (!is_entry(entry))
			return NULL;
	return tensors;
}

static void read_range(struct wishes *w, const cJSON *entry)
{
	const cJSON *low = entry->child, *high = low ? low->next : NULL;
	if (cJSON_IsObject(entry)) {
		low = cJSON_GetObjectItemCaseSensitive(entry, "lowest");
		high = cJSON_GetObjectItemCaseSensitive(entry, "highest");
	}
	wish_range(w, entry->string, only_number(low), only_number(high));
}

bool read_calibration(struct wishes *w, const cJSON *root)
{
	const cJSON *entry, *tensors = tensors_of(root);
	cJSON_ArrayForEach(entry, tensors)
		read_range(w, entry);
	return tensors != NULL;
}
