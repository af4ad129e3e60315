// Steps: which nodes are executed at once. Fusion never changes what is computed, only how often memory is walked.
#include <float.h>
#include <stdlib.h>
#include "qtui/engine/op.h"
#include "run_impl.h"

static bool constant_scalar(const struct graph *g, const struct node *n, int i, float dflt, float *out)
{
	*out = dflt;
	if (i >= n->n_in || n->in[i] < 0)
		return true;
	const struct tensor *c = g->value[n->in[i]].constant;
	if (!c || c->type != DT_F32 || tensor_count(c) != 1)
		return false;
	*out = *(const float *)c->data;
	return true;
}

static bool clip_act(const struct graph *g, const struct node *n, struct act *a)
{
	const struct act_attrs *limits = n->attrs;
	*a = (struct act){.kind = ACT_CLIP};
	if (n->op->since < 11) {
		a->a = limits->low;
		a->b = limits->high;
		return true;
	}
	return constant_scalar(g, n, 1, -FLT_MAX, &a->a) && constant_scalar(g, n, 2, FLT_MAX, &a->b);
}

// The activation that a node is, if the epilogues know it.
bool step_act(const struct graph *g, const struct node *n, struct act *a)
{
	const struct act_attrs *of = n->attrs;
	switch (n->op->id) {
	case OP_Relu:
		*a = (struct act){.kind = ACT_RELU};
		return true;
	case OP_Clip:
		return clip_act(g, n, a);
	case OP_LeakyRelu:
		*a = (struct act){.kind = ACT_LEAKY, .a = of->alpha};
		return true;
	case OP_Sigmoid:
		*a = (struct act){.kind = ACT_SIGMOID};
		return true;
	case OP_Tanh:
		*a = (struct act){.kind = ACT_TANH};
		return true;
	case OP_HardSwish:
		*a = (struct act){.kind = ACT_HARDSWISH};
		return true;
	case OP_Mish:
		*a = (struct act){.kind = ACT_MISH};
		return true;
	case OP_HardSigmoid:
		*a = (struct act){.kind = ACT_HARDSIGMOID, .a = of->alpha, .b = of->beta};
		return true;
	default:
		return false;
	}
}

static bool is_swish(const struct graph *g, int sigmoid, int *mul)
{
	const struct node *s = &g->node[sigmoid];
	if (s->op->id != OP_Sigmoid)
		return false;
	const struct value *v = &g->value[s->out[0]];
	if (v->n_consumers != 1 || v->is_output)
		return false;
	const struct node *m = &g->node[v->consumer[0]];
	int other = m->in[0] == s->out[0] ? 1 : 0;
	*mul = v->consumer[0];
	return m->op->id == OP_Mul && m->in[other] == s->in[0];
}

static bool may_vanish(const struct graph *g, const bool *keep, int v)
{
	return g->value[v].n_consumers == 1 && !g->value[v].is_output && !(keep && keep[v]);
}

struct builder {
	const struct graph *g;
	const bool *keep;
	bool ordered;
	bool *taken;       // nodes that are part of an earlier step
	int *order;        // [n_values] index of the step that computes it, -1: not yet
};

// What has other results that somebody wants (a Split) has to give them itself.
static bool gives_more(const struct node *n)
{
	for (int i = 1; i < n->n_out; i++)
		if (n->out[i] >= 0)
			return true;
	return false;
}

// The only consumer of the step's result so far, if that result may vanish; -1 otherwise.
static int sole_consumer(const struct builder *b, const struct step *s)
{
	const struct node *n = &b->g->node[s->last];
	int v = n->out[0];
	return v >= 0 && may_vanish(b->g, b->keep, v) && !gives_more(n) ? b->g->value[v].consumer[0] : -1;
}

// What ONNX Runtime approximates in its own way is no part of another operator where its bits are wanted.
static bool stands_alone(const struct builder *b, const struct node *n)
{
	return b->ordered && op_eval_ordered(n->op->id) != NULL;
}

static void fuse_act(struct builder *b, struct step *s)
{
	const struct graph *g = b->g;
	int v = g->node[s->last].out[0], mul;
	struct act a;
	if (s->epi.act.kind != ACT_NONE)
		return;
	int next = sole_consumer(b, s);
	if (next >= 0 && step_act(g, &g->node[next], &a) && g->node[next].in[0] == v && !stands_alone(b, &g->node[next])) {
		s->epi.act = a;
		s->last = next;
		b->taken[next] = true;
		return;
	}
	const struct value *val = &g->value[v];
	if (val->n_consumers != 2 || val->is_output || (b->keep && b->keep[v]))
		return;
	int sigmoid = val->consumer[0];
	if (!is_swish(g, sigmoid, &mul) && !is_swish(g, sigmoid = val->consumer[1], &mul))
		return;
	if (g->node[sigmoid].in[0] != v || stands_alone(b, &g->node[sigmoid]) || (b->keep && b->keep[g->node[sigmoid].out[0]]))
		return;
	s->epi.act = (struct act){.kind = ACT_SWISH};
	s->last = mul;
	b->taken[sigmoid] = b->taken[mul] = true;
}

