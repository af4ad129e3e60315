// Observers against plain forms of their definitions (docs/NUMERICS.md), on any layout, order and processor level.
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "../../src/engine/plan/observer_impl.h"
#include "../../src/engine/tensor/cpu.h"
#include "kl_plain.h"
#include "support.h"

static struct target *load(const char *name)
{
	struct target *t = NULL;
	struct error err;
	if (target_load(&t, name, &err))
		fail_msg("%s", err.text);
	return t;
}

static struct observer_setup setup_for(const struct target *t, enum calib_method m, bool symmetric, int samples)
{
	struct observer_setup s = {.target = t, .method = m, .kl_bins = 4096, .samples = samples, .floor = -INFINITY};
	s.quant = (struct quantizer){.kind = QUANT_LINEAR, .bits = 8, .axis = -1, .n = 1, .symmetric = symmetric,
		.pow2 = t->scale.pow2, .qmin = symmetric ? -128 : 0, .qmax = symmetric ? 127 : 255};
	return s;
}

static float scale_of(const struct observer_setup *s, const float *x, int64_t each, int32_t *zero, bool backwards)
{
	struct observer *o = observer_make(s);
	struct error err;
	float scale = 0;
	for (int phase = 0; phase < observer_phases(o); phase++) {
		for (int i = 0; i < s->samples; i++) {
			int k = backwards ? s->samples - 1 - i : i;
			struct tensor t = {.type = DT_F32, .shape = shape_of(1, &each), .data = (float *)x + each * k};
			observer_feed(o, phase, k, &t);
		}
	}
	if (observer_finish(o, &scale, zero, &err))
		fail_msg("%s", err.text);
	observer_free(&o);
	return scale;
}

#define EACH 40000
#define SAMPLES 3
static float *values(bool relu)
{
	struct support_random r = {7};
	float *x = malloc(sizeof *x * EACH * SAMPLES);
	for (int i = 0; i < EACH * SAMPLES; i++) {
		x[i] = support_random_normal(&r) * (i % 1000 == 0 ? 5.0f : 1.0f);
		x[i] = relu && x[i] < 0 ? 0 : x[i];
	}
	return x;
}

static int ascending(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;
	return (x > y) - (x < y);
}

void test_observer__percentile_is_the_sorted_one(void **state)
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
void test_observer__percentile_of_a_misleading_sample(void **state)
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
void test_observer__percentile_of_a_sample_of_nothing(void **state)
{
	static const float x[6] = {-2, 4, NAN, INFINITY, -1, 6};
	struct target *t = load("pytorch");
	struct observer_setup s = setup_for(t, CALIB_PERCENTILE, false, 3);
	int32_t zero;
	assert_float_equal(scale_of(&s, x, 2, &zero, false), (5 + 1.5) / 255, 1e-8);
	target_free(&t);
}

// Ranges about zero do not depend on which side is longer; the grid of 2048 bins is too coarse for 16 bits.
void test_observer__mse_of_either_side_and_of_16_bits(void **state)
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

// What settings decide about a scale is in their key: constants' scales are kept under it.
void test_observer__the_key_of_settings(void **state)
{
	struct target *t = load("tensorrt"), changed = *t;
	struct observer_setup s = setup_for(t, CALIB_PERCENTILE, true, 1), other = s;
	struct key k = observer_setup_key(&s);
	assert_true(key_equal(k, observer_setup_key(&other)));
	other.target = &changed;
	changed.calibration.percentile = 0.99;
	assert_false(key_equal(k, observer_setup_key(&other)));
	changed = *t;
	changed.scale.minimum *= 2;
	assert_false(key_equal(k, observer_setup_key(&other)));
	changed = *t;
	changed.scale.below += 1;
	assert_false(key_equal(k, observer_setup_key(&other)));
	changed = *t;
	changed.scale.single = !t->scale.single;
	assert_false(key_equal(k, observer_setup_key(&other)));
	other = s;
	other.quant.pow2 = !s.quant.pow2;
	assert_false(key_equal(k, observer_setup_key(&other)));
	other = s;
	other.quant.symmetric = !s.quant.symmetric;
	assert_false(key_equal(k, observer_setup_key(&other)));
	other = s;
	other.quant.qmin++;
	assert_false(key_equal(k, observer_setup_key(&other)));
	other = s;
	other.kl_bins *= 2;
	assert_false(key_equal(k, observer_setup_key(&other)));
	other = s;
	other.floor = 0;
	assert_false(key_equal(k, observer_setup_key(&other)));
	target_free(&t);
}

