// Which tensors share a factor a channel: those that operators connect which let positive factors pass. A set of them is a group
// if nothing else makes or reads any of them than weights that can take the factor.
#include <stdlib.h>
#include <string.h>
#include "equalize_impl.h"
#include "qtui/engine/op.h"

struct sets {
	const struct graph *g;
	int *parent;   // [n_values] of the set that it is in: union and find
	bool *refused; // [n_values] something else makes or reads it
};

static int set_of(const struct sets *s, int v)
{
	while (s->parent[v] != v)
		v = s->parent[v] = s->parent[s->parent[v]];
	return v;
}

static void join(struct sets *s, int a, int b)
{
	s->parent[set_of(s, a)] = set_of(s, b);
}

static void refuse(struct sets *s, const int *value, int n)
{
	for (int i = 0; i < n; i++)
		if (value[i] >= 0)
			s->refused[value[i]] = true;
}

// How many inputs are multiplied by c when the output is, for every c above 0; 0: the operator is not of that kind.
static int passes(const struct node *n, bool sums)
{
	switch (n->op->id) {
	case OP_Relu:
	case OP_LeakyRelu:
	case OP_PRelu:
	case OP_MaxPool:
	case OP_AveragePool:
	case OP_GlobalMaxPool:
	case OP_GlobalAveragePool:
	case OP_Identity:
		return 1;
	case OP_Add:
	case OP_Sub:
		return sums ? 2 : 0;
	default:
		return 0;
	}
}

static void pass(struct sets *s, const struct node *n, int n_passed)
{
	const struct value *value = s->g->value, *y = &value[n->out[0]];
	for (int i = 0; i < n_passed; i++) {
		join(s, n->in[i], n->out[0]);
		if (n_passed > 1 && !shape_equal(&value[n->in[i]].shape, &y->shape))
			refuse(s, n->out, 1);
	}
	for (int i = n_passed; i < n->n_in; i++) // PRelu's slope
		if (n->in[i] >= 0 && !value[n->in[i]].constant)
			refuse(s, n->out, 1);
	if (n->n_out > 1 && n->out[1] >= 0) // MaxPool's places
		refuse(s, n->out, 1);
}

static int64_t channels(const struct graph *g, int v)
{
	const struct shape *s = &g->value[v].shape;
	return s->rank >= 2 ? s->dim[1] : -1;
}

static bool bias_fits(const struct tensor *b, int64_t rows)
{
	return b->type == DT_F32 && tensor_count(b) == rows && b->shape.rank > 0 && b->shape.dim[b->shape.rank - 1] == rows;
}

static bool is_plain_gemm(const struct graph *g, const struct node *n)
{
	return !((const struct gemm_attrs *)n->attrs)->trans_a && g->value[n->in[0]].shape.rank == 2;
}

bool layer_find(struct layer *l, const struct graph *g, int node)
{
	const struct node *n = &g->node[node];
	bool gemm = n->op->id == OP_Gemm, transposed = n->op->id == OP_ConvTranspose;
	if (!(gemm || transposed || n->op->id == OP_Conv) || n->in[0] < 0 || n->in[1] < 0 || (gemm && !is_plain_gemm(g, n)))
		return false;
	const struct tensor *w = g->value[n->in[1]].constant;
	if (!w || w->type != DT_F32 || w->shape.rank < 2 || tensor_count(w) <= 0)
		return false;
	*l = (struct layer){.node = node, .weight = w, .first = w->shape.dim[0], .second = w->shape.dim[1],
	    .groups = gemm ? 1 : ((const struct conv_attrs *)n->attrs)->group};
	l->inner = tensor_count(w) / (l->first * l->second);
	l->rows_first = gemm ? ((const struct gemm_attrs *)n->attrs)->trans_b : !transposed;
	l->rows = l->rows_first ? l->first : l->second * l->groups;
	l->columns = l->rows_first ? l->second * l->groups : l->first;
	if (n->n_in > 2 && n->in[2] >= 0) {
		l->bias = g->value[n->in[2]].constant;
		if (!l->bias || !bias_fits(l->bias, l->rows))
			return false;
	}
	return l->groups > 0 && l->first % l->groups == 0 && channels(g, n->in[0]) == l->columns && channels(g, n->out[0]) == l->rows;
}

static void connect(struct sets *s, bool sums)
{
	const struct graph *g = s->g;
	for (int i = 0; i < g->n_nodes; i++) {
		const struct node *n = &g->node[i];
		struct layer l;
		int n_passed = n->n_out && n->out[0] >= 0 ? passes(n, sums) : 0;
		if (n_passed) {
			pass(s, n, n_passed);
		} else if (!layer_find(&l, g, i)) {
			refuse(s, n->in, n->n_in);
			refuse(s, n->out, n->n_out);
		}
	}
	for (int v = 0; v < g->n_values; v++) {
		const struct value *x = &g->value[v];
		if (s->refused[v] || x->constant || x->is_input || x->is_output)
			s->refused[set_of(s, v)] = true;
	}
}

static void append(int **list, int *n, int node)
{
	*list = xrealloc(*list, ((size_t)*n + 1) * sizeof **list);
	(*list)[(*n)++] = node;
}

void group_done(struct equalize_group *g)
{
	free(g->front);
	free(g->behind);
}

// The layers around every set, as a group each, at the place of the set's own value.
static void collect(struct equalize_group *group, const struct sets *s)
{
	struct layer l;
	for (int i = 0; i < s->g->n_nodes; i++) {
		if (!layer_find(&l, s->g, i))
			continue;
		struct equalize_group *made = &group[set_of(s, s->g->node[i].out[0])], *read = &group[set_of(s, s->g->node[i].in[0])];
		append(&made->front, &made->n_front, i);
		append(&read->behind, &read->n_behind, i);
		made->channels = l.rows;
	}
}

static int by_front(const void *a, const void *b)
{
	const struct equalize_group *x = a, *y = b;
	return (x->front[0] > y->front[0]) - (x->front[0] < y->front[0]);
}

int groups_find(struct equalize_group **out, const struct graph *g, bool sums)
{
	size_t values = (size_t)g->n_values + 1;
	struct sets s = {.g = g, .parent = xcalloc(values, sizeof *s.parent), .refused = xcalloc(values, 1)};
	struct equalize_group *group = xcalloc(values, sizeof *group);
	int n = 0;
	for (int v = 0; v < g->n_values; v++)
		s.parent[v] = v;
	connect(&s, sums);
	collect(group, &s);
	for (int v = 0; v < g->n_values; v++)
		if (group[v].n_front && group[v].n_behind && !s.refused[v])
			group[n++] = group[v];
		else
			group_done(&group[v]);
	qsort(group, (size_t)n, sizeof *group, by_front);
	free(s.parent);
	free(s.refused);
	*out = group;
	return n;
}

bool *equalize_reaches(const struct graph *g)
{
	bool *reached = xcalloc((size_t)g->n_nodes + 1, sizeof *reached);
	struct equalize_group *group;
	int n = groups_find(&group, g, false);
	for (int i = 0; i < n; i++) {
		for (int k = 0; k < group[i].n_front; k++)
			reached[group[i].front[k]] = true;
		for (int k = 0; k < group[i].n_behind; k++)
			reached[group[i].behind[k]] = true;
		group_done(&group[i]);
	}
	free(group);
	return reached;
}
