// What each calibrator makes of values: against plain forms of its definition (docs/NUMERICS.md),
// or the figures of the tool whose calibrator it is.
#include "observer_case.h"

void test_observer_methods__minmax_rounds_up_to_powers_of_two(void **state)
{
	struct target *t = load("esp32p4");
	struct observer_setup s = setup_for(t, CALIB_MINMAX, true, 1);
	static const float x[3] = {-1.0f, 0.5f, 0.2f};
	int32_t zero = 5;
	assert_float_equal(scale_of(&s, x, 3, &zero, false), 0x1p-6, 0); // 2 / 255 is over 2^-7
	assert_int_equal(zero, 0);
	static const float zeros[3] = {0};
	assert_true(scale_of(&s, zeros, 3, &zero, false) > 0);
	target_free(&t);
}

// The base's 1 for what is smaller than any float is not torch's: there the smallest scale is the machine epsilon.
void test_observer_methods__smallest_scales(void **state)
{
	static const struct {
		const char *target;
		float scale;
	} smallest[] = {{"pytorch", 0x1p-23f}, {"onnxruntime", 1}, {"a8w8", 1}, {"xquant", 0x1p-23f}, {"tensorrt", 1e-8f}};
	static const float zeros[3] = {0};
	for (size_t i = 0; i < sizeof smallest / sizeof *smallest; i++) {
		struct target *t = load(smallest[i].target);
		struct observer_setup s = setup_for(t, CALIB_MINMAX, false, 1);
		int32_t zero;
		assert_true(scale_of(&s, zeros, 3, &zero, false) == smallest[i].scale);
		assert_int_equal(zero, 0);
		target_free(&t);
	}
}

static int ascending(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;
	return (x > y) - (x < y);
}

void test_observer_methods__percentile_is_the_sorted_one(void **state)
{
	struct target *t = load("pytorch");
	for (int relu = 0; relu < 2; relu++) {
		float *x = values(relu);
		double lo = 0, hi = 0;
		int32_t zero;
		struct observer_setup s = setup_for(t, CALIB_PERCENTILE, false, SAMPLES);
		float scale = scale_of(&s, x, EACH, &zero, true);
		for (int i = 0; i < SAMPLES; i++) {
			float *part = x + (size_t)i * EACH;
			qsort(part, EACH, sizeof *part, ascending);
			lo += part[(int)(EACH * (1 - .9999))];
			hi += part[(int)(EACH * .9999)];
		}
		lo = fmin((float)(lo / SAMPLES), 0);
		hi = (float)(hi / SAMPLES);
		assert_float_equal(scale, (float)((hi - lo) / 255), 1e-9);
		assert_int_equal(zero, (int)nearbyint(-lo / scale));
		free(x);
	}
	target_free(&t);
}

// The sample that the limits are guessed from has all that is far out: what lies beyond them is too little.
void test_observer_methods__percentile_of_a_misleading_sample(void **state)
{
	enum { MANY = 400000, SAMPLED = 2048, FAR = 12 };
	struct target *t = load("pytorch");
	struct observer_setup s = setup_for(t, CALIB_PERCENTILE, false, 1);
	struct support_random r = {8};
	float *x = malloc(MANY * sizeof *x);
	int32_t zero;
	support_random_floats(&r, x, MANY, -1, 1);
	for (int i = 0; i < FAR; i++)
		x[i * (MANY / SAMPLED)] = (i % 2 ? -10.0f : 10.0f) * (float)(i + 1);
	float scale = scale_of(&s, x, MANY, &zero, false);
	qsort(x, MANY, sizeof *x, ascending);
	assert_float_equal(scale, (x[(int)(MANY * .9999)] - x[(int)(MANY * (1 - .9999))]) / 255, 1e-9);
	free(x);
	target_free(&t);
}

// A sample without a finite value has no part in the mean.
void test_observer_methods__percentile_of_a_sample_of_nothing(void **state)
{
	static const float x[6] = {-2, 4, NAN, INFINITY, -1, 6};
	struct target *t = load("pytorch");
	struct observer_setup s = setup_for(t, CALIB_PERCENTILE, false, 3);
	int32_t zero;
	assert_float_equal(scale_of(&s, x, 2, &zero, false), (5 + 1.5) / 255, 1e-8);
	target_free(&t);
}

