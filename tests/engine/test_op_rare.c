// Operators that few networks have: CenterCropPad, TensorScatter, random numbers, optional values, ImageScaler,
// BatchNormalization in training, and what ONNX Runtime has of its own under a name of ONNX.
#include <math.h>
#include "node_run.h"
#include "onnx_case.h"

void test_op_rare__center_crop_and_pad(void **state)
{
	static const float x[8] = {1, 2, 3, 4, 5, 6, 7, 8};
	static const int64_t size[2] = {3, 1};
	struct node_run r;
	node_run_init(&r, "", "CenterCropPad", 18, 1);
	node_run_add(&r, DT_F32, SHAPE_OF(2, 4), x);
	node_run_add(&r, DT_I64, SHAPE_OF(2), size);
	node_run(&r);
	node_run_floats(&r, 3, (const float[]){2, 6, 0}); // of four columns the second, of one more row the last
	node_run_done(&r);
}

static void scatter(struct node_run *r, const char *mode, const int64_t *at)
{
	static const float cache[8] = {1, 2, 3, 4, 5, 6, 7, 8}, rows[4] = {-1, -2, -3, -4};
	node_run_init(r, "", "TensorScatter", 24, 1);
	*(const char **)node_run_field(r, "mode") = mode;
	node_run_add(r, DT_F32, SHAPE_OF(2, 4, 1), cache);
	node_run_add(r, DT_F32, SHAPE_OF(2, 2, 1), rows);
	node_run_add(r, DT_I64, SHAPE_OF(2), at);
}

void test_op_rare__tensor_scatter(void **state)
{
	static const int64_t inside[2] = {0, 2}, beyond[2] = {0, 3}, outside[2] = {0, 4};
	struct node_run r;
	struct error err;
	scatter(&r, "linear", inside);
	node_run(&r);
	node_run_floats(&r, 8, (const float[]){-1, -2, 3, 4, 5, 6, -3, -4});
	node_run_done(&r);
	scatter(&r, "circular", beyond);
	node_run(&r);
	node_run_floats(&r, 8, (const float[]){-1, -2, 3, 4, -4, 6, 7, -3});
	node_run_done(&r);
	scatter(&r, "linear", beyond);
	assert_int_equal(node_run_try(&r, &err), STATUS_FORMAT);
	node_run_done(&r);
	scatter(&r, "circular", outside);
	assert_int_equal(node_run_try(&r, &err), STATUS_FORMAT);
	node_run_done(&r);
}

enum { MANY_NUMBERS = 1 << 16 };

static void draw(struct node_run *r, const char *op, float seed)
{
	static int64_t size = MANY_NUMBERS;
	node_run_init(r, "", op, 17, 1);
	*(struct ints *)node_run_field(r, "shape") = (struct ints){&size, 1};
	*(float *)node_run_field(r, "seed") = seed;
	node_run(r);
}

static void check_moments(const char *op, double mean, double deviation)
{
	struct node_run r, same, other;
	double sum = 0, squares = 0;
	draw(&r, op, 1);
	draw(&same, op, 1);
	draw(&other, op, 2);
	for (int i = 0; i < MANY_NUMBERS; i++) {
		double v = (double)((const float *)r.out[0].data)[i];
		sum += v;
		squares += v * v;
	}
	assert_true(fabs(sum / MANY_NUMBERS - mean) < 0.02);
	assert_true(fabs(sqrt(squares / MANY_NUMBERS - mean * mean) - deviation) < 0.02);
	assert_memory_equal(r.out[0].data, same.out[0].data, MANY_NUMBERS * sizeof(float));
	assert_memory_not_equal(r.out[0].data, other.out[0].data, MANY_NUMBERS * sizeof(float));
	node_run_done(&r);
	node_run_done(&same);
	node_run_done(&other);
}

// The float network and the quantized one are to see the same.
void test_op_rare__random_numbers_are_those_of_the_seed(void **state)
{
	check_moments("RandomNormal", 0, 1);
	check_moments("RandomUniform", 0.5, sqrt(1 / 12.0));
}

