// What a state comes to over many more samples than are probed: its SNR, which goals are about, and, of the state that a repair
// begins from, the sample that the probe must not miss. One pass at the points alone; of large networks the first one sees a
// part of the samples, spread over all.
#include <math.h>
#include <stdlib.h>
#include "repair_impl.h"

static const double LOOK_MACS = 200e9; // of that pass: twenty times a probe's

struct looking {
	const struct point *point;
	int n_points, count;
	struct tensor_sums *sums; // [n_points][count]
	atomic_bool failed;       // memory
};

static void compare(struct looking *l, const struct sighting *s, const struct tensor *f, const struct tensor *q)
{
	for (int i = 0; i < l->n_points; i++)
		if (l->point[i].value == s->value && shape_equal(&f->shape, &q->shape))
			stats_compare(&l->sums[i * l->count + s->sample], f, q, NULL);
}

static void see(void *arg, const struct sighting *s)
{
	struct looking *l = arg;
	struct rep f = {0}, q = {0};
	struct error ignored;
	if (!s->rep[SIM_FLOAT] || !s->rep[SIM_FULL])
		return;
	if (rep_as_plain(&f, s->rep[SIM_FLOAT], s->width, &ignored) == STATUS_OK &&
	    rep_as_plain(&q, s->rep[SIM_FULL], s->width, &ignored) == STATUS_OK)
		compare(l, s, &f.t, &q.t);
	else
		atomic_store(&l->failed, true);
	rep_drop(&f);
	rep_drop(&q);
}

static double noise_of(const struct tensor_sums *s)
{
	return isnan(s->e2) ? INFINITY : s->e2;
}

static int noisiest(const struct looking *l, int point)
{
	const struct tensor_sums *s = &l->sums[point * l->count];
	int most = 0;
	for (int i = 1; i < l->count; i++)
		most = noise_of(&s[i]) > noise_of(&s[most]) ? i : most;
	return most;
}

// -INFINITY: it is not finite.
static double snr_of(const struct looking *l, int point)
{
	struct tensor_sums all = {0};
	for (int i = 0; i < l->count; i++) {
		all.f2 += l->sums[point * l->count + i].f2;
		all.e2 += noise_of(&l->sums[point * l->count + i]);
	}
	return all.e2 > 0 ? 10 * log10(all.f2 / all.e2) : INFINITY;
}

static double worst_snr(const struct looking *l, int *sample)
{
	double least = INFINITY;
	for (int i = 0; i < l->n_points; i++) {
		double snr = snr_of(l, i);
		if (!(snr < least))
			continue;
		least = snr;
		*sample = noisiest(l, i);
	}
	return least;
}

static enum status look(struct looking *l, struct repair *r, const struct plan *plan, int samples, struct error *err)
{
	bool *want = xcalloc((size_t)r->g->n_values + 1, sizeof *want);
	int *sample = probe_choose(l->count, samples, -1);
	struct pass pass = {.plan = plan, .last = samples, .sample = sample, .keep = KEEP_NOTHING, .visit = see, .arg = l, .cancel = r->opt.cancel,
	    .want = {[SIM_FLOAT] = want, [SIM_FULL] = want}};
	for (int i = 0; i < l->n_points; i++)
		want[l->point[i].value] = true;
	enum status st = probe_pass(r->engine, &pass, r->g, &l->failed, err);
	free(sample);
	free(want);
	return st;
}

static int samples_of_pass(const struct repair *r)
{
	return (int)fmin(dataset_count(r->data), LOOK_MACS / (2 * (double)r->total_macs + 1));
}

// The state that is there now: its worst SNR, and the sample that has most of the noise.
static enum status look_at_now(struct repair *r, double *snr, int *sample, struct error *err)
{
	struct looking l = {.count = dataset_count(r->data)};
	struct point *point = points_find(r->g, &l.n_points);
	struct plan *plan = NULL;
	l.point = point;
	l.sums = xcalloc((size_t)l.n_points * (size_t)l.count + 1, sizeof *l.sums);
	enum status st = scales_plan(r->scales, &plan, &r->now, err);
	if (st == STATUS_OK)
		st = look(&l, r, plan, samples_of_pass(r), err);
	if (st == STATUS_OK)
		*snr = worst_snr(&l, sample);
	plan_free(&plan);
	free(l.sums);
	free(point);
	return st;
}

// Of a detector boxes decide, which the noise of coordinates says little of. What earlier repairs have looked at stays, as
// their states stand beside those of this one.
static void settle(struct repair *r)
{
	int earlier = r->earlier ? r->earlier->basis.noisiest - 1 : r->noisiest;
	r->noisiest = r->reader || earlier >= dataset_count(r->data) ? -1 : earlier;
	r->basis.noisiest = r->noisiest + 1;
}

enum status repair_find_noisiest(struct repair *r, int probed, struct error *err)
{
	double snr = NAN;
	r->noisiest = -1;
	if (samples_of_pass(r) <= probed || (r->reader && isnan(r->opt.goal.min_snr)))
		return STATUS_OK;
	repair_tell(r, 0, "which samples have most noise");
	enum status st = look_at_now(r, &snr, &r->noisiest, err);
	if (st == STATUS_OK && samples_of_pass(r) == dataset_count(r->data))
		r->run_snr_db = snr;
	settle(r);
	return st;
}

enum status repair_find_run_snr(struct repair *r, struct error *err)
{
	int count = dataset_count(r->data), ignored;
	r->run_snr_db = NAN;
	if (isnan(r->opt.goal.min_snr) || samples_of_pass(r) < count || probe_samples(r->probe) >= count)
		return STATUS_OK;
	repair_tell(r, 1, "the goal over all samples");
	return look_at_now(r, &r->run_snr_db, &ignored, err);
}
