// CDist of com.microsoft: the distances of each row of one matrix to each of another, summed in double.
#include <math.h>
#include <string.h>
#include "../rule.h"

enum status cdist_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	const char *metric = ((const struct cdist_attrs *)n->attrs)->metric;
	const struct shape *a = &in[0]->shape, *b = &in[1]->shape;
	if (a->rank != 2 || b->rank != 2 || a->dim[1] != b->dim[1])
		return error_set(err, STATUS_FORMAT, "needs two matrices with rows of one length");
	if (strcmp(metric, "euclidean") && strcmp(metric, "sqeuclidean"))
		return error_set(err, STATUS_UNSUPPORTED, "metric `%s` is not supported", metric);
	rule_set(&out[0], DT_F32, &(struct shape){.rank = 2, .dim = {a->dim[0], b->dim[0]}});
	return STATUS_OK;
}

enum status cdist_eval(const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	int64_t rows = in[0]->shape.dim[0], columns = in[1]->shape.dim[0], length = in[0]->shape.dim[1];
	bool squared = ((const struct cdist_attrs *)n->attrs)->metric[0] == 's';
	float *y = out[0].data;
	(void)err;
#pragma omp parallel for num_threads(width) if (width > 1)
	for (int64_t i = 0; i < rows * columns; i++) {
		const float *a = (const float *)in[0]->data + i / columns * length, *b = (const float *)in[1]->data + i % columns * length;
		double sum = 0;
		for (int64_t k = 0; k < length; k++)
			sum += ((double)a[k] - (double)b[k]) * ((double)a[k] - (double)b[k]);
		y[i] = (float)(squared ? sum : sqrt(sum));
	}
	return STATUS_OK;
}
