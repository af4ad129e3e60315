// Passes: the samples through the network, by all workers, in one round or in two of every stretch.
#include <stdlib.h>
#include "exec/exec.h"
#include "runner.h"

struct batch {
	const struct runner *r;
	const struct sweep *w;
	pthread_mutex_t lock;
	int failed;          // the first sample that failed, -1
	struct error err;    // its error
	atomic_bool stop;
};

static void batch_sample(void *arg, int i, int worker, int width)
{
	struct batch *b = arg;
	struct error err = {0};
	if (atomic_load(&b->stop))
		return;
	const struct pass *p = b->w->pass;
	struct sample s = {.index = p->first + i, .worker = worker, .width = width, .sweep = b->w};
	if (p->sample)
		s.index = p->sample[s.index];
	if (run_sample(b->r, &s, &err) == STATUS_OK)
		return;
	pthread_mutex_lock(&b->lock);
	if (b->failed < 0 || s.index < b->failed) {
		b->failed = s.index;
		b->err = err;
	}
	pthread_mutex_unlock(&b->lock);
	atomic_store(&b->stop, true);
}

static enum status sweep(const struct runner *r, const struct sweep *w, struct error *err)
{
	const struct pass *p = w->pass;
	struct batch b = {.r = r, .w = w, .failed = -1};
	pthread_mutex_init(&b.lock, NULL);
	jobs_run(r->e->jobs, p->last - p->first, batch_sample, &b, p->cancel);
	pthread_mutex_destroy(&b.lock);
	if (b.failed >= 0) {
		*err = b.err;
		return b.err.status;
	}
	if (p->cancel && atomic_load(p->cancel))
		return error_set(err, STATUS_CANCELLED, "cancelled");
	return STATUS_OK;
}

static int rounds_of(const struct pass *p)
{
	int rounds = 1;
	for (int sim = 0; sim < SIM_COUNT; sim++)
		rounds = p->second[sim] ? 2 : rounds;
	return rounds;
}

// What is shown in any round, heap; NULL: nothing under that simulation.
static void wanted(bool *any[SIM_COUNT], const struct graph *g, const struct pass *p)
{
	for (int sim = 0; sim < SIM_COUNT; sim++) {
		any[sim] = p->want[sim] || p->second[sim] ? xcalloc((size_t)g->n_values + 1, sizeof **any) : NULL;
		for (int v = 0; any[sim] && v < g->n_values; v++)
			any[sim][v] = (p->want[sim] && p->want[sim][v]) || (p->second[sim] && p->second[sim][v]);
	}
}

// Of what the store has room for, a pass of two rounds may hold this part.
#define HELD_PART 4

static void cut(struct stretches *out, const struct runner *r, const struct pass *p)
{
	if (rounds_of(p) == 1) {
		stretches_whole(out, &r->steps);
		return;
	}
	bool *first = wants_union(r->g, p->want), *any = wants_union(r->g, r->want);
	stretches_find(out, r->g, &r->steps,
	    &(struct stretched){.first = first, .any = any, .samples = p->last - p->first, .most = r->e->room / HELD_PART});
	free(first);
	free(any);
}

static enum status run_stretches(const struct runner *r, const struct pass *p, const struct stretches *s, struct error *err)
{
	enum status st = STATUS_OK;
	int rounds = rounds_of(p);
	for (int i = 0; st == STATUS_OK && i < s->n; i++) {
		struct sweep w = {.pass = p, .first = i > 0 ? s->end[i - 1] : -1, .end = s->end[i], .until = s->until};
		for (; st == STATUS_OK && w.round < rounds; w.round++) {
			w.want = w.round ? p->second : p->want;
			st = sweep(r, &w, err);
		}
		store_release(r->e->store, st == STATUS_OK ? i + 1 : s->n);
	}
	return st;
}

enum status engine_pass(struct engine *e, const struct pass *p, struct error *err)
{
	struct runner r;
	struct stretches s;
	bool *any[SIM_COUNT];
	kernels_turn(e->kernels);
	wanted(any, e->g, p);
	runner_init(&r, e, p->plan, (const bool *const *)any, true);
	cut(&s, &r, p);
	enum status st = run_stretches(&r, p, &s, err);
	stretches_done(&s);
	runner_done(&r);
	for (int sim = 0; sim < SIM_COUNT; sim++)
		free(any[sim]);
	return st;
}

long engine_pass_steps(struct engine *e, const struct pass *p)
{
	struct steps s;
	bool *any[SIM_COUNT];
	wanted(any, e->g, p);
	bool *keep = wants_union(e->g, (const bool *const *)any);
	steps_build(&s, e->g, p->plan, keep, false, e->quantized_file);
	long n = (long)s.n * rounds_of(p);
	steps_done(&s);
	free(keep);
	for (int sim = 0; sim < SIM_COUNT; sim++)
		free(any[sim]);
	return n;
}
