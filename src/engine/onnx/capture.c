// The outer values that the graphs inside an If, Loop or Scan read become inputs of that node, so that a node's inputs
// are all it depends on: liveness, order, folding and execution need no special case.
#include <stdlib.h>
#include "import.h"

// Names that a graph inside defines itself, and those of the graphs between it and the node.
struct locals {
	const struct locals *parent;
	struct namemap *names;
};

struct capture {
	struct draft *d;
	struct draft_node *n;
	struct namemap *seen;
	struct captured {
		int id;
		const char *name;
	} *at;
	size_t n_at, cap;
};

static bool is_local(const struct locals *l, const char *name)
{
	for (; l; l = l->parent)
		if (namemap_get(l->names, name) >= 0)
			return true;
	return false;
}

static void define_all(struct namemap *names, const Onnx__GraphProto *g)
{
	for (size_t i = 0; i < g->n_input; i++)
		if (g->input[i]->name)
			namemap_put(names, g->input[i]->name, 1);
	for (size_t i = 0; i < g->n_initializer; i++)
		if (g->initializer[i]->name)
			namemap_put(names, g->initializer[i]->name, 1);
	for (size_t i = 0; i < g->n_sparse_initializer; i++)
		if (g->sparse_initializer[i]->values && g->sparse_initializer[i]->values->name)
			namemap_put(names, g->sparse_initializer[i]->values->name, 1);
	for (size_t i = 0; i < g->n_node; i++)
		for (size_t k = 0; k < g->node[i]->n_output; k++)
			namemap_put(names, g->node[i]->output[k], 1);
}

static enum status capture_name(struct capture *c, const struct locals *l, const char *name, struct error *err)
{
	int id;
	if (!name || !name[0] || is_local(l, name) || namemap_get(c->seen, name) >= 0)
		return STATUS_OK;
	id = scope_find(c->n->scope, name);
	if (id < 0)
		return error_set(err, STATUS_FORMAT,
		    "node %s (%s): '%s', which a graph inside it reads, is not defined", c->n->n.name, c->n->op_type,
		    name);
	if (import_readable(c->d, c->n, id, name, err))
		return err->status;
	namemap_put(c->seen, name, id);
	c->at = xgrow(c->at, &c->cap, c->n_at + 1, sizeof *c->at);
	c->at[c->n_at++] = (struct captured){id, arena_strdup(c->d->arena, name)};
	return STATUS_OK;
}

static enum status capture_graph(
    struct capture *c, const struct locals *parent, const Onnx__GraphProto *g, struct error *err);

static enum status capture_node(struct capture *c, const struct locals *l, const Onnx__NodeProto *p, struct error *err)
{
	enum status s = STATUS_OK;
	for (size_t i = 0; i < p->n_input && !s; i++)
		s = capture_name(c, l, p->input[i], err);
	for (size_t i = 0; i < p->n_attribute && !s; i++)
		if (p->attribute[i]->g)
			s = capture_graph(c, l, p->attribute[i]->g, err);
	return s;
}

static enum status capture_graph(
    struct capture *c, const struct locals *parent, const Onnx__GraphProto *g, struct error *err)
{
	struct locals l = {.parent = parent, .names = namemap_new()};
	enum status s = STATUS_OK;
	define_all(l.names, g);
	for (size_t i = 0; i < g->n_node && !s; i++)
		s = capture_node(c, &l, g->node[i], err);
	for (size_t i = 0; i < g->n_output && !s; i++)
		s = capture_name(c, &l, g->output[i]->name, err);
	namemap_free(&l.names);
	return s;
}

enum status capture_outer(struct draft *d, struct draft_node *n, struct error *err)
{
	struct capture c = {.d = d, .n = n, .seen = namemap_new()};
	size_t n_file = (size_t)n->n.n_in;
	enum status s = STATUS_OK;
	int *in;
	for (size_t i = 0; i < n->proto->n_attribute && !s; i++)
		if (n->proto->attribute[i]->g)
			s = capture_graph(&c, NULL, n->proto->attribute[i]->g, err);
	in = arena_alloc(d->arena, (n_file + c.n_at + 1) * sizeof(int));
	n->captured = arena_alloc(d->arena, (c.n_at + 1) * sizeof(char *));
	for (size_t i = 0; i < n_file; i++)
		in[i] = n->n.in[i];
	for (size_t i = 0; i < c.n_at; i++) {
		in[n_file + i] = c.at[i].id;
		n->captured[i] = c.at[i].name;
	}
	n->n.in = in;
	n->n.n_in = (int)(n_file + c.n_at);
	n->n.n_captured = (int)c.n_at;
	namemap_free(&c.seen);
	free(c.at);
	return s;
}
