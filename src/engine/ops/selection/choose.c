// NonZero and Compress: the number of results depends on the values.
#include <string.h>
#include "../element.h"
#include "../rule.h"

// Of elements at, at + 1 ... those that are not zero, as distances from `at`; ELEMENTS_CHUNK elements at the most.
static int nonzeros(int found[ELEMENTS_CHUNK], const struct tensor *x, int64_t at)
{
	int64_t left = tensor_count(x) - at, n = left < ELEMENTS_CHUNK ? left : ELEMENTS_CHUNK;
	double v[ELEMENTS_CHUNK];
	int count = 0;
	elements_load_double(v, x->type, x->data, at, 1, n);
	for (int i = 0; i < (int)n; i++) {
		found[count] = i;
		count += v[i] != 0;
	}
	return count;
}

static int64_t count_nonzero(const struct tensor *x)
{
	int64_t count = 0;
	int found[ELEMENTS_CHUNK];
	for (int64_t at = 0; at < tensor_count(x); at += ELEMENTS_CHUNK)
		count += nonzeros(found, x, at);
	return count;
}

enum status nonzero_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	struct shape y = {.rank = 2};
	(void)n;
	if (!rule_known(in[0]))
		return rule_pending(err);
	y.dim[0] = in[0]->shape.rank;
	y.dim[1] = count_nonzero(in[0]);
	rule_set(&out[0], DT_I64, &y);
	return STATUS_OK;
}

enum status nonzero_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	const struct shape *x = &in[0]->shape;
	int64_t total = out[0].shape.dim[1], *y = out[0].data;
	int found[ELEMENTS_CHUNK];
	(void)n;
	(void)width;
	(void)err;
	for (int64_t at = 0; at < tensor_count(in[0]); at += ELEMENTS_CHUNK) {
		int count = nonzeros(found, in[0], at);
		for (int i = 0; i < count; i++, y++) {
			int64_t rest = at + found[i];
			for (int d = x->rank - 1; d >= 0; d--) {
				y[d * total] = rest % x->dim[d];
				rest /= x->dim[d];
			}
		}
	}
	return STATUS_OK;
}

// [outer, dim, inner] of the axis that is compressed; the whole tensor as one axis when none is given.
static enum status compress_axis(struct shape *view, const struct node *n, const struct shape *x, struct error *err)
{
	int64_t given = ((const struct compress_attrs *)n->attrs)->axis;
	int axis = 0;
	enum status s;
	if (given == NO_AXIS) {
		*view = (struct shape){3, {1, shape_count(x), 1}};
		return STATUS_OK;
	}
	s = rule_axis(&axis, given, x->rank, err);
	if (s == STATUS_OK)
		*view = (struct shape){3, {rule_product(x, 0, axis), x->dim[axis], rule_product(x, axis + 1, x->rank)}};
	return s;
}

enum status compress_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	int64_t given = ((const struct compress_attrs *)n->attrs)->axis, kept = 0, longest = tensor_count(in[1]);
	struct shape view, y = in[0]->shape;
	enum status s = compress_axis(&view, n, &in[0]->shape, err);
	if (s != STATUS_OK)
		return s;
	if (!rule_known(in[1]))
		return rule_pending(err);
	if (in[1]->shape.rank != 1 || longest > view.dim[1])
		return error_set(err, STATUS_FORMAT, "the condition has %lld elements for %lld", (long long)longest,
		    (long long)view.dim[1]);
	kept = count_nonzero(in[1]);
	if (given == NO_AXIS)
		y = (struct shape){1, {kept}};
	else
		y.dim[given < 0 ? given + y.rank : given] = kept;
	rule_set(&out[0], in[0]->type, &y);
	return STATUS_OK;
}

enum status compress_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	struct shape view;
	enum status s = compress_axis(&view, n, &in[0]->shape, err);
	const uint8_t *condition = in[1]->data;
	char *to = out[0].data;
	size_t run;
	(void)width;
	if (s != STATUS_OK)
		return s;
	run = (size_t)view.dim[2] * dtype_size(in[0]->type);
	for (int64_t o = 0; run && o < view.dim[0]; o++)
		for (int64_t i = 0; i < tensor_count(in[1]); i++) {
			if (!condition[i])
				continue;
			memcpy(to, (const char *)in[0]->data + (size_t)(o * view.dim[1] + i) * run, run);
			to += run;
		}
	return STATUS_OK;
}
