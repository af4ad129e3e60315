// Operators of ai.onnx.ml, which converters of scikit-learn write around a network.
#include <math.h>
#include "node_run.h"

#define ML "ai.onnx.ml"

static void scale(struct node_run *r, int offsets, int scales)
{
	static float offset[3] = {1, -1, .5f}, scale_by[3] = {2, .25f, -1};
	node_run_init(r, ML, "Scaler", 1, 1);
	*(struct floats *)node_run_field(r, "offset") = (struct floats){offset, offsets};
	*(struct floats *)node_run_field(r, "scale") = (struct floats){scale_by, scales};
}

void test_op_tabular__scaler_has_a_number_for_each_feature(void **state)
{
	static const float x[6] = {1, 2, 3, 4, 5, 6};
	static const int64_t whole[6] = {1, 2, 3, 4, 5, 6};
	struct node_run r;
	for (int i = 0; i < 2; i++) {
		scale(&r, 3, 3);
		node_run_add(&r, i ? DT_I64 : DT_F32, SHAPE_OF(2, 3), i ? (const void *)whole : x);
		node_run(&r);
		assert_int_equal(r.out[0].type, DT_F32);
		node_run_floats(&r, 6, (const float[]){0, .75f, -2.5f, 6, 1.5f, -5.5f});
		node_run_done(&r);
	}
	scale(&r, 1, 1);
	node_run_add(&r, DT_F32, SHAPE_OF(2, 3), x);
	node_run(&r);
	node_run_floats(&r, 6, (const float[]){0, 2, 4, 6, 8, 10});
	node_run_done(&r);
}

void test_op_tabular__scaler_refuses_other_counts(void **state)
{
	static const float x[6] = {0};
	static const int counts[][2] = {{2, 2}, {3, 1}, {1, 3}, {-1, 3}, {-1, -1}};
	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
		struct node_run r;
		struct error err;
		scale(&r, counts[i][0], counts[i][1]);
		node_run_add(&r, DT_F32, SHAPE_OF(2, 3), x);
		assert_int_equal(node_run_try(&r, &err), STATUS_FORMAT);
		assert_non_null(strstr(err.text, "as many as there are features"));
		node_run_done(&r);
	}
}

// A sample of zeros stays; of one with negative numbers alone the largest is no magnitude. ONNX Runtime has the same.
void test_op_tabular__normalizer_divides_by_the_norm(void **state)
{
	static const float x[9] = {3, -4, 0, 0, 0, 0, -1, -4, -.5f};
	static const struct {
		const char *norm;
		float y[9];
	} rows[] = {{"MAX", {1, -4.0f / 3, 0, 0, 0, 0, 2, 8, 1}},
	    {"L1", {3.0f / 7, -4.0f / 7, 0, 0, 0, 0, -1 / 5.5f, -4 / 5.5f, -.5f / 5.5f}},
	    {"L2", {.6f, -.8f, 0, 0, 0, 0, -1 / 4.15331193f, -4 / 4.15331193f, -.5f / 4.15331193f}}};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct node_run r;
		node_run_init(&r, ML, "Normalizer", 1, 1);
		*(const char **)node_run_field(&r, "norm") = rows[i].norm;
		node_run_add(&r, DT_F32, SHAPE_OF(3, 3), x);
		node_run(&r);
		for (int k = 0; k < 9; k++)
			assert_float_equal(((float *)r.out[0].data)[k], rows[i].y[k], 2e-7);
		node_run_done(&r);
	}
}

void test_op_tabular__normalizer_refuses_other_norms_and_ranks(void **state)
{
	static const float x[4] = {0};
	struct node_run r;
	struct error err;
	node_run_init(&r, ML, "Normalizer", 1, 1);
	*(const char **)node_run_field(&r, "norm") = "L3";
	node_run_add(&r, DT_F32, SHAPE_OF(2, 2), x);
	assert_int_equal(node_run_try(&r, &err), STATUS_UNSUPPORTED);
	assert_non_null(strstr(err.text, "L3, but must be MAX, L1 or L2"));
	node_run_done(&r);
	node_run_init(&r, ML, "Normalizer", 1, 1);
	node_run_add(&r, DT_F32, SHAPE_OF(1, 2, 2), x);
	assert_int_equal(node_run_try(&r, &err), STATUS_UNSUPPORTED);
	node_run_done(&r);
}

void test_op_tabular__binarizer_is_above_the_threshold(void **state)
{
	struct node_run r;
	node_run_init(&r, ML, "Binarizer", 1, 1);
	*(float *)node_run_field(&r, "threshold") = 1;
	node_run_add(&r, DT_F32, SHAPE_OF(4), (const float[]){1, 1.5f, -2, 3});
	node_run(&r);
	node_run_floats(&r, 4, (const float[]){0, 1, 0, 1});
	node_run_done(&r);
}

static void impute(struct node_run *r, float missing, float *values, int n)
{
	node_run_init(r, ML, "Imputer", 1, 1);
	*(float *)node_run_field(r, "replaced_value_float") = missing;
	*(struct floats *)node_run_field(r, "imputed_value_floats") = (struct floats){values, n};
}

