// If: the branch that is taken is a network of its own, run by the same families of kernels on floats.
// Its results may have any shape.
#include <stdlib.h>
#include "../runner.h"
#include "exec.h"

static enum status run_branch(struct exec *x, const struct tensor *const *in, struct tensor *out)
{
	int which = *(const uint8_t *)in[0]->data ? 0 : 1;
	const struct runner *r = engine_branch(x->e, x->step->node, which);
	int n = x->node->n_in - 1;
	struct tensor *given = xcalloc((size_t)n + 1, sizeof *given);
	for (int i = 0; i < n; i++)
		if (in[i + 1])
			given[i] = *in[i + 1];
	struct inference q = {.sim = SIM_FLOAT, .in = given, .want = r->g->output, .n_want = r->g->n_outputs, .out = out};
	enum status st = runner_infer(r, &q, x->worker, x->width, x->err);
	free(given);
	return st;
}

static bool is_choice(const struct exec *x)
{
	const struct node *n = x->node;
	return n->op->id == OP_If && n->n_subgraphs == 2 && n->subgraph[0]->n_outputs == n->n_out && n->subgraph[1]->n_outputs == n->n_out &&
	    x->in[0] && x->in[0]->t.type == DT_BOOL && tensor_count(&x->in[0]->t) == 1;
}

enum status exec_if(struct exec *x)
{
	if (!is_choice(x))
		return STATUS_UNSUPPORTED;
	int n_in = x->node->n_in, n_out = x->node->n_out;
	struct rep *hold = xcalloc((size_t)n_in + 1, sizeof *hold);
	const struct tensor **in = xcalloc((size_t)n_in + 1, sizeof *in);
	struct tensor *result = xcalloc((size_t)n_out + 1, sizeof *result);
	enum status st = exec_plain_inputs(x, hold, in);
	if (st == STATUS_OK)
		st = run_branch(x, in, result);
	for (int i = 0; st == STATUS_OK && i < n_out; i++) {
		struct rep y = {.t = result[i]};
		result[i] = (struct tensor){0};
		st = exec_finish(x, i, &y);
	}
	for (int i = 0; i < n_in; i++)
		rep_drop(&hold[i]);
	for (int i = 0; i < n_out; i++)
		tensor_drop(&result[i]);
	free(hold);
	free(in);
	free(result);
	return st;
}
