// Ranges are as good as the samples that they were seen on: noise has other ranges than pictures,
// and few samples miss the tails.
#include "rule.h"
#include "qtui/base/str.h"

enum { ENOUGH = 8, USUAL = 32 };

static int count_repeats(const struct dataset *d)
{
	enum { MOST = 256 };
	int n = dataset_count(d) < MOST ? dataset_count(d) : MOST, repeats = 0;
	for (int i = 1; i < n; i++) {
		bool seen = false;
		for (int k = 0; k < i && !seen; k++)
			seen = key_equal(dataset_key(d, i), dataset_key(d, k));
		repeats += seen;
	}
	return repeats;
}

// Casts have no ranges, and those of a quantized file are its own.
static bool observes(const struct look *l)
{
	return !l->plan || l->plan->n_observe > 0;
}

static void random_data(struct look *l)
{
	struct finding *f = finding_add(l, -1, 1);
	finding_say(f, "%d sample%s of random numbers: ranges and figures say nothing about real inputs.", l->s->samples, plural(l->s->samples));
	finding_advise(f, "%s on samples of what the network will see", observes(l) ? "calibrate" : "measure");
	finding_prove(f, "random samples", l->s->samples);
}

static void few(struct look *l, int n, int repeats, bool more)
{
	struct finding *f = finding_add(l, -1, 0.01);
	if (repeats > 0)
		finding_say(f, "%d of the %d samples repeat another one: ranges come from %d different samples.", repeats, n, n - repeats);
	else
		finding_say(f, "Ranges come from %d sample%s only; the next one may exceed them.", n, plural(n));
	finding_advise(f, "calibrate on at least %d different samples", ENOUGH);
	if (more)
		finding_take_samples(f, n < USUAL ? USUAL : 2 * n);
	finding_prove(f, "samples", n);
	finding_prove(f, "repeated", repeats);
}

void rule_few_samples(struct look *l)
{
	const struct dataset *d = l->samples;
	if (!d || l->s->samples == 0)
		return;
	int repeats = count_repeats(d);
	if (study_options(l->study)->data.random > 0)
		random_data(l);
	else if (observes(l) && l->s->samples - repeats < ENOUGH)
		few(l, l->s->samples, repeats, dataset_has_more(d));
}