void test_op_rare__bernoulli(void **state)
{
	static float chance[1000];
	struct node_run r;
	int ones = 0;
	for (int i = 0; i < 1000; i++)
		chance[i] = 0.2f;
	node_run_init(&r, "", "Bernoulli", 17, 1);
	*(int64_t *)node_run_field(&r, "dtype") = ONNX__TENSOR_PROTO__DATA_TYPE__BOOL;
	node_run_add(&r, DT_F32, SHAPE_OF(1000), chance);
	node_run(&r);
	assert_int_equal(r.out[0].type, DT_BOOL);
	for (int i = 0; i < 1000; i++)
		ones += ((const uint8_t *)r.out[0].data)[i];
	assert_in_range(ones, 150, 250);
	node_run_done(&r);
}

// Whether an input is there is known when the model is loaded, and with it the branch.
void test_op_rare__optional_values(void **state)
{
	struct onnx_case c;
	Onnx__GraphProto *yes, *no;
	Onnx__NodeProto *n;
	case_init(&c);
	c.opset.version = 18;
	case_input(&c, "x", FLOAT, DIMS(2));
	case_node(&c, "OptionalHasElement", "has", "x", "there");
	case_node(&c, "OptionalGetElement", "get", "x", "value");
	yes = case_graph(&c);
	no = case_graph(&c);
	case_node_in(&c, yes, "Neg", "neg", "value", "out");
	case_node_in(&c, no, "Abs", "abs", "value", "out");
	case_output(&c, yes, "out");
	case_output(&c, no, "out");
	n = case_node(&c, "If", "if", "there", "y");
	case_attr_graph(&c, n, "then_branch", yes);
	case_attr_graph(&c, n, "else_branch", no);
	case_output(&c, c.graph, "y");
	case_load(&c);
	assert_int_equal(c.loaded->n_nodes, 1);
	assert_int_equal(c.loaded->node[0].op->id, OP_Neg);
	case_done(&c);
}

void test_op_rare__image_scaler(void **state)
{
	static const float x[4] = {1, 2, 3, 4};
	struct node_run r;
	node_run_init(&r, "", "ImageScaler", 8, 1);
	*(float *)node_run_field(&r, "scale") = 2;
	*(struct floats *)node_run_field(&r, "bias") = (struct floats){(float[]){10, -10}, 2};
	node_run_add(&r, DT_F32, SHAPE_OF(1, 2, 1, 2), x);
	node_run(&r);
	node_run_floats(&r, 4, (const float[]){12, 14, -4, -2});
	node_run_done(&r);
}

// Corners are rounded, cells overlap, what lies outside has no elements and gives 0.
void test_op_rare__max_roi_pool(void **state)
{
	static const float rois[2][5] = {{0, 0, 0, 3, 2}, {0, -2, 2.6f, 9, 7}}, want[12] = {3, 2, 4, 5, 5, 4, 5, 7, 0, 0, 0, 0};
	float x[20], elsewhere[5] = {1};
	struct node_run r;
	struct error err;
	for (int i = 0; i < 20; i++)
		x[i] = (float)(i * 7 % 20 - 12);
	node_run_init(&r, "", "MaxRoiPool", 11, 1);
	*(struct ints *)node_run_field(&r, "pooled_shape") = (struct ints){.at = (int64_t[]){2, 3}, .n = 2};
	*(float *)node_run_field(&r, "spatial_scale") = .9f;
	node_run_add(&r, DT_F32, SHAPE_OF(1, 1, 4, 5), x);
	node_run_add(&r, DT_F32, SHAPE_OF(2, 5), rois);
	node_run(&r);
	node_run_floats(&r, 12, want);
	tensor_drop(&r.out[0]);
	r.in[1] = (struct tensor){.type = DT_F32, .shape = SHAPE_OF(1, 5), .data = elsewhere};
	assert_int_equal(node_run_try(&r, &err), STATUS_FORMAT);
	assert_non_null(strstr(err.text, "region 0 is in image 1 of 1"));
	node_run_done(&r);
}

