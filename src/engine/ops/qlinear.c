#include "qlinear.h"

#include "element.h"

struct quantizer qlinear_quantizer(enum dtype type, const float *scale, const int32_t *zero, int n, int axis)
{
	struct quantizer q = { .kind = QUANT_LINEAR, .bits = (int)dtype_size(type) * 8, .rounding = ROUND_HALF_EVEN, .axis = axis, .n = n,
		.scale = scale, .zero = zero };

	elements_range(type, &q.qmin, &q.qmax);
	return q;
}

enum status qlinear_single(const struct tensor *t, int i, struct error *err)
{
	if (!t || shape_count(&t->shape) == 1)
		return STATUS_OK;
	return error_set(err, STATUS_UNSUPPORTED, "input %d must be a single number", i);
}

float qlinear_scale(const struct tensor *t)
{
	return *(const float *)t->data;
}

int32_t qlinear_zero(const struct tensor *t)
{
	return t ? (int32_t)element_int(t, 0) : 0;
}
