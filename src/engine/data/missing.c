#include "missing.h"

#include <math.h>
#include "../ops/attrs.h"
#include "qtui/engine/op.h"

enum { DEPTH = 16 }; // of casts and moves, one behind the other

static bool is_meant(const struct graph *g, int value, int depth);

static bool is_meant_by(const struct graph *g, const struct node *n, int depth)
{
	if (n->op->id == OP_Imputer)
		return isnan(((const struct imputer_attrs *)n->attrs)->missing);
	if (n->op->id == OP_IsNaN)
		return true;
	bool passes = n->op->id == OP_Cast || (n->op->flags & OPF_MOVES);
	return passes && n->n_out > 0 && n->out[0] >= 0 && is_meant(g, n->out[0], depth - 1);
}

static bool is_meant(const struct graph *g, int value, int depth)
{
	const struct value *v = &g->value[value];
	for (int i = 0; depth > 0 && i < v->n_consumers; i++)
		if ((i == 0 || v->consumer[i] != v->consumer[i - 1]) && is_meant_by(g, &g->node[v->consumer[i]], depth))
			return true;
	return false;
}

bool missing_is_meant(const struct graph *g, int value)
{
	return is_meant(g, value, DEPTH);
}
