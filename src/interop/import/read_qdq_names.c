// Which tensors and nodes of the model a quantized file speaks of, whatever its tool has called them.
#include <stdlib.h>
#include <string.h>
#include "read_qdq.h"

// ---- which tensor of the model a tensor of the file is

static int without_suffix(const struct graph *g, const char *name)
{
	static const char suffix[] = "_QuantizeLinear_Input"; // of an output of the network, whose name is behind the pair
	size_t len = strlen(name), cut = sizeof suffix - 1;
	if (len <= cut || strcmp(name + len - cut, suffix) != 0)
		return -1;
	char *base = xstrdup(name);
	base[len - cut] = '\0';
	int v = graph_find_value(g, base);
	free(base);
	return v;
}

// Tools name tensors anew and leave nodes their names.
static int by_producer(const struct graph *g, const struct graph *file, int value)
{
	int maker = file->value[value].producer, node, place = 0;
	if (maker < 0 || file->origin[file->node[maker].origin].unnamed)
		return -1;
	const struct node *n = &file->node[maker];
	while (n->out[place] != value)
		place++;
	node = graph_find_node(g, n->name);
	return node >= 0 && g->node[node].op == n->op && place < g->node[node].n_out ? g->node[node].out[place] : -1;
}

// PPQ leaves a tensor's name to what its pair makes, and gives what goes into the pair another.
static int by_pair(const struct graph *g, const struct graph *file, int value)
{
	for (int i = 0; i < file->value[value].n_consumers; i++) {
		const struct node *q = &file->node[file->value[value].consumer[i]];
		const struct value *codes =
		    q->op->id == OP_QuantizeLinear && q->in[0] == value && q->out[0] >= 0 ? &file->value[q->out[0]] : NULL;
		for (int k = 0; codes && k < codes->n_consumers; k++) {
			const struct node *d = &file->node[codes->consumer[k]];
			int v = d->op->id == OP_DequantizeLinear && d->out[0] >= 0 ? graph_find_value(g, file->value[d->out[0]].name) : -1;
			if (v >= 0)
				return v;
		}
	}
	return -1;
}

// Behind what a tool put between an operator and its pair: a Clip to fewer codes, a Cast.
int qdq_value(const struct graph *g, const struct graph *file, int value)
{
	enum { BETWEEN = 3 };
	for (int i = 0; i < BETWEEN; i++) {
		int v = graph_find_value(g, file->value[value].name);
		if (v < 0)
			v = without_suffix(g, file->value[value].name);
		if (v < 0)
			v = by_pair(g, file, value);
		if (v < 0)
			v = by_producer(g, file, value);
		int maker = file->value[value].producer;
		if (v >= 0 || !(qdq_is(file, maker, OP_Clip) || qdq_is(file, maker, OP_Cast)) || file->node[maker].in[0] < 0)
			return v;
		value = file->node[maker].in[0];
	}
	return -1;
}

bool qdq_is_gone(const struct reading *r, int node)
{
	const struct graph *g = r->w->g;
	for (int i = 0; i < g->node[node].n_out; i++)
		if (g->node[node].out[i] >= 0 && graph_find_value(r->file, g->value[g->node[node].out[i]].name) >= 0)
			return false;
	return g->origin[g->node[node].origin].unnamed || graph_find_node(r->file, g->node[node].name) < 0;
}

// ---- what runs on codes

static bool is_half(const struct graph *file, int node)
{
	return qdq_is(file, node, OP_QuantizeLinear) || qdq_is(file, node, OP_DequantizeLinear);
}

// The node that makes the tensor, before its pair.
static int maker_of(const struct graph *file, int value)
{
	int maker = value >= 0 ? file->value[value].producer : -1;
	while (is_half(file, maker))
		maker = file->value[file->node[maker].in[0]].producer;
	return maker;
}

int qdq_node(const struct reading *r, int node)
{
	const struct graph *g = r->w->g;
	const struct node *n = &g->node[node];
	for (int i = 0; i < n->n_out; i++) {
		int maker = n->out[i] >= 0 ? maker_of(r->file, graph_find_value(r->file, g->value[n->out[i]].name)) : -1;
		if (maker >= 0 && r->file->node[maker].op == n->op)
			return maker;
	}
	return g->origin[n->origin].unnamed ? -1 : graph_find_node(r->file, n->name);
}

bool qdq_comes_quantized(const struct graph *file, int value)
{
	int maker = value >= 0 ? file->value[value].producer : -1;
	while (maker >= 0 && (file->node[maker].op->flags & OPF_MOVES) && file->node[maker].n_in > 0 && file->node[maker].in[0] >= 0)
		maker = file->value[file->node[maker].in[0]].producer;
	return is_half(file, maker);
}

bool qdq_has_weights(const struct node *n)
{
	enum op_id op = n->op->id;
	return (op == OP_Conv || op == OP_ConvTranspose || op == OP_Gemm || op == OP_MatMul) && n->n_in > 1 && n->in[1] >= 0;
}
