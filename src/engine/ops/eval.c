// graph_eval: node after node, in their order; a value is dropped after its last reader.
#include "qtui/engine/eval.h"

#include <stdlib.h>
#include "qtui/engine/op.h"

struct run {
	const struct graph *g;
	struct tensor *value; // by value id
	int *readers;         // still to come
	int width;
};

static _Thread_local struct eval_limits limits;

struct eval_limits eval_limit(struct eval_limits l)
{
	struct eval_limits before = limits;
	limits = l;
	return before;
}

// Operators that look at each element once are bounded by what they read and give; for others (products, sorting,
// suppression) the bound is every element of the output against every element of the largest input.
int64_t eval_work(const struct node *n, const struct tensor *const *in, const struct tensor *out)
{
	const unsigned once = OPF_UNARY | OPF_BINARY | OPF_MOVES | OPF_VIEW | OPF_ONCE;
	int64_t largest = 1, made = 1;
	for (int i = 0; i < n->n_in; i++)
		if (in[i] && shape_count(&in[i]->shape) > largest)
			largest = shape_count(&in[i]->shape);
	for (int i = 0; i < n->n_out; i++)
		if (shape_count(&out[i].shape) > made)
			made = shape_count(&out[i].shape);
	if (n->op->flags & once && n->op->id != OP_MaxPool) // whose window may be as large as its input
		return largest > made ? largest : made;
	return made > INT64_MAX / largest ? INT64_MAX : made * largest;
}

// The error has no text where there is no work left: an operator whose values are known when it runs says the same.
static enum status within_limits(const struct node *n, const struct tensor *const *in, const struct tensor *out, struct error *err)
{
	if (limits.cancel && atomic_load(limits.cancel))
		return error_set(err, STATUS_CANCELLED, "cancelled");
	if (!limits.work)
		return STATUS_OK;
	int64_t work = eval_work(n, in, out);
	*limits.work = *limits.work < 0 || work > *limits.work ? -1 : *limits.work - work - EVAL_NODE_WORK;
	if (*limits.work >= 0)
		return STATUS_OK;
	err->text[0] = '\0';
	return err->status = STATUS_UNSUPPORTED;
}

static void run_init(struct run *r, const struct graph *g, const struct tensor *const *in, int width)
{
	*r = (struct run){.g = g, .width = width};
	r->value = xcalloc((size_t)g->n_values + 1, sizeof *r->value);
	r->readers = xcalloc((size_t)g->n_values + 1, sizeof *r->readers);
	for (int i = 0; i < g->n_values; i++) {
		r->readers[i] = g->value[i].n_consumers + g->value[i].is_output;
		if (g->value[i].constant)
			r->value[i] = tensor_share(g->value[i].constant);
	}
	for (int i = 0; i < g->n_inputs; i++) {
		tensor_drop(&r->value[g->input[i]]);
		r->value[g->input[i]] = tensor_share(in[i]);
	}
}

static void run_done(struct run *r)
{
	for (int i = 0; i < r->g->n_values; i++)
		tensor_drop(&r->value[i]);
	free(r->value);
	free(r->readers);
}

static void drop_read(struct run *r, const struct node *n)
{
	for (int i = 0; i < n->n_in; i++)
		if (n->in[i] >= 0 && --r->readers[n->in[i]] == 0)
			tensor_drop(&r->value[n->in[i]]);
}

static void keep_results(struct run *r, const struct node *n, struct tensor *out)
{
	for (int i = 0; i < n->n_out; i++)
		if (n->out[i] >= 0 && r->readers[n->out[i]])
			r->value[n->out[i]] = out[i];
		else
			tensor_drop(&out[i]);
}

static void drop_results(const struct node *n, struct tensor *out)
{
	for (int i = 0; i < n->n_out; i++)
		tensor_drop(&out[i]);
}

static enum status run_node(struct run *r, const struct node *n, struct error *err)
{
	const struct tensor **in = xcalloc((size_t)n->n_in + 1, sizeof *in);
	struct tensor *out = xcalloc((size_t)n->n_out + 1, sizeof *out);
	enum status s;
	for (int i = 0; i < n->n_in; i++)
		in[i] = n->in[i] < 0 ? NULL : &r->value[n->in[i]];
	err->text[0] = '\0';
	s = n->op->shape(n, in, out, err);
	if (!s && (s = within_limits(n, in, out, err)))
		drop_results(n, out);
	if (!s)
		s = op_finish(n, in, out, r->width, err);
	if (!s)
		keep_results(r, n, out);
	drop_read(r, n);
	free(in);
	free(out);
	return !s || s == STATUS_CANCELLED || !err->text[0] ? s : error_prefix(err, "node %s (%s)", n->name, n->op->name);
}

enum status graph_eval(
    const struct graph *g, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	struct run r;
	enum status s = STATUS_OK;
	run_init(&r, g, in, width);
	for (int i = 0; i < g->n_nodes && !s; i++)
		s = run_node(&r, &g->node[i], err);
	for (int i = 0; i < g->n_outputs && !s; i++)
		out[i] = tensor_share(&r.value[g->output[i]]);
	run_done(&r);
	return s;
}
