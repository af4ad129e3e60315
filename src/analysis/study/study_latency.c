// The times of a board that a study has been told of.
#include <stdlib.h>
#include "qtui/analysis/cost.h"
#include "study_impl.h"

struct costs *study_costs(struct study *st, const struct snapshot *s)
{
	pthread_mutex_lock(&st->lock);
	struct latency *l = latency_take(st->latency);
	pthread_mutex_unlock(&st->lock);
	struct costs *c = costs_new(s, l);
	latency_drop(&l);
	return c;
}

void study_set_latency(struct study *s, struct latency *l)
{
	pthread_mutex_lock(&s->publishing);
	pthread_mutex_lock(&s->lock);
	struct latency *before = s->latency;
	struct snapshot *old = s->snap, *snap = snapshot_copy(old);
	s->latency = latency_take(l);
	costs_drop(&snap->costs);
	snap->costs = costs_new(snap, l);
	s->snap = snap;
	pthread_mutex_unlock(&s->lock);
	pthread_mutex_unlock(&s->publishing);
	study_miss_latency(s, NULL);
	latency_drop(&before);
	snapshot_drop(&old);
	study_wake(s);
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