// A residual is added in the epilogue when it is there before this step runs and has the same shape.
static void fuse_add(struct builder *b, struct step *s)
{
	const struct graph *g = b->g;
	int next = sole_consumer(b, s), v = g->node[s->last].out[0];
	if (next < 0 || g->node[next].op->id != OP_Add || s->epi.add != ADD_NONE)
		return;
	const struct node *n = &g->node[next];
	int other = n->in[0] == v ? n->in[1] : n->in[0];
	if (other == v || other < 0 || g->value[other].constant || !shape_equal(&g->value[other].shape, &g->value[v].shape) ||
	    g->value[v].shape.rank != 4 || (g->value[other].producer >= 0 && b->order[other] < 0))
		return;
	s->epi.add = s->epi.act.kind == ACT_NONE ? ADD_BEFORE : ADD_AFTER;
	s->residual = other;
	s->last = next;
	b->taken[next] = true;
	if (s->epi.add == ADD_BEFORE)
		fuse_act(b, s);
}

// The step's result and one constant, in either order, give a float of the same shape.
static bool takes_constant(const struct graph *g, const struct node *n, int v, float *constant)
{
	int i = n->in[0] == v;
	return constant_scalar(g, n, i, 0.0f, constant) && n->in[i] >= 0 && g->value[v].type == DT_F32 &&
	    shape_equal(&g->value[n->out[0]].shape, &g->value[v].shape);
}

// A product with a constant and a sum with one: they are done in place while the result is warm.
static void fuse_scale(struct builder *b, struct step *s)
{
	static const enum op_id ops[] = {OP_Mul, OP_Add};
	float value[] = {1.0f, -0.0f}; // what changes no number
	for (int i = 0; i < 2; i++) {
		int next = sole_consumer(b, s);
		const struct node *n = next >= 0 ? &b->g->node[next] : NULL;
		if (!n || n->op->id != ops[i] || !takes_constant(b->g, n, b->g->node[s->last].out[0], &value[i]))
			continue;
		s->scaled = true;
		s->last = next;
		b->taken[next] = true;
	}
	s->gain = value[0];
	s->shift = value[1];
}

// A sum with a constant row behind the product with a constant matrix.
static void fuse_bias(struct builder *b, struct step *s)
{
	const struct graph *g = b->g;
	const struct node *product = &g->node[s->node];
	int next = sole_consumer(b, s), v = product->out[0];
	if (b->ordered || product->op->id != OP_MatMul || next < 0 || g->node[next].op->id != OP_Add)
		return;
	const struct value *x = &g->value[product->in[0]], *w = &g->value[product->in[1]];
	if (!w->constant || w->constant->type != DT_F32 || w->shape.rank != 2 || x->type != DT_F32 || x->shape.rank < 2 ||
	    shape_count(&g->value[v].shape) <= 0 || shape_count(&w->shape) <= 0 || !step_row(g, &g->node[next], v))
		return;
	s->bias = g->node[next].in[g->node[next].in[0] == v];
	s->last = next;
	b->taken[next] = true;
}

static void fuse_freely(struct builder *b, struct step *s)
{
	const struct node *first = &b->g->node[s->node];
	if (!b->ordered && step_norm_find(b->g, b->keep, s, b->taken))
		return;
	if (!(first->op->flags & OPF_WEIGHTED) || b->g->value[first->out[0]].type != DT_F32) // what follows is applied to floats
		return;
	fuse_bias(b, s);
	if (b->ordered || !step_gelu_find(b->g, b->keep, s, b->taken))
		fuse_act(b, s);
	if (b->g->node[s->node].op->id == OP_Conv)
		fuse_add(b, s);
	fuse_scale(b, s);
}

static void fuse_group(struct builder *b, struct step *s, const struct plan *plan)
{
	const struct group *gr = &plan->group[s->node];
	if (gr->kind != GROUP_ACTIVATION || gr->last == s->node || plan->stand_in[gr->last].op) // the float network has the node itself
		return;
	const struct node *next = &b->g->node[gr->last];
	struct act a;
	int v = b->g->node[s->node].out[0];
	if (!step_act(b->g, next, &a) || next->in[0] != v || stands_alone(b, next) || sole_consumer(b, s) != gr->last)
		return;
	s->epi.act = a;
	s->last = gr->last;
	b->taken[gr->last] = true;
}

static void fuse_swish(struct builder *b, struct step *s)
{
	int mul;
	if (!is_swish(b->g, s->node, &mul) || stands_alone(b, &b->g->node[s->node]) || (b->keep && b->keep[b->g->node[s->node].out[0]]))
		return;
	s->swish = true;
	s->last = mul;
	b->taken[mul] = true;
}