// Where all but a few values are one, percentiles leave no range between them: that of all values is taken.
void test_observer__ranges_of_xquant_where_percentiles_meet(void **state)
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

// Counts that are full stay so.
void test_observer__counts_do_not_wrap(void **state)
{
	struct target *t = load("tensorrt");
	struct observer_setup s = setup_for(t, CALIB_KL, true, 1);
	struct observer *o = observer_make(&s);
	const uint32_t more[2] = {7, 7};
	observer_start(o, 2);
	o->hist[0] = UINT32_MAX - 7;
	o->hist[1] = UINT32_MAX - 6;
	observer_add_counts(o, more);
	assert_true(o->hist[0] == UINT32_MAX && o->hist[1] == UINT32_MAX);
	observer_free(&o);
	target_free(&t);
}

void test_observer__small_tensors_too(void **state)
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

void test_observer__minmax_rounds_up_to_powers_of_two(void **state)
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

void test_observer__kl_search_is_the_definition(void **state)
{
	struct support_random r = {11};
	for (int round = 0; round < 20; round++) {
		enum { BINS = 512, LEVELS = 16 };
		uint32_t hist[BINS];
		double h[BINS], least = INFINITY;
		int best = 0;
		for (int i = 0; i < BINS; i++) {
			double fall = exp(-i * (round + 1) * .002);
			hist[i] = support_random_int(&r, 0, 4) ? (uint32_t)(fall * support_random_int(&r, 0, 5000)) : 0;
		}
		kl_counts(h, hist, BINS);
		for (int k = LEVELS; k <= BINS; k += LEVELS) {
			double d = kl_plain(h, BINS, k, LEVELS);
			if (d < least) {
				least = d;
				best = k;
			}
		}
		assert_int_equal(kl_search(hist, BINS, LEVELS), best);
	}
}

// Many bins and few values, as 16 bits have them.
void test_observer__kl_search_of_mostly_empty_bins(void **state)
{
	enum { BINS = 8192, LEVELS = 1024, VALUES = 40 };
	struct support_random r = {12};
	for (int round = 0; round < 20; round++) {
		uint32_t *hist = calloc(BINS, sizeof *hist);
		double *h = calloc(BINS, sizeof *h), least = INFINITY;
		int best = 0;
		for (int i = 0; i < VALUES; i++)
			hist[support_random_int(&r, 0, i % 4 ? BINS / 4 : BINS - 1)] += (uint32_t)support_random_int(&r, 1, 9);
		kl_counts(h, hist, BINS);
		for (int k = LEVELS; k <= BINS; k += LEVELS) {
			double d = kl_plain(h, BINS, k, LEVELS);
			if (d < least) {
				least = d;
				best = k;
			}
		}
		assert_int_equal(kl_search(hist, BINS, LEVELS), best);
		free(hist);
		free(h);
	}
}

static double mse_plain(const uint32_t *h, int bins, int start, int step, int end)
{
	double loss = 0;
	for (int i = 0; i < bins; i++) {
		double e;
		int l = i >= start ? (i - start) % step : 0, r = step - l - 1;
		if (i < start)
			e = start - i - 1 + .5;
		else if (i > end)
			e = i - end + .5;
		else
			e = l == r ? l + .25 : fmin(l, r) + .5;
		loss += h[i] * e * e;
	}
	return loss;
}

void test_observer__mse_search_is_the_definition(void **state)
{
	struct support_random r = {5};
	for (int round = 0; round < 60; round++) {
		enum { BINS = 512, LEVELS = 64, WIDEST = BINS / LEVELS + 1 };
		uint32_t hist[BINS] = {0};
		for (int i = 0; i < BINS && round < 10; i++)
			hist[i] = (uint32_t)(1e4 * exp(-fabs(i - 200.0) * .01 * (round + 1)) * support_random_float(&r, 0, 1));
		for (int i = 0; i < 8 && round >= 10; i++) // few values, so that those outside decide
			hist[support_random_int(&r, round % 3 * 60, BINS - 1 - round % 5 * 60)] += (uint32_t)support_random_int(&r, 1, 3);
		for (int symmetric = 0; symmetric < 2; symmetric++) {
			double least = mse_plain(hist, BINS, 0, WIDEST, WIDEST * LEVELS);
			double zero_bin = 150;
			int start, end;
			for (int s = 0; s < BINS && s <= (symmetric ? 0 : zero_bin); s += 8)
				for (int step = 1; step < WIDEST && s + step * LEVELS <= BINS + LEVELS; step++)
					least = fmin(least, mse_plain(hist, BINS, s, step, s + step * LEVELS));
			mse_search(hist, BINS, LEVELS, symmetric, zero_bin, &start, &end);
			double found = mse_plain(hist, BINS, start, (end - start) / LEVELS, end);
			assert_float_equal(found / least, 1, 1e-9);
		}
	}
}

