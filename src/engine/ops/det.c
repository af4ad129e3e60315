// Det: determinants, by elimination in double.
#include <math.h>
#include <stdlib.h>
#include "rule.h"

enum status det_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	struct shape y = in[0]->shape;
	enum status s = rule_rank_at_least(in[0], 0, 2, err);

	(void)n;
	if (s != STATUS_OK)
		return s;
	y.rank -= 2;
	if (y.dim[y.rank] != y.dim[y.rank + 1] || y.dim[y.rank] < 1)
		return error_set(err, STATUS_FORMAT, "the last two dimensions must be those of a square matrix");
	rule_set(&out[0], DT_F32, &y);
	return STATUS_OK;
}

static int64_t largest_below(const double *a, int64_t n, int64_t column)
{
	int64_t best = column;

	for (int64_t r = column + 1; r < n; r++)
		if (fabs(a[r * n + column]) > fabs(a[best * n + column]))
			best = r;
	return best;
}

static double eliminate(double *a, int64_t n)
{
	double det = 1;

	for (int64_t k = 0; k < n && det != 0; k++) {
		int64_t p = largest_below(a, n, k);
		for (int64_t c = k; p != k && c < n; c++) {
			double t = a[k * n + c];
			a[k * n + c] = a[p * n + c];
			a[p * n + c] = t;
		}
		det *= p == k ? a[k * n + k] : -a[k * n + k];
		for (int64_t r = k + 1; det != 0 && r < n; r++)
			for (int64_t c = n - 1; c >= k; c--)
				a[r * n + c] -= a[r * n + k] / a[k * n + k] * a[k * n + c];
	}
	return det;
}

enum status det_eval(const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	int64_t size = in[0]->shape.dim[in[0]->shape.rank - 1];
	double *a = mem_try_array((size_t)(size * size), sizeof *a);

	(void)n;
	(void)width;
	if (!a)
		return error_set(err, STATUS_NOMEM, "no memory for a matrix of %lld rows", (long long)size);
	for (int64_t i = 0; i < tensor_count(&out[0]); i++) {
		for (int64_t k = 0; k < size * size; k++)
			a[k] = (double)((const float *)in[0]->data)[i * size * size + k];
		((float *)out[0].data)[i] = (float)eliminate(a, size);
	}
	free(a);
	return STATUS_OK;
}
