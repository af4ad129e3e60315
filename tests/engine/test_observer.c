// What all observers have in common: their settings, what they see of a tensor on any layout,
// order and processor level, what they take over from one another, and values of which no scale comes.
#include <float.h>
#include "../../src/engine/tensor/cpu.h"
#include "observer_case.h"

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
	changed = *t;
	changed.scale.zero = ROUND_HALF_FAR_FROM_ZERO;
	assert_false(key_equal(k, observer_setup_key(&other)));
	changed = *t;
	changed.scale.precise = true;
	assert_false(key_equal(k, observer_setup_key(&other)));
	changed = *t;
	changed.scale.least_range = 1;
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
		sb.method = (enum calib_method)(pair % CALIB_COUNT);
		struct observer *a = observer_make(&sa), *b = observer_make(&sb);
		for (int phase = 0; phase < observer_phases(a); phase++)
			feed_phase(a, phase, x);
		assert_true(observer_finish(a, &scale, &zero));
		adopted += adopt_or_feed(b, a, x);
		assert_true(observer_finish(b, &scale, &zero));
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

// The first phase of a tensor from those of its parts: the scale is that of the tensor read itself.
// One part has nothing finite in one sample.
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
		int32_t zero, read_zero;
		float scale;
		assert_true(observer_joins(whole));
		feed_ranges(front, x, FRONT, EACH);
		feed_ranges(back, x + FRONT, BACK, EACH);
		observer_join(whole, front);
		observer_join(whole, back);
		if (observer_phases(whole) > 1)
			feed_phase(whole, 1, x);
		assert_true(observer_finish(whole, &scale, &zero));
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
			assert_true(observer_finish(o, &scale[k], &zero));
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
	float scale = 0;
	int32_t zero;
	if (thin)
		observer_thin(o);
	for (int phase = 0; phase < observer_phases(o); phase++)
		observer_feed(o, phase, 0, &(struct tensor){.type = DT_F32, .shape = shape_of(1, &n), .data = x});
	assert_true(observer_finish(o, &scale, &zero));
	observer_free(&o);
	return scale;
}

// A thin observer counts some of a large tensor: about the same scale,
// and the same where ranges decide or the tensor is small.
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

void test_observer__nothing_finite_has_no_scale(void **state)
{
	struct target *t = load("esp32p4");
	for (int m = 0; m < CALIB_COUNT; m++) {
		struct observer_setup s = setup_for(t, (enum calib_method)m, true, 2);
		struct observer *o = observer_make(&s);
		float x[9], scale;
		int64_t n = 9;
		int32_t zero;
		for (int i = 0; i < 9; i++)
			x[i] = i % 2 ? NAN : INFINITY;
		struct tensor bad = {.type = DT_F32, .shape = shape_of(1, &n), .data = x};
		for (int phase = 0; phase < observer_phases(o); phase++)
			observer_feed(o, phase, 0, &bad);
		assert_false(observer_finish(o, &scale, &zero));
		assert_true(scale == 0);
		observer_free(&o);
	}
	target_free(&t);
}

// As an empty Slice makes them, or the keys and values of a cache that is empty yet:
// as if they held zeros. What holds NaN alone has no scale.
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
			for (int phase = 0; phase < observer_phases(o); phase++)
				observer_feed(o, phase, 0, &x);
			assert_false(observer_finish(o, &scale, &zero));
			assert_true(scale == 0);
			observer_free(&o);
		}
		target_free(&t);
	}
}
