// One sample through the network, under all wanted simulations at once: executes forwards what is marked,
// shows each wanted tensor while it is warm, and drops it after its last use.
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include "exec/exec.h"
#include "keys.h"
#include "qtui/engine/eval.h"
#include "sample_state.h"

static const struct dataset *samples(const struct state *st)
{
	return st->pass->data ? st->pass->data : st->r->e->d;
}

static bool keeps(const struct state *st)
{
	return st->r->memo && st->pass->keep != KEEP_NOTHING;
}

static void drop_use(struct state *st, enum sim sim, int v)
{
	if (--st->uses[sim][v] > 0)
		return;
	rep_drop(&st->env[sim][v]);
	rep_drop(&st->codes[sim][v]);
}

static void show(struct state *st, int v)
{
	struct sighting g = {.sample = st->s->index, .value = v, .round = st->sweep->round, .worker = st->s->worker,
	    .width = st->showing ? 1 : st->width};
	bool any = false;
	for (int sim = 0; sim < SIM_COUNT; sim++)
		if (state_wants(st, (enum sim)sim, v)) {
			g.rep[sim] = &st->env[sim][v];
			any = true;
		}
	if (!any)
		return;
	if (st->showing)
		showing_add(st->showing, &g);
	else
		st->pass->visit(st->pass->arg, &g);
	for (int sim = 0; sim < SIM_COUNT; sim++)
		if (g.rep[sim])
			drop_use(st, (enum sim)sim, v);
}

// In multiply-adds an element: what decoding and resizing an image takes, or reading an array.
#define LOADING 800.0

// The pixels of the sample, from the store, or into it.
static enum status take_pixels(struct state *st, struct rep *pixels)
{
	struct store *s = st->r->e->store;
	struct key k = key_add_text(st->sample_key, "pixels");
	double owed;
	if (!st->r->memo || store_get(s, k, 0, pixels, &owed))
		return st->r->memo ? STATUS_OK : STATUS_UNSUPPORTED;
	enum status status = dataset_pixels(samples(st), st->s->index, &pixels->t, st->err);
	if (status == STATUS_OK && keeps(st))
		store_put(s, k, pixels, LOADING * (double)tensor_count(&pixels->t), 1, 0);
	return status;
}

// Images are kept as pixels, which take a quarter of the memory and little to become
// floats again; other inputs like results.
static enum status load_sample(struct state *st, struct tensor *in)
{
	struct rep pixels = {0};
	enum status s = take_pixels(st, &pixels);
	if (s == STATUS_OK)
		s = dataset_load_pixels(samples(st), st->s->index, &pixels.t, in, st->err);
	else if (s == STATUS_UNSUPPORTED && st->err->text[0] == '\0')
		s = dataset_load(samples(st), st->s->index, in, NULL, st->err);
	for (int i = 0; s == STATUS_OK && !pixels.t.data && keeps(st) && i < st->r->g->n_inputs; i++) {
		struct rep r = {.t = in[i]};
		store_put(st->r->e->store, state_key(st, SIM_FLOAT, st->r->g->input[i]), &r, LOADING * (double)tensor_count(&in[i]), 1, 0);
	}
	rep_drop(&pixels);
	return s;
}

// Inputs are the same under every simulation.
static enum status load_inputs(struct state *st)
{
	const struct graph *g = st->r->g;
	bool missing = false;
	for (int i = 0; i < g->n_inputs; i++) {
		int v = g->input[i];
		for (int sim = 0; sim < SIM_COUNT; sim++)
			if (st->uses[sim][v] == 0)
				continue;
			else if (st->s->given)
				st->env[sim][v].t = tensor_share(&st->s->given[i]);
			else if (!(st->r->memo && state_stored(st, (enum sim)sim, v)))
				missing = true;
	}
	if (!missing)
		return STATUS_OK;
	struct tensor *in = xcalloc((size_t)g->n_inputs, sizeof *in);
	enum status s = load_sample(st, in);
	for (int i = 0; s == STATUS_OK && i < g->n_inputs; i++) {
		int v = g->input[i];
		struct rep r = {.t = in[i]};
		for (int sim = 0; sim < SIM_COUNT; sim++)
			if (st->uses[sim][v] > 0) {
				rep_drop(&st->env[sim][v]);
				st->env[sim][v] = rep_share(&r);
			}
	}
	for (int i = 0; i < g->n_inputs; i++)
		tensor_drop(&in[i]);
	free(in);
	return s;
}

