// Keys: equal keys, equal content.
#include "qtui/engine/graph.h"
#include "qtui/engine/op.h"

struct key tensor_key(const struct tensor *t)
{
	struct key k = key_of(t->data, tensor_bytes(t));
	k = key_add_int(k, t->type);
	k = key_add_int(k, t->shape.rank);
	for (int i = 0; i < t->shape.rank; i++)
		k = key_add_int(k, t->shape.dim[i]);
	return k;
}

static struct key add_attr(struct key k, const struct attr_spec *a, const void *attrs)
{
	const void *at = (const char *)attrs + a->offset;
	k = key_add_text(k, a->name);
	switch (a->kind) {
	case ATTR_INT:
		return key_add(k, at, sizeof(int64_t));
	case ATTR_FLOAT:
		return key_add(k, at, sizeof(float));
	case ATTR_INTS: {
		const struct ints *v = at;
		return key_add(key_add_int(k, v->n), v->at, v->n > 0 ? (size_t)v->n * sizeof *v->at : 0);
	}
	case ATTR_FLOATS: {
		const struct floats *v = at;
		return key_add(key_add_int(k, v->n), v->at, v->n > 0 ? (size_t)v->n * sizeof *v->at : 0);
	}
	case ATTR_TEXT: {
		const char *text = *(const char *const *)at;
		return text ? key_add_text(k, text) : key_add_int(k, -1);
	}
	case ATTR_TENSOR: {
		const struct tensor *t = *(const struct tensor *const *)at;
		return t && t->data ? key_add_key(k, tensor_key(t)) : key_add_int(k, -1);
	}
	}
	return k;
}

struct key graph_node_key(const struct node *n)
{
	struct key k = key_add_text((struct key){0}, n->op->name);
	k = key_add_int(key_add_text(k, n->op->domain), n->op->since);
	for (int i = 0; i < n->op->n_attrs; i++)
		k = add_attr(k, &n->op->attrs[i], n->attrs);
	for (int i = 0; i < n->n_subgraphs; i++)
		k = key_add_key(k, n->subgraph[i]->key);
	return k;
}

struct key graph_key(const struct graph *g)
{
	struct key k = {0};
	for (int i = 0; i < g->n_values; i++) {
		const struct value *v = &g->value[i];
		k = v->constant ? key_add_key(k, v->content) : key_add_int(k, v->type);
		k = key_add_int(k, v->shape.rank);
		for (int r = 0; r < v->shape.rank; r++)
			k = key_add_int(k, v->shape.dim[r]);
	}
	for (int i = 0; i < g->n_nodes; i++) {
		const struct node *n = &g->node[i];
		k = key_add_key(k, graph_node_key(n));
		k = key_add(key_add_int(k, n->n_in), n->in, (size_t)n->n_in * sizeof(int));
		k = key_add(key_add_int(k, n->n_out), n->out, (size_t)n->n_out * sizeof(int));
	}
	k = key_add(k, g->input, (size_t)g->n_inputs * sizeof(int));
	return key_add(k, g->output, (size_t)g->n_outputs * sizeof(int));
}