void test_observer_methods__percentile_of_small_tensors(void **state)
{
	struct target *t = load("tensorrt");
	static const float x[10] = {3, -4, 2, 1, 0, 5, -2, 7, -1, 6};
	struct observer_setup s = setup_for(t, CALIB_PERCENTILE, true, 1);
	int32_t zero;
	// ranks 1 and 10 of 10 counted from 1: int(10 * .9999) + 1 = 10
	assert_float_equal(scale_of(&s, x, 10, &zero, false), 14.0f / 255, 1e-9);
	static const float one[1] = {2};
	assert_float_equal(scale_of(&s, one, 1, &zero, false), 4.0f / 255, 1e-9);
	target_free(&t);
}

// Ranges about zero do not depend on which side is longer; the grid of 2048 bins is too coarse for 16 bits.
void test_observer_methods__mse_of_either_side_and_of_16_bits(void **state)
{
	struct target *t = load("tensorrt");
	struct observer_setup s = setup_for(t, CALIB_MSE, true, SAMPLES);
	float *x = values(false), scale[2];
	int32_t zero;
	x[100] = 30;
	for (int side = 0; side < 2; side++) {
		scale[side] = scale_of(&s, x, EACH, &zero, false);
		for (int i = 0; i < EACH * SAMPLES; i++)
			x[i] = -x[i];
	}
	assert_true(scale[0] == scale[1]);
	assert_true(scale[0] < 30 / 127.5f);
	s.quant.bits = 16;
	s.quant.qmin = -32768;
	s.quant.qmax = 32767;
	scale[0] = scale_of(&s, x, EACH, &zero, false);
	s.method = CALIB_MINMAX;
	assert_true(scale[0] == scale_of(&s, x, EACH, &zero, false));
	free(x);
	target_free(&t);
}

void test_observer_methods__exponents_are_the_best_of_five(void **state)
{
	struct target *t = load("xint8");
	float *x = values(false);
	struct observer_setup s = setup_for(t, CALIB_MSE, true, SAMPLES);
	int32_t zero;
	float scale = scale_of(&s, x, EACH, &zero, false), absmax = 0;
	double least = INFINITY, best = 0;
	for (int i = 0; i < EACH * SAMPLES; i++)
		absmax = fmaxf(absmax, fabsf(x[i]));
	double first = exp2(1 - nearbyint(-log2(2.0 * absmax / 255)));
	for (int k = 0; k < 5; k++) {
		double one = first * exp2(-k), sum = 0;
		for (int i = 0; i < EACH * SAMPLES; i++) {
			double e = fmin(fmax(nearbyint(x[i] / one), -128), 127) * one - x[i];
			sum += e * e;
		}
		if (sum < least) {
			least = sum;
			best = one;
		}
	}
	assert_float_equal(scale, best, 0);
	s.quant.qmin = 0; // codes counted from 0, zero in their middle
	s.quant.qmax = 255;
	assert_float_equal(scale_of(&s, x, EACH, &zero, false), best, 0);
	assert_int_equal(zero, 128);
	free(x);
	target_free(&t);
}

// Where all but a few values are one, percentiles leave no range between them: that of all values is taken.
void test_observer_methods__ranges_of_xquant_where_percentiles_meet(void **state)
{
	struct target *t = load("xquant");
	struct observer_setup s = setup_for(t, CALIB_KL, false, 1);
	float *x = malloc(EACH * sizeof *x);
	int32_t zero;
	for (int i = 0; i < EACH; i++)
		x[i] = i == 1 ? -0.25f : i == 2 ? 2.0f : 0.5f;
	assert_float_equal(scale_of(&s, x, EACH, &zero, false), 2.25 / 255, 1e-8);
	assert_int_equal(zero, 28);
	free(x);
	target_free(&t);
}

// Values whose scales torch's HistogramObserver (quint8, reduced range) was asked for:
// four samples, one after the other.
static float torch_value(int set, int sample, int i)
{
	static const double loud[2][4] = {{8, 4, 32, 16}, {3, 1, 5, 2}}, late[4] = {0, 0, 1, 3};
	double v = (i * 7919 + sample * 131) % 10007 / 10007.0 - .5;
	switch (set) {
	case 0: return (float)(v * v * v * loud[0][sample]);
	case 1: return v > 0 ? (float)(v * v * loud[1][sample]) : 0;
	case 2: return (float)(sample < 2 ? .25 : v * late[sample]);
	case 3: return (float)(v * v * v * v * v * 40 + (i == 17 ? 30 * (sample + 1) : 0));
	default: return .75f;
	}
}

struct grid_wanted {
	float scale;
	int32_t zero;
};
enum { SETS = 5 };

