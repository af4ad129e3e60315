// The engine's life: what all its passes and single runs share.
#include <stdlib.h>
#include "exec/exec.h"
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

struct weights {
	size_t bytes, largest; // of all constants, of one
};

static struct weights weights_of(const struct graph *g)
{
	struct weights w = {0};
	for (int v = 0; v < g->n_values; v++) {
		size_t bytes = g->value[v].constant ? tensor_bytes(g->value[v].constant) : 0;
		w.bytes += bytes;
		w.largest = bytes > w.largest ? bytes : w.largest;
	}
	return w;
}

static size_t less_or_0(size_t a, size_t b)
{
	return a > b ? a - b : 0;
}

enum {
	BESIDE = 64 << 20, // bytes of packed weights that the program may hold beside its budget
	PACKED = 6,        // bytes of them a byte of weights, at the most: float, rounded for calibration, and codes, all transformed
};

// What the budget leaves when workers have tensors in hand, under several simulations at once, and weights,
// both rounded and packed, is shared: kernels get half of it at the most, or what they can fill.
// A budget that is less than what is in hand leaves them less than what they may hold beside it.
struct room {
	size_t kernels, store;
};

static struct room share(const struct graph *g, const struct engine_options *opt)
{
	struct weights w = weights_of(g);
	size_t in_hand = 2 * (live_peak(g) + w.largest) * (size_t)opt->threads, free = less_or_0(opt->memory, in_hand), full = PACKED * w.bytes;
	if (opt->memory == 0)
		return (struct room){.kernels = full + BESIDE};
	struct room r = {.kernels = free / 2 + less_or_0(BESIDE, less_or_0(in_hand, opt->memory))};
	r.store = less_or_0(free, less_or_0(full < r.kernels ? full : r.kernels, BESIDE));
	return r;
}

// Multiply-adds a byte. Fresh memory takes about a nanosecond a byte in the system's hands,
// and its content goes out of the cache and comes back; what costs less than a few times that
// is computed again instead, and does not push out what is dear.
#define LEAST_WORTH 64.0

struct engine *engine_bare(const struct graph *g, const struct engine_options *opt)
{
	struct engine *e = xcalloc(1, sizeof *e);
	*e = (struct engine){.g = g, .opt = *opt};
	e->kernels = kernels_new(opt->threads + 1, share(g, opt).kernels);
	e->branch = xcalloc((size_t)g->n_nodes + 1, sizeof *e->branch);
	pthread_mutex_init(&e->branch_lock, NULL);
	e->worker = xcalloc((size_t)opt->threads, sizeof *e->worker);
	e->node_sig = xcalloc((size_t)g->n_nodes + 1, sizeof *e->node_sig);
	for (int i = 0; i < g->n_nodes; i++)
		e->node_sig[i] = key_add_int(graph_node_key(&g->node[i]), i);
	e->quantized_file = graph_is_quantized(g);
	return e;
}

struct engine *engine_new(const struct graph *g, const struct dataset *d, const struct engine_options *opt)
{
	struct engine *e = engine_bare(g, opt);
	e->d = d;
	e->jobs = jobs_new(opt->threads);
	e->room = share(g, opt).store;
	e->store = store_new(e->room, LEAST_WORTH);
	return e;
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

void engine_set_memory(struct engine *e, size_t bytes)
{
	e->opt.memory = bytes;
	e->room = share(e->g, &e->opt).store;
	store_set_budget(e->store, e->room);
}

void engine_trim(struct engine *e, size_t bytes)
{
	store_trim(e->store, bytes);
}