// Where no range is better than another: the whole.
void test_observer__mse_search_of_nothing(void **state)
{
	enum { BINS = 512, LEVELS = 64 };
	uint32_t hist[BINS] = {0};
	int start, end;
	mse_search(hist, BINS, LEVELS, false, 100, &start, &end);
	assert_int_equal(start, 0);
	assert_true(end >= BINS);
}

void test_observer__exponents_are_the_best_of_five(void **state)
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

void test_observer__order_and_processor_do_not_show(void **state)
{
	static const char *const targets[] = {"esp32p4", "onnxruntime", "xint8"};
	float *x = values(false);
	x[17] = NAN;
	x[EACH + 3] = INFINITY;
	for (size_t k = 0; k < sizeof targets / sizeof *targets; k++) {
		struct target *t = load(targets[k]);
		for (int m = 0; m < CALIB_COUNT; m++) {
			struct observer_setup s = setup_for(t, (enum calib_method)m, k != 1, SAMPLES);
			int32_t zero[3];
			float a = scale_of(&s, x, EACH, &zero[0], false), b = scale_of(&s, x, EACH, &zero[1], true);
			assert_true(a == b && zero[0] == zero[1]);
			for (int level = CPU_PLAIN; level < CPU_LEVELS; level++) {
				cpu_limit((enum cpu_level)level);
				float c = scale_of(&s, x, EACH, &zero[2], false);
				assert_true(a == c && zero[0] == zero[2]);
			}
			cpu_limit(CPU_LEVELS);
			assert_true(isfinite(a) && a > 0);
		}
		target_free(&t);
	}
	free(x);
}

// Values whose scales torch's HistogramObserver (quint8, reduced range) was asked for: four samples, one after the other.
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
void test_observer__zero_points_of_pytorch_are_of_single_precision(void **state)
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
void test_observer__mse_of_pytorch_is_torchs(void **state)
{
	static const struct grid_wanted torch[SETS] = {{0.0627580062f, 64}, {0.00975691807f, 0}, {0.0235733036f, 64}, {0.954258263f, 1}, {0.00590551179f, 0}};
	struct target *t = load("pytorch");
	struct observer_setup s = setup_for(t, CALIB_MSE, false, 4);
	s.quant.qmax = 127;
	check_sets(&s, torch);
	target_free(&t);
}

// Of many values in -1 .. 1 one far below, in the second sample, is clipped. So many equal ones far out in the first are not.
void test_observer__mse_of_pytorch_weighs_what_is_far(void **state)
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
void test_observer__percentile_of_onnxruntime_is_pooled(void **state)
{
	static const struct grid_wanted numpy[SETS] = {{0.0313554853f, 128}, {0.00489760889f, 0}, {0.0117542613f, 128}, {0.475260407f, 3}, {0.00294117653f, 0}};
	struct target *t = load("onnxruntime");
	struct observer_setup s = setup_for(t, CALIB_PERCENTILE, false, 4);
	check_sets(&s, numpy);
	target_free(&t);
}

// The base's 1 for what is smaller than any float is not torch's: there the smallest scale is the machine epsilon.
void test_observer__smallest_scales(void **state)
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

static void feed_phase(struct observer *o, int phase, float *x)
{
	int64_t n = EACH;
	for (int i = 0; i < SAMPLES; i++)
		observer_feed(o, phase, i, &(struct tensor){.type = DT_F32, .shape = shape_of(1, &n), .data = x + EACH * i});
}

static bool same_kind(const struct observer *a, const struct observer *b, int phase)
{
	struct key ka, kb;
	return phase < observer_phases(a) && observer_gathers(a, phase, &ka) && observer_gathers(b, phase, &kb) && key_equal(ka, kb);
}

// Feeds what cannot be adopted; returns how many phases could.
static int adopt_or_feed(struct observer *o, const struct observer *from, float *x)
{
	int adopted = 0;
	for (int phase = 0; phase < observer_phases(o); phase++) {
		bool same = same_kind(from, o, phase);
		adopted += same;
		if (same)
			observer_adopt(o, phase, from);
		else
			feed_phase(o, phase, x);
	}
	return adopted;
}

