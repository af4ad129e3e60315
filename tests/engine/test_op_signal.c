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

static void transform(struct node_run *r, const float *x, int64_t n, int parts, bool inverse)
{
	node_run_init(r, "", "DFT", 17, 1);
	*(int64_t *)node_run_field(r, "inverse") = inverse;
	*(int64_t *)node_run_field(r, "axis") = 0;
	node_run_add(r, DT_F32, SHAPE_OF(n, parts), x);
	node_run(r);
}

static void check_definition(int n, int parts, bool inverse)
{
	struct support_random random = {(uint64_t)n};
	float *x = calloc((size_t)n * 2, sizeof *x);
	struct node_run r;
	support_random_floats(&random, x, n * parts, -1, 1);
	transform(&r, x, n, parts, inverse);
	for (int k = 0; k < n; k++) {
		double re = 0, im = 0;
		for (int i = 0; i < n; i++) {
			double angle = (inverse ? 2 : -2) * acos(-1) * (double)((int64_t)i * k % n) / n;
			double a = (double)x[i * parts], b = parts == 2 ? (double)x[i * 2 + 1] : 0;
			re += a * cos(angle) - b * sin(angle);
			im += a * sin(angle) + b * cos(angle);
		}
		const float *y = (const float *)r.out[0].data + (ptrdiff_t)k * 2;
		if (!(hypot((double)y[0] - re / (inverse ? n : 1), (double)y[1] - im / (inverse ? n : 1)) < 1e-5))
			fail_msg("length %d, bin %d", n, k);
	}
	node_run_done(&r);
	free(x);
}

// Products of small primes, and lengths that have a large one.
void test_op_signal__any_length_is_as_defined(void **state)
{
	static const int large[] = {67, 96, 97, 128, 134, 210, 243, 400, 509, 512, 61 * 3, 67 * 4};
	for (int n = 1; n <= 66; n++) {
		check_definition(n, 1, false);
		check_definition(n, 2, n & 1);
	}
	for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
		check_definition(large[i], 2, false);
		check_definition(large[i], 2, true);
	}
}

// Real numbers give the first half of a symmetric spectrum, and come back from it; an odd length has to be said.
void test_op_signal__half_a_spectrum_is_enough(void **state)
{
	static const float x[] = {1, -2, 0.5f, 3, -1, 0.25f};
	static const double want[] = {1, -2, 0.5, 3, -1, 0.25};
	for (int64_t n = 5; n <= 6; n++) {
		struct node_run there, back;
		node_run_init(&there, "", "DFT", 17, 1);
		*(int64_t *)node_run_field(&there, "onesided") = 1;
		node_run_add(&there, DT_F32, SHAPE_OF(1, n, 1), x);
		node_run(&there);
		node_run_init(&back, "", "DFT", 17, 1);
		*(int64_t *)node_run_field(&back, "onesided") = 1;
		*(int64_t *)node_run_field(&back, "inverse") = 1;
		node_run_add(&back, DT_F32, there.out[0].shape, there.out[0].data);
		if (n % 2)
			node_run_add(&back, DT_I64, SCALAR, &n);
		node_run(&back);
		assert_int_equal(back.out[0].shape.dim[2], 1);
		assert_near(&back, (int)n, want);
		node_run_done(&there);
		node_run_done(&back);
	}
}

// A tone of a long signal is one bin: by the definition these were 2^39 steps. The second length is a prime.
void test_op_signal__long_signals(void **state)
{
	static const int lengths[] = {3 << 17, 393241};
	for (int l = 0; l < 2; l++) {
		int n = lengths[l], tone = 12345;
		float *x = calloc((size_t)n * 2, sizeof *x);
		struct node_run r;
		for (int i = 0; i < n; i++) {
			double angle = 2 * acos(-1) * (double)((int64_t)i * tone % n) / n;
			x[i * 2] = (float)cos(angle);
			x[i * 2 + 1] = (float)sin(angle);
		}
		transform(&r, x, n, 2, false);
		for (int k = 0; k < n; k++) {
			const float *y = (const float *)r.out[0].data + (ptrdiff_t)k * 2;
			assert_true(fabs((double)y[0] - (k == tone ? n : 0)) < 0.01 && fabs((double)y[1]) < 0.01);
		}
		node_run_done(&r);
		free(x);
	}
}

void test_op_signal__frames_without_a_window(void **state)
{
	static const float x[] = {1, 2, 3, 4, 5};
	static const int64_t step = 2, length = 3;
	static const double h = 0.86602540378443865;
	const double want[] = {6, 0, -1.5, h, 12, 0, -1.5, h};
	struct node_run r;
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
	node_run_init(&r, "", "MelWeightMatrix", 17, 1);
	node_run_add(&r, DT_I64, SCALAR, &bins);
	node_run_add(&r, DT_I64, SCALAR, &length);
	node_run_add(&r, DT_I64, SCALAR, &rate);
	node_run_add(&r, DT_F32, SCALAR, &low);
	node_run_add(&r, DT_F32, SCALAR, &high);
	assert_int_equal(node_run_try(&r, &err), STATUS_FORMAT);
	node_run_done(&r);
}
