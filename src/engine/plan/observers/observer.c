// Observers: from the values of a tensor over all samples to its scale and zero point (docs/NUMERICS.md, Calibrators).
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "observer_impl.h"

static const struct method *method_of(const struct observer_setup *s)
{
	static const struct method *const kl[] = {[KL_THRESHOLD] = &observer_kl, [KL_RANGES] = &observer_joint};
	static const struct method *const percentile[] = {
		[PERCENTILE_SAMPLES] = &observer_percentile, [PERCENTILE_POOLED] = &observer_percentile_pooled,
	};
	static const struct method *const mse[] = {
		[MSE_GRID] = &observer_mse_grid, [MSE_EXPONENTS] = &observer_mse_exponents, [MSE_GROWING] = &observer_mse_growing,
		[MSE_JOINT] = &observer_joint,
	};
	switch (s->method) {
	case CALIB_KL:
		return kl[s->target->calibration.kl];
	case CALIB_MSE:
		return mse[s->target->calibration.mse];
	case CALIB_PERCENTILE:
		return percentile[s->target->calibration.percentile_of];
	default:
		return &observer_minmax;
	}
}

struct observer *observer_make(const struct observer_setup *s)
{
	struct observer *o = xcalloc(1, sizeof *o);
	o->setup = *s;
	o->method = method_of(s);
	o->samples = s->samples;
	o->range = xcalloc((size_t)s->samples * 2 + 1, sizeof *o->range);
	if (o->method == &observer_mse_exponents)
		o->sum = xcalloc((size_t)s->samples * EXPONENTS + 1, sizeof *o->sum);
	pthread_mutex_init(&o->lock, NULL);
	return o;
}

void observer_free(struct observer **o)
{
	if (!*o)
		return;
	pthread_mutex_destroy(&(*o)->lock);
	free((*o)->range);
	free((*o)->sum);
	free((*o)->hist);
	free(*o);
	*o = NULL;
}

size_t observer_bytes(const struct observer *o)
{
	size_t sums = o->sum ? (size_t)o->samples * EXPONENTS * sizeof *o->sum : 0, counts = o->hist ? (size_t)o->bins * sizeof *o->hist : 0;
	return sizeof *o + (size_t)o->samples * 2 * sizeof *o->range + sums + counts;
}

struct key observer_setup_key(const struct observer_setup *s)
{
	const struct target *t = s->target;
	const struct quantizer *q = &s->quant;
	const double real[] = {t->scale.minimum, t->scale.below, t->scale.least_range, t->calibration.percentile, s->floor};
	const int64_t whole[] = {s->method, s->kl_bins, q->qmin, q->qmax, q->symmetric, q->pow2, t->scale.range, t->scale.kl,
		t->calibration.mse, t->calibration.kl, t->calibration.percentile_of, t->scale.zero, t->scale.precise, t->scale.single};
	return key_add(key_add((struct key){0}, real, sizeof real), whole, sizeof whole);
}

int observer_phases(const struct observer *o)
{
	return o->method->phases;
}

static int bins_of(const struct observer *o)
{
	return o->method == &observer_kl ? o->setup.kl_bins : MSE_BINS;
}

bool observer_gathers(const struct observer *o, int phase, struct key *k)
{
	const struct method *m = o->method;
	if (phase == 0) {
		*k = key_add_int((struct key){0}, m->gathers);
		if (m->gathers == GATHERS_TAILS)
			*k = key_add(*k, &o->setup.target->calibration.percentile, sizeof o->setup.target->calibration.percentile);
		return m->gathers != GATHERS_OWN;
	}
	bool absolute = m == &observer_kl || o->setup.quant.symmetric;
	*k = key_add_int(key_add_int(key_add_text((struct key){0}, "counts"), bins_of(o)), absolute);
	return m->counts && bins_of(o) <= KEPT_BINS;
}

void observer_adopt(struct observer *o, int phase, const struct observer *from)
{
	if (phase == 0) {
		memcpy(o->range, from->range, (size_t)o->samples * sizeof *o->range);
		atomic_store(&o->fed, atomic_load(&from->fed));
		return;
	}
	observer_start(o, bins_of(o));
	if (from->hist)
		memcpy(o->hist, from->hist, ((size_t)o->bins + 1) * sizeof *o->hist);
}

float range_largest(const struct range *r)
{
	return fmaxf(-r->lo, r->hi);
}

void range_join(struct range *into, const struct range *one)
{
	if (!one->seen)
		return;
	into->lo = into->seen ? fminf(into->lo, one->lo) : one->lo;
	into->hi = into->seen ? fmaxf(into->hi, one->hi) : one->hi;
	into->least = into->seen ? fminf(into->least, one->least) : one->least;
	into->seen = true;
}

bool observer_joins(const struct observer *o)
{
	return o->method->gathers == GATHERS_RANGE || o->method->gathers == GATHERS_MAGNITUDES;
}

void observer_join(struct observer *o, const struct observer *part)
{
	for (int s = 0; s < o->samples; s++)
		range_join(&o->range[s], &part->range[s]);
}

struct range observer_total(const struct observer *o)
{
	struct range total = {0};
	for (int i = 0; i < o->samples; i++)
		range_join(&total, &o->range[i]);
	return total;
}

void observer_start(struct observer *o, int bins)
{
	if (o->started)
		return;
	o->started = true;
	o->total = observer_total(o);
	o->bins = bins;
	if (bins > 0)
		o->hist = xcalloc((size_t)bins + 1, sizeof *o->hist);
}

// A tensor without elements has the scale of zeros: there is nothing that it could round.
static void feed_nothing(struct observer *o)
{
	static const float nothing = 0;
	for (int phase = 0; phase < o->method->phases; phase++)
		o->method->feed[phase](o, 0, &nothing, 1);
}

bool observer_finish(struct observer *o, float *scale, int32_t *zero)
{
	*scale = 0;
	*zero = 0;
	if (!atomic_load(&o->fed) && !observer_total(o).seen)
		feed_nothing(o);
	pthread_mutex_lock(&o->lock);
	struct range total = observer_total(o);
	if (total.seen)
		o->method->finish(o, scale, zero);
	if (o->bins > KEPT_BINS) {
		free(o->hist);
		o->hist = NULL;
	}
	pthread_mutex_unlock(&o->lock);
	return total.seen;
}
