// The network, node by node: rows of the float network once, rows of the quantized one as it is by then,
// new weights, and on to what is downstream. Nodes that do not depend on one another share a pass.
#include "qtui/engine/tune.h"

#include <pthread.h>
#include <stdlib.h>
#include "qtui/base/jobs.h"
#include "tune_impl.h"

enum { ROWS = 8192, SAMPLE_ROWS = 256 }; // rows of a node, of all samples and of one
#define MEMORY ((size_t)1 << 30)

// ---- what there is to tune

static int *levels_of(const struct graph *g, const bool *tuned)
{
	int *level = xcalloc((size_t)g->n_nodes + 1, sizeof *level);
	for (int n = 0; n < g->n_nodes; n++) {
		const struct node *node = &g->node[n];
		for (int i = 0; i < node->n_in; i++) {
			int from = node->in[i] >= 0 ? g->value[node->in[i]].producer : -1;
			if (from >= 0 && level[from] + tuned[from] > level[n])
				level[n] = level[from] + tuned[from];
		}
	}
	return level;
}

static size_t bytes_wanted(const struct tuner *t, const struct tune_site *s)
{
	return (size_t)t->opt.samples * (size_t)s->rows * (size_t)(s->groups * s->m) * sizeof(float);
}

// Rows of the input, the sums of two halves and of both, what fit.c takes, and the wanted outputs that are not held.
static size_t bytes_at_hand(const struct tuner *t, const struct place *p)
{
	const struct tune_site *s = &p->site;
	size_t rows = (size_t)t->opt.samples * (size_t)s->rows * (size_t)(s->groups * s->k) * sizeof(float);
	return rows + 5 * moments_bytes(s->k, s->m) + (size_t)(s->groups * s->m * s->k) * 3 * sizeof(double) +
	       (p->held ? 0 : bytes_wanted(t, s));
}

static int by_level(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	if (x->level != y->level)
		return x->level - y->level;
	return (x->site.node > y->site.node) - (x->site.node < y->site.node);
}

static void leave(struct tuner *t, const struct place *p)
{
	size_t bytes = bytes_at_hand(t, p);
	t->left++;
	if (bytes <= t->left_bytes)
		return;
	t->left_bytes = bytes;
	t->left_node = p->site.node;
}

// One half of the memory holds wanted outputs, the other is for the nodes at hand. Outputs that find no room are computed again for each
// batch: memory decides how long it takes, and which nodes are left alone, not what becomes of the others.
static void find_places(struct tuner *t)
{
	int64_t most = ROWS / t->opt.samples < SAMPLE_ROWS ? ROWS / t->opt.samples : SAMPLE_ROWS;
	size_t half = t->opt.memory / 2, wanted = 0;
	bool *tuned = xcalloc((size_t)t->g->n_nodes + 1, 1);
	t->place = xcalloc((size_t)t->g->n_nodes + 1, sizeof *t->place);
	for (int n = 0; n < t->g->n_nodes; n++) {
		struct place *p = &t->place[t->n];
		if (!site_find(&p->site, t->plan, n, most < 8 ? 8 : most))
			continue;
		p->held = wanted + bytes_wanted(t, &p->site) <= half;
		if (bytes_at_hand(t, p) > half) {
			leave(t, p);
			continue;
		}
		wanted += p->held ? bytes_wanted(t, &p->site) : 0;
		tuned[n] = true;
		t->n++;
	}
	int *level = levels_of(t->g, tuned);
	for (int i = 0; i < t->n; i++)
		t->place[i].level = level[t->place[i].site.node];
	qsort(t->place, (size_t)t->n, sizeof *t->place, by_level);
	free(level);
	free(tuned);
}

enum status tuner_no_memory(const struct tuner *t, const struct place *p, struct error *err)
{
	error_set(err, STATUS_NOMEM, "node %s: no memory to tune it", t->g->node[p->site.node].name);
	return graph_error(t->g, -1, err);
}

static enum status take_wanted(struct tuner *t, struct place *p, struct error *err)
{
	p->wanted = mem_try_array(bytes_wanted(t, &p->site), 1);
	return p->wanted ? STATUS_OK : tuner_no_memory(t, p, err);
}

enum status tuner_open(struct tuner **out, struct engine *e, struct plan *p, const struct tune_options *opt, struct error *err)
{
	struct tuner *t = xcalloc(1, sizeof *t);
	enum status st = STATUS_OK;
	*t = (struct tuner){.e = e, .plan = p, .g = p->g, .opt = *opt};
	pthread_mutex_init(&t->lock, NULL);
	t->opt.memory = opt->memory ? opt->memory : MEMORY;
	if (opt->samples < 2)
		st = error_set(err, STATUS_REFUSED, "weights are tuned on two samples at least: one half fits, the other judges");
	else
		find_places(t);
	for (int i = 0; i < t->n && st == STATUS_OK; i++)
		if (t->place[i].held)
			st = take_wanted(t, &t->place[i], err);
	if (st == STATUS_OK && t->n > 0)
		st = tuner_look(t, SIM_FLOAT, 0, t->n, err);
	if (st == STATUS_OK)
		*out = t;
	else
		tuner_free(&t);
	return st;
}

