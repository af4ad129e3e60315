// ImageScaler, of networks older than ONNX 1: x * scale plus a number for each channel.
#include "../rule.h"

enum status imagescaler_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	const struct imagescaler_attrs *a = n->attrs;
	if (in[0]->shape.rank != 4 || !a->bias.at || a->bias.n != in[0]->shape.dim[1])
		return error_set(err, STATUS_FORMAT, "the input must be images of as many channels as bias has numbers");
	rule_set(&out[0], DT_F32, &in[0]->shape);
	return STATUS_OK;
}

enum status imagescaler_eval(const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	const struct imagescaler_attrs *a = n->attrs;
	int64_t plane = rule_product(&in[0]->shape, 2, 4);
	(void)width;
	(void)err;
	for (int64_t i = 0; i < tensor_count(&out[0]); i++)
		((float *)out[0].data)[i] = ((const float *)in[0]->data)[i] * a->scale + a->bias.at[i / plane % a->bias.n];
	return STATUS_OK;
}
