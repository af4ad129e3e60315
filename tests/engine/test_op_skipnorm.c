// Sums that are normalised row by row, by hand: without a mean in the simplified form.
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
