// Normalizations that a model has written out in several nodes and the target runs as one operator, as esp-ppq's formatter
// makes it: x * w / sqrt(mean(x^2) + e) over the last dimensions is RMSNormalization, x / max(|x|, e) along one is
// LpNormalization. Of such an operator x and the result may have quantizers, what is between is inside of it.
#include "qtui/engine/op.h"
#include "../ops/reduction/reduce.h"
#include "plan_impl.h"

enum { MOST_NODES = 8 };
// The nodes found so far, in their order; the last one gives the result.
struct found {
	const struct graph *g;
	int x;
	int node[MOST_NODES], n;
};

static const struct node *last_of(const struct found *f)
{
	return &f->g->node[f->node[f->n - 1]];
}

// Goes on to the one reader of what the last node gives, where it is of this type.
static const struct node *follow(struct found *f, enum op_id id)
{
	const struct value *y = &f->g->value[last_of(f)->out[0]];
	int next = y->n_consumers == 1 && !y->is_output ? y->consumer[0] : -1;
	if (next < 0 || f->g->node[next].op->id != id || f->n == MOST_NODES)
		return NULL;
	f->node[f->n++] = next;
	return &f->g->node[next];
}

static bool reads(const struct node *n, int value)
{
	return n->n_in == 2 && (n->in[0] == value || n->in[1] == value);
}

static const struct tensor *constant(const struct graph *g, const struct node *n, int i)
{
	return i < n->n_in && n->in[i] >= 0 ? g->value[n->in[i]].constant : NULL;
}

// The dimensions that a reduction of known axes takes out, each left with one element. False: it is none.
static bool reduced(bool gone[SHAPE_MAX_RANK], const struct graph *g, const struct node *n)
{
	const struct value *x = &g->value[n->in[0]];
	const struct tensor like = {.type = x->type, .shape = x->shape};
	const struct tensor *in[] = {&like, constant(g, n, 1)};
	struct error ignored;
	bool known = x->type == DT_F32 && x->shape.rank > 0 && (n->n_in < 2 || n->in[1] < 0 || in[1]);
	return known && reduce_axes(gone, n, in, &ignored) == STATUS_OK && g->value[n->out[0]].shape.rank == x->shape.rank;
}

static bool is_over_last(const struct graph *g, const struct node *n)
{
	bool gone[SHAPE_MAX_RANK];
	if (!reduced(gone, g, n))
		return false;
	int rank = g->value[n->in[0]].shape.rank, first = 0;
	while (first < rank && !gone[first])
		first++;
	for (int i = first; i < rank; i++)
		if (!gone[i])
			return false;
	return first < rank;
}

static bool is_along_one(const struct graph *g, const struct node *n)
{
	bool gone[SHAPE_MAX_RANK];
	int axes = 0;
	if (!reduced(gone, g, n))
		return false;
	for (int i = 0; i < g->value[n->in[0]].shape.rank; i++)
		axes += gone[i];
	return axes == 1;
}

static bool is_square(const struct graph *g, const struct node *n)
{
	const struct tensor *two = constant(g, n, 1);
	return n->op->id == OP_Pow && two && two->type == DT_F32 && tensor_count(two) == 1 && *(const float *)two->data == 2;
}

// Behind the root: x divided by it, or multiplied by its reciprocal, which a division may be as well.
static bool divides_by_root(struct found *f)
{
	int root = last_of(f)->out[0];
	const struct node *n = follow(f, OP_Div);
	if (n && n->in[0] == f->x && n->in[1] == root)
		return true;
	if (n ? n->in[1] != root : !follow(f, OP_Reciprocal))
		return false;
	n = follow(f, OP_Mul);
	return n && reads(n, f->x);
}

static bool find_rms(struct found *f)
{
	const struct node *n;
	if (!is_square(f->g, last_of(f)) || !(n = follow(f, OP_ReduceMean)) || !is_over_last(f->g, n))
		return false;
	follow(f, OP_Add); // an epsilon, if there is one
	n = follow(f, OP_Sqrt) && divides_by_root(f) ? follow(f, OP_Mul) : NULL;
	return n && n->n_in == 2 && !reads(n, f->x);
}

static bool find_lp(struct found *f)
{
	const struct node *n = last_of(f);
	if (n->op->id != OP_ReduceL2 || !is_along_one(f->g, n) || !follow(f, OP_Clip) || !(n = follow(f, OP_Expand)))
		return false;
	int norm = n->out[0];
	n = follow(f, OP_Div);
	return n && n->in[0] == f->x && n->in[1] == norm;
}

static const struct {
	const char *op_type;
	bool (*find)(struct found *f);
} normalizations[] = {{"RMSNormalization", find_rms}, {"LpNormalization", find_lp}};

static void try_normalizations(struct plan *p, int node)
{
	const struct node *n = &p->g->node[node];
	for (size_t i = 0; i < sizeof normalizations / sizeof *normalizations; i++) {
		const struct op_rule *rule = target_rule(p->target, normalizations[i].op_type);
		struct found f = {.g = p->g, .x = n->n_in > 0 ? n->in[0] : -1, .node = {node}, .n = 1};
		if (!(rule->flags & RULE_WRITTEN_OUT) || f.x < 0 || p->g->value[f.x].constant || !normalizations[i].find(&f))
			continue;
		for (int k = 0; k < f.n; k++) {
			struct node_plan *part = &p->priv->node[f.node[k]];
			part->rule = rule;
			part->whole = (struct whole){normalizations[i].op_type, f.node[0], f.node[f.n - 1], f.x};
		}
	}
}

void plan_find_written_out(struct plan *p)
{
	for (int i = 0; i < p->g->n_nodes; i++)
		try_normalizations(p, i);
}

const char *plan_whole(const struct plan *p, int node, int *last)
{
	const struct whole *w = &p->priv->node[node].whole;
	*last = w->op_type ? w->last : node;
	return w->op_type;
}