void test_op_tabular__imputer_fills_what_is_missing(void **state)
{
	static float values[3] = {7, 8, 9};
	static int64_t whole = 5;
	static const float x[6] = {NAN, 2, 0, 0, NAN, NAN};
	struct node_run r;
	struct error err;
	impute(&r, NAN, values, 3);
	node_run_add(&r, DT_F32, SHAPE_OF(2, 3), x);
	node_run(&r);
	node_run_floats(&r, 6, (const float[]){7, 2, 0, 0, 8, 9});
	node_run_done(&r);
	impute(&r, 2, values, 1);
	node_run_add(&r, DT_F32, SHAPE_OF(3), x + 1);
	node_run(&r);
	node_run_floats(&r, 3, (const float[]){7, 0, 0});
	node_run_done(&r);
	node_run_init(&r, ML, "Imputer", 1, 1);
	*(int64_t *)node_run_field(&r, "replaced_value_int64") = -1;
	*(struct ints *)node_run_field(&r, "imputed_value_int64s") = (struct ints){&whole, 1};
	node_run_add(&r, DT_I64, SHAPE_OF(1, 3), (const int64_t[]){-1, 2, 0});
	node_run(&r);
	assert_memory_equal(r.out[0].data, ((const int64_t[]){5, 2, 0}), 3 * sizeof(int64_t));
	node_run_done(&r);
	for (int n = -1; n <= 2; n += 3) { // none, and too few
		impute(&r, 0, values, n);
		node_run_add(&r, DT_F32, SHAPE_OF(2, 3), x);
		assert_int_equal(node_run_try(&r, &err), STATUS_FORMAT);
		node_run_done(&r);
	}
}

static void vectorize(struct node_run *r, int64_t *dimensions, int n)
{
	node_run_init(r, ML, "FeatureVectorizer", 1, 1);
	*(struct ints *)node_run_field(r, "inputdimensions") = (struct ints){dimensions, n};
}

void test_op_tabular__features_of_several_inputs_side_by_side(void **state)
{
	static int64_t dimensions[2] = {3, 1};
	static const float x[6] = {1, 2, 3, 4, 5, 6};
	static const int64_t whole[2] = {10, 20};
	struct node_run r;
	struct error err;
	vectorize(&r, dimensions, 2);
	node_run_add(&r, DT_F32, SHAPE_OF(2, 3), x);
	node_run_add(&r, DT_I64, SHAPE_OF(2, 1), whole);
	node_run(&r);
	node_run_floats(&r, 8, (const float[]){1, 2, 3, 10, 4, 5, 6, 20});
	node_run_done(&r);
	vectorize(&r, dimensions, 1); // vectors are one row
	node_run_add(&r, DT_F32, SHAPE_OF(3), x);
	node_run(&r);
	assert_int_equal(r.out[0].shape.rank, 2);
	node_run_floats(&r, 3, x);
	node_run_done(&r);
	vectorize(&r, dimensions, 1);
	node_run_add(&r, DT_F32, SHAPE_OF(2, 2), x);
	assert_int_equal(node_run_try(&r, &err), STATUS_FORMAT);
	assert_non_null(strstr(err.text, "input 0 has not the 3 features"));
	node_run_done(&r);
	vectorize(&r, dimensions, 2);
	node_run_add(&r, DT_F32, SHAPE_OF(2, 3), x);
	node_run_add(&r, DT_I64, SHAPE_OF(1, 1), whole);
	assert_int_equal(node_run_try(&r, &err), STATUS_FORMAT); // other rows
	node_run_done(&r);
}

static void extract(struct node_run *r, struct shape shape, const float *x, const int64_t *at)
{
	node_run_init(r, ML, "ArrayFeatureExtractor", 1, 1);
	node_run_add(r, DT_F32, shape, x);
	node_run_add(r, DT_I64, SHAPE_OF(1, 2), at);
}

// The shape of the indices does not matter; a vector, as of all labels, is a row.
void test_op_tabular__features_are_picked_of_the_last_dimension(void **state)
{
	static const float x[6] = {1, 2, 3, 4, 5, 6};
	struct node_run r;
	struct error err;
	extract(&r, SHAPE_OF(2, 3), x, (const int64_t[]){2, 0});
	node_run(&r);
	assert_int_equal(r.out[0].shape.rank, 2);
	node_run_floats(&r, 4, (const float[]){3, 1, 6, 4});
	node_run_done(&r);
	extract(&r, SHAPE_OF(6), x, (const int64_t[]){4, 1});
	node_run(&r);
	assert_int_equal(r.out[0].shape.rank, 2);
	assert_int_equal(r.out[0].shape.dim[0], 1);
	node_run_floats(&r, 2, (const float[]){5, 2});
	node_run_done(&r);
	extract(&r, SHAPE_OF(2, 3), x, (const int64_t[]){1, 3});
	assert_int_equal(node_run_try(&r, &err), STATUS_FORMAT);
	assert_non_null(strstr(err.text, "index 3 is out of range for 3"));
	node_run_done(&r);
}
