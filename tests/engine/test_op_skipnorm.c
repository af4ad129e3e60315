// Rows and sums of rows that are normalised, by hand: without a mean in the simplified form.
#include <math.h>
#include "node_run.h"

enum { ROWS = 3, SIZE = 5, COUNT = ROWS * SIZE };

struct values {
	float x[COUNT], skip[COUNT], gamma[SIZE], beta[SIZE], bias[SIZE];
};

static void fill(struct values *v)
{
	struct support_random r = {3};
	support_random_floats(&r, (float *)v, sizeof *v / sizeof(float), -2, 2);
}

// What the definition gives for element `i` of the row's sums.
static double normalised(const double *sum, int i, bool simplified)
{
	double mean = 0, square = 0;
	for (int k = 0; k < SIZE; k++)
		mean += simplified ? 0 : sum[k] / SIZE;
	for (int k = 0; k < SIZE; k++)
		square += (sum[k] - mean) * (sum[k] - mean) / SIZE;
	return (sum[i] - mean) / sqrt(square + 0.25);
}

static void check(const char *op, bool simplified)
{
	struct values v;
	struct node_run run;
	fill(&v);
	node_run_init(&run, "com.microsoft", op, 1, 1);
	*(float *)node_run_field(&run, "epsilon") = 0.25f;
	node_run_add(&run, DT_F32, SHAPE_OF(1, ROWS, SIZE), v.x);
	node_run_add(&run, DT_F32, SHAPE_OF(1, ROWS, SIZE), v.skip);
	node_run_add(&run, DT_F32, SHAPE_OF(SIZE), v.gamma);
	if (!simplified)
		node_run_add(&run, DT_F32, SHAPE_OF(SIZE), v.beta);
	node_run_add(&run, DT_F32, SHAPE_OF(SIZE), v.bias);
	node_run(&run);
	for (int r = 0; r < ROWS; r++) {
		double sum[SIZE];
		for (int i = 0; i < SIZE; i++)
			sum[i] = (double)v.x[r * SIZE + i] + (double)v.skip[r * SIZE + i] + (double)v.bias[i];
		for (int i = 0; i < SIZE; i++) {
			double want = normalised(sum, i, simplified) * (double)v.gamma[i] + (simplified ? 0 : (double)v.beta[i]);
			assert_true(fabs((double)((float *)run.out[0].data)[r * SIZE + i] - want) < 1e-5);
		}
	}
	node_run_done(&run);
}

void test_op_skipnorm__with_a_mean(void **state)
{
	check("SkipLayerNormalization", false);
}

void test_op_skipnorm__simplified(void **state)
{
	check("SkipSimplifiedLayerNormalization", true);
}

// Position embeddings, which all samples share, with a first dimension of 1 or without it.
void test_op_skipnorm__one_skip_for_all_samples(void **state)
{
	static const float x[8] = {0, 2, 4, 3, 1, 5, -2, -3}, skip[4] = {1, 0, 0, 2}, scale[2] = {1, 2}, shift[2] = {.5f, 0};
	static const float want[8] = {-.20710677f, 1.4142135f, -.20710677f, 1.4142135f, -.44868326f, 1.8973665f, -.20710677f, 1.4142135f};
	for (int ones = 0; ones < 2; ones++) {
		struct node_run r;
		node_run_init(&r, "com.microsoft", "SkipLayerNormalization", 1, 1);
		*(float *)node_run_field(&r, "epsilon") = .25f;
		node_run_add(&r, DT_F32, SHAPE_OF(2, 2, 2), x);
		node_run_add(&r, DT_F32, ones ? SHAPE_OF(1, 2, 2) : SHAPE_OF(2, 2), skip);
		node_run_add(&r, DT_F32, SHAPE_OF(2), scale);
		node_run_add(&r, DT_F32, SHAPE_OF(2), shift);
		node_run(&r);
		for (int i = 0; i < 8; i++)
			assert_true(fabsf(((const float *)r.out[0].data)[i] - want[i]) < 1e-6f);
		node_run_done(&r);
	}
}

// Rows of x with a scale and a shift of the given shapes; values as ONNX Runtime gives them.
static void check_affine(const char *op, struct shape shape, const float *scale, const float *shift, const float *want)
{
	static const float x[8] = {0, 2, 4, 3, 1, 5, -2, -3};
	struct node_run r;
	node_run_init(&r, "", op, 23, 1);
	*(float *)node_run_field(&r, "epsilon") = .25f;
	node_run_add(&r, DT_F32, SHAPE_OF(2, 2, 2), x);
	node_run_add(&r, DT_F32, shape, scale);
	if (shift)
		node_run_add(&r, DT_F32, shape, shift);
	node_run(&r);
	for (int i = 0; i < 8; i++)
		if (fabsf(((float *)r.out[0].data)[i] - want[i]) > 1e-6f)
			fail_msg("%s: element %d is %g, not %g", op, i, (double)((float *)r.out[0].data)[i], (double)want[i]);
	node_run_done(&r);
}

// A scale of one value, one for each row, one for each sample's row; opset 17 lets all shapes that broadcast to x.
void test_op_layernorm__scale_that_is_broadcast(void **state)
{
	static const float two[1] = {2}, rows[2] = {2, 3}, half[2] = {.5f, 1}, samples[4] = {1, 2, 3, 4};
	static const float one_value[8] = {-1.7888544f, 1.7888544f, 1.4142135f, -1.4142135f, -1.940285f, 1.940285f, 1.4142135f, -1.4142135f};
	static const float each_row[8] = {-1.2888544f, 2.2888544f, 3.1213202f, -1.1213204f, -1.440285f, 2.440285f, 3.1213202f, -1.1213204f};
	static const float each_sample[8] = {
	    -0.89442718f, 1.7888544f, 0.70710677f, -1.4142135f, -2.9104276f, 3.8805699f, 2.1213202f, -2.8284271f};
	static const float root[8] = {0, 2.6666667f, 3.3606722f, 2.5205042f, 0.54944223f, 2.7472112f, -2.309401f, -3.4641016f};
	check_affine("LayerNormalization", SHAPE_OF(1), two, NULL, one_value);
	check_affine("LayerNormalization", SHAPE_OF(2, 1), rows, half, each_row);
	check_affine("LayerNormalization", SHAPE_OF(2, 1, 2), samples, NULL, each_sample);
	check_affine("RMSNormalization", SHAPE_OF(2, 1), rows, NULL, root);
}

void test_op_layernorm__scale_that_does_not_fit(void **state)
{
	static const float values[6] = {0};
	struct shape wrong[] = {SHAPE_OF(3), SHAPE_OF(3, 1), SHAPE_OF(1, 2, 2, 1), SHAPE_OF(0)};
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct node_run r;
		struct error err;
		node_run_init(&r, "", "LayerNormalization", 17, 1);
		node_run_add(&r, DT_F32, SHAPE_OF(1, 2, 2), values);
		node_run_add(&r, DT_F32, wrong[i], values);
		assert_int_equal(node_run_try(&r, &err), STATUS_FORMAT);
		assert_non_null(strstr(err.text, "rows of 2"));
		node_run_done(&r);
	}
}
