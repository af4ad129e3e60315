// Integer element types, all at once: arrays of them as int64, and single elements as double. Sums, products and
// differences of int64 have the right low bits for every narrower type and for uint64; comparisons and divisions must
// ask elements_unsigned.
#ifndef QTUI_ENGINE_OPS_ELEMENT_H
#define QTUI_ENGINE_OPS_ELEMENT_H

#include "qtui/engine/tensor.h"

// x[i] = src[first + i * step]; DT_F32 is truncated.
void elements_load(int64_t *x, enum dtype type, const void *src, int64_t first, int64_t step, int64_t n);
// dst[first + i] = x[i], keeping the low bits; DT_BOOL: x[i] != 0.
void elements_store(void *dst, enum dtype type, int64_t first, const int64_t *x, int64_t n);
// The same with doubles: exact for float and for integers up to 2^53. Storing saturates integers and truncates.
void elements_load_double(double *x, enum dtype type, const void *src, int64_t first, int64_t step, int64_t n);
void elements_store_double(void *dst, enum dtype type, int64_t first, const double *x, int64_t n);
double element_double(const struct tensor *t, int64_t i);
int64_t element_int(const struct tensor *t, int64_t i);
bool elements_unsigned(enum dtype type);
// Turns what elements_load gave into integers that compare as signed ones: an element of uint64 may have the top bit.
void elements_order(int64_t *x, enum dtype type, int64_t n);
// The representable range; uint64 ends at INT64_MAX here.
void elements_range(enum dtype type, int64_t *low, int64_t *high);

#define ELEMENTS_CHUNK 256 // a size for temporary arrays on the stack

#endif
