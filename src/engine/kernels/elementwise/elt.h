// Arithmetic on arrays by processor level (private): elt_body.h makes one table a level,
// elt.c picks one when it is called.
#ifndef QTUI_ENGINE_KERNELS_ELEMENTWISE_ELT_H
#define QTUI_ENGINE_KERNELS_ELEMENTWISE_ELT_H

#include "qtui/engine/kernel.h"

enum elt_binary { ELT_ADD, ELT_SUB, ELT_MUL, ELT_DIV, ELT_PRELU, ELT_BINARIES };

typedef void elt_codes_fn(const uint8_t *a, const uint8_t *b, uint8_t *y, int64_t n, const struct elt_codes *c);
struct elt_table {
	void (*binary[ELT_BINARIES])(const float *a, const float *b, float *y, int64_t n);
	elt_codes_fn *codes[ELT_BINARIES][2][2]; // [what is done][the scale has an inverse][ties go up, not to even]; up to ELT_MUL
	void (*scale)(float *y, float gain, float shift, int64_t n);
};
extern const struct elt_table elt_plain, elt_avx2, elt_avx512;

#endif
