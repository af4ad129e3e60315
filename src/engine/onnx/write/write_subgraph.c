// The graphs inside an If, a Loop or a Scan, in float: what they capture they read by the name that it has outside,
// everything else gets a name that the file has nowhere else.
#include <stdlib.h>
#include "qtui/engine/op.h"
#include "write.h"

struct inner {
	struct writer *w;
	const struct graph *g;
	const char **name; // [g->n_values]
};

static const char *attribute_name(const struct node *n, int k)
{
	return n->op->id != OP_If ? "body" : k == 0 ? "then_branch" : "else_branch";
}

// The captured values are the last inputs of the graph, as they are of the node.
static void name_values(struct inner *s, const char *const *captured, int n_captured)
{
	int formal = s->g->n_inputs - n_captured;
	for (int k = 0; k < n_captured; k++)
		s->name[s->g->input[formal + k]] = captured[k];
	for (int v = 0; v < s->g->n_values; v++)
		if (!s->name[v])
			s->name[v] = write_name(s->w, s->g->value[v].name, "");
}

static bool is_captured(const struct inner *s, int value, int n_captured)
{
	for (int k = s->g->n_inputs - n_captured; k < s->g->n_inputs; k++)
		if (s->g->input[k] == value)
			return true;
	return false;
}

static void add_constants(struct inner *s, int n_captured)
{
	for (int v = 0; v < s->g->n_values; v++)
		if (s->g->value[v].constant && !is_captured(s, v, n_captured))
			write_constant_value(s->w, s->name[v], &s->g->value[v]);
}

static const char **names_of(const struct inner *s, const int *value, int n)
{
	const char **name = xcalloc((size_t)n + 1, sizeof *name);
	for (int i = 0; i < n; i++)
		name[i] = value[i] >= 0 ? s->name[value[i]] : "";
	return name;
}

static void add_node(struct inner *s, const struct node *n)
{
	const char **in = names_of(s, n->in, n->n_in), **out = names_of(s, n->out, n->n_out);
	for (int i = 0; i < n->op->out_min && i < n->n_out; i++)
		if (!out[i][0])
			out[i] = write_name(s->w, n->name, "_unused");
	struct new_node as = {.domain = n->op->domain, .op = n->op->name, .name = write_name(s->w, n->name, ""), .in = in,
	    .n_in = n->n_in - n->n_captured, .out = out, .n_out = n->n_out};
	write_all_attributes(s->w, write_node(s->w, &as), n, in);
	free(in);
	free(out);
}

// The name of an output: that of the value, unless no node here computes it or it is an output already.
static const char *output_name(struct inner *s, int i)
{
	int v = s->g->output[i];
	const char *in = s->name[v], *out;
	bool given = false;
	for (int k = 0; k < i; k++)
		given = given || s->g->output[k] == v;
	if (s->g->value[v].producer >= 0 && !s->g->value[v].constant && !given)
		return in;
	out = write_name(s->w, in, "_output");
	write_simple_node(s->w, "Identity", in, out);
	return out;
}

// A Loop's number of the iteration and its condition are scalars, which some readers want to be told.
static struct value formal(const struct inner *s, const struct node *n, int i)
{
	struct value v = s->g->value[s->g->input[i]];
	if (n->op->id == OP_Loop && i < 2)
		v.shape = (struct shape){.rank = 0};
	return v;
}

static void fill(struct inner *s, const struct node *n, const char *const *captured)
{
	struct writer *w = s->w;
	int formals = s->g->n_inputs - n->n_captured;
	name_values(s, captured, n->n_captured);
	add_constants(s, n->n_captured);
	for (int i = 0; i < s->g->n_nodes; i++)
		add_node(s, &s->g->node[i]);
	w->out.input = arena_alloc(w->arena, ((size_t)formals + 1) * sizeof *w->out.input);
	for (int i = 0; i < formals; i++) {
		struct value v = formal(s, n, i);
		w->out.input[w->out.n_input++] = write_info(w, s->name[s->g->input[i]], &v);
	}
	w->out.output = arena_alloc(w->arena, ((size_t)s->g->n_outputs + 1) * sizeof *w->out.output);
	for (int i = 0; i < s->g->n_outputs; i++)
		w->out.output[w->out.n_output++] = write_info(w, output_name(s, i), &s->g->value[s->g->output[i]]);
}

// `g` as a graph inside of `n`.
static Onnx__GraphProto *make_graph(struct writer *w, const struct graph *g, const struct node *n, const char *const *captured)
{
	struct inner s = {.w = w, .g = g, .name = xcalloc((size_t)g->n_values + 1, sizeof *s.name)};
	struct writer outer = *w;
	Onnx__GraphProto *made = arena_alloc(w->arena, sizeof *made);
	onnx__graph_proto__init(&w->out);
	w->cap_nodes = w->cap_constants = 0;
	w->g = g;
	w->out.name = arena_strdup(w->arena, "inner");
	fill(&s, n, captured);
	*made = w->out;
	made->node = arena_memdup(w->arena, w->out.node, w->out.n_node * sizeof *made->node);
	made->initializer = arena_memdup(w->arena, w->out.initializer, w->out.n_initializer * sizeof *made->initializer);
	free(w->out.node);
	free(w->out.initializer);
	w->out = outer.out;
	w->cap_nodes = outer.cap_nodes;
	w->cap_constants = outer.cap_constants;
	w->g = outer.g;
	free(s.name);
	return made;
}

// What can never run for inputs of these shapes, and would not pass anyone's inference, gives way to the other branch.
static const struct graph *to_write(struct writer *w, const struct node *n, int k)
{
	if (n->subgraph[k] != n->unfit)
		return n->subgraph[k];
	if (w->loss)
		str_addline(w->loss, "node %s (If): its %s does not fit inputs of these shapes, the other branch stands in its place", n->name,
		    attribute_name(n, k));
	return n->subgraph[1 - k];
}

void write_all_attributes(struct writer *w, Onnx__NodeProto *to, const struct node *n, const char *const *in)
{
	write_attributes(w, to, n);
	for (int k = 0; k < n->n_subgraphs; k++)
		write_graph_attribute(
		    w, to, attribute_name(n, k), make_graph(w, to_write(w, n, k), n, in + n->n_in - n->n_captured));
}