void test_op_rare__inverse_and_distances(void **state)
{
	static const float a[4] = {0, 2, 4, 3}, b[2] = {3, -2};
	struct node_run r;
	node_run_init(&r, "com.microsoft", "Inverse", 1, 1);
	node_run_add(&r, DT_F32, SHAPE_OF(2, 2), a);
	node_run(&r);
	node_run_floats(&r, 4, (const float[]){-.375f, .25f, .5f, 0});
	node_run_done(&r);
	for (int squared = 0; squared < 2; squared++) {
		node_run_init(&r, "com.microsoft", "CDist", 1, 1);
		if (!squared)
			*(const char **)node_run_field(&r, "metric") = "euclidean";
		node_run_add(&r, DT_F32, SHAPE_OF(2, 2), a);
		node_run_add(&r, DT_F32, SHAPE_OF(1, 2), b);
		node_run(&r);
		node_run_floats(&r, 2, squared ? (const float[]){25, 26} : (const float[]){5, 5.0990195f});
		node_run_done(&r);
	}
}

// Its one matrix of the right side serves all batches at once, of which there may be none.
void test_op_rare__integer_product_of_no_matrices(void **state)
{
	static const uint8_t none[1] = {0}, b[6] = {1, 2, 3, 4, 5, 6};
	struct node_run r;
	node_run_init(&r, "", "MatMulInteger", 10, 1);
	node_run_add(&r, DT_U8, SHAPE_OF(0, 2, 3), none);
	node_run_add(&r, DT_U8, SHAPE_OF(3, 2), b);
	node_run(&r);
	assert_int_equal(tensor_count(&r.out[0]), 0);
	node_run_done(&r);
}

// Operands whose batches lie between their rows and columns, transposed or not: y[b, i, j] is half of what it would be.
void test_op_rare__fused_matmul_with_batches_second(void **state)
{
	enum { ROWS = 2, BATCHES = 3, INNER = 4, COLUMNS = 5 };
	float x[ROWS * BATCHES * INNER], z[INNER * BATCHES * COLUMNS];
	for (int i = 0; i < ROWS * BATCHES * INNER; i++)
		x[i] = (float)(i * 7 % 11);
	for (int i = 0; i < INNER * BATCHES * COLUMNS; i++)
		z[i] = (float)(i * 5 % 13);
	for (int turned = 0; turned < 4; turned++) {
		const bool left = turned & 1, right = turned & 2;
		struct node_run r;
		node_run_init(&r, "com.microsoft", "FusedMatMul", 1, 1);
		*(int64_t *)node_run_field(&r, "transBatchA") = *(int64_t *)node_run_field(&r, "transBatchB") = 1;
		*(int64_t *)node_run_field(&r, "transA") = left;
		*(int64_t *)node_run_field(&r, "transB") = right;
		*(float *)node_run_field(&r, "alpha") = 0.5f;
		node_run_add(&r, DT_F32, left ? SHAPE_OF(INNER, BATCHES, ROWS) : SHAPE_OF(ROWS, BATCHES, INNER), x);
		node_run_add(&r, DT_F32, right ? SHAPE_OF(COLUMNS, BATCHES, INNER) : SHAPE_OF(INNER, BATCHES, COLUMNS), z);
		node_run(&r);
		assert_true(shape_equal(&r.out[0].shape, &(struct shape){3, {BATCHES, ROWS, COLUMNS}}));
		for (int at = 0; at < BATCHES * ROWS * COLUMNS; at++) {
			int b = at / ROWS / COLUMNS, i = at / COLUMNS % ROWS, j = at % COLUMNS;
			float sum = 0;
			for (int k = 0; k < INNER; k++)
				sum += x[left ? (k * BATCHES + b) * ROWS + i : (i * BATCHES + b) * INNER + k] *
				       z[right ? (j * BATCHES + b) * INNER + k : (k * BATCHES + b) * COLUMNS + j];
			assert_true(((float *)r.out[0].data)[at] == sum / 2);
		}
		node_run_done(&r);
	}
}

