// Tests of single elements: IsNaN, IsInf; and the bitwise complements Not, BitwiseNot.
#include <math.h>
#include "../rule.h"

enum status predicate_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	(void)n;
	(void)err;
	rule_set(&out[0], DT_BOOL, &in[0]->shape);
	return STATUS_OK;
}

static void eval_floats(const struct node *n, const float *x, uint8_t *y, int64_t count)
{
	const struct isinf_attrs *a = n->op->id == OP_IsInf ? n->attrs : NULL;
	for (int64_t i = 0; i < count; i++)
		y[i] = a ? isinf(x[i]) && (x[i] > 0 ? a->positive : a->negative) : isnan(x[i]);
}

static void eval_bytes(const uint8_t *x, uint8_t *y, int64_t count, bool logical)
{
	const uint8_t turned = logical ? 1 : 255;
	_Pragma("omp simd") for (int64_t i = 0; i < count; i++) y[i] = (uint8_t)((logical ? x[i] != 0 : x[i]) ^ turned);
}

enum status predicate_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	int64_t count = tensor_count(in[0]);
	(void)width;
	(void)err;
	if (in[0]->type == DT_F32)
		eval_floats(n, in[0]->data, out[0].data, count);
	else
		eval_bytes(in[0]->data, out[0].data, count * (int64_t)dtype_size(in[0]->type), n->op->id == OP_Not);
	return STATUS_OK;
}
