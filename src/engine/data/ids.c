#include "ids.h"

#include "qtui/engine/op.h"

enum { DEPTH = 16 }; // of casts and moves, one behind the other: exporters write two or three

static int64_t lesser(int64_t a, int64_t b)
{
	return a == 0 || (b > 0 && b < a) ? b : a;
}

// Of the table along its axis; 0 where that is not known.
static int64_t rows_of(const struct graph *g, int table, int64_t axis)
{
	const struct shape *s = &g->value[table].shape;
	axis += axis < 0 ? s->rank : 0;
	return axis >= 0 && axis < s->rank && s->dim[axis] > 0 ? s->dim[axis] : 0;
}

static int64_t rows_behind(const struct graph *g, int value, int depth);

static int64_t rows_at(const struct graph *g, const struct node *n, int value, int depth)
{
	enum { WORDS = 2, SEGMENTS = 4 };
	if (n->op->id == OP_Gather && n->n_in > 1 && n->in[1] == value && n->in[0] >= 0)
		return rows_of(g, n->in[0], ((const struct axis_attrs *)n->attrs)->axis);
	if (n->op->id == OP_EmbedLayerNormalization) {
		bool words = n->in[0] == value;
		int table = words ? WORDS : SEGMENTS;
		return (words || n->in[1] == value) && table < n->n_in && n->in[table] >= 0 ? rows_of(g, n->in[table], 0) : 0;
	}
	bool passes = n->n_in > 0 && n->in[0] == value && (n->op->id == OP_Cast || (n->op->flags & OPF_MOVES));
	return passes && n->n_out > 0 && n->out[0] >= 0 ? rows_behind(g, n->out[0], depth - 1) : 0;
}

static int64_t rows_behind(const struct graph *g, int value, int depth)
{
	const struct value *v = &g->value[value];
	int64_t rows = 0;
	for (int i = 0; depth > 0 && i < v->n_consumers; i++)
		if (i == 0 || v->consumer[i] != v->consumer[i - 1]) // one that reads it twice is one way, not two at every step
			rows = lesser(rows, rows_at(g, &g->node[v->consumer[i]], value, depth));
	return rows;
}

int64_t ids_rows(const struct graph *g, int value)
{
	return rows_behind(g, value, DEPTH);
}
