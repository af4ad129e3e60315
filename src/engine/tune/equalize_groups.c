// Which tensors share a factor a channel: those that operators connect which let positive factors pass.
// A set of them is a group if nothing else makes or reads any of them than weights that can take the factor.
#include <stdlib.h>
#include "equalize_impl.h"
#include "qtui/engine/op.h"

struct sets {
	const struct graph *g;
	const struct reaching *reaching;
	int *parent;   // [n_values] of the set that it is in: union and find
	int *axis;     // [n_values] of the set whose value it is: dimension of the channels, from the end; 0: nothing said so yet
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

static bool is_scalar(const struct graph *g, int v)
{
	const struct tensor *t = g->value[v].constant;
	return t && t->type == DT_F32 && tensor_count(t) == 1;
}

// Elements keep their order, and the last dimension is what it was: index for index.
static bool keeps_last(const struct graph *g, const struct node *n)
{
	const struct shape *x = &g->value[n->in[0]].shape, *y = &g->value[n->out[0]].shape;
	const struct ints *perm = n->op->id == OP_Transpose ? &((const struct transpose_attrs *)n->attrs)->perm : NULL;
	bool same = x->rank > 0 && y->rank > 0 && x->dim[x->rank - 1] == y->dim[y->rank - 1];
	return same && (!perm || (perm->n == x->rank && perm->at[perm->n - 1] == x->rank - 1));
}

enum passing {
	PASSES_NOTHING,
	PASSES_FIRST,    // the first input is multiplied by c where the output is, for every c above 0
	PASSES_POOLED,   // the same, and channels are dimension 1
	PASSES_MOVED,    // the same, and channels are the last dimension
	PASSES_BOTH,     // the first two inputs
};
static enum passing passing(const struct sets *s, const struct node *n)
{
	switch (n->op->id) {
	case OP_Relu:
	case OP_LeakyRelu:
	case OP_PRelu:
	case OP_Identity:
		return PASSES_FIRST;
	case OP_MaxPool:
	case OP_AveragePool:
	case OP_GlobalMaxPool:
	case OP_GlobalAveragePool:
		return PASSES_POOLED;
	case OP_Add:
	case OP_Sub:
		return s->reaching->sums ? PASSES_BOTH : PASSES_NOTHING;
	case OP_Mul:
	case OP_Div:
		return s->reaching->wide && n->in[1] >= 0 && is_scalar(s->g, n->in[1]) ? PASSES_FIRST : PASSES_NOTHING;
	case OP_Reshape:
	case OP_Squeeze:
	case OP_Unsqueeze:
	case OP_Transpose:
		return s->reaching->wide && keeps_last(s->g, n) ? PASSES_MOVED : PASSES_NOTHING;
	default:
		return PASSES_NOTHING;
	}
}

static void pass(struct sets *s, const struct node *n, enum passing how)
{
	const struct value *value = s->g->value, *y = &value[n->out[0]];
	int n_passed = how == PASSES_BOTH ? 2 : 1;
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

static enum passing find_passing(const struct sets *s, const struct node *n)
{
	return n->n_out && n->out[0] >= 0 && n->n_in && n->in[0] >= 0 ? passing(s, n) : PASSES_NOTHING;
}

static void connect(struct sets *s)
{
	for (int i = 0; i < s->g->n_nodes; i++) {
		const struct node *n = &s->g->node[i];
		struct layer l;
		enum passing how = PASSES_NOTHING;
		if (layer_find(&l, s->g, i, s->reaching->wide)) {
			if (l.addend)
				join(s, l.in, n->out[0]);
			else if (l.in < 0)
				refuse(s, n->in, 1);
			refuse(s, n->out + 1, n->n_out - 1);
		} else if ((how = find_passing(s, n)) != PASSES_NOTHING) {
			pass(s, n, how);
		} else {
			refuse(s, n->in, n->n_in);
			refuse(s, n->out, n->n_out);
		}
	}
	for (int v = 0; v < s->g->n_values; v++) {
		const struct value *x = &s->g->value[v];
		if (s->refused[v] || x->constant || x->is_input || x->is_output)
			s->refused[set_of(s, v)] = true;
	}
}

// All that speak of a set's channels must mean the same dimension.
static void say_axis(struct sets *s, int v, int axis)
{
	int set = set_of(s, v);
	if (s->axis[set] != 0 && s->axis[set] != axis)
		s->refused[set] = true;
	s->axis[set] = axis;
}

static void say_axes(struct sets *s)
{
	for (int i = 0; i < s->g->n_nodes; i++) {
		const struct node *n = &s->g->node[i];
		struct layer l;
		enum passing how;
		if (layer_find(&l, s->g, i, s->reaching->wide)) {
			if (l.in >= 0)
				say_axis(s, l.in, l.axis);
			say_axis(s, n->out[0], l.axis);
		} else if ((how = find_passing(s, n)) == PASSES_POOLED || how == PASSES_MOVED) {
			say_axis(s, n->out[0], how == PASSES_MOVED ? -1 : 1 - s->g->value[n->out[0]].shape.rank);
		}
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
		if (!layer_find(&l, s->g, i, s->reaching->wide))
			continue;
		struct equalize_group *made = &group[set_of(s, s->g->node[i].out[0])];
		append(&made->front, &made->n_front, i);
		made->channels = l.rows;
		if (l.columns) {
			struct equalize_group *read = &group[set_of(s, l.in)];
			append(&read->behind, &read->n_behind, i);
		}
	}
}

static int by_front(const void *a, const void *b)
{
	const struct equalize_group *x = a, *y = b;
	return (x->front[0] > y->front[0]) - (x->front[0] < y->front[0]);
}

int groups_find(struct equalize_group **out, const struct graph *g, const struct reaching *r)
{
	size_t values = (size_t)g->n_values + 1;
	struct sets s = {.g = g, .reaching = r, .parent = xcalloc(values, sizeof *s.parent), .axis = xcalloc(values, sizeof *s.axis),
	    .refused = xcalloc(values, 1)};
	struct equalize_group *group = xcalloc(values, sizeof *group);
	int n = 0;
	for (int v = 0; v < g->n_values; v++)
		s.parent[v] = v;
	connect(&s);
	say_axes(&s);
	collect(group, &s);
	for (int v = 0; v < g->n_values; v++)
		if (group[v].n_front && group[v].n_behind && !s.refused[v])
			group[n++] = group[v];
		else
			group_done(&group[v]);
	qsort(group, (size_t)n, sizeof *group, by_front);
	free(s.parent);
	free(s.axis);
	free(s.refused);
	*out = group;
	return n;
}

bool *equalize_reaches(const struct graph *g)
{
	bool *reached = xcalloc((size_t)g->n_nodes + 1, sizeof *reached);
	struct equalize_group *group;
	int n = groups_find(&group, g, &(struct reaching){0});
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