// Nodes that read one float tensor mostly want it on one grid: it is quantized once.
static enum status apply_shared(struct state *st, struct exec *x, int v, const struct quantizer *q, struct rep *hold)
{
	enum sim source = state_source(x->sim);
	struct rep *codes = &st->codes[source][v];
	enum status status = STATUS_OK;
	if (!codes->coded || codes->q.rounding != q->rounding || !quantizer_same_grid(rep_quantizer(codes), q)) {
		rep_drop(codes);
		status = rep_apply(codes, &st->env[source][v], q, x->width, x->err);
	}
	if (status == STATUS_OK)
		*hold = rep_share(codes);
	return status;
}

// Input i as the node sees it: hold[i] keeps what was made for this step.
static enum status gather(struct state *state, struct exec *x, struct rep *env, int i, struct rep *hold)
{
	int v = x->node->in[i];
	if (v < 0)
		return STATUS_OK;
	const struct tensor *c = slot_constant(x->g, x->plan, x->sim, x->step->node, i);
	bool takes_quantizer = x->g->value[v].type == DT_F32 && !exec_raw_parameter(x, i);
	const struct quantizer *q = takes_quantizer ? slot_in_quantizer(x->plan, x->sim, x->step->node, i) : NULL;
	struct rep constant = {0};
	struct rep *r = &env[v];
	if (c) {
		constant.t = tensor_share(c);
		r = &constant;
	}
	enum status st = STATUS_OK;
	bool last = !c && state->uses[state_source(x->sim)][v] == 1;
	if (q && !c && !r->coded && quantizer_has_codes(q) && (!last || state->codes[state_source(x->sim)][v].coded))
		st = apply_shared(state, x, v, q, hold);
	else if (q)
		st = rep_apply(hold, r, q, x->width, x->err);
	else if (last)
		*hold = rep_move(r); // its last use: the step may have its memory
	else
		*hold = rep_share(r);
	rep_drop(&constant);
	x->in[i] = hold;
	return st;
}

// The place of a part, or of a whole, of a Concat that is executed too; NULL: it has none.
// A node alone reads the float network, and is not read.
static const struct place *find_place(const struct state *st, enum sim sim, struct part part, struct place *p)
{
	const struct runner *r = st->r;
	if (part.concat < 0 || sim == SIM_ALONE)
		return NULL;
	const struct node *concat = &r->g->node[r->places.node[part.concat]];
	int step = r->steps.of_value[concat->out[0]]; // -1: a function is fused to it, and only what that gives is anybody's
	if (step < 0 || !st->run[sim][step])
		return NULL;
	*p = (struct place){.g = r->g, .concat = concat, .whole = &st->whole[sim][part.concat], .input = part.input};
	return p;
}

static enum status execute(struct state *st, enum sim sim, const struct step *s)
{
	const struct runner *r = st->r;
	const struct node *n = &r->g->node[s->node];
	int n_in = s->swish ? 1 : n->n_in, n_out = step_n_out(r->g, s);
	struct rep *hold = st->hold, *out = st->out, *env = st->env[state_source(sim)];
	struct exec x = {.e = r->e, .g = r->g, .plan = r->plan, .sim = sim, .worker = st->s->worker, .width = st->width, .step = s,
	    .node = n, .in = st->in, .out = out, .err = st->err, .residual = s->residual >= 0 ? &env[s->residual] : NULL};
	struct place place, whole;
	int v0 = step_out(r->g, s, 0);
	x.place = v0 < 0 ? NULL : find_place(st, sim, r->places.of_value[v0], &place);
	x.whole = find_place(st, sim, (struct part){.concat = r->places.of_node[s->node]}, &whole);
	enum status status = STATUS_OK;
	memset(hold, 0, (size_t)n->n_in * sizeof *hold);
	memset(st->in, 0, (size_t)n->n_in * sizeof *st->in);
	memset(out, 0, (size_t)n->n_out * sizeof *out);
	for (int i = 0; status == STATUS_OK && i < n_in; i++)
		status = gather(st, &x, env, i, &hold[i]);
	if (status == STATUS_OK)
		status = exec_step(&x);
	for (int i = 0; i < n->n_in; i++)
		rep_drop(&hold[i]);
	for (int i = 0; i < n_out; i++) {
		int v = step_out(r->g, s, i);
		if (status == STATUS_OK && v >= 0 && st->uses[sim][v] > 0)
			st->env[sim][v] = out[i];
		else
			rep_drop(&out[i]);
	}
	return status;
}

