// graph_eval: the plain interpreter. It serves the graphs inside If nodes and whatever must be computed without a plan
// or a store; values are dropped after their last reader.
#include <stdlib.h>
#include "qtui/engine/graph.h"
#include "qtui/engine/op.h"

struct run {
	const struct graph *g;
	struct tensor *value; // by value id
	int *readers;         // still to come
	int width;
};

static void run_init(struct run *r, const struct graph *g, const struct tensor *const *in, int width)
{
	*r = (struct run){.g = g, .width = width};
	r->value = xcalloc((size_t)g->n_values + 1, sizeof(*r->value));
	r->readers = xcalloc((size_t)g->n_values + 1, sizeof(*r->readers));
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

static enum status run_node(struct run *r, const struct node *n, struct error *err)
{
	const struct tensor **in = xcalloc((size_t)n->n_in + 1, sizeof(*in));
	struct tensor *out = xcalloc((size_t)n->n_out + 1, sizeof(*out));
	enum status s;

	for (int i = 0; i < n->n_in; i++)
		in[i] = n->in[i] < 0 ? NULL : &r->value[n->in[i]];
	err->text[0] = '\0';
	s = n->op->shape(n, in, out, err);
	if (!s)
		s = op_finish(n, in, out, r->width, err);
	if (!s)
		keep_results(r, n, out);
	drop_read(r, n);
	free(in);
	free(out);
	return s ? error_prefix(err, "node %s (%s)", n->name, n->op->name) : STATUS_OK;
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
