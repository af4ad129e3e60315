// Conv and ConvTranspose.
#include "conv.h"

#include "../rule.h"

enum status conv_resolve(struct convolve *t, const struct conv_attrs *a, const struct shape *x, const struct shape *w,
    bool transposed, struct error *err)
{
	struct window_spec spec = window_of_conv(a);
	enum status s;
	if (x->rank < 3 || w->rank != x->rank)
		return error_set(
		    err, STATUS_FORMAT, "the input has rank %d, the weights have rank %d", x->rank, w->rank);
	*t = (struct convolve){.n = x->dim[0], .c = x->dim[1], .group = a->group};
	if (a->group < 1 || a->group > RULE_MAX_DIM || w->dim[0] < 1 || w->dim[1] < 1)
		return error_set(err, STATUS_FORMAT, "group is %lld, the weights are %lld x %lld", (long long)a->group,
		    (long long)w->dim[0], (long long)w->dim[1]);
	t->oc = transposed ? w->dim[1] * a->group : w->dim[0];
	if (transposed ? w->dim[0] != t->c || t->c % a->group : w->dim[1] * a->group != t->c || t->oc % a->group)
		return error_set(err, STATUS_FORMAT,
		    "%lld input channels do not fit weights of %lld x %lld in %lld groups", (long long)t->c,
		    (long long)w->dim[0], (long long)w->dim[1], (long long)a->group);
	s = transposed ? window_resolve_transposed(&t->win, &spec, x, w->dim + 2, err)
	               : window_resolve(&t->win, &spec, x, w->dim + 2, err);
	return s;
}

enum status conv_check_bias(const struct convolve *t, const struct tensor *bias, struct error *err)
{
	if (!bias || (bias->shape.rank == 1 && bias->shape.dim[0] == t->oc))
		return STATUS_OK;
	return error_set(
	    err, STATUS_FORMAT, "the bias must have one value for each of the %lld output channels", (long long)t->oc);
}

void conv_fill_bias(const struct convolve *t, const float *bias, float *y)
{
	int64_t plane = window_out(&t->win);
	for (int64_t p = 0; p < t->n * t->oc; p++)
		for (int64_t i = 0; i < plane; i++)
			y[p * plane + i] = bias ? bias[p % t->oc] : 0;
}

static enum status shape_of_conv(
    const struct node *n, const struct tensor *const *in, struct tensor *out, bool transposed, struct error *err)
{
	struct convolve t;
	struct shape y;
	enum status s = conv_resolve(&t, n->attrs, &in[0]->shape, &in[1]->shape, transposed, err);
	if (s == STATUS_OK)
		s = conv_check_bias(&t, rule_input(n, in, 2), err);
	if (s != STATUS_OK)
		return s;
	y = window_shape(&t.win, t.n, t.oc);
	rule_set(&out[0], DT_F32, &y);
	return STATUS_OK;
}

static enum status run_conv(const struct node *n, const struct tensor *const *in, struct tensor *out, bool transposed,
    int width, struct error *err)
{
	struct convolve t;
	enum status s = conv_resolve(&t, n->attrs, &in[0]->shape, &in[1]->shape, transposed, err);
	if (s != STATUS_OK)
		return s;
	conv_fill_bias(&t, n->n_in > 2 && in[2] ? in[2]->data : NULL, out[0].data);
	(transposed ? convolve_transposed : convolve_float)(&t, in[0]->data, in[1]->data, out[0].data, width);
	return STATUS_OK;
}

enum status conv_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	return shape_of_conv(n, in, out, false, err);
}

enum status conv_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	return run_conv(n, in, out, false, width, err);
}

enum status convtranspose_shape(
    const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	return shape_of_conv(n, in, out, true, err);
}

enum status convtranspose_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	return run_conv(n, in, out, true, width, err);
}
