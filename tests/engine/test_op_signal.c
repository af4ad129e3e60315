// Windows by their values (the ONNX node tests take pi for 3.1415) and transforms where the node tests do not go.
#include <math.h>
#include "node_run.h"

static void assert_near(const struct node_run *r, int n, const double *want)
{
	assert_int_equal(tensor_count(&r->out[0]), n);
	for (int i = 0; i < n; i++)
		if (!(fabs((double)((const float *)r->out[0].data)[i] - want[i]) < 1e-6))
			fail_msg("element %d is %g, not %g", i, (double)((const float *)r->out[0].data)[i], want[i]);
}

static void check_window(const char *op, int64_t size, bool periodic, const double *want)
{
	struct node_run r;

	node_run_init(&r, "", op, 17, 1);
	*(int64_t *)node_run_field(&r, "periodic") = periodic;
	node_run_add(&r, DT_I64, SCALAR, &size);
	node_run(&r);
	assert_near(&r, (int)size, want);
	node_run_done(&r);
}

void test_op_signal__windows(void **state)
{
	(void)state;
	check_window("HannWindow", 4, true, (const double[]){0, 0.5, 1, 0.5});
	check_window("HannWindow", 5, false, (const double[]){0, 0.5, 1, 0.5, 0});
	check_window("HammingWindow", 4, true, (const double[]){4.0 / 46, 25.0 / 46, 1, 25.0 / 46});
	check_window("BlackmanWindow", 4, true, (const double[]){0, 0.34, 1, 0.34});
	check_window("HannWindow", 1, false, (const double[]){0});
}

void test_op_signal__a_length_cuts_or_adds_zeros(void **state)
{
	static const float x[] = {1, 2, 3};
	static const int64_t longer = 4, shorter = 2;
	struct node_run r;

	(void)state;
	node_run_init(&r, "", "DFT", 20, 1);
	node_run_add(&r, DT_F32, SHAPE_OF(1, 3, 1), x);
	node_run_add(&r, DT_I64, SCALAR, &longer);
	node_run(&r);
	assert_near(&r, 8, (const double[]){6, 0, -2, -2, 2, 0, -2, 2});
	node_run_done(&r);
	node_run_init(&r, "", "DFT", 20, 1);
	node_run_add(&r, DT_F32, SHAPE_OF(1, 3, 1), x);
	node_run_add(&r, DT_I64, SCALAR, &shorter);
	node_run(&r);
	assert_near(&r, 4, (const double[]){3, 0, -1, 0});
	node_run_done(&r);
}

void test_op_signal__there_and_back(void **state)
{
	static const double want[] = {1, -2, 0.5, 3, -1, 0.25};
	static const float x[] = {1, -2, 0.5f, 3, -1, 0.25f};
	static const int64_t axis = 0;
	struct node_run there, back;

	(void)state;
	node_run_init(&there, "", "DFT", 20, 1);
	node_run_add(&there, DT_F32, SHAPE_OF(3, 2), x);
	node_run_add(&there, DT_I64, SCALAR, NULL);
	node_run_add(&there, DT_I64, SCALAR, &axis);
	node_run(&there);
	node_run_init(&back, "", "DFT", 17, 1);
	*(int64_t *)node_run_field(&back, "inverse") = 1;
	*(int64_t *)node_run_field(&back, "axis") = 0;
	node_run_add(&back, DT_F32, SHAPE_OF(3, 2), there.out[0].data);
	node_run(&back);
	assert_near(&back, 6, want);
	node_run_done(&there);
	node_run_done(&back);
}

void test_op_signal__frames_without_a_window(void **state)
{
	static const float x[] = {1, 2, 3, 4, 5};
	static const int64_t step = 2, length = 3;
	static const double h = 0.86602540378443865;
	const double want[] = {6, 0, -1.5, h, 12, 0, -1.5, h};
	struct node_run r;

	(void)state;
	node_run_init(&r, "", "STFT", 17, 1);
	node_run_add(&r, DT_F32, SHAPE_OF(1, 5, 1), x);
	node_run_add(&r, DT_I64, SCALAR, &step);
	node_run_add(&r, DT_F32, SCALAR, NULL);
	node_run_add(&r, DT_I64, SCALAR, &length);
	node_run(&r);
	assert_near(&r, 8, want);
	node_run_done(&r);
}

void test_op_signal__edges_above_half_the_rate_are_refused(void **state)
{
	static const int64_t bins = 4, length = 16, rate = 8000;
	static const float low = 0, high = 50000;
	struct node_run r;
	struct error err;

	(void)state;
	node_run_init(&r, "", "MelWeightMatrix", 17, 1);
	node_run_add(&r, DT_I64, SCALAR, &bins);
	node_run_add(&r, DT_I64, SCALAR, &length);
	node_run_add(&r, DT_I64, SCALAR, &rate);
	node_run_add(&r, DT_F32, SCALAR, &low);
	node_run_add(&r, DT_F32, SCALAR, &high);
	assert_int_equal(node_run_try(&r, &err), STATUS_FORMAT);
	node_run_done(&r);
}
