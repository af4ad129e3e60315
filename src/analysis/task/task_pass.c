// Samples through the engine: a pass that shows the outputs, gathered until a sample has all of them.
#include <stdlib.h>
#include "qtui/base/mem.h"
#include "task_impl.h"

// The outputs of one sample as far as they are there.
struct gathered {
	struct tensor *out[TASK_VARIANTS]; // [n_outputs] NULL: variant not wanted
	int missing;
};
struct gathering {
	struct task *t;
	const struct graph *g;
	struct gathered *sample; // [last - first]
	int first;
	bool quantized;
	atomic_int *done;
	const atomic_bool *cancel; // the caller's
	atomic_bool stop;          // the caller's, or a sample failed
	pthread_mutex_t lock;      // over err
	struct error err;
};

static const enum sim sim_of[TASK_VARIANTS] = {[TASK_FLOAT] = SIM_FLOAT, [TASK_QUANT] = SIM_FULL};

static void release(const struct gathering *c, struct gathered *s)
{
	for (int v = 0; v < TASK_VARIANTS; v++) {
		for (int i = 0; s->out[v] && i < c->g->n_outputs; i++)
			tensor_drop(&s->out[v][i]);
		free(s->out[v]);
		s->out[v] = NULL;
	}
}

// Constant outputs do not come by in a pass.
static void begin(const struct gathering *c, struct gathered *s)
{
	s->missing = 0;
	for (int v = 0; v < (c->quantized ? TASK_VARIANTS : TASK_QUANT); v++) {
		s->out[v] = xcalloc((size_t)c->g->n_outputs + 1, sizeof *s->out[v]);
		for (int i = 0; i < c->g->n_outputs; i++) {
			const struct tensor *constant = c->g->value[c->g->output[i]].constant;
			if (constant)
				s->out[v][i] = tensor_share(constant);
			s->missing += !constant;
		}
	}
}

static void fail(struct gathering *c, const struct error *err)
{
	pthread_mutex_lock(&c->lock);
	if (c->err.status == STATUS_OK)
		c->err = *err;
	pthread_mutex_unlock(&c->lock);
	atomic_store(&c->stop, true);
}

static enum status take(struct tensor *to, struct rep *from, int width, struct error *err)
{
	struct rep dense = {0}, plain = {0};
	enum status st = rep_to_float(&dense, from, width, err);
	if (st == STATUS_OK)
		st = rep_to_layout(&plain, &dense, LAYOUT_PLAIN, width, err);
	*to = plain.t;
	rep_drop(&dense);
	return st;
}

static void see(void *arg, const struct sighting *s)
{
	struct gathering *c = arg;
	struct gathered *to = &c->sample[s->sample - c->first];
	struct error err = {0};
	enum status st = STATUS_OK;
	if (!to->out[TASK_FLOAT])
		begin(c, to);
	for (int i = 0; i < c->g->n_outputs; i++)
		for (int v = 0; v < TASK_VARIANTS && c->g->output[i] == s->value && st == STATUS_OK; v++)
			if (to->out[v] && s->rep[sim_of[v]] && !to->out[v][i].data) {
				st = take(&to->out[v][i], s->rep[sim_of[v]], s->width, &err);
				to->missing--;
			}
	if (st == STATUS_OK && to->missing == 0) {
		st = task_add(c->t, s->sample, to->out[TASK_FLOAT], to->out[TASK_QUANT], &err);
		release(c, to);
		to->missing = -1;
		if (c->done)
			atomic_fetch_add(c->done, 1);
	}
	if (st != STATUS_OK)
		fail(c, &err);
	if (c->cancel && atomic_load(c->cancel))
		atomic_store(&c->stop, true);
}

enum status task_run(struct task *t, struct engine *e, const struct plan *plan, int first, int last,
    const atomic_bool *cancel, atomic_int *done, struct error *err)
{
	struct gathering c = {.t = t,
	    .g = t->g,
	    .first = first,
	    .quantized = plan,
	    .done = done,
	    .cancel = cancel,
	    .sample = xcalloc((size_t)(last - first) + 1, sizeof *c.sample)};
	bool *want = xcalloc((size_t)t->g->n_values + 1, sizeof *want);
	for (int i = 0; i < t->g->n_outputs; i++)
		want[t->g->output[i]] = !t->g->value[t->g->output[i]].constant;
	struct pass p = {.plan = plan,
	    .want = {[SIM_FLOAT] = want, [SIM_FULL] = plan ? want : NULL},
	    .first = first,
	    .last = last,
	    .visit = see,
	    .arg = &c,
	    .cancel = &c.stop};
	pthread_mutex_init(&c.lock, NULL);
	enum status st = engine_pass(e, &p, err);
	if (c.err.status != STATUS_OK) {
		*err = c.err;
		st = c.err.status;
	}
	for (int i = 0; i < last - first; i++)
		release(&c, &c.sample[i]);
	pthread_mutex_destroy(&c.lock);
	free(c.sample);
	free(want);
	return st;
}
