// A ring of sightings between the thread that computes and the one that shows.
#include "showing.h"

#include <omp.h>
#include <stdlib.h>
#include "qtui/base/mem.h"

enum { PENDING = 4 }; // sightings whose tensors wait: they take memory

struct pending {
	struct sighting g;
	struct rep rep[SIM_COUNT];
};
struct showing {
	const struct pass *pass;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct pending ring[PENDING];
	unsigned first, end; // of the sightings that are pending
	bool last;           // no more will come
};

static void show_first(struct showing *s)
{
	struct pending *p = &s->ring[s->first % PENDING];
	pthread_mutex_unlock(&s->lock);
	for (int sim = 0; sim < SIM_COUNT; sim++)
		p->g.rep[sim] = p->g.rep[sim] ? &p->rep[sim] : NULL;
	s->pass->visit(s->pass->arg, &p->g);
	for (int sim = 0; sim < SIM_COUNT; sim++)
		if (p->g.rep[sim])
			rep_drop(&p->rep[sim]);
	pthread_mutex_lock(&s->lock);
	s->first++;
	pthread_cond_broadcast(&s->changed);
}

static void *show_all(void *arg)
{
	struct showing *s = arg;
	omp_set_num_threads(1);
	pthread_mutex_lock(&s->lock);
	while (s->first != s->end || !s->last) {
		if (s->first != s->end)
			show_first(s);
		else
			pthread_cond_wait(&s->changed, &s->lock);
	}
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

struct showing *showing_begin(const struct pass *p)
{
	struct showing *s = xcalloc(1, sizeof *s);
	s->pass = p;
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->changed, NULL);
	if (thread_start(&s->thread, show_all, s))
		return s;
	pthread_cond_destroy(&s->changed);
	pthread_mutex_destroy(&s->lock);
	free(s);
	return NULL;
}

void showing_add(struct showing *s, const struct sighting *g)
{
	pthread_mutex_lock(&s->lock);
	while (s->end - s->first == PENDING)
		pthread_cond_wait(&s->changed, &s->lock);
	struct pending *p = &s->ring[s->end % PENDING];
	p->g = *g;
	for (int sim = 0; sim < SIM_COUNT; sim++)
		if (g->rep[sim])
			p->rep[sim] = rep_share(g->rep[sim]);
	s->end++;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
}

void showing_end(struct showing **sp)
{
	struct showing *s = *sp;
	*sp = NULL;
	if (!s)
		return;
	pthread_mutex_lock(&s->lock);
	s->last = true;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
	pthread_join(s->thread, NULL);
	pthread_cond_destroy(&s->changed);
	pthread_mutex_destroy(&s->lock);
	free(s);
}
