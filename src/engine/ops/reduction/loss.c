// NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss: less the logarithm of what is said
// of the right class, weighted by class.
#include <stdlib.h>
#include <string.h>
#include "../element.h"
#include "../normalization/softmax.h"
#include "../rule.h"
#include "qtui/base/mem.h"

enum reduction { REDUCE_NONE, REDUCE_SUM, REDUCE_MEAN, REDUCTIONS };
static const char *const reductions[REDUCTIONS] = {"none", "sum", "mean"};

static enum reduction reduction_of(const struct node *n)
{
	const struct loss_attrs *a = n->attrs;
	int i = 0;
	while (i < REDUCTIONS && strcmp(a->reduction, reductions[i]))
		i++;
	return (enum reduction)i;
}

// The shape of the classes: that of the scores without dimension 1.
static bool classes_fit(const struct shape *scores, const struct shape *classes)
{
	struct shape want = *scores;
	memmove(want.dim + 1, want.dim + 2, (size_t)(want.rank - 2) * sizeof *want.dim);
	want.rank--;
	return shape_equal(&want, classes);
}

static enum status check_class(const struct node *n, const struct tensor *classes, int64_t i, int64_t count, struct error *err)
{
	int64_t c = element_int(classes, i);
	if (c == ((const struct loss_attrs *)n->attrs)->ignore_index || rule_within(c, 0, count - 1))
		return STATUS_OK;
	return error_set(err, STATUS_FORMAT, "class %lld is not one of %lld", (long long)c, (long long)count);
}

enum status loss_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	const struct tensor *weights = rule_input(n, in, 2);
	enum status s = rule_rank_at_least(in[0], 0, 2, err);
	if (s == STATUS_OK && reduction_of(n) == REDUCTIONS)
		s = error_set(err, STATUS_FORMAT, "reduction is '%s', must be none, sum or mean",
		    ((const struct loss_attrs *)n->attrs)->reduction);
	if (s == STATUS_OK && !classes_fit(&in[0]->shape, &in[1]->shape))
		s = error_set(err, STATUS_FORMAT, "the classes must have the shape of the scores without dimension 1");
	if (s == STATUS_OK && weights && (weights->shape.rank != 1 || weights->shape.dim[0] != in[0]->shape.dim[1]))
		s = error_set(err, STATUS_FORMAT, "there must be a weight for each of %lld classes", (long long)in[0]->shape.dim[1]);
	for (int64_t i = 0; s == STATUS_OK && in[1]->data && i < tensor_count(in[1]); i++)
		s = check_class(n, in[1], i, in[0]->shape.dim[1], err);
	if (s != STATUS_OK)
		return s;
	rule_set(&out[0], DT_F32, reduction_of(n) == REDUCE_NONE ? &in[1]->shape : &(struct shape){0});
	if (n->n_out > 1)
		rule_set(&out[1], DT_F32, &in[0]->shape);
	return STATUS_OK;
}

// The losses of all classes, of which the ignored are 0, into y (NULL: not wanted);
// their sum and that of the weights that count.
static enum status losses(const struct node *n, const struct tensor *const *in, const float *logs, float *y, double *sum, double *weight,
    struct error *err)
{
	const struct shape *x = &in[0]->shape;
	const struct tensor *weights = rule_input(n, in, 2);
	int64_t classes = x->dim[1], inner = rule_product(x, 2, x->rank), ignored = ((const struct loss_attrs *)n->attrs)->ignore_index;
	for (int64_t i = 0; i < tensor_count(in[1]); i++) {
		int64_t c = element_int(in[1], i);
		enum status s = check_class(n, in[1], i, classes, err);
		if (s != STATUS_OK)
			return s;
		float w = c == ignored ? 0 : weights ? ((const float *)weights->data)[c] : 1;
		float loss = c == ignored ? 0 : -w * logs[(i / inner * classes + c) * inner + i % inner];
		if (y)
			y[i] = loss;
		*sum += (double)loss;
		*weight += (double)w;
	}
	return STATUS_OK;
}

enum status loss_eval(const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	const struct shape *x = &in[0]->shape;
	enum reduction reduction = reduction_of(n);
	float *y = out[0].data, *own = NULL, *logs = in[0]->data;
	double sum = 0, weight = 0;
	enum status s = STATUS_OK;
	if (n->op->id == OP_SoftmaxCrossEntropyLoss) {
		struct softmax_extent e = {x->dim[0], x->dim[1], rule_product(x, 2, x->rank)};
		logs = n->n_out > 1 ? out[1].data : (own = mem_try_array((size_t)tensor_count(in[0]), sizeof *own));
		s = logs ? softmax_along(OP_LogSoftmax, in[0]->data, logs, &e, width, err)
		         : error_set(err, STATUS_NOMEM, "no memory for the logarithms of %lld scores", (long long)tensor_count(in[0]));
	}
	if (s == STATUS_OK)
		s = losses(n, in, logs, reduction == REDUCE_NONE ? y : NULL, &sum, &weight, err);
	if (s == STATUS_OK && reduction != REDUCE_NONE)
		*y = (float)(reduction == REDUCE_SUM ? sum : sum / weight);
	free(own);
	return s;
}
