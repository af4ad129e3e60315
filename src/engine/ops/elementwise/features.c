// Operators of ai.onnx.ml that prepare features, of one sample or of rows of them.
#include <math.h>
#include <string.h>
#include "../element.h"
#include "../rule.h"

enum norm { NORM_MAX, NORM_L1, NORM_L2, NORMS };
static const char *const norm_name[NORMS] = {"MAX", "L1", "L2"};

static enum status check_features(const struct tensor *x, struct error *err)
{
	if (x->shape.rank == 1 || x->shape.rank == 2)
		return STATUS_OK;
	return error_set(err, STATUS_UNSUPPORTED, "the input must be features of one sample or rows of them");
}

static int64_t feature_count(const struct tensor *x)
{
	return x->shape.dim[x->shape.rank - 1];
}

// Scaler: (x - offset) * scale, with a number for each feature or one for all.
enum status scaler_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	const struct scaler_attrs *a = n->attrs;
	enum status s = check_features(in[0], err);
	if (s != STATUS_OK)
		return s;
	if (a->scale.n < 1 || a->offset.n != a->scale.n || (a->scale.n > 1 && a->scale.n != feature_count(in[0])))
		return error_set(err, STATUS_FORMAT, "offset and scale must both have one number, or as many as there are features");
	rule_set(&out[0], DT_F32, &in[0]->shape);
	return STATUS_OK;
}

enum status scaler_eval(const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	const struct scaler_attrs *a = n->attrs;
	float *y = out[0].data;
	(void)width;
	(void)err;
	for (int64_t i = 0; i < tensor_count(&out[0]); i++)
		y[i] = ((float)element_double(in[0], i) - a->offset.at[i % a->scale.n]) * a->scale.at[i % a->scale.n];
	return STATUS_OK;
}

static enum norm norm_of(const struct node *n)
{
	const struct normalizer_attrs *a = n->attrs;
	int i = 0;
	while (i < NORMS && strcmp(a->norm, norm_name[i]) != 0)
		i++;
	return (enum norm)i;
}

enum status normalizer_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	enum status s = check_features(in[0], err);
	if (s == STATUS_OK && norm_of(n) == NORMS)
		s = error_set(err, STATUS_UNSUPPORTED, "norm is %s, but must be MAX, L1 or L2", ((const struct normalizer_attrs *)n->attrs)->norm);
	rule_set(&out[0], DT_F32, &in[0]->shape);
	return s;
}

// The largest itself and not its magnitude, as ONNX has it: a row of negative numbers becomes positive.
static float norm_of_row(enum norm norm, const float *x, int64_t n)
{
	float sum = norm == NORM_MAX && n > 0 ? x[0] : 0;
	for (int64_t i = 0; i < n; i++)
		sum = norm == NORM_MAX ? fmaxf(sum, x[i]) : sum + (norm == NORM_L1 ? fabsf(x[i]) : x[i] * x[i]);
	return sum;
}

// Each sample over its norm; one of zeros stays.
enum status normalizer_eval(const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	enum norm norm = norm_of(n);
	int64_t count = tensor_count(&out[0]), row = feature_count(&out[0]);
	float *y = out[0].data;
	(void)width;
	(void)err;
	for (int64_t i = 0; i < count; i++)
		y[i] = (float)element_double(in[0], i);
	for (int64_t at = 0; at < count; at += row) {
		float by = norm_of_row(norm, y + at, row);
		for (int64_t i = at; by != 0 && i < at + row; i++)
			y[i] = norm == NORM_L2 ? copysignf(sqrtf(y[i] * y[i] / by), y[i]) : y[i] / by;
	}
	return STATUS_OK;
}

enum status binarizer_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	(void)n;
	(void)err;
	rule_set(&out[0], in[0]->type, &in[0]->shape);
	return STATUS_OK;
}

enum status binarizer_eval(const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	const struct binarizer_attrs *a = n->attrs;
	const float *x = in[0]->data;
	float *y = out[0].data;
	(void)width;
	(void)err;
	for (int64_t i = 0; i < tensor_count(&out[0]); i++)
		y[i] = x[i] > a->threshold ? 1 : 0;
	return STATUS_OK;
}

// Imputer: what is missing (NaN, or a number that says so) becomes the feature's number, or the one for all.
enum status imputer_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	const struct imputer_attrs *a = n->attrs;
	int64_t given = in[0]->type == DT_F32 ? a->floats.n : a->ints.n;
	enum status s = check_features(in[0], err);
	if (s == STATUS_OK && in[0]->type != DT_F32 && in[0]->type != DT_I64)
		s = error_set(err, STATUS_UNSUPPORTED, "the input is %s, but must be float32 or int64", dtype_name(in[0]->type));
	if (s == STATUS_OK && given != 1 && given != feature_count(in[0]))
		s = error_set(err, STATUS_FORMAT, "there must be one imputed value of the input's type, or as many as there are features");
	rule_set(&out[0], in[0]->type, &in[0]->shape);
	return s;
}

static void impute_floats(const struct imputer_attrs *a, const float *x, float *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++) {
		bool missing = isnan(a->missing) ? isnan(x[i]) : x[i] == a->missing;
		y[i] = missing ? a->floats.at[i % a->floats.n] : x[i];
	}
}

static void impute_ints(const struct imputer_attrs *a, const int64_t *x, int64_t *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = x[i] == a->missing_int ? a->ints.at[i % a->ints.n] : x[i];
}

enum status imputer_eval(const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	(void)width;
	(void)err;
	if (in[0]->type == DT_F32)
		impute_floats(n->attrs, in[0]->data, out[0].data, tensor_count(&out[0]));
	else
		impute_ints(n->attrs, in[0]->data, out[0].data, tensor_count(&out[0]));
	return STATUS_OK;
}

static int64_t row_count(const struct tensor *x)
{
	return x->shape.rank == 2 ? x->shape.dim[0] : 1;
}

// FeatureVectorizer: the features of all inputs side by side, as floats. inputdimensions says how many of each.
enum status vectorizer_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	const struct vectorizer_attrs *a = n->attrs;
	struct shape y = {.rank = 2, .dim = {row_count(in[0])}};
	if (a->dimensions.n != n->n_in)
		return error_set(err, STATUS_FORMAT, "inputdimensions must have a number for each of the %d inputs", n->n_in);
	for (int i = 0; i < n->n_in; i++) {
		enum status s = check_features(in[i], err);
		if (s != STATUS_OK)
			return s;
		if (row_count(in[i]) != y.dim[0] || feature_count(in[i]) != a->dimensions.at[i])
			return error_set(err, STATUS_FORMAT, "input %d has not the %lld features in %lld rows that it should have", i,
			    (long long)a->dimensions.at[i], (long long)y.dim[0]);
		y.dim[1] += feature_count(in[i]);
	}
	rule_set(&out[0], DT_F32, &y);
	return STATUS_OK;
}

enum status vectorizer_eval(const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	float *y = out[0].data;
	(void)width;
	(void)err;
	for (int64_t row = 0; row < out[0].shape.dim[0]; row++)
		for (int i = 0; i < n->n_in; i++)
			for (int64_t k = 0, of = feature_count(in[i]); k < of; k++)
				*y++ = (float)element_double(in[i], row * of + k);
	return STATUS_OK;
}