// Every pair of calibrators: what the one gathered serves the other as if it had seen the tensor, or is not offered.
void test_observer__what_another_gathered_is_adopted(void **state)
{
	struct target *t = load("onnxruntime");
	float *x = values(false), scale;
	int adopted = 0;
	for (int pair = 0; pair < CALIB_COUNT * CALIB_COUNT; pair++) {
		struct observer_setup sa = setup_for(t, (enum calib_method)(pair / CALIB_COUNT), true, SAMPLES), sb = sa;
		int32_t zero, fed_zero;
		struct error err;
		sb.method = (enum calib_method)(pair % CALIB_COUNT);
		struct observer *a = observer_make(&sa), *b = observer_make(&sb);
		for (int phase = 0; phase < observer_phases(a); phase++)
			feed_phase(a, phase, x);
		assert_int_equal(observer_finish(a, &scale, &zero, &err), STATUS_OK);
		adopted += adopt_or_feed(b, a, x);
		assert_int_equal(observer_finish(b, &scale, &zero, &err), STATUS_OK);
		assert_true(scale == scale_of(&sb, x, EACH, &fed_zero, false) && zero == fed_zero);
		observer_free(&a);
		observer_free(&b);
	}
	assert_int_equal(adopted, 3 * 3 + 1 + 2); // ranges of minmax, kl and mse; magnitudes; counts of kl and of mse to themselves
	free(x);
	target_free(&t);
}

static void feed_ranges(struct observer *o, float *x, int64_t each, int64_t stride)
{
	for (int i = 0; i < SAMPLES; i++) {
		struct tensor t = {.type = DT_F32, .shape = shape_of(1, &each), .data = x + i * stride};
		observer_feed(o, 0, i, &t);
	}
}

// The first phase of a tensor from those of its parts: the scale is that of the tensor read itself. One part has nothing finite in one sample.
void test_observer__ranges_of_parts_are_joined(void **state)
{
	enum { FRONT = 1000, BACK = EACH - FRONT };
	static const enum calib_method methods[] = {CALIB_MINMAX, CALIB_KL, CALIB_MSE};
	static const char *const targets[] = {"onnxruntime", "esp32p4", "tensorrt"};
	float *x = values(false);
	for (int i = 0; i < FRONT; i++)
		x[EACH + i] = i % 2 ? NAN : INFINITY;
	for (int k = 0; k < 9; k++) {
		struct target *t = load(targets[k / 3]);
		struct observer_setup s = setup_for(t, methods[k % 3], k / 3 > 0, SAMPLES);
		struct observer *front = observer_make(&s), *back = observer_make(&s), *whole = observer_make(&s);
		struct error err;
		int32_t zero, read_zero;
		float scale;
		assert_true(observer_joins(whole));
		feed_ranges(front, x, FRONT, EACH);
		feed_ranges(back, x + FRONT, BACK, EACH);
		observer_join(whole, front);
		observer_join(whole, back);
		if (observer_phases(whole) > 1)
			feed_phase(whole, 1, x);
		assert_int_equal(observer_finish(whole, &scale, &zero, &err), STATUS_OK);
		assert_true(scale == scale_of(&s, x, EACH, &read_zero, false) && zero == read_zero);
		observer_free(&front);
		observer_free(&back);
		observer_free(&whole);
		target_free(&t);
	}
	free(x);
}

void test_observer__ranks_are_not_joined(void **state)
{
	struct target *t = load("tensorrt");
	struct observer_setup s = setup_for(t, CALIB_PERCENTILE, true, 1);
	struct observer *o = observer_make(&s);
	assert_false(observer_joins(o));
	observer_free(&o);
	target_free(&t);
}