// Of the five sets of values; whichever sample comes first.
static void check_sets(const struct observer_setup *s, const struct grid_wanted *want)
{
	enum { N = 5000, FOUR = 4 };
	static float x[FOUR * N];
	for (int set = 0; set < SETS; set++) {
		for (int i = 0; i < FOUR * N; i++)
			x[i] = torch_value(set, i / N, i % N);
		for (int backwards = 0; backwards < 2; backwards++) {
			int32_t zero;
			assert_float_equal(scale_of(s, x, N, &zero, backwards), want[set].scale, want[set].scale * 1e-6f);
			assert_int_equal(zero, want[set].zero);
		}
	}
}

// Zero lies halfway between the 64th and the 65th of 128 codes: torch takes the one that its single precision comes to.
void test_observer_methods__zero_points_of_pytorch_are_of_single_precision(void **state)
{
	static const struct {
		float end;
		int32_t zero;
	} cases[] = {{1, 64}, {1.3f, 63}, {1.37f, 64}, {5.5f, 63}};
	struct target *t = load("pytorch");
	struct observer_setup s = setup_for(t, CALIB_MINMAX, false, 1);
	s.quant.qmax = 127;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		int32_t zero;
		float x[2] = {-cases[i].end, cases[i].end};
		assert_true(scale_of(&s, x, 2, &zero, false) == (float)(2.0 * x[1] / 127));
		assert_int_equal(zero, cases[i].zero);
	}
	target_free(&t);
}

// The range grows, one value alone comes first or nothing else does, a single value is far out.
void test_observer_methods__mse_of_pytorch_is_torchs(void **state)
{
	static const struct grid_wanted torch[SETS] = {
	    {0.0627580062f, 64}, {0.00975691807f, 0}, {0.0235733036f, 64}, {0.954258263f, 1}, {0.00590551179f, 0}};
	struct target *t = load("pytorch");
	struct observer_setup s = setup_for(t, CALIB_MSE, false, 4);
	s.quant.qmax = 127;
	check_sets(&s, torch);
	target_free(&t);
}

// Of many values in -1 .. 1 one far below, in the second sample, is clipped.
// So many equal ones far out in the first are not.
void test_observer_methods__mse_of_pytorch_weighs_what_is_far(void **state)
{
	enum { N = 400000 };
	struct target *t = load("pytorch");
	struct observer_setup s = setup_for(t, CALIB_MSE, false, 2);
	float *x = malloc(2 * N * sizeof *x);
	int32_t zero;
	s.quant.qmax = 127;
	for (int i = 0; i < 2 * N; i++)
		x[i] = (float)(i % 10007) / 10007 * 2 - 1;
	x[N] = -8;
	float scale = scale_of(&s, x, N, &zero, false);
	assert_true(scale > 1.9f / 127 && scale < 4.0f / 127);
	for (int i = 0; i < N; i++)
		x[i] = 8;
	x[N] = 0;
	assert_true(scale_of(&s, x, N, &zero, false) > 8.5f / 127);
	free(x);
	target_free(&t);
}

// As numpy.histogram of the magnitudes of all samples and ONNX Runtime's PercentileCalibrater have it.
void test_observer_methods__percentile_of_onnxruntime_is_pooled(void **state)
{
	static const struct grid_wanted numpy[SETS] = {
	    {0.0313554853f, 128}, {0.00489760889f, 0}, {0.0117542613f, 128}, {0.475260407f, 3}, {0.00294117653f, 0}};
	struct target *t = load("onnxruntime");
	struct observer_setup s = setup_for(t, CALIB_PERCENTILE, false, 4);
	check_sets(&s, numpy);
	target_free(&t);
}

// 99 percent of 2000 values, one a bin, end between two bins. numpy's cumsum of 1/2000 has 0.98999.. there, so that the
// tool takes the next one.
void test_observer_methods__percentile_of_onnxruntime_between_two_bins(void **state)
{
	enum { N = 2000 };
	struct target *t = load("onnxruntime,calibration.percentile=0.99");
	struct observer_setup s = setup_for(t, CALIB_PERCENTILE, false, 1);
	float x[N];
	int32_t zero;
	for (int i = 0; i < N; i++)
		x[i] = (float)i;
	x[N - 1] = 2048;
	assert_float_equal(scale_of(&s, x, N, &zero, false), 1980.0f / 255, 0);
	assert_int_equal(zero, 0);
	target_free(&t);
}
