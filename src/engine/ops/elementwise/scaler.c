// Scaler, of ai.onnx.ml: (x - offset) * scale, with a number for each feature or one for all.
#include "../element.h"
#include "../rule.h"

enum status scaler_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	const struct scaler_attrs *a = n->attrs;
	const struct shape *x = &in[0]->shape;
	if (x->rank != 1 && x->rank != 2)
		return error_set(err, STATUS_UNSUPPORTED, "the input must be features of one sample or rows of them");
	if (a->scale.n < 1 || a->offset.n != a->scale.n || (a->scale.n > 1 && a->scale.n != x->dim[x->rank - 1]))
		return error_set(err, STATUS_FORMAT, "offset and scale must both have one number, or as many as there are features");
	rule_set(&out[0], DT_F32, x);
	return STATUS_OK;
}

enum status scaler_eval(const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	const struct scaler_attrs *a = n->attrs;
	float *y = out[0].data;
	(void)width;
	(void)err;
	for (int64_t i = 0; i < tensor_count(&out[0]); i++)
		y[i] = ((float)element_double(in[0], i) - a->offset.at[i % a->scale.n]) * a->scale.at[i % a->scale.n];
	return STATUS_OK;
}
