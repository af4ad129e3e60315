// The engine: runners over many samples, and single runs on given inputs.
#include <stdlib.h>
#include <string.h>
#include "exec.h"
#include "keys.h"
#include "runner.h"

// The most bytes of float tensors that are alive at once in a walk through the network.
static size_t live_peak(const struct graph *g)
{
	size_t live = 0, peak = 0;
	int *left = xcalloc((size_t)g->n_values + 1, sizeof *left);
	for (int n = 0; n < g->n_nodes; n++) {
		const struct node *node = &g->node[n];
		for (int i = 0; i < node->n_out; i++) {
			int64_t count = node->out[i] >= 0 ? shape_count(&g->value[node->out[i]].shape) : 0;
			if (count > 0) {
				left[node->out[i]] = g->value[node->out[i]].n_consumers;
				live += (size_t)count * sizeof(float);
			}
		}
		peak = live > peak ? live : peak;
		for (int i = 0; i < node->n_in; i++) {
			int v = node->in[i];
			if (v >= 0 && left[v] > 0 && --left[v] == 0)
				live -= (size_t)shape_count(&g->value[v].shape) * sizeof(float);
		}
	}
	free(left);
	return peak;
}

// What the store may hold: the budget without what the workers have in hand under several simulations at once.
static size_t room_of_store(const struct graph *g, const struct engine_options *opt)
{
	size_t in_hand = 2 * live_peak(g) * (size_t)opt->threads;
	return opt->memory > in_hand ? opt->memory - in_hand : 0;
}

// Multiply-adds a byte. Fresh memory takes about a nanosecond a byte in the system's hands, and its content goes out of the cache and comes
// back; what costs less than a few times that is computed again instead, and does not push out what is dear. Of a network all of whose
// tensors of all samples are SMALL together, everything is kept.
#define LEAST_WORTH 64.0
#define SMALL ((size_t)128 << 20)

static double least_worth(const struct graph *g, const struct dataset *d)
{
	size_t bytes = 0;
	for (int v = 0; v < g->n_values; v++) {
		int64_t count = g->value[v].constant ? 0 : shape_count(&g->value[v].shape);
		bytes += count > 0 ? (size_t)count * sizeof(float) : 0;
	}
	size_t samples = d ? (size_t)dataset_count(d) : 0;
	return bytes <= SMALL / (samples + 1) ? 0 : LEAST_WORTH;
}

// Without threads and store of its own.
static struct engine *engine_bare(const struct graph *g, const struct engine_options *opt)
{
	struct engine *e = xcalloc(1, sizeof *e);
	*e = (struct engine){.g = g, .opt = *opt};
	e->kernels = kernels_new();
	e->branch = xcalloc((size_t)g->n_nodes + 1, sizeof *e->branch);
	pthread_mutex_init(&e->branch_lock, NULL);
	e->worker = xcalloc((size_t)opt->threads, sizeof *e->worker);
	e->node_sig = xcalloc((size_t)g->n_nodes + 1, sizeof *e->node_sig);
	for (int i = 0; i < g->n_nodes; i++) {
		e->node_sig[i] = key_add_int(key_of_node(&g->node[i]), i);
		e->quantized_file |= g->node[i].op->id == OP_QuantizeLinear || g->node[i].op->id == OP_DynamicQuantizeLinear;
	}
	return e;
}

struct engine *engine_new(const struct graph *g, const struct dataset *d, const struct engine_options *opt)
{
	struct engine *e = engine_bare(g, opt);
	e->d = d;
	e->jobs = jobs_new(opt->threads);
	e->room = room_of_store(g, opt);
	e->store = store_new(e->room, least_worth(g, d));
	return e;
}

static bool *union_of(const struct graph *g, const bool *const want[SIM_COUNT])
{
	bool *keep = xcalloc((size_t)g->n_values + 1, sizeof *keep);
	for (int sim = 0; sim < SIM_COUNT; sim++)
		for (int v = 0; want[sim] && v < g->n_values; v++)
			keep[v] |= want[sim][v];
	return keep;
}

