#include "element.h"

// DO(dtype, C type) for every type of integers that C has.
// clang-format off: rows of a table, which stand for cases of a switch
#define EACH_INT(DO)                               \
	DO(DT_I8, int8_t)   DO(DT_U8, uint8_t)     \
	DO(DT_I16, int16_t) DO(DT_U16, uint16_t)   \
	DO(DT_I32, int32_t) DO(DT_U32, uint32_t)   \
	DO(DT_I64, int64_t) DO(DT_U64, uint64_t)
// clang-format on

static int64_t truncate(double v)
{
	if (!(v > -0x1p63))
		return v != v ? 0 : INT64_MIN;
	return v >= 0x1p63 ? INT64_MAX : (int64_t)v;
}

void elements_load(int64_t *x, enum dtype type, const void *src, int64_t first, int64_t step, int64_t n)
{
	switch (dtype_held(type)) {
	case DT_F32:
		for (int64_t i = 0; i < n; i++)
			x[i] = truncate((double)((const float *)src)[first + i * step]);
		break;
#define LOAD(dt, type)                                                                                                 \
	case dt:                                                                                                       \
		for (int64_t i = 0; i < n; i++)                                                                        \
			x[i] = (int64_t)((const type *)src)[first + i * step];                                         \
		break;
		EACH_INT(LOAD)
		LOAD(DT_BOOL, uint8_t)
#undef LOAD
	default:
		break;
	}
}

void elements_store(void *dst, enum dtype type, int64_t first, const int64_t *x, int64_t n)
{
	switch (type) {
	case DT_I4:
		for (int64_t i = 0; i < n; i++)
			((int8_t *)dst)[first + i] = (int8_t)(((x[i] & 15) ^ 8) - 8);
		break;
	case DT_U4:
		for (int64_t i = 0; i < n; i++)
			((uint8_t *)dst)[first + i] = x[i] & 15;
		break;
	case DT_BOOL:
		for (int64_t i = 0; i < n; i++)
			((uint8_t *)dst)[first + i] = x[i] != 0;
		break;
#define STORE(dt, type)                                                                                                \
	case dt:                                                                                                       \
		for (int64_t i = 0; i < n; i++)                                                                        \
			((type *)dst)[first + i] = (type)x[i];                                                         \
		break;
		STORE(DT_F32, float)
		EACH_INT(STORE)
#undef STORE
	default:
		break;
	}
}

void elements_load_double(double *x, enum dtype type, const void *src, int64_t first, int64_t step, int64_t n)
{
	if (type == DT_F32 && step == 1) {
		const float *from = (const float *)src + first;
		_Pragma("omp simd") for (int64_t i = 0; i < n; i++) x[i] = (double)from[i];
		return;
	}
	switch (dtype_held(type)) {
#define LOAD(dt, type)                                                                                                 \
	case dt:                                                                                                       \
		for (int64_t i = 0; i < n; i++)                                                                        \
			x[i] = (double)((const type *)src)[first + i * step];                                          \
		break;
		LOAD(DT_F32, float)
		EACH_INT(LOAD)
		LOAD(DT_BOOL, uint8_t)
#undef LOAD
	default:
		break;
	}
}

void elements_store_double(void *dst, enum dtype type, int64_t first, const double *x, int64_t n)
{
	int64_t low, high;
	if (type == DT_F32) {
		for (int64_t i = 0; i < n; i++)
			((float *)dst)[first + i] = (float)x[i];
		return;
	}
	elements_range(type, &low, &high);
	for (int64_t i = 0; i < n; i++) {
		int64_t v = truncate(x[i]);
		v = v < low ? low : v > high ? high : v;
		elements_store(dst, type, first + i, &v, 1);
	}
}

double element_double(const struct tensor *t, int64_t i)
{
	double v = 0;
	elements_load_double(&v, t->type, t->data, i, 1, 1);
	return v;
}

int64_t element_int(const struct tensor *t, int64_t i)
{
	int64_t v = 0;
	elements_load(&v, t->type, t->data, i, 1, 1);
	return v;
}

bool elements_unsigned(enum dtype type)
{
	return type == DT_U8 || type == DT_U16 || type == DT_U32 || type == DT_U64 || type == DT_BOOL || type == DT_U4;
}

void elements_order(int64_t *x, enum dtype type, int64_t n)
{
	for (int64_t i = 0; elements_unsigned(type) && i < n; i++)
		x[i] ^= INT64_MIN;
}

void elements_range(enum dtype type, int64_t *low, int64_t *high)
{
	static const struct {
		int64_t low, high;
	} ranges[DT_COUNT] = {
	    [DT_I8] = {INT8_MIN, INT8_MAX},
	    [DT_U8] = {0, UINT8_MAX},
	    [DT_I16] = {INT16_MIN, INT16_MAX},
	    [DT_U16] = {0, UINT16_MAX},
	    [DT_I32] = {INT32_MIN, INT32_MAX},
	    [DT_U32] = {0, UINT32_MAX},
	    [DT_I64] = {INT64_MIN, INT64_MAX},
	    [DT_U64] = {0, INT64_MAX},
	    [DT_BOOL] = {0, 1},
	    [DT_I4] = {-8, 7},
	    [DT_U4] = {0, 15},
	};

	*low = ranges[type].low;
	*high = ranges[type].high;
}
