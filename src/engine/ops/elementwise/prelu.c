// PRelu: x for x >= 0, slope * x below; the slope is broadcast to x. A slope of one dimension that only fits the
// channels is taken per channel, as before opset 7.
#include "../element.h"
#include "../rule.h"
#include "../strided.h"

static enum status slope_shape(struct shape *slope, const struct tensor *const *in, struct error *err)
{
	const struct shape *x = &in[0]->shape;
	struct shape y;
	bool per_channel = in[1]->shape.rank == 1 && x->rank > 2 && in[1]->shape.dim[0] == x->dim[1] &&
	                   in[1]->shape.dim[0] != x->dim[x->rank - 1];
	enum status s;
	*slope = in[1]->shape;
	for (int i = 2; per_channel && i < x->rank; i++)
		rule_push(slope, 1);
	s = rule_broadcast(&y, x, slope, err);
	if (s == STATUS_OK && !shape_equal(&y, x))
		s = error_set(err, STATUS_FORMAT, "the slope does not broadcast to the input");
	return s;
}

enum status prelu_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	struct shape slope;
	enum status s = slope_shape(&slope, in, err);
	(void)n;
	if (s == STATUS_OK)
		rule_set(&out[0], in[0]->type, &in[0]->shape);
	return s;
}

static void float_run(const float *x, const float *slope, int64_t step, float *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = x[i] < 0 ? x[i] * slope[i * step] : x[i];
}

static void int_run(const struct tensor *x, int64_t at, const struct tensor *slope, int64_t first, int64_t step,
    struct tensor *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++) {
		int64_t v = element_int(x, at + i);
		v = v < 0 ? (int64_t)((uint64_t)v * (uint64_t)element_int(slope, first + i * step)) : v;
		elements_store(y->data, y->type, at + i, &v, 1);
	}
}

enum status prelu_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	struct shape slope;
	struct strided s;
	enum status st = slope_shape(&slope, in, err);
	(void)n;
	(void)width;
	if (st != STATUS_OK)
		return st;
	strided_broadcast(&s, &in[0]->shape, (const struct shape *const[]){&slope}, 1);
	for (int64_t r = 0; r < strided_rows(&s); r++) {
		int64_t at[STRIDED_MAX];
		strided_at(&s, r, at);
		if (in[0]->type == DT_F32)
			float_run((const float *)in[0]->data + at[0], (const float *)in[1]->data + at[1],
			    strided_step(&s, 1), (float *)out[0].data + at[0], strided_run(&s));
		else
			int_run(in[0], at[0], in[1], at[1], strided_step(&s, 1), &out[0], strided_run(&s));
	}
	return STATUS_OK;
}
