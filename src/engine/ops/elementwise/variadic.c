// Max, Min, Sum, Mean of any number of inputs, folded from the left into the output.
#include "../rule.h"
#include "binary.h"

enum status variadic_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	struct shape y = in[0]->shape;
	for (int i = 1; i < n->n_in; i++) {
		if (!in[i])
			return error_set(err, STATUS_FORMAT, "input %d is missing", i);
		enum status s = rule_broadcast(&y, &y, &in[i]->shape, err);
		if (s != STATUS_OK)
			return s;
	}
	rule_set(&out[0], in[0]->type, &y);
	return STATUS_OK;
}

static void spread(struct tensor *y, const struct tensor *x)
{
	struct strided s;
	strided_broadcast(&s, &y->shape, (const struct shape *const[]){&x->shape}, 1);
	strided_copy(&s, y->data, x->data, dtype_size(x->type));
}

static void divide(float *y, float by, int64_t n)
{
	_Pragma("omp simd") for (int64_t i = 0; i < n; i++) y[i] /= by;
}

enum status variadic_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	float *y = out[0].data;
	(void)err;
	spread(&out[0], in[0]);
	for (int i = 1; i < n->n_in; i++) {
		struct strided s;
		strided_broadcast(&s, &out[0].shape, (const struct shape *const[]){&out[0].shape, &in[i]->shape}, 2);
		if (out[0].type == DT_F32)
			binary_floats(n->op->id, &s, y, in[i]->data, y, width);
		else
			binary_ints(n, &s, &out[0], in[i], &out[0]);
	}
	if (n->op->id == OP_Mean)
		divide(y, (float)n->n_in, tensor_count(&out[0]));
	return STATUS_OK;
}
