// A kernel belongs to its operator, its parameters and the form of its input. The form is guessed from the graph
// and the plan; after a wrong guess the kernel is not found by who needs it, and is made again.
#include "ahead.h"

#include <omp.h>
#include <stdlib.h>
#include "exec/exec.h"
#include "keys.h"

struct ahead {
	const struct runner *r;
	bool *run[SIM_COUNT];
	pthread_t thread;
	atomic_bool stop;
};

static int place_of(const struct node *n, int value)
{
	int i = 0;
	while (n->out[i] != value)
		i++;
	return i;
}

// Whose codes a value holds; NULL: floats. Operators without a quantizer pass on what they read.
static const struct quantizer *codes_of(const struct runner *r, enum sim sim, int value)
{
	for (int node; value >= 0 && (node = r->g->value[value].producer) >= 0;) {
		const struct node *n = &r->g->node[node];
		const struct quantizer *q = slot_out_quantizer(r->plan, sim, node, place_of(n, value));
		if (q || !(n->op->flags & (OPF_MOVES | OPF_VIEW)))
			return q;
		value = n->n_in > 0 ? n->in[0] : -1;
	}
	return NULL;
}

static bool has_shape(const struct graph *g, int value)
{
	return value >= 0 && !g->value[value].constant && g->value[value].shape.rank == 4 && shape_count(&g->value[value].shape) > 0;
}

// The first input of a step as it will be when it is there, but for its data.
static bool guess_input(const struct runner *r, enum sim sim, const struct step *s, struct rep *in)
{
	int v = r->g->node[s->node].in[0];
	if (!has_shape(r->g, v) || !has_shape(r->g, step_out(r->g, s, 0)))
		return false;
	bool blocked = r->g->value[v].producer >= 0 && r->e->opt.backend == BACKEND_ONEDNN;
	const struct quantizer *q = slot_in_quantizer(r->plan, sim, s->node, 0);
	*in = (struct rep){.t = {.type = DT_F32, .shape = r->g->value[v].shape, .layout = blocked ? LAYOUT_BLOCK : LAYOUT_PLAIN}};
	if (!q && sim != SIM_ALONE)
		q = codes_of(r, sim, v);
	if (q && quantizer_has_codes(q)) {
		in->t.type = quantizer_dtype(q);
		rep_set_quantizer(in, q);
	}
	return true;
}

static void prepare_step(const struct runner *r, enum sim sim, const struct step *s)
{
	const struct node *n = &r->g->node[s->node];
	struct error err = {0};
	struct rep first;
	if ((n->op->id != OP_Conv && n->op->id != OP_ConvTranspose) || !guess_input(r, sim, s, &first))
		return;
	struct rep **in = xcalloc((size_t)n->n_in, sizeof *in);
	struct exec x = {.e = r->e, .g = r->g, .plan = r->plan, .sim = sim, .worker = r->e->opt.threads, .width = 1, .step = s, .node = n,
	    .in = in, .err = &err};
	in[0] = &first;
	kernels_step(r->e->kernels, x.worker);
	exec_conv_prepare(&x);
	free(in);
}

static void *prepare_all(void *arg)
{
	const struct ahead *a = arg;
	omp_set_num_threads(1);
	for (int i = 0; i < a->r->steps.n; i++)
		for (int sim = 0; sim < SIM_COUNT && !atomic_load(&a->stop); sim++)
			if (a->run[sim][i] && !kernels_full(a->r->e->kernels))
				prepare_step(a->r, (enum sim)sim, &a->r->steps.step[i]);
	return NULL;
}

struct ahead *ahead_begin(const struct runner *r, bool *const run[SIM_COUNT])
{
	struct ahead *a = xcalloc(1, sizeof *a);
	a->r = r;
	for (int sim = 0; sim < SIM_COUNT; sim++)
		a->run[sim] = run[sim];
	if (thread_start(&a->thread, prepare_all, a))
		return a;
	free(a);
	return NULL;
}

void ahead_end(struct ahead **ap)
{
	struct ahead *a = *ap;
	*ap = NULL;
	if (!a)
		return;
	atomic_store(&a->stop, true);
	pthread_join(a->thread, NULL);
	free(a);
}
