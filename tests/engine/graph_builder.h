// Small graphs made by hand for tests: values by name, nodes in order; constants hold what the test gives.
// Everything in the graph's arena; graph_free frees it.
#ifndef TESTS_ENGINE_GRAPH_BUILDER_H
#define TESTS_ENGINE_GRAPH_BUILDER_H

#include <stdlib.h>
#include <string.h>
#include "support.h"
#include "qtui/base/mem.h"
#include "qtui/engine/op.h"

#define BUILDER_MAX 4096
struct builder {
	struct graph *g;
};

static inline struct builder builder_new(void)
{
	struct graph *g = xcalloc(1, sizeof *g);
	g->arena = arena_new();
	g->value = arena_alloc(g->arena, BUILDER_MAX * sizeof *g->value);
	g->node = arena_alloc(g->arena, BUILDER_MAX * sizeof *g->node);
	g->input = arena_alloc(g->arena, 64 * sizeof *g->input);
	g->output = arena_alloc(g->arena, 64 * sizeof *g->output);
	g->opset = 13;
	g->node_by_name = namemap_new();
	g->value_by_name = namemap_new();
	g->origin_by_name = namemap_new();
	return (struct builder){g};
}

// The value with this name, made as a float tensor of unknown use when it is new.
static inline int builder_value(struct builder *b, const char *name)
{
	struct graph *g = b->g;
	int id = namemap_get(g->value_by_name, name);
	if (id >= 0)
		return id;
	assert_true(g->n_values < BUILDER_MAX);
	id = g->n_values++;
	g->value[id] = (struct value){.name = arena_strdup(g->arena, name), .type = DT_F32, .producer = -1};
	g->value[id].shape = (struct shape){.rank = 1, .dim = {1}};
	namemap_put(g->value_by_name, name, id);
	return id;
}

static inline int builder_input(struct builder *b, const char *name)
{
	int id = builder_value(b, name);
	b->g->value[id].is_input = true;
	b->g->input[b->g->n_inputs++] = id;
	return id;
}

static inline void builder_output(struct builder *b, const char *name)
{
	int id = builder_value(b, name);
	b->g->value[id].is_output = true;
	b->g->output[b->g->n_outputs++] = id;
}

// A constant of `type`; data NULL: zeros.
static inline int builder_constant(struct builder *b, const char *name, enum dtype type, struct shape shape, const void *data)
{
	struct graph *g = b->g;
	int id = builder_value(b, name);
	struct tensor *t = arena_alloc(g->arena, sizeof *t);
	*t = (struct tensor){.type = type, .shape = shape};
	size_t size = (size_t)shape_count(&shape) * dtype_size(type);
	t->data = arena_alloc(g->arena, size + 64);
	if (data)
		memcpy(t->data, data, size);
	g->value[id].type = type;
	g->value[id].shape = shape;
	g->value[id].constant = t;
	g->value[id].content = key_add_int(key_of(t->data, size), (int64_t)size);
	return id;
}

static inline void use_value(struct builder *b, int value, int node)
{
	struct value *v = &b->g->value[value];
	int *more = arena_alloc(b->g->arena, ((size_t)v->n_consumers + 1) * sizeof *more);
	if (v->n_consumers)
		memcpy(more, v->consumer, (size_t)v->n_consumers * sizeof *more);
	more[v->n_consumers++] = node;
	v->consumer = more;
}

// builder_node(&b, "Conv", "conv", "x w b", "y"): names of values with spaces between them, "-" for one left out.
static inline int builder_node(struct builder *b, const char *op, const char *name, const char *in, const char *out)
{
	struct graph *g = b->g;
	int id = g->n_nodes++;
	assert_true(id < BUILDER_MAX);
	struct node *n = &g->node[id];
	*n = (struct node){.name = arena_strdup(g->arena, name), .op = op_find("", op, g->opset), .origin = id};
	if (!n->op)
		fail_msg("operator %s is not in the table", op);
	n->attrs = arena_alloc(g->arena, n->op->attrs_size + 64);
	n->in = arena_alloc(g->arena, 64 * sizeof *n->in);
	n->out = arena_alloc(g->arena, 64 * sizeof *n->out);
	char *text = arena_strdup(g->arena, in), *save = NULL;
	for (char *at = strtok_r(text, " ", &save); at; at = strtok_r(NULL, " ", &save)) {
		int v = strcmp(at, "-") == 0 ? -1 : builder_value(b, at);
		n->in[n->n_in++] = v;
		if (v >= 0)
			use_value(b, v, id);
	}
	text = arena_strdup(g->arena, out);
	for (char *at = strtok_r(text, " ", &save); at; at = strtok_r(NULL, " ", &save)) {
		n->out[n->n_out] = builder_value(b, at);
		g->value[n->out[n->n_out++]].producer = id;
	}
	namemap_put(g->node_by_name, name, id);
	return id;
}

static inline int builder_find(const struct builder *b, const char *name)
{
	int id = namemap_get(b->g->node_by_name, name);
	if (id < 0)
		fail_msg("no node %s", name);
	return id;
}

#endif