void test_observer__padding_is_not_seen(void **state)
{
	static const char *const targets[] = {"tensorrt", "xint8"};
	int64_t dim[] = {2, 19, 45, 60}; // more pixels than are packed at once
	struct support_random r = {3};
	struct tensor plain = {.type = DT_F32, .shape = shape_of(4, dim)};
	struct tensor block = {.type = DT_F32, .shape = shape_of(4, dim), .layout = LAYOUT_BLOCK};
	struct error err;
	assert_int_equal(tensor_alloc(&plain, NULL, &err), STATUS_OK);
	assert_int_equal(tensor_alloc(&block, NULL, &err), STATUS_OK);
	support_random_floats(&r, plain.data, (size_t)tensor_count(&plain) / 2, 2, 90);
	support_random_floats(&r, (float *)plain.data + tensor_count(&plain) / 2, (size_t)tensor_count(&plain) / 2, 2, 9);
	tensor_reorder(&block, &plain, 1);
	for (int m = 0; m < CALIB_COUNT * 2; m++) {
		struct target *t = load(targets[m / CALIB_COUNT]);
		struct observer_setup s = setup_for(t, (enum calib_method)(m % CALIB_COUNT), true, 1);
		float scale[2];
		int32_t zero;
		for (int k = 0; k < 2; k++) {
			struct observer *o = observer_make(&s);
			for (int phase = 0; phase < observer_phases(o); phase++)
				observer_feed(o, phase, 0, k ? &block : &plain);
			assert_int_equal(observer_finish(o, &scale[k], &zero, &err), STATUS_OK);
			observer_free(&o);
		}
		assert_true(scale[0] == scale[1]);
		target_free(&t);
	}
	tensor_drop(&plain);
	tensor_drop(&block);
}

static float scale_of_one(const struct observer_setup *s, float *x, int64_t n, bool thin)
{
	struct observer *o = observer_make(s);
	struct error err;
	float scale = 0;
	int32_t zero;
	if (thin)
		observer_thin(o);
	for (int phase = 0; phase < observer_phases(o); phase++)
		observer_feed(o, phase, 0, &(struct tensor){.type = DT_F32, .shape = shape_of(1, &n), .data = x});
	assert_int_equal(observer_finish(o, &scale, &zero, &err), STATUS_OK);
	observer_free(&o);
	return scale;
}

// A thin observer counts some of a large tensor: about the same scale, and the same where ranges decide or the tensor is small.
void test_observer__thin(void **state)
{
	enum { LARGE = 1 << 19 };
	struct target *t = load("tensorrt");
	struct support_random r = {11};
	float *x = malloc(LARGE * sizeof *x);
	int differ = 0;
	for (int i = 0; i < LARGE; i++)
		x[i] = support_random_normal(&r);
	for (int m = 0; m < CALIB_COUNT; m++) {
		struct observer_setup s = setup_for(t, (enum calib_method)m, true, 1);
		float all = scale_of_one(&s, x, LARGE, false), some = scale_of_one(&s, x, LARGE, true);
		assert_true(some > all * 0.8f && some < all * 1.25f);
		differ += some != all;
		assert_true(m == CALIB_KL || m == CALIB_MSE || some == all);
		assert_true(scale_of_one(&s, x, EACH, false) == scale_of_one(&s, x, EACH, true));
	}
	assert_true(differ > 0);
	free(x);
	target_free(&t);
}

// The bin of a value is computed in floats, which the largest ones leave: they belong into the last bin.
void test_observer__the_largest_floats_are_counted(void **state)
{
	enum { EDGE = 64 };
	uint32_t hist[65];
	float x[EDGE];
	for (int level = CPU_PLAIN; level < CPU_LEVELS; level++) {
		cpu_limit((enum cpu_level)level);
		memset(hist, 0, sizeof hist);
		for (int i = 0; i < EDGE; i++)
			x[i] = i % 4 ? FLT_MAX : 0.0f;
		scan_hist_abs(hist, 64, FLT_MAX, x, EDGE);
		assert_int_equal(hist[0], EDGE / 4);
		assert_int_equal(hist[63], EDGE / 4 * 3);
	}
	cpu_limit(CPU_LEVELS);
}

// What masks hold: 0 and the lowest float. The farthest code stands for a finite number all the same.
void test_observer__no_code_is_infinity(void **state)
{
	static const char *const names[] = {"esp32p4", "pytorch", "onnxruntime", "xint8"};
	static const enum calib_method methods[] = {CALIB_MINMAX, CALIB_PERCENTILE, CALIB_KL, CALIB_MSE};
	float *x = calloc(EACH, sizeof *x);
	for (int i = 0; i < EACH / 2; i++)
		x[i] = -FLT_MAX;
	for (int k = 0; k < 32; k++) {
		struct target *t = load(names[k % 4]);
		struct observer_setup s = setup_for(t, methods[k / 4 % 4], k >= 16 || k % 4 == 3, 1);
		int32_t zero;
		float scale = scale_of(&s, x, EACH, &zero, false), lowest = (float)(s.quant.qmin - zero) * scale;
		if (!isfinite(lowest) || !(lowest <= -FLT_MAX / 4))
			fail_msg("%s, %d: the lowest code is %g", names[k % 4], k, (double)lowest);
		target_free(&t);
	}
	free(x);
}

