// MaxUnpool: values put back to the places that MaxPool found them at.
#include <string.h>
#include "rule.h"
#include "window.h"

enum status maxunpool_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	struct window_spec spec = window_of_pool(n->attrs);
	const struct ints none = {NULL, -1};
	struct window w;
	struct shape y, wanted;
	enum status s;

	spec.output_padding = spec.output_shape = &none;
	if (!shape_equal(&in[0]->shape, &in[1]->shape))
		return error_set(err, STATUS_FORMAT, "values and indices must have one shape");
	s = window_resolve_transposed(&w, &spec, &in[0]->shape, NULL, err);
	if (s != STATUS_OK)
		return s;
	y = window_shape(&w, in[0]->shape.dim[0], in[0]->shape.dim[1]);
	if (n->n_in > 2 && in[2]) {
		s = rule_ints(wanted.dim, &wanted.rank, SHAPE_MAX_RANK, in[2], "output_shape", err);
		if (s == STATUS_OK && wanted.rank != y.rank)
			s = error_set(err, STATUS_FORMAT, "output_shape has %d values, needs %d", wanted.rank, y.rank);
		y = wanted;
	}
	if (s == STATUS_OK)
		rule_set(&out[0], DT_F32, &y);
	return s;
}

// Indices count over the output that the attributes imply; a larger output_shape holds that in its corner.
enum status maxunpool_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	struct window_spec spec = window_of_pool(n->attrs);
	const struct ints none = {NULL, -1};
	struct window w;
	struct shape implied;
	const int64_t *index = in[1]->data;
	enum status s;

	(void)width;
	spec.output_padding = spec.output_shape = &none;
	s = window_resolve_transposed(&w, &spec, &in[0]->shape, NULL, err);
	if (s != STATUS_OK)
		return s;
	implied = window_shape(&w, in[0]->shape.dim[0], in[0]->shape.dim[1]);
	if (tensor_bytes(&out[0]))
		memset(out[0].data, 0, tensor_bytes(&out[0]));
	for (int64_t i = 0; i < tensor_count(in[0]); i++) {
		int64_t rest = index[i], at = 0, stride = 1;
		bool inside = rest >= 0 && rest < shape_count(&implied);
		for (int d = implied.rank - 1; inside && d >= 0; d--) {
			int64_t k = rest % implied.dim[d];
			rest /= implied.dim[d];
			inside = k < out[0].shape.dim[d];
			at += k * stride;
			stride *= out[0].shape.dim[d];
		}
		if (!inside)
			return error_set(err, STATUS_FORMAT, "index %lld lies outside the output", (long long)index[i]);
		((float *)out[0].data)[at] = ((const float *)in[0]->data)[i];
	}
	return STATUS_OK;
}
