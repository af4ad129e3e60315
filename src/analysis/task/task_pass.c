// Samples through the engine: passes that show the outputs, gathered until a sample has all of them.
#include <stdlib.h>
#include "qtui/base/mem.h"
#include "task_impl.h"

static const enum sim sim_of[TASK_VARIANTS] = {[TASK_FLOAT] = SIM_FLOAT, [TASK_QUANT] = SIM_FULL};

// The outputs of one sample as far as they are there.
struct gathered {
	unsigned need;                     // variants that are to be read, as bits
	struct tensor *out[TASK_VARIANTS]; // [n_outputs] NULL: variant not needed
	int missing;                       // -1: all were there and are added
};
struct task_gather {
	struct task *t;
	const struct graph *g;
	struct task_pass p;
	struct task_net *net[TASK_VARIANTS];
	struct gathered *sample; // [n_samples]
	atomic_bool stop;        // the caller's, or a sample failed
	pthread_mutex_t lock;    // over err
	struct error err;
};

static void release(const struct task_gather *c, struct gathered *s)
{
	for (int v = 0; v < TASK_VARIANTS; v++) {
		for (int i = 0; s->out[v] && i < c->g->n_outputs; i++)
			tensor_drop(&s->out[v][i]);
		free(s->out[v]);
		s->out[v] = NULL;
	}
}

// Constant outputs do not come by in a pass.
static void begin(const struct task_gather *c, struct gathered *s)
{
	for (int v = 0; v < TASK_VARIANTS; v++) {
		s->out[v] = s->need >> v & 1 ? xcalloc((size_t)c->g->n_outputs + 1, sizeof *s->out[v]) : NULL;
		for (int i = 0; s->out[v] && i < c->g->n_outputs; i++) {
			const struct tensor *constant = c->g->value[c->g->output[i]].constant;
			if (constant)
				s->out[v][i] = tensor_share(constant);
			s->missing += !constant;
		}
	}
}

static void fail(struct task_gather *c, const struct error *err)
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

static enum status take_all(struct task_gather *c, struct gathered *to, const struct sighting *s, struct error *err)
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

static enum status add(struct task_gather *c, struct gathered *s, int sample, struct error *err)
{
	enum status st = STATUS_OK;
	for (int v = 0; v < TASK_VARIANTS && st == STATUS_OK; v++)
		if (s->out[v])
			st = task_add(c->t, c->net[v], sample, &(struct task_said){s->out[v], s->out[TASK_FLOAT], c->p.cancel}, err);
	release(c, s);
	s->missing = -1;
	if (st == STATUS_OK)
		count(&c->p, 1);
	return st;
}

void task_gather_see(struct task_gather *c, const struct sighting *s)
{
	struct gathered *to = &c->sample[s->sample];
	struct error err = {0};
	if (!to->need || atomic_load(&c->stop))
		return;
	if (!to->out[TASK_FLOAT] && !to->out[TASK_QUANT] && to->missing == 0)
		begin(c, to);
	enum status st = take_all(c, to, s, &err);
	if (st == STATUS_OK && to->missing == 0)
		st = add(c, to, s->sample, &err);
	if (st != STATUS_OK)
		fail(c, &err);
	if (c->p.cancel && atomic_load(c->p.cancel))
		atomic_store(&c->stop, true);
}

static void see(void *arg, const struct sighting *s)
{
	task_gather_see(arg, s);
}

// Samples that need the same.
static enum status run_list(struct task_gather *c, struct engine *e, unsigned need, const int *list, int n, struct error *err)
{
	bool *want = xcalloc((size_t)c->g->n_values + 1, sizeof *want);
	for (int i = 0; i < c->g->n_outputs; i++)
		want[c->g->output[i]] = !c->g->value[c->g->output[i]].constant;
	struct pass p = {.plan = c->p.plan,
	    .last = n,
	    .sample = list,
	    .data = task_dataset(c->t),
	    .keep = KEEP_NOTHING,
	    .visit = see,
	    .arg = c,
	    .cancel = &c->stop};
	for (int v = 0; v < TASK_VARIANTS; v++)
		p.want[sim_of[v]] = need >> v & 1 ? want : NULL;
	enum status st = engine_pass(e, &p, err);
	if (c->err.status != STATUS_OK) {
		*err = c->err;
		st = c->err.status;
	}
	free(want);
	return st;
}

static int sample_at(const struct task_pass *p, int i)
{
	return p->sample ? p->sample[i] : i;
}

static enum status run_needs(struct task_gather *c, struct engine *e, unsigned need, struct error *err)
{
	const struct task_pass *p = &c->p;
	int *list = xcalloc((size_t)(p->last - p->first) + 1, sizeof *list), n = 0;
	for (int i = p->first; i < p->last; i++)
		if (task_has_label(c->t, sample_at(p, i)) && c->sample[sample_at(p, i)].need == need)
			list[n++] = sample_at(p, i);
	enum status st = STATUS_OK;
	if (need == 0 && n)
		count(p, n);
	else if (n)
		st = run_list(c, e, need, list, n, err);
	free(list);
	return st;
}

// Which variants of a sample are to be read. Agreement is with the float network's outputs themselves.
static unsigned needs(const struct task_gather *c, int sample)
{
	bool agree = c->t->kind == TASK_AGREE;
	bool quant = c->p.plan && !task_net_has(c->t, c->net[TASK_QUANT], sample);
	bool before = agree ? quant : !task_net_has(c->t, c->net[TASK_FLOAT], sample);
	return (unsigned)before << TASK_FLOAT | (unsigned)quant << TASK_QUANT;
}

struct task_gather *task_gather_new(struct task *t, const struct task_pass *p)
{
	struct task_gather *c = xcalloc(1, sizeof *c);
	*c = (struct task_gather){.t = t, .g = t->g, .p = *p, .sample = xcalloc((size_t)t->n_samples + 1, sizeof *c->sample)};
	pthread_mutex_init(&c->lock, NULL);
	c->net[TASK_FLOAT] = task_net(t, task_key(t, NULL));
	c->net[TASK_QUANT] = p->plan ? task_net(t, task_key(t, p->plan)) : NULL;
	for (int i = p->first; i < p->last; i++)
		if (task_has_label(t, sample_at(p, i)))
			c->sample[sample_at(p, i)].need = needs(c, sample_at(p, i));
	return c;
}

bool task_gather_wants(const struct task_gather *c, enum task_variant v)
{
	unsigned need = 0;
	for (int i = c->p.first; i < c->p.last; i++)
		need |= c->sample[sample_at(&c->p, i)].need;
	return need >> v & 1;
}

void task_gather_free(struct task_gather **cp)
{
	struct task_gather *c = *cp;
	*cp = NULL;
	if (!c)
		return;
	for (int i = 0; i < c->t->n_samples; i++)
		release(c, &c->sample[i]);
	pthread_mutex_destroy(&c->lock);
	free(c->sample);
	free(c);
}

enum status task_run(struct task *t, struct engine *e, const struct task_pass *p, struct error *err)
{
	if (p->cancel && atomic_load(p->cancel))
		return error_set(err, STATUS_CANCELLED, "cancelled");
	struct task_gather *c = task_gather_new(t, p);
	enum status st = STATUS_OK;
	for (unsigned need = 0; need < 1u << TASK_VARIANTS && st == STATUS_OK; need++)
		st = run_needs(c, e, need, err);
	task_gather_free(&c);
	return st;
}