static void hist_plainly(uint32_t *hist, int bins, bool absolute, float lo, float hi, const float *x, int64_t n)
{
	for (int64_t i = 0; i < n; i++) {
		float v = absolute ? fabsf(x[i]) : x[i], t = (v - lo) * (float)bins / (hi - lo);
		hist[v >= lo && v <= hi ? t < (float)(bins - 1) ? (int)t : bins - 1 : bins]++;
	}
}

// Lengths around whatever a loop takes at a time, and counts that were there before.
void test_observer__levels_count_alike(void **state)
{
	enum { MOST = 8192, LONGEST = 1037 };
	static const int64_t length[] = {0, 1, 15, 16, 31, 33, 64, 127, 128, 129, 159, 160, 161, 256, 512, LONGEST};
	static const int bins[] = {1, 7, 2048, 4096, MOST};
	static const float odd[] = {NAN, INFINITY, -INFINITY, 3, -3, 2, -2, 0, -0.0f, FLT_MAX, 1e-40f};
	struct support_random r = {5};
	float x[LONGEST];
	static uint32_t got[MOST + 1], want[MOST + 1];
	for (int i = 0; i < LONGEST; i++)
		x[i] = i % 3 == 1 ? odd[i / 3 % 11] : i % 3 ? 0.25f : support_random_float(&r, -2.2, 2.2);
	for (int level = CPU_PLAIN; level < CPU_LEVELS; level++) {
		cpu_limit((enum cpu_level)level);
		for (int i = 0; i < 16 * 5 * 2; i++) {
			int64_t n = length[i % 16];
			int b = bins[i / 16 % 5];
			bool absolute = i / 80;
			memset(got, 0, sizeof got);
			memset(want, 0, sizeof want);
			got[b / 2] = want[b / 2] = 9;
			if (absolute)
				scan_hist_abs(got, b, 2, x, n);
			else
				scan_hist(got, b, -2, 2, x, n);
			hist_plainly(want, b, absolute, absolute ? 0 : -2, 2, x, n);
			assert_memory_equal(got, want, sizeof got);
		}
	}
	cpu_limit(CPU_LEVELS);
}

void test_observer__nothing_finite_is_an_error(void **state)
{
	struct target *t = load("esp32p4");
	for (int m = 0; m < CALIB_COUNT; m++) {
		struct observer_setup s = setup_for(t, (enum calib_method)m, true, 2);
		struct observer *o = observer_make(&s);
		float x[9], scale;
		int64_t n = 9;
		int32_t zero;
		struct error err;
		for (int i = 0; i < 9; i++)
			x[i] = i % 2 ? NAN : INFINITY;
		struct tensor bad = {.type = DT_F32, .shape = shape_of(1, &n), .data = x};
		for (int phase = 0; phase < observer_phases(o); phase++)
			observer_feed(o, phase, 0, &bad);
		assert_int_equal(observer_finish(o, &scale, &zero, &err), STATUS_FORMAT);
		observer_free(&o);
	}
	target_free(&t);
}

// As an empty Slice makes them, or the keys and values of a cache that is empty yet: as if they held zeros. What holds NaN alone has no scale.
void test_observer__tensors_without_elements(void **state)
{
	static const char *const targets[] = {"esp32p4", "onnxruntime", "pytorch", "xint8", "xquant"};
	static const float zeros[SAMPLES], nans[] = {NAN, NAN, NAN};
	for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
		struct target *t = load(targets[i]);
		for (int m = CALIB_MINMAX; m <= CALIB_MSE; m++) {
			struct observer_setup s = setup_for(t, (enum calib_method)m, true, SAMPLES);
			int32_t zero = 1, want = 1;
			float scale = scale_of(&s, zeros, 0, &zero, false);
			assert_float_equal(scale, scale_of(&s, zeros, 1, &want, false), 0);
			assert_int_equal(zero, want);
			struct observer *o = observer_make(&s);
			struct tensor x = {.type = DT_F32, .shape = shape_of(1, (int64_t[]){SAMPLES}), .data = (void *)nans};
			struct error err;
			for (int phase = 0; phase < observer_phases(o); phase++)
				observer_feed(o, phase, 0, &x);
			assert_int_equal(observer_finish(o, &scale, &zero, &err), STATUS_FORMAT);
			observer_free(&o);
		}
		target_free(&t);
	}
}
