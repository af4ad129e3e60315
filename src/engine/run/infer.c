// Single runs on given inputs, and the branches of If nodes, which are such runs too.
#include <stdlib.h>
#include <string.h>
#include "exec/exec.h"
#include "runner.h"

struct collecting {
	const struct inference *q;
	enum status status;
	struct error *err;
};

static void collect(void *arg, const struct sighting *s)
{
	struct collecting *f = arg;
	const struct inference *q = f->q;
	for (int i = 0; i < q->n_want && f->status == STATUS_OK; i++) {
		struct rep plain = {0};
		if (q->want[i] != s->value)
			continue;
		f->status = (q->codes ? rep_to_layout : rep_to_float_layout)(&plain, s->rep[q->sim], LAYOUT_PLAIN, s->width, f->err);
		q->out[i] = plain.t;
	}
}

enum status runner_infer(const struct runner *r, const struct inference *q, int worker, int width, struct error *err)
{
	struct collecting f = {.q = q, .err = err};
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
	uint64_t plan; // its id: the plan itself may be gone; 0: none
	enum sim sim;
	bool *want;
};

void kept_free(struct kept_runner **k)
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
	uint64_t id = plan ? plan->id : 0;
	if (k && k->plan == id && k->sim == sim && memcmp(k->want, want, (size_t)e->g->n_values) == 0) {
		free(want);
		return &k->r;
	}
	kept_free(&e->kept);
	k = e->kept = xcalloc(1, sizeof *k);
	*k = (struct kept_runner){.plan = id, .sim = sim, .want = want};
	wants[sim] = want;
	runner_init(&k->r, e, sim == SIM_FLOAT ? NULL : plan, wants, false);
	return &k->r;
}

struct lone {
	const struct runner *r;
	const struct inference *q;
	enum status status;
	struct error *err;
};

static void infer_lone(void *arg, int i, int worker, int width)
{
	struct lone *l = arg;
	(void)i;
	l->status = runner_infer(l->r, l->q, worker, width, l->err);
}

enum status engine_infer(struct engine *e, const struct plan *plan, const struct inference *q, struct error *err)
{
	bool *want = xcalloc((size_t)e->g->n_values + 1, sizeof *want);
	kernels_turn(e->kernels);
	for (int i = 0; i < q->n_want; i++)
		want[q->want[i]] = !e->g->value[q->want[i]].constant;
	struct lone l = {.r = kept_runner(e, plan, q->sim, want), .q = q, .err = err};
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
