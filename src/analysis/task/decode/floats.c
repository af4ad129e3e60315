// Outputs of whole numbers (classes, counts of boxes) as the floats that everything here reads.
#include <math.h>
#include "floats.h"
#include "qtui/base/mem.h"

static float integer_at(const struct tensor *t, int64_t i)
{
	switch (t->type) {
	case DT_I8:
		return ((const int8_t *)t->data)[i];
	case DT_U8:
	case DT_BOOL:
		return ((const uint8_t *)t->data)[i];
	case DT_I16:
		return ((const int16_t *)t->data)[i];
	case DT_U16:
		return ((const uint16_t *)t->data)[i];
	case DT_I32:
		return (float)((const int32_t *)t->data)[i];
	case DT_U32:
		return (float)((const uint32_t *)t->data)[i];
	case DT_I64:
		return (float)((const int64_t *)t->data)[i];
	case DT_U64:
		return (float)((const uint64_t *)t->data)[i];
	default:
		return NAN;
	}
}

const float *output_floats(const struct tensor *t, float **heap)
{
	int64_t n = tensor_count(t);
	*heap = NULL;
	if (t->type == DT_F32)
		return t->data;
	*heap = xcalloc((size_t)n + 1, sizeof **heap);
	for (int64_t i = 0; i < n; i++)
		(*heap)[i] = integer_at(t, i);
	return *heap;
}
