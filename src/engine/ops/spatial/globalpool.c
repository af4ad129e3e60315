// GlobalAveragePool, GlobalMaxPool, GlobalLpPool: one number a channel.
#include <math.h>
#include "../rule.h"

enum status globalpool_shape(
    const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	struct shape y = in[0]->shape;
	enum status s = rule_rank_at_least(in[0], 0, 2, err);
	if (s != STATUS_OK)
		return s;
	if (rule_product(&y, 2, y.rank) < 1)
		return error_set(err, STATUS_FORMAT, "the input has empty channels");
	if (n->op->id == OP_GlobalLpPool && ((const struct pool_attrs *)n->attrs)->p < 1)
		return error_set(err, STATUS_FORMAT, "p must be at least 1");
	for (int i = 2; i < y.rank; i++)
		y.dim[i] = 1;
	rule_set(&out[0], DT_F32, &y);
	return STATUS_OK;
}

static float average(const float *x, int64_t n)
{
	double sum = 0;
	for (int64_t i = 0; i < n; i++)
		sum += (double)x[i];
	return (float)(sum / (double)n);
}

static float maximum(const float *x, int64_t n)
{
	float m = x[0];
	for (int64_t i = 1; i < n; i++)
		m = x[i] > m ? x[i] : m;
	return m;
}

static float lp_norm(const float *x, int64_t n, double p)
{
	double sum = 0;
	for (int64_t i = 0; i < n; i++)
		sum += pow(fabs((double)x[i]), p);
	return (float)pow(sum, 1 / p);
}

enum status globalpool_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	const struct shape *x = &in[0]->shape;
	int64_t planes = x->dim[0] * x->dim[1], size = rule_product(x, 2, x->rank);
	(void)width;
	(void)err;
	for (int64_t p = 0; p < planes; p++) {
		const float *from = (const float *)in[0]->data + p * size;
		float *to = (float *)out[0].data + p;
		if (n->op->id == OP_GlobalMaxPool)
			*to = maximum(from, size);
		else if (n->op->id == OP_GlobalLpPool)
			*to = lp_norm(from, size, (double)((const struct pool_attrs *)n->attrs)->p);
		else
			*to = average(from, size);
	}
	return STATUS_OK;
}