// Does what is moved keep its grid from the first node to the last?
// (Alone, the last would else be rounded as the first is.)
static bool keeps_grid(const struct plan *plan, int view, int behind)
{
	const struct quantizer *end = &plan_out(plan, behind, 0)->quant;
	return quantizer_same_grid(&plan_in(plan, view, 0)->quant, end) && quantizer_same_grid(&plan_out(plan, view, 0)->quant, end) &&
	    quantizer_same_grid(&plan_in(plan, behind, 0)->quant, end) &&
	    !plan_calibration_quantizer(plan, plan->first_in[behind]);
}

// A Reshape of what lies in blocks, and the Transpose behind it:
// apart, the one brings all elements into plain order for the other.
static void fuse_view(struct builder *b, struct step *s, const struct plan *plan)
{
	const struct graph *g = b->g;
	const struct node *n = &g->node[s->node];
	int next = n->op->flags & OPF_VIEW ? sole_consumer(b, s) : -1;
	if (next < 0 || g->node[next].op->id != OP_Transpose || n->in[0] < 0 || shape_count(&g->value[n->out[0]].shape) <= 0)
		return;
	const struct value *x = &g->value[n->in[0]];
	if (x->type != DT_F32 || x->shape.rank < 3 || x->shape.rank > 4 || (plan && !keeps_grid(plan, s->node, next)))
		return;
	s->last = next;
	b->taken[next] = true;
}

// What an element costs beside multiply-adds, in their time: it is read, moved or put through a function, and written.
enum { ELEMENT_COST = 30 };

static int64_t step_cost(const struct graph *g, const struct step *s)
{
	int64_t elements = 1;
	for (int i = 0; i < step_n_out(g, s); i++) {
		int64_t n = step_out(g, s, i) >= 0 ? shape_count(&g->value[step_out(g, s, i)].shape) : 0;
		elements += n > 0 ? n : 0;
	}
	return graph_macs_with_body(g, s->node) + ELEMENT_COST * elements;
}

// Along the way that costs most.
static void find_behind(const struct steps *all, const struct graph *g)
{
	double most = 0;
	for (int i = all->n - 1; i >= 0; i--) {
		const struct step *s = &all->step[i];
		double way = s->behind + (double)s->cost;
		most = way > most ? way : most;
		for (int k = 0; k < step_n_in(g, s); k++) {
			int from = step_in(g, s, k) >= 0 ? all->of_value[step_in(g, s, k)] : -1;
			if (from >= 0 && all->step[from].behind < way)
				all->step[from].behind = way;
		}
	}
	for (int i = 0; i < all->n; i++)
		all->step[i].behind /= most;
}

void steps_build(struct steps *out, const struct graph *g, const struct plan *plan, const bool *keep, bool free_fusion, bool ordered)
{
	struct builder b = {.g = g, .keep = keep, .ordered = ordered};
	b.taken = xcalloc((size_t)g->n_nodes + 1, sizeof *b.taken);
	b.order = xmalloc(((size_t)g->n_values + 1) * sizeof *b.order);
	for (int v = 0; v < g->n_values; v++)
		b.order[v] = -1;
	*out = (struct steps){.step = xcalloc((size_t)g->n_nodes + 1, sizeof *out->step)};
	for (int n = 0; n < g->n_nodes; n++) {
		if (b.taken[n])
			continue;
		struct step s = {.node = n, .last = n, .residual = -1, .bias = -1};
		if (!plan || plan->group[n].kind == GROUP_SWISH)
			fuse_swish(&b, &s);
		if (plan && !free_fusion)
			fuse_group(&b, &s, plan);
		else if (free_fusion)
			fuse_freely(&b, &s);
		fuse_view(&b, &s, plan);
		s.cost = step_cost(g, &s);
		for (int i = 0; i < step_n_out(g, &s); i++)
			if (step_out(g, &s, i) >= 0)
				b.order[step_out(g, &s, i)] = out->n;
		out->step[out->n++] = s;
	}
	out->of_value = b.order;
	find_behind(out, g);
	free(b.taken);
}

void steps_done(struct steps *s)
{
	free(s->step);
	free(s->of_value);
	*s = (struct steps){0};
}

int step_n_in(const struct graph *g, const struct step *s)
{
	return (s->swish ? 1 : g->node[s->node].n_in) + (s->residual >= 0);
}

int step_in(const struct graph *g, const struct step *s, int i)
{
	bool residual = s->residual >= 0 && i + 1 == step_n_in(g, s);
	int v = residual ? s->residual : g->node[s->node].in[i];
	return v >= 0 && !g->value[v].constant ? v : -1;
}

int step_n_out(const struct graph *g, const struct step *s)
{
	return s->node == s->last ? g->node[s->node].n_out : 1;
}

int step_out(const struct graph *g, const struct step *s, int i)
{
	return g->node[s->last].out[i];
}
