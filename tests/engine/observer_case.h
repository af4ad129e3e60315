// What tests of observers share: a target, a setup for one of its calibrators, values,
// and the scale that comes of them.
#ifndef TESTS_ENGINE_OBSERVER_CASE_H
#define TESTS_ENGINE_OBSERVER_CASE_H

#include <math.h>
#include <stdlib.h>
#include "../../src/engine/plan/observers/observer_impl.h"
#include "support.h"

static inline struct target *load(const char *name)
{
	struct target *t = NULL;
	struct error err;
	if (target_load(&t, name, &err))
		fail_msg("%s", err.text);
	return t;
}

// Eight bits, one scale; symmetric codes or those from 0 on.
static inline struct observer_setup setup_for(const struct target *t, enum calib_method m, bool symmetric, int samples)
{
	struct observer_setup s = {.target = t, .method = m, .kl_bins = 4096, .samples = samples, .floor = -INFINITY};
	s.quant = (struct quantizer){.kind = QUANT_LINEAR, .bits = 8, .axis = -1, .n = 1, .symmetric = symmetric,
		.pow2 = t->scale.pow2, .qmin = symmetric ? -128 : 0, .qmax = symmetric ? 127 : 255};
	return s;
}

// Of `samples` times `each` values; the last sample is fed first if it goes backwards.
static inline float scale_of(const struct observer_setup *s, const float *x, int64_t each, int32_t *zero, bool backwards)
{
	struct observer *o = observer_make(s);
	float scale = 0;
	for (int phase = 0; phase < observer_phases(o); phase++) {
		for (int i = 0; i < s->samples; i++) {
			int k = backwards ? s->samples - 1 - i : i;
			struct tensor t = {.type = DT_F32, .shape = shape_of(1, &each), .data = (float *)x + each * k};
			observer_feed(o, phase, k, &t);
		}
	}
	assert_true(observer_finish(o, &scale, zero));
	observer_free(&o);
	return scale;
}

enum { EACH = 40000, SAMPLES = 3 };

// SAMPLES times EACH normal values, one in a thousand far out; without the negative ones as behind a Relu. To be freed.
static inline float *values(bool relu)
{
	struct support_random r = {7};
	float *x = malloc(sizeof *x * EACH * SAMPLES);
	for (int i = 0; i < EACH * SAMPLES; i++) {
		x[i] = support_random_normal(&r) * (i % 1000 == 0 ? 5.0f : 1.0f);
		x[i] = relu && x[i] < 0 ? 0 : x[i];
	}
	return x;
}

#endif