void runner_init(struct runner *r, struct engine *e, const struct plan *plan, const bool *const want[SIM_COUNT], bool memo)
{
	*r = (struct runner){.e = e, .g = e->g, .plan = plan, .memo = memo};
	memcpy(r->want, want, sizeof r->want);
	bool *keep = union_of(e->g, want);
	steps_build(&r->steps, e->g, plan, keep, !memo && !plan, e->quantized_file);
	places_build(&r->places, e->g);
	free(keep);
	for (int sim = 0; memo && sim < SIM_COUNT; sim++) {
		if (sim != SIM_FLOAT && !plan)
			continue;
		if (sim == SIM_ALONE && !want[sim])
			continue;
		r->key[sim] = xcalloc((size_t)e->g->n_values + 1, sizeof **r->key);
		engine_keys(e->g, plan, (enum sim)sim, r->key[sim]);
	}
}

void runner_done(struct runner *r)
{
	steps_done(&r->steps);
	places_done(&r->places);
	for (int sim = 0; sim < SIM_COUNT; sim++)
		free(r->key[sim]);
}

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
	bool *first = union_of(r->g, p->want), *any = union_of(r->g, r->want);
	stretches_find(out, r->g, &r->steps, first, any, p->last - p->first, r->e->room / HELD_PART);
	free(first);
	free(any);
}

static enum status run_stretches(const struct runner *r, const struct pass *p, const struct stretches *s, struct error *err)
{
	enum status st = STATUS_OK;
	int rounds = rounds_of(p);
	for (int i = 0; st == STATUS_OK && i < s->n; i++) {
		struct sweep w = {.pass = p, .first = i > 0 ? s->end[i - 1] : -1, .end = s->end[i], .until = s->until, .again = p->again};
		for (; st == STATUS_OK && w.round < rounds; w.round++) {
			w.want = w.round ? p->second : p->want;
			st = sweep(r, &w, err);
		}
		store_release(r->e->store, st == STATUS_OK ? i + 1 : s->n);
	}
	return st;
}

// Packed weights past this are dropped, oldest first, before a pass begins.
enum { KERNELS_KEPT_MIB = 512 };

enum status engine_pass(struct engine *e, const struct pass *p, struct error *err)
{
	struct runner r;
	struct stretches s;
	bool *any[SIM_COUNT];
	kernels_trim(e->kernels, (size_t)KERNELS_KEPT_MIB << 20);
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
	bool *keep = union_of(e->g, (const bool *const *)any);
	steps_build(&s, e->g, p->plan, keep, false, e->quantized_file);
	long n = (long)s.n * rounds_of(p);
	steps_done(&s);
	free(keep);
	for (int sim = 0; sim < SIM_COUNT; sim++)
		free(any[sim]);
	return n;
}

struct inference {
	const struct request *q;
	enum status status;
	struct error *err;
};

static void collect(void *arg, const struct sighting *s)
{
	struct inference *f = arg;
	const struct request *q = f->q;
	for (int i = 0; i < q->n_want && f->status == STATUS_OK; i++) {
		struct rep dense = {0}, plain = {0};
		if (q->want[i] != s->value)
			continue;
		if (q->codes)
			dense = rep_share(s->rep[q->sim]);
		else
			f->status = rep_to_float(&dense, s->rep[q->sim], s->width, f->err);
		if (f->status == STATUS_OK)
			f->status = rep_to_layout(&plain, &dense, LAYOUT_PLAIN, s->width, f->err);
		q->out[i] = plain.t;
		rep_drop(&dense);
	}
}

enum status runner_infer(const struct runner *r, const struct request *q, int worker, int width, struct error *err)
{
	struct inference f = {.q = q, .err = err};
	struct pass p = {.visit = collect, .arg = &f};
	struct sweep w = {.pass = &p, .want = r->want, .first = -1, .end = r->steps.n};
	struct sample s = {.worker = worker, .width = width, .given = q->in, .sweep = &w};
	for (int i = 0; i < q->n_want; i++)
		q->out[i] = (struct tensor){0};
	enum status st = run_sample(r, &s, err);
	st = f.status == STATUS_OK ? st : f.status;
	for (int i = 0; i < q->n_want; i++)
		if (st != STATUS_OK)
			tensor_drop(&q->out[i]);
		else if (r->g->value[q->want[i]].constant)
			q->out[i] = tensor_share(r->g->value[q->want[i]].constant);
	return st;
}

