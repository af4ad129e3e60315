// Functions of one tensor, element by element and in any layout.
#include <string.h>
#include "../../kernels/elementwise/swish.h"
#include "../keys.h"
#include "../strips.h"

// Limits that the plan puts on the grid of what is clipped.
static void round_limit(const struct exec *x, int i, float *limit)
{
	const struct quantizer *q = i < x->node->n_in && x->node->in[i] >= 0 ? exec_param_quantizer(x, i) : NULL;
	struct tensor t = {.type = DT_F32, .data = limit};
	if (q)
		fake_quantize(&t, &t, q, 1);
}

// The activation that the step begins with. (In an epilogue limits stay as they are: they
// share the grid that is rounded to behind them.)
static bool node_act(const struct exec *x, struct act *a)
{
	const struct stand_in *f = stand_in_of(x->plan, x->sim, x->step->node);
	if (f && f->op) {
		*a = (struct act){.kind = strcmp(f->op, "LeakyRelu") == 0 ? ACT_LEAKY : ACT_HARDSIGMOID, .a = f->alpha, .b = f->beta};
		return true;
	}
	if (!step_act(x->g, x->node, a))
		return false;
	if (x->node->op->id == OP_Clip) {
		round_limit(x, 1, &a->a);
		round_limit(x, 2, &a->b);
	}
	return true;
}

static void apply(const struct exec *x, const float *in, float *out, int64_t n)
{
	struct act a;
	if (x->step->swish)
		elt_act(&(struct act){.kind = ACT_SWISH}, in, out, n);
	else if (node_act(x, &a))
		elt_act(&a, in, out, n);
	else
		op_unary(x->node, NULL, in, out, n);
	if (x->step->epi.act.kind != ACT_NONE)
		elt_act(&x->step->epi.act, out, out, n);
}

static bool is_unary(const struct exec *x)
{
	struct act a;
	if (!exec_float_input(x, 0))
		return false;
	return x->step->swish || node_act(x, &a) || ((x->node->op->flags & OPF_UNARY) && x->node->n_in == 1);
}

static struct act swish_or_act(const struct exec *x)
{
	struct act a = {0};
	if (x->step->swish)
		a.kind = ACT_SWISH;
	else
		node_act(x, &a);
	return a;
}

// From float to float nothing is bound to the bits of the plain code: those differ by processor and backend anyway.
static void float_strip(void *arg, const float *a, const float *b, float *y, int64_t n)
{
	const struct exec *x = arg;
	struct act act = swish_or_act(x);
	(void)b;
	swish_apply(&act, a, y, n);
}

static void unary_strip(void *arg, const float *a, const float *b, float *y, int64_t n)
{
	(void)b;
	apply(arg, a, y, n);
}

static bool is_fast_float(const struct exec *x)
{
	struct act a = swish_or_act(x);
	return !x->in[0]->coded && !exec_out_quantizer(x, 0) && x->e->opt.backend == BACKEND_ONEDNN &&
	    x->step->epi.act.kind == ACT_NONE && swish_serves(&a);
}

enum status exec_unary(struct exec *x)
{
	if (!is_unary(x))
		return STATUS_UNSUPPORTED;
	struct strips s = {.in = {{.rep = x->in[0]}}, .n_in = 1, .fn = is_fast_float(x) ? float_strip : unary_strip, .arg = x,
	    .layout = x->in[0]->t.layout, .shape = x->in[0]->t.shape};
	return strips_run(x, &s);
}
