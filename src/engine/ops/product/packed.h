// Codes of less than 8 bits that share bytes.
#ifndef QTUI_ENGINE_OPS_PRODUCT_PACKED_H
#define QTUI_ENGINE_OPS_PRODUCT_PACKED_H

#include <stdint.h>

// Number i of those packed from `at` on, `bits` (2, 4 or 8) each, the low bits of a byte first.
static inline int packed_code(const uint8_t *at, int64_t i, int64_t bits)
{
	return at[i * bits / 8] >> (i * bits % 8) & ((1 << bits) - 1);
}

#endif
