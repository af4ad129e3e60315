// Samples through the engine: passes that show the outputs, gathered until a sample has all of them.
#include <stdlib.h>
#include "qtui/base/mem.h"
#include "task_impl.h"

static const enum sim sim_of[TASK_VARIANTS] = {[TASK_FLOAT] = SIM_FLOAT, [TASK_QUANT] = SIM_FULL};

// The outputs of one sample as far as they are there.
struct gathered {
	struct tensor *out[TASK_VARIANTS]; // [n_outputs] NULL: variant not wanted
	int missing;                       // -1: all were there and are added
};
struct gathering {
	struct task *t;
	const struct graph *g;
	const struct task_pass *p;
	struct task_net *net[TASK_VARIANTS];
	bool wanted[TASK_VARIANTS]; // in this pass
	struct gathered *sample;    // [n_samples]
	atomic_bool stop;           // the caller's, or a sample failed
	pthread_mutex_t lock;       // over err
	struct error err;
};

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
	for (int v = 0; v < TASK_VARIANTS; v++) {
		s->out[v] = c->wanted[v] ? xcalloc((size_t)c->g->n_outputs + 1, sizeof *s->out[v]) : NULL;
		for (int i = 0; s->out[v] && i < c->g->n_outputs; i++) {
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

static enum status take_all(struct gathering *c, struct gathered *to, const struct sighting *s, struct error *err)
{
	enum status st = STATUS_OK;
	for (int i = 0; i < c->g->n_outputs; i++)
		for (int v = 0; v < TASK_VARIANTS && c->g->output[i] == s->value && st == STATUS_OK; v++)
			if (to->out[v] && s->rep[sim_of[v]] && !to->out[v][i].data) {
				st = take(&to->out[v][i], s->rep[sim_of[v]], s->width, err);
				to->missing--;
			}
	return st;
}

static void count(const struct task_pass *p, int n)
{
	if (p->done)
		atomic_fetch_add(p->done, n);
	if (p->news)
		p->news(p->arg);
}

static enum status add(struct gathering *c, struct gathered *s, int sample, struct error *err)
{
	enum status st = STATUS_OK;
	for (int v = 0; v < TASK_VARIANTS && st == STATUS_OK; v++)
		if (s->out[v])
			st = task_add(c->t, c->net[v], sample, s->out[v], s->out[TASK_FLOAT], err);
	release(c, s);
	s->missing = -1;
	if (st == STATUS_OK)
		count(c->p, 1);
	return st;
}

static void see(void *arg, const struct sighting *s)
{
	struct gathering *c = arg;
	struct gathered *to = &c->sample[s->sample];
	struct error err = {0};
	if (!to->out[TASK_FLOAT] && !to->out[TASK_QUANT] && to->missing == 0)
		begin(c, to);
	enum status st = take_all(c, to, s, &err);
	if (st == STATUS_OK && to->missing == 0)
		st = add(c, to, s->sample, &err);
	if (st != STATUS_OK)
		fail(c, &err);
	if (c->p->cancel && atomic_load(c->p->cancel))
		atomic_store(&c->stop, true);
}

static enum status run_list(struct gathering *c, struct engine *e, const int *list, int n, struct error *err)
{
	bool *want = xcalloc((size_t)c->g->n_values + 1, sizeof *want);
	for (int i = 0; i < c->g->n_outputs; i++)
		want[c->g->output[i]] = !c->g->value[c->g->output[i]].constant;
	struct pass p = {.plan = c->p->plan,
	    .want = {[SIM_FLOAT] = c->wanted[TASK_FLOAT] ? want : NULL, [SIM_FULL] = c->wanted[TASK_QUANT] ? want : NULL},
	    .last = n,
	    .sample = list,
	    .data = task_dataset(c->t),
	    .transient = true,
	    .visit = see,
	    .arg = c,
	    .cancel = &c->stop};
	enum status st = engine_pass(e, &p, err);
	if (c->err.status != STATUS_OK) {
		*err = c->err;
		st = c->err.status;
	}
	free(want);
	return st;
}

// Which variants of a sample are to be computed, as bits. Agreement is with the float network's outputs themselves.
static unsigned needs(const struct gathering *c, int sample)
{
	bool agree = c->t->kind == TASK_AGREE;
	bool quant = c->p->plan && !task_net_has(c->t, c->net[TASK_QUANT], sample);
	bool before = agree ? quant : !task_net_has(c->t, c->net[TASK_FLOAT], sample);
	return (unsigned)before << TASK_FLOAT | (unsigned)quant << TASK_QUANT;
}

// Samples that need the same go through one pass.
static enum status run_needs(struct gathering *c, struct engine *e, const unsigned *need, unsigned what, struct error *err)
{
	const struct task_pass *p = c->p;
	int *list = xcalloc((size_t)(p->last - p->first) + 1, sizeof *list), n = 0;
	for (int i = p->first; i < p->last; i++)
		if (task_has_label(c->t, i) && need[i - p->first] == what)
			list[n++] = i;
	for (int v = 0; v < TASK_VARIANTS; v++)
		c->wanted[v] = what >> v & 1;
	enum status st = STATUS_OK;
	if (what == 0 && n)
		count(p, n);
	else if (n)
		st = run_list(c, e, list, n, err);
	free(list);
	return st;
}

enum status task_run(struct task *t, struct engine *e, const struct task_pass *p, struct error *err)
{
	struct gathering c = {.t = t, .g = t->g, .p = p, .sample = xcalloc((size_t)t->n_samples + 1, sizeof *c.sample)};
	unsigned *need = xcalloc((size_t)(p->last - p->first) + 1, sizeof *need);
	c.net[TASK_FLOAT] = task_net(t, task_key(t, NULL));
	c.net[TASK_QUANT] = p->plan ? task_net(t, task_key(t, p->plan)) : NULL;
	enum status st = p->cancel && atomic_load(p->cancel) ? error_set(err, STATUS_CANCELLED, "cancelled") : STATUS_OK;
	pthread_mutex_init(&c.lock, NULL);
	for (int i = p->first; i < p->last; i++)
		need[i - p->first] = needs(&c, i);
	for (unsigned what = 0; what < 1u << TASK_VARIANTS && st == STATUS_OK; what++)
		st = run_needs(&c, e, need, what, err);
	for (int i = 0; i < t->n_samples; i++)
		release(&c, &c.sample[i]);
	pthread_mutex_destroy(&c.lock);
	free(c.sample);
	free(need);
	return st;
}