// The runner of the last inference is kept: the same request again prepares nothing.
struct kept_runner {
	struct runner r;
	const struct plan *plan;
	enum sim sim;
	bool *want;
};

static void kept_free(struct kept_runner **k)
{
	if (*k) {
		runner_done(&(*k)->r);
		free((*k)->want);
		free(*k);
	}
	*k = NULL;
}

static const struct runner *kept_runner(struct engine *e, const struct plan *plan, enum sim sim, bool *want)
{
	struct kept_runner *k = e->kept;
	const bool *wants[SIM_COUNT] = {0};
	if (k && k->plan == plan && k->sim == sim && memcmp(k->want, want, (size_t)e->g->n_values) == 0) {
		free(want);
		return &k->r;
	}
	kept_free(&e->kept);
	k = e->kept = xcalloc(1, sizeof *k);
	*k = (struct kept_runner){.plan = plan, .sim = sim, .want = want};
	wants[sim] = want;
	runner_init(&k->r, e, sim == SIM_FLOAT ? NULL : plan, wants, false);
	return &k->r;
}

struct lone {
	const struct runner *r;
	struct request q;
	enum status status;
	struct error *err;
};

static void infer_lone(void *arg, int i, int worker, int width)
{
	struct lone *l = arg;
	(void)i;
	l->status = runner_infer(l->r, &l->q, worker, width, l->err);
}

enum status engine_infer(struct engine *e, const struct plan *plan, enum sim sim, const struct tensor *in, const int *want, int n_want,
    bool codes, struct tensor *out, struct error *err)
{
	bool *w = xcalloc((size_t)e->g->n_values + 1, sizeof *w);
	kernels_trim(e->kernels, (size_t)KERNELS_KEPT_MIB << 20); // shapes that depend on data make a kernel each
	for (int i = 0; i < n_want; i++)
		w[want[i]] = !e->g->value[want[i]].constant;
	struct lone l = {.r = kept_runner(e, plan, sim, w), .err = err,
	    .q = {.sim = sim, .in = in, .want = want, .n_want = n_want, .codes = codes, .out = out}};
	jobs_run(e->jobs, 1, infer_lone, &l, NULL);
	return l.status;
}

const struct runner *engine_branch(struct engine *e, int node, int which)
{
	pthread_mutex_lock(&e->branch_lock);
	struct engine **b = &e->branch[node].of[which];
	if (!*b) {
		const struct graph *g = e->g->node[node].subgraph[which];
		bool *want = xcalloc((size_t)g->n_values + 1, sizeof *want);
		for (int i = 0; i < g->n_outputs; i++)
			want[g->output[i]] = !g->value[g->output[i]].constant;
		*b = engine_bare(g, &e->opt);
		(*b)->quantized_file = e->quantized_file;
		kept_runner(*b, NULL, SIM_FLOAT, want);
	}
	pthread_mutex_unlock(&e->branch_lock);
	return &(*b)->kept->r;
}

void engine_free(struct engine **ep)
{
	struct engine *e = *ep;
	if (!e)
		return;
	for (int i = 0; i < e->g->n_nodes; i++)
		for (int which = 0; which < 2; which++)
			engine_free(&e->branch[i].of[which]);
	free(e->branch);
	pthread_mutex_destroy(&e->branch_lock);
	kept_free(&e->kept);
	jobs_free(&e->jobs);
	store_free(&e->store);
	kernels_free(&e->kernels);
	for (int i = 0; i < e->opt.threads; i++)
		free(e->worker[i].scratch);
	free(e->worker);
	free(e->node_sig);
	free(e);
	*ep = NULL;
}

struct jobs *engine_jobs(struct engine *e)
{
	return e->jobs;
}

void engine_yield(struct engine *e)
{
	jobs_yield(e->jobs);
}

size_t engine_store_bytes(const struct engine *e)
{
	return store_bytes(e->store);
}

void engine_trim(struct engine *e, size_t bytes)
{
	store_trim(e->store, bytes);
}
