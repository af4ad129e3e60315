// The lists of a draft.
#include <stdlib.h>
#include <string.h>
#include "qtui/base/str.h"
#include "draft.h"

struct draft *draft_new(const Onnx__ModelProto *model, struct externals *externals)
{
	struct draft *d = xcalloc(1, sizeof *d);
	d->arena = arena_new();
	d->model = model;
	d->externals = externals;
	d->node_names = namemap_new();
	d->value_names = namemap_new();
	return d;
}

void draft_free(struct draft **dp)
{
	struct draft *d = *dp;
	*dp = NULL;
	if (!d)
		return;
	for (size_t i = 0; i < d->n_values; i++)
		if (d->value[i].constant)
			tensor_drop(d->value[i].constant);
	for (size_t i = 0; i < d->n_nodes; i++)
		for (int k = 0; k < d->node[i]->n.n_subgraphs; k++) {
			struct graph *sub = (struct graph *)d->node[i]->n.subgraph[k];
			graph_free(&sub);
		}
	for (size_t i = 0; i < d->n_scopes; i++)
		namemap_free(&d->scopes[i]->names);
	namemap_free(&d->node_names);
	namemap_free(&d->value_names);
	arena_free(&d->arena);
	free(d->scopes);
	free(d->value);
	free(d->node);
	free(d->input);
	free(d->output);
	free(d);
}

struct scope *draft_scope(struct draft *d, struct scope *parent)
{
	struct scope *s = arena_alloc(d->arena, sizeof *s);
	s->parent = parent;
	s->names = namemap_new();
	d->scopes = xgrow(d->scopes, &d->cap_scopes, d->n_scopes + 1, sizeof(struct scope *));
	d->scopes[d->n_scopes++] = s;
	return s;
}

int scope_find(const struct scope *s, const char *name)
{
	for (; s; s = s->parent) {
		int id = namemap_get(s->names, name);
		if (id >= 0)
			return id;
	}
	return -1;
}

// `name`, or name#ID when it is taken; marks it as taken by `id`. (Counting from the id keeps a file that repeats one
// name a million times from costing a search each.)
static const char *unique_name(struct draft *d, struct namemap *taken, const char *name, int id)
{
	struct str s = {0};
	const char *result;
	str_add(&s, name);
	for (int n = id; namemap_get(taken, str_text(&s)) >= 0; n++) {
		str_clear(&s);
		str_addf(&s, "%s#%d", name, n);
	}
	namemap_put(taken, str_text(&s), id);
	result = arena_strdup(d->arena, str_text(&s));
	str_done(&s);
	return result;
}

int draft_value_add(struct draft *d, const char *name)
{
	int id = (int)d->n_values;
	d->value = xgrow(d->value, &d->cap_values, d->n_values + 1, sizeof(struct draft_value));
	d->value[d->n_values++] = (struct draft_value){
	    .name = unique_name(d, d->value_names, name, id),
	    .shape.rank = -1,
	    .same_as = -1,
	};
	return id;
}

void draft_set_constant(struct draft *d, int value, struct tensor *t)
{
	struct draft_value *v = &d->value[value];
	if (v->constant)
		tensor_drop(v->constant);
	v->constant = arena_memdup(d->arena, t, sizeof *t);
	v->type = t->type;
	v->shape = t->shape;
	*t = (struct tensor){0};
}

struct draft_node *draft_node_add(struct draft *d, const char *name)
{
	struct draft_node *n = arena_alloc(d->arena, sizeof *n);
	n->n.name = unique_name(d, d->node_names, name, (int)d->n_nodes);
	n->fate = FATE_KEPT;
	d->node = xgrow(d->node, &d->cap_nodes, d->n_nodes + 1, sizeof(struct draft_node *));
	d->node[d->n_nodes++] = n;
	return n;
}

void draft_move_nodes(struct draft *d, size_t first, size_t at)
{
	size_t n = d->n_nodes - first;
	struct draft_node **moved = xmalloc((n + 1) * sizeof *moved);
	memcpy(moved, d->node + first, n * sizeof *moved);
	memmove(d->node + at + n, d->node + at, (first - at) * sizeof *moved);
	memcpy(d->node + at, moved, n * sizeof *moved);
	free(moved);
}

void draft_mark_output(struct draft *d, int value)
{
	d->output = xgrow(d->output, &d->cap_outputs, d->n_outputs + 1, sizeof(int));
	d->output[d->n_outputs++] = value;
	d->value[value].is_output = true;
}

void draft_mark_input(struct draft *d, int value)
{
	d->input = xgrow(d->input, &d->cap_inputs, d->n_inputs + 1, sizeof(int));
	d->input[d->n_inputs++] = value;
	d->value[value].is_input = true;
}

int draft_resolve(const struct draft *d, int value)
{
	while (value >= 0 && d->value[value].same_as >= 0)
		value = d->value[value].same_as;
	return value;
}

static void count_use(struct draft *d, int *value, struct draft_node *user)
{
	*value = draft_resolve(d, *value);
	if (*value < 0)
		return;
	d->value[*value].uses++;
	d->value[*value].user = user;
}

void draft_count_uses(struct draft *d)
{
	for (size_t i = 0; i < d->n_values; i++)
		d->value[i].uses = 0;
	for (size_t i = 0; i < d->n_nodes; i++)
		for (int k = 0; d->node[i]->fate == FATE_KEPT && k < d->node[i]->n.n_in; k++)
			count_use(d, &d->node[i]->n.in[k], d->node[i]);
	for (size_t i = 0; i < d->n_outputs; i++)
		count_use(d, &d->output[i], NULL);
}

struct draft_value *draft_in(const struct draft *d, const struct draft_node *n, int input)
{
	int id = input < n->n.n_in ? draft_resolve(d, n->n.in[input]) : -1;
	return id < 0 ? NULL : &d->value[id];
}

struct draft_value *draft_out(const struct draft *d, const struct draft_node *n, int output)
{
	int id = output < n->n.n_out ? n->n.out[output] : -1;
	return id < 0 ? NULL : &d->value[id];
}

const struct tensor *draft_constant(const struct draft *d, const struct draft_node *n, int input)
{
	const struct draft_value *v = draft_in(d, n, input);
	return v ? v->constant : NULL;
}

void draft_fuse(struct draft_node *n, struct draft_node *into)
{
	n->fate = FATE_FUSED;
	n->into = into;
}

void draft_remove(struct draft_node *n, struct draft_node *producer)
{
	n->fate = FATE_REMOVED;
	n->into = producer;
}
