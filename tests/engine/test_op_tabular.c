// Operators of ai.onnx.ml, which converters of scikit-learn write around a network.
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
