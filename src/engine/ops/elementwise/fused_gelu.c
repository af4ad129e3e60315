// BiasGelu and FastGelu: Gelu of x + bias, the bias along the last dimension.
#include "../../kernels/elementwise/unary.h"
#include "../rule.h"

enum status fused_gelu_shape(
    const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	const struct shape *x = &in[0]->shape;
	if (n->n_in > 1 && in[1] && (x->rank < 1 || tensor_count(in[1]) != x->dim[x->rank - 1]))
		return error_set(err, STATUS_FORMAT, "the bias must be as long as the last dimension of the input");
	rule_set(&out[0], DT_F32, x);
	return STATUS_OK;
}

enum status fused_gelu_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	const struct act_attrs none = {0};
	const float *x = in[0]->data, *bias = n->n_in > 1 && in[1] ? in[1]->data : NULL;
	float *y = out[0].data;
	int64_t count = tensor_count(in[0]), m = bias ? tensor_count(in[1]) : count;
	(void)width;
	(void)err;
	for (int64_t at = 0; at < count; at += m) {
		for (int64_t i = 0; i < m; i++)
			y[at + i] = x[at + i] + (bias ? bias[i] : 0);
		unary_apply(n->op->id == OP_FastGelu ? FN_gelu_tanh : FN_gelu, &none, y + at, y + at, m);
	}
	return STATUS_OK;
}