void tuner_free(struct tuner **tp)
{
	struct tuner *t = *tp;
	if (!t)
		return;
	for (int i = 0; i < t->n; i++)
		free(t->place[i].wanted);
	pthread_mutex_destroy(&t->lock);
	free(t->place);
	free(t);
	*tp = NULL;
}

int tuner_nodes(const struct tuner *t)
{
	return t->n;
}

int tuner_left(const struct tuner *t, int *node, size_t *memory)
{
	*node = t->left_node;
	*memory = 2 * t->left_bytes;
	return t->left;
}

struct tuning *tuner_state(const struct tuner *t)
{
	return tuning_copy(t->plan->tuning);
}

void tuner_go_back(struct tuner *t, struct tuning *to)
{
	struct tuning *old = t->plan->tuning;
	t->plan->tuning = tuning_take(to);
	tuning_drop(&old);
}

// ---- level by level

static void tune_one(void *arg, int i, int worker, int width)
{
	struct tuner *t = arg;
	struct error err = {0};
	(void)worker, (void)width;
	if (tuner_fit(t, &t->place[t->first + i], &err) == STATUS_OK)
		return;
	pthread_mutex_lock(&t->lock);
	t->err = err;
	pthread_mutex_unlock(&t->lock);
}

static void put_tuned(struct tuner *t, int first, int last)
{
	struct tuning *next = tuning_copy(t->plan->tuning);
	for (int i = first; i < last; i++) {
		struct tuned *one = &t->place[i].tuned;
		if (!one->weight.data)
			continue;
		one->weight_key = tensor_key(&one->weight);
		one->bias_key = one->bias.data ? tensor_key(&one->bias) : (struct key){0};
		tuning_put(next, one);
		*one = (struct tuned){0};
	}
	tuner_go_back(t, next);
	tuning_drop(&next);
}

// How many of first..last-1 can share a pass: of one level, and together within the memory.
static int batch_end(const struct tuner *t, int first, int last)
{
	size_t bytes = bytes_at_hand(t, &t->place[first]);
	int end = first + 1;
	while (end < last && t->place[end].level == t->place[first].level &&
	       bytes + bytes_at_hand(t, &t->place[end]) <= t->opt.memory / 2)
		bytes += bytes_at_hand(t, &t->place[end++]);
	return end;
}

static enum status take_rows(struct tuner *t, int first, int last, struct error *err)
{
	bool held = true;
	for (int i = first; i < last; i++) {
		struct place *p = &t->place[i];
		const struct tune_site *s = &p->site;
		p->row = mem_try_array((size_t)(t->opt.samples * s->rows) * (size_t)(s->groups * s->k), sizeof(float));
		if (!p->row)
			return tuner_no_memory(t, p, err);
		if (!p->held && take_wanted(t, p, err) != STATUS_OK)
			return err->status;
		held = held && p->held;
	}
	if (!held && tuner_look(t, SIM_FLOAT, first, last, err) != STATUS_OK)
		return err->status;
	return tuner_look(t, SIM_FULL, first, last, err);
}

static void drop_batch(struct tuner *t, int first, int last)
{
	for (int i = first; i < last; i++) {
		struct place *p = &t->place[i];
		free(p->row);
		p->row = NULL;
		if (!p->held) {
			free(p->wanted);
			p->wanted = NULL;
		}
		tuned_drop(&p->tuned);
	}
}

static enum status run_batch(struct tuner *t, int first, int last, struct error *err)
{
	enum status st = take_rows(t, first, last, err);
	if (st == STATUS_OK) {
		jobs_run(engine_jobs(t->e), last - first, tune_one, t, t->opt.cancel);
		*err = t->err;
		st = err->status;
	}
	if (st == STATUS_OK && t->opt.cancel && atomic_load(t->opt.cancel))
		st = error_set(err, STATUS_CANCELLED, "cancelled");
	if (st == STATUS_OK)
		put_tuned(t, first, last);
	drop_batch(t, first, last);
	return st;
}

enum status tuner_run(struct tuner *t, int first, int last, struct tune_row *row, struct error *err)
{
	enum status st = STATUS_OK;
	for (int at = first; at < last && st == STATUS_OK;) {
		int end = batch_end(t, at, last);
		if (t->opt.tell)
			t->opt.tell(t->opt.tell_arg, t->g->node[t->place[at].site.node].name, (double)at / t->n);
		st = run_batch(t, at, end, err);
		for (int i = at; i < end && st == STATUS_OK && row; i++)
			row[i - first] = t->place[i].done;
		at = end;
	}
	return st;
}