// What it takes to have the step's results again: its own work, and that of the steps
// before it whose results are not kept.
static double work_of(const struct state *st, enum sim sim, const struct step *s)
{
	const struct graph *g = st->r->g;
	double work = (double)s->cost;
	for (int i = 0; i < step_n_in(g, s); i++)
		if (step_in(g, s, i) >= 0)
			work += st->owed[sim][step_in(g, s, i)];
	return work;
}

static void after(struct state *st, enum sim sim, const struct step *s)
{
	const struct runner *r = st->r;
	if (st->pass->computed)
		atomic_fetch_add(st->pass->computed, 1);
	if (!keeps(st) || sim == SIM_ALONE)
		return;
	double work = work_of(st, sim, s);
	for (int i = 0; i < step_n_out(r->g, s); i++) {
		int v = step_out(r->g, s, i);
		if (v >= 0 && st->uses[sim][v] > 0)
			state_keep(st, sim, v, work);
	}
}

static void release_inputs(struct state *st, enum sim sim, const struct step *s)
{
	const struct graph *g = st->r->g;
	for (int i = 0; i < step_n_in(g, s); i++)
		if (step_in(g, s, i) >= 0)
			drop_use(st, state_source(sim), step_in(g, s, i));
}

// The results of a step alone that are those of the quantized network.
static void share_full(struct state *st, const struct step *s)
{
	for (int i = 0; i < step_n_out(st->r->g, s); i++) {
		int v = step_out(st->r->g, s, i);
		if (v < 0 || st->uses[SIM_ALONE][v] == 0)
			continue;
		st->env[SIM_ALONE][v] = rep_share(&st->env[SIM_FULL][v]);
		drop_use(st, SIM_FULL, v);
	}
}

static bool cancelled(const struct state *st)
{
	return st->pass->cancel && atomic_load(st->pass->cancel);
}

// The float tensor last: it is the largest of what is shown next, and then still warm.
static const enum sim order[SIM_COUNT] = {SIM_WEIGHTS, SIM_FULL, SIM_ALONE, SIM_FLOAT};

static enum status forward(struct state *st)
{
	const struct runner *r = st->r;
	for (int i = 0; i < r->g->n_inputs; i++)
		show(st, r->g->input[i]);
	for (int i = 0; i < st->sweep->end; i++) {
		const struct step *s = &r->steps.step[i];
		for (int k = 0; k < SIM_COUNT; k++) {
			enum sim sim = order[k];
			if (!st->run[sim][i])
				continue;
			if (cancelled(st))
				return error_set(st->err, STATUS_CANCELLED, "cancelled");
			atomic_long *busy = st->pass->busy_ns ? &st->pass->busy_ns[sim] : NULL;
			double begin = busy ? clock_seconds() : 0;
			enum status status = execute(st, sim, s);
			if (busy)
				atomic_fetch_add(busy, (long)((clock_seconds() - begin) * 1e9));
			if (status != STATUS_OK)
				return status;
			after(st, sim, s);
			release_inputs(st, sim, s);
		}
		if (st->same[i])
			share_full(st, s);
		for (int k = 0; k < step_n_out(r->g, s); k++)
			if (step_out(r->g, s, k) >= 0)
				show(st, step_out(r->g, s, k));
		if (st->pass->done && i >= st->sweep->first)
			atomic_fetch_add(st->pass->done, 1);
	}
	return STATUS_OK;
}

// A sample of a pass that has several threads to itself gives one of them to the visitor and,
// for a while, to what prepares kernels.
static void begin_helpers(struct state *st)
{
	st->width = st->s->width;
	if (!st->r->memo || st->width < 2)
		return;
	st->showing = showing_begin(st->pass);
	st->ahead = ahead_begin(st->r, st->run);
	st->width -= st->showing != NULL;
	omp_set_num_threads(st->width);
}

enum status run_sample(const struct runner *r, const struct sample *s, struct error *err)
{
	struct state st = {.r = r, .s = s, .sweep = s->sweep, .pass = s->sweep->pass, .err = err};
	if (!s->given && samples(&st))
		st.sample_key = dataset_key(samples(&st), s->index);
	st.sample_key = key_add_int(st.sample_key, r->e->opt.backend);
	state_init(&st);
	state_mark(&st);
	begin_helpers(&st);
	struct eval_limits before = eval_limit((struct eval_limits){0});
	eval_limit(st.pass->cancel ? (struct eval_limits){.cancel = st.pass->cancel} : before); // a branch is cancelled with its sample
	enum status status = load_inputs(&st);
	if (status == STATUS_OK)
		status = forward(&st);
	eval_limit(before);
	showing_end(&st.showing);
	ahead_end(&st.ahead);
	state_done(&st, status == STATUS_OK);
	return status;
}
