// The times of a board that a study has been told of.
#include <stdlib.h>
#include "qtui/analysis/cost.h"
#include "study_impl.h"

struct costs *study_costs(struct study *st, const struct snapshot *s)
{
	study_lock(st);
	struct latency *l = latency_take(st->latency);
	study_unlock(st);
	struct costs *c = costs_new(s, l);
	latency_drop(&l);
	return c;
}

void study_set_latency(struct study *s, struct latency *l)
{
	pthread_mutex_lock(&s->publishing);
	struct snapshot *old, *snap = study_renew(s, &old);
	struct latency *before = s->latency;
	s->latency = latency_take(l);
	costs_drop(&snap->costs);
	snap->costs = costs_new(snap, l);
	study_renewed(s, &old);
	pthread_mutex_unlock(&s->publishing);
	study_miss_latency(s, NULL);
	latency_drop(&before);
}

void study_miss_latency(struct study *s, const char *path)
{
	free(s->latency_missed);
	s->latency_missed = xstrdup(path);
}

const struct latency *study_latency(const struct study *s)
{
	return s->latency;
}
