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

static struct key add_attr(struct key k, const struct attr_spec *spec, const void *field)
{
	const struct ints *ints = field;
	const struct floats *floats = field;
	const char *text;
	const struct tensor *t;

	switch (spec->kind) {
	case ATTR_INT:
		return key_add_int(k, *(const int64_t *)field);
	case ATTR_FLOAT:
		return key_add(k, field, sizeof(float));
	case ATTR_INTS:
		k = key_add_int(k, ints->n);
		return ints->n > 0 ? key_add(k, ints->at, (size_t)ints->n * sizeof(int64_t)) : k;
	case ATTR_FLOATS:
		k = key_add_int(k, floats->n);
		return floats->n > 0 ? key_add(k, floats->at, (size_t)floats->n * sizeof(float)) : k;
	case ATTR_TEXT:
		text = *(const char *const *)field;
		return key_add_text(k, text ? text : "");
	case ATTR_TENSOR:
		t = *(const struct tensor *const *)field;
		return t ? key_add_key(k, tensor_key(t)) : key_add_int(k, 0);
	}
	return k;
}

struct key graph_node_key(const struct node *n)
{
	struct key k = {0};

	k = key_add_text(k, n->op->domain);
	k = key_add_text(k, n->op->name);
	k = key_add_int(k, n->op->since);
	for (int i = 0; i < n->op->n_attrs; i++)
		k = add_attr(k, &n->op->attrs[i], (const char *)n->attrs + n->op->attrs[i].offset);
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
