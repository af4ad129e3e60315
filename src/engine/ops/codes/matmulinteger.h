// Matrix products of codes.
#ifndef QTUI_ENGINE_OPS_CODES_MATMULINTEGER_H
#define QTUI_ENGINE_OPS_CODES_MATMULINTEGER_H

#include "../product/matmul.h"

struct integer_product {
	struct matmul t;
	const struct tensor *a, *a_zero; // a zero point for the tensor, or one for each row
	const struct tensor *b, *b_zero; // for the tensor, or for each column
	bool trans_a, trans_b;
};
// Sizes, and that the zero points fit.
MUST_CHECK enum status matmulinteger_resolve(struct integer_product *p, struct error *err);
// y = sums * scale, with scale = a_scale[row] * b_scale[column] / y_scale: tensors of one scale or one a row, a column.
// The sums are those of the product, in 32 bits, and of `addend`, int32, which is broadcast (NULL: none).
struct product_scales {
	const struct tensor *a, *b;
	float y;
};
MUST_CHECK enum status matmulinteger_floats(float *y, const struct integer_product *p, const struct tensor *addend,
    const struct product_scales *s, int width, struct error *err);

#endif
