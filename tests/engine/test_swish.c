// The epilogue for swish and logistic: accuracy, limits, residuals.
#include "../../src/engine/kernels/elementwise/swish.h"
#include "../../src/engine/tensor/cpu.h"
#include "kernel_case.h"

#define N 4096

static double exact(enum act_kind kind, double x)
{
	return (kind == ACT_SWISH ? x : 1) / (1 + exp(-x));
}

static void check_size(struct support_random *r, const struct epilogue *e, float size)
{
	float x[N], y[N], residual[N];
	support_random_floats(r, x, N, -size, size);
	support_random_floats(r, residual, N, -size, size);
	memcpy(y, x, sizeof y);
	swish_epilogue(e, y, e->add ? residual : NULL, N, 1);
	for (int i = 0; i < N; i++) {
		float in = e->add == ADD_BEFORE ? x[i] + residual[i] : x[i];
		float near = fabsf((float)exact(e->act.kind, in)), ulp = nextafterf(near, INFINITY) - near;
		float after = e->add == ADD_AFTER ? residual[i] : 0.0f, error = e->add == ADD_AFTER ? fabsf(y[i]) * 1.2e-7f : 0.0f;
		double most = e->act.kind == ACT_SWISH ? 3 : 2; // it is a product of the logistic
		if (!(fabs(y[i] - (exact(e->act.kind, in) + after)) <= most * ulp + error))
			fail_msg("activation %d of %.9g is %.9g", e->act.kind, (double)in, (double)y[i]);
	}
}

void test_swish__within_a_few_ulp(void **state)
{
	static const float size[] = {1e-6f, 1e-3f, 0.1f, 1.0f, 3.0f, 10.0f, 40.0f};
	struct support_random r = {51};
	if (!swish_serves(&(struct act){ACT_SWISH, 0, 0}))
		skip();
	for (size_t s = 0; s < sizeof size / sizeof *size; s++)
		for (int i = 0; i < 6; i++)
			check_size(&r, &(struct epilogue){{i % 2 ? ACT_SWISH : ACT_SIGMOID, 0, 0}, (enum add_kind)(i / 2)}, size[s]);
}

void test_swish__limits(void **state)
{
	float swish[16] = {0.0f, -0.0f, INFINITY, -INFINITY, NAN, 1e30f, -1e38f, -100.0f}, sigmoid[16];
	static const float swish_want[8] = {0, 0, INFINITY, 0, NAN, 1e30f, 0, 0}, sigmoid_want[8] = {0.5f, 0.5f, 1, 0, NAN, 1, 0, 0};
	if (!swish_serves(&(struct act){ACT_SWISH, 0, 0}))
		skip();
	swish[8] = nanf("217"); // the sum of bits wraps
	memcpy(sigmoid, swish, sizeof swish);
	swish_epilogue(&(struct epilogue){{ACT_SWISH, 0, 0}, ADD_NONE}, swish, NULL, 16, 1);
	swish_epilogue(&(struct epilogue){{ACT_SIGMOID, 0, 0}, ADD_NONE}, sigmoid, NULL, 16, 1);
	for (int i = 0; i < 8; i++) {
		assert_true(isnan(swish_want[i]) ? isnan(swish[i]) : fabsf(swish[i] - swish_want[i]) < 1e-30f || swish[i] == swish_want[i]);
		assert_true(isnan(sigmoid_want[i]) ? isnan(sigmoid[i]) : fabsf(sigmoid[i] - sigmoid_want[i]) < 1e-30f);
	}
	assert_true(isnan(swish[8]) && isnan(sigmoid[8]));
}

// A target that asks for the logistic too gets the same tensor.
void test_swish__is_the_product_with_the_logistic(void **state)
{
	float x[N], swish[N], sigmoid[N];
	struct support_random r = {52};
	if (!swish_serves(&(struct act){ACT_SWISH, 0, 0}))
		skip();
	support_random_floats(&r, x, N, -120, 120);
	for (int i = 0; i < N / 2; i++)
		x[i] /= 64;
	x[0] = -1e38f;
	swish_apply(&(struct act){ACT_SWISH, 0, 0}, x, swish, N);
	swish_apply(&(struct act){ACT_SIGMOID, 0, 0}, x, sigmoid, N);
	for (int i = 0; i < N; i++)
		sigmoid[i] *= x[i];
	assert_memory_equal(swish, sigmoid, sizeof swish);
}

void test_swish__only_where_it_is_fast(void **state)
{
	cpu_limit(CPU_PLAIN);
	assert_false(swish_serves(&(struct act){ACT_SWISH, 0, 0}));
	cpu_limit(CPU_LEVELS);
	assert_false(swish_serves(&(struct act){ACT_RELU, 0, 0}));
}

void test_swish__same_bits_for_every_width(void **state)
{
	struct support_random r = {52};
	static float x[100000], y[100000];
	if (!swish_serves(&(struct act){ACT_SWISH, 0, 0}))
		skip();
	support_random_floats(&r, x, 100000, -5.0f, 5.0f);
	memcpy(y, x, sizeof x);
	float *residual = random_floats(&r, 100000, 1.0f);
	swish_epilogue(&(struct epilogue){{ACT_SWISH, 0, 0}, ADD_AFTER}, x, residual, 100000, 1);
	swish_epilogue(&(struct epilogue){{ACT_SWISH, 0, 0}, ADD_AFTER}, y, residual, 100000, SUPPORT_WIDTH(2));
	assert_memory_equal(x, y, sizeof x);
	free(residual);
}

// Of any number of elements, and what lies behind them is left alone.
void test_swish__same_bits_at_every_level(void **state)
{
	enum { MOST = 70 };
	struct support_random r = {53};
	float x[MOST], want[MOST], y[MOST + 1];
	if (!swish_serves(&(struct act){ACT_SWISH, 0, 0}))
		skip();
	support_random_floats(&r, x, MOST, -90.0f, 90.0f);
	for (int i = 0; i < 2; i++) {
		const struct act act = {i ? ACT_SWISH : ACT_SIGMOID, 0, 0};
		cpu_limit(CPU_AVX2);
		swish_apply(&act, x, want, MOST);
		cpu_limit(CPU_LEVELS);
		for (int n = 0; n <= MOST; n++) {
			y[n] = 77.0f;
			swish_apply(&act, x, y, n);
			assert_memory_equal(y, want, (size_t)n * sizeof *y);
			assert_true(y[n] == 77.0f);
		}
	}
}