// ONNX Runtime's own of these names.
void test_op_rare__of_onnx_runtime(void **state)
{
	static const float x[5] = {3, 1, 3, 2, 1}, start = 2, limit = 6, delta = 3;
	static const int32_t axis = -2;
	struct node_run r;
	(void)state;
	node_run_init(&r, "com.microsoft", "Unique", 1, 3);
	node_run_add(&r, DT_F32, SHAPE_OF(5), x);
	node_run(&r);
	node_run_floats(&r, 3, (const float[]){3, 1, 2});
	assert_int_equal(tensor_count(&r.out[1]), 5);
	assert_memory_equal(r.out[1].data, ((int64_t[]){0, 1, 0, 2, 1}), 5 * sizeof(int64_t));
	assert_int_equal(tensor_count(&r.out[2]), 3);
	assert_memory_equal(r.out[2].data, ((int64_t[]){2, 2, 1}), 3 * sizeof(int64_t));
	node_run_done(&r);
	node_run_init(&r, "com.microsoft", "Range", 1, 1);
	node_run_add(&r, DT_F32, (struct shape){0}, &start);
	node_run_add(&r, DT_F32, (struct shape){0}, &limit);
	node_run(&r);
	node_run_floats(&r, 4, (const float[]){2, 3, 4, 5});
	node_run_done(&r);
	node_run_init(&r, "com.microsoft", "Range", 1, 1);
	node_run_add(&r, DT_F32, (struct shape){0}, &start);
	node_run_add(&r, DT_F32, (struct shape){0}, &limit);
	node_run_add(&r, DT_F32, (struct shape){0}, &delta);
	node_run(&r);
	node_run_floats(&r, 2, (const float[]){2, 5});
	node_run_done(&r);
	node_run_init(&r, "com.microsoft", "ExpandDims", 1, 1);
	node_run_add(&r, DT_F32, SHAPE_OF(5), x);
	node_run_add(&r, DT_I32, (struct shape){0}, &axis);
	node_run(&r);
	assert_int_equal(r.out[0].shape.rank, 2);
	assert_int_equal(r.out[0].shape.dim[0], 1);
	node_run_floats(&r, 5, x);
	node_run_done(&r);
}

void test_op_rare__batch_normalization_in_training(void **state)
{
	// two samples, two channels, two elements: channel 0 has 1 3 5 7, channel 1 has 2 2 2 6
	static const float x[8] = {1, 3, 2, 2, 5, 7, 2, 6}, scale[2] = {1, 2}, bias[2] = {0, 10}, mean[2] = {8, 1}, variance[2] = {1, 5};
	static const float wide = 2.2360679775f, narrow = 1.7320508076f; // deviations
	struct node_run r;
	(void)state;
	node_run_init(&r, "", "BatchNormalization", 15, 3);
	*(int64_t *)node_run_field(&r, "training_mode") = 1;
	*(float *)node_run_field(&r, "momentum") = 0.75f;
	*(float *)node_run_field(&r, "epsilon") = 0;
	r.out_id[1] = r.out_id[2] = 0;
	node_run_add(&r, DT_F32, SHAPE_OF(2, 2, 2), x);
	node_run_add(&r, DT_F32, SHAPE_OF(2), scale);
	node_run_add(&r, DT_F32, SHAPE_OF(2), bias);
	node_run_add(&r, DT_F32, SHAPE_OF(2), mean);
	node_run_add(&r, DT_F32, SHAPE_OF(2), variance);
	node_run(&r);
	const float y[8] = {-3 / wide, -1 / wide, 10 - 2 / narrow, 10 - 2 / narrow, 1 / wide, 3 / wide, 10 - 2 / narrow, 10 + 6 / narrow};
	for (int i = 0; i < 8; i++)
		assert_true(fabsf(((const float *)r.out[0].data)[i] - y[i]) < 1e-5f);
	for (int i = 0; i < 2; i++) { // means 4 and 3, variances 5 and 3
		assert_true(((const float *)r.out[1].data)[i] == mean[i] * 0.75f + (i ? 3 : 4) * 0.25f);
		assert_true(((const float *)r.out[2].data)[i] == variance[i] * 0.75f + (i ? 3 : 5) * 0.25f);
	}
	node_run_done(&r);
}
