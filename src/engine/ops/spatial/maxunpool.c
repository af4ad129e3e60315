// MaxUnpool: values put back to the places that MaxPool found them at.
#include <string.h>
#include "../rule.h"
#include "window.h"

// Where index i lies in the output. Indices count over the output that the attributes imply;
// a larger output_shape holds that in its corner.
static enum status find_place(int64_t *at, int64_t i, const struct shape *implied, const struct shape *y, struct error *err)
{
	int64_t rest = i, stride = 1;
	bool inside = rest >= 0 && rest < shape_count(implied);
	*at = 0;
	for (int d = implied->rank - 1; inside && d >= 0; d--) {
		int64_t k = rest % implied->dim[d];
		rest /= implied->dim[d];
		inside = k < y->dim[d];
		*at += k * stride;
		stride *= y->dim[d];
	}
	return inside ? STATUS_OK : error_set(err, STATUS_FORMAT, "index %lld lies outside the output", (long long)i);
}

enum status maxunpool_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	struct window_spec spec = window_of_pool(n->attrs);
	const struct ints none = {NULL, -1};
	struct window w;
	struct shape y, wanted, implied;
	int64_t at;
	enum status s;
	spec.output_padding = spec.output_shape = &none;
	if (!shape_equal(&in[0]->shape, &in[1]->shape))
		return error_set(err, STATUS_FORMAT, "values and indices must have one shape");
	s = window_resolve_transposed(&w, &spec, &in[0]->shape, NULL, err);
	if (s != STATUS_OK)
		return s;
	y = implied = window_shape(&w, in[0]->shape.dim[0], in[0]->shape.dim[1]);
	if (n->n_in > 2 && in[2]) {
		s = rule_ints(wanted.dim, &wanted.rank, SHAPE_MAX_RANK, in[2], "output_shape", err);
		if (s == STATUS_OK && wanted.rank != y.rank)
			s = error_set(err, STATUS_FORMAT, "output_shape has %d values, needs %d", wanted.rank, y.rank);
		y = wanted;
	}
	for (int64_t i = 0; in[1]->data && s == STATUS_OK && i < tensor_count(in[1]); i++)
		s = find_place(&at, ((const int64_t *)in[1]->data)[i], &implied, &y, err);
	if (s == STATUS_OK)
		rule_set(&out[0], DT_F32, &y);
	return s;
}

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
		int64_t at;
		s = find_place(&at, index[i], &implied, &out[0].shape, err);
		if (s != STATUS_OK)
			return s;
		((float *)out[0].data)[at] = ((const float *)in[0]->data)[i];
	}
	return STATUS_OK;
}
