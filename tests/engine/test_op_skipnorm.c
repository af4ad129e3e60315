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
	(void)state;
	check("SkipLayerNormalization", false);
}

void test_op_skipnorm__simplified(void **state)
{
	(void)state;
	check("SkipSimplifiedLayerNormalization", true);
}
