// Functions that files write out as chains of operators: a layer normalisation (mean, difference, square,
// mean, sum, root, quotient, product, sum), Gelu (quotient, erf, sum, two products).
#include <math.h>
#include "../ops/reduction/reduce.h"
#include "run_impl.h"

struct chain {
	const struct graph *g;
	const bool *keep;
	int member[9], n;
};

// The only reader of a value that may vanish, if it is such a node; it becomes a member.
static const struct node *follow(struct chain *c, int v, enum op_id op, int readers)
{
	const struct value *x = &c->g->value[v];
	if (x->n_consumers != readers || x->is_output || (c->keep && c->keep[v]))
		return NULL;
	for (int i = 0; i < readers; i++) {
		const struct node *n = &c->g->node[x->consumer[i]];
		if (n->op->id != op)
			continue;
		c->member[c->n++] = x->consumer[i];
		return n;
	}
	return NULL;
}

// A mean over the last axis that keeps it.
static bool is_mean(const struct graph *g, const struct node *n)
{
	if (n->op->id != OP_ReduceMean) // others may lack their first input
		return false;
	const struct value *x = &g->value[n->in[0]];
	const struct tensor shape = {.type = x->type, .shape = x->shape};
	const struct tensor *in[] = {&shape, n->n_in > 1 && n->in[1] >= 0 ? g->value[n->in[1]].constant : NULL};
	bool gone[SHAPE_MAX_RANK];
	struct error err;
	if (x->type != DT_F32 || x->constant || x->shape.rank < 1 || shape_count(&x->shape) <= 0 ||
	    (n->n_in > 1 && n->in[1] >= 0 && !in[1]) || reduce_axes(gone, n, in, &err) != STATUS_OK)
		return false;
	for (int i = 0; i < x->shape.rank; i++)
		if (gone[i] != (i == x->shape.rank - 1))
			return false;
	const struct value *y = &g->value[n->out[0]];
	return y->shape.rank == x->shape.rank;
}

static const struct tensor *constant_beside(const struct graph *g, const struct node *n, int v)
{
	const struct tensor *c = g->value[n->in[n->in[0] == v]].constant;
	return c && c->type == DT_F32 ? c : NULL;
}

static bool is_scalar(const struct graph *g, const struct node *n, int v, float *value)
{
	const struct tensor *c = constant_beside(g, n, v);
	if (!c || tensor_count(c) != 1 || !shape_equal(&g->value[n->out[0]].shape, &g->value[v].shape))
		return false;
	*value = *(const float *)c->data;
	return true;
}

const struct tensor *step_row(const struct graph *g, const struct node *n, int v)
{
	const struct tensor *c = constant_beside(g, n, v);
	const struct shape *x = &g->value[v].shape;
	bool fits = c && c->shape.rank >= 1 && c->shape.rank <= x->rank && c->shape.dim[c->shape.rank - 1] == x->dim[x->rank - 1] &&
	    tensor_count(c) == x->dim[x->rank - 1];
	return fits ? c : NULL;
}

// From the difference to the deviation; the value of the latter, or -1.
static int deviation_of(struct chain *c, int difference, float *epsilon)
{
	const struct graph *g = c->g;
	float two;
	const struct node *n = follow(c, difference, OP_Pow, 2);
	if (!n || n->in[0] != difference || !is_scalar(g, n, difference, &two) || two != 2.0f)
		return -1;
	if (!(n = follow(c, n->out[0], OP_ReduceMean, 1)) || !is_mean(g, n))
		return -1;
	int variance = n->out[0];
	if (!(n = follow(c, variance, OP_Add, 1)) || !is_scalar(g, n, variance, epsilon))
		return -1;
	n = follow(c, n->out[0], OP_Sqrt, 1);
	return n ? n->out[0] : -1;
}

// A product and a sum with one value an element of the row, each if it is there.
static void follow_rows(struct chain *c, int v, struct step_norm *out)
{
	static const enum op_id ops[] = {OP_Mul, OP_Add};
	const struct tensor **row[] = {&out->gain, &out->shift};
	for (int i = 0; i < 2; i++) {
		const struct node *n = follow(c, v, ops[i], 1);
		if (!n)
			continue;
		if (!(*row[i] = step_row(c->g, n, v))) {
			c->n--;
			return;
		}
		v = n->out[0];
	}
}

bool step_norm_find(const struct graph *g, const bool *keep, struct step *s, bool *taken)
{
	struct chain c = {.g = g, .keep = keep};
	const struct node *first = &g->node[s->node];
	if (!is_mean(g, first))
		return false;
	int x = first->in[0], mean = first->out[0];
	const struct node *n = follow(&c, mean, OP_Sub, 1);
	if (!n || n->in[0] != x || n->in[1] != mean)
		return false;
	int difference = n->out[0], deviation = deviation_of(&c, difference, &s->norm.epsilon);
	if (deviation < 0 || !(n = follow(&c, deviation, OP_Div, 1)) || n->in[0] != difference || n->in[1] != deviation)
		return false;
	follow_rows(&c, n->out[0], &s->norm);
	s->norm.on = true;
	s->last = c.member[c.n - 1];
	for (int i = 0; i < c.n; i++)
		taken[c.member[i]] = true;
	return true;
}

static bool follow_scalar(struct chain *c, int *v, enum op_id op, int readers, float want)
{
	const struct node *n = follow(c, *v, op, readers);
	float value;
	if (!n || !is_scalar(c->g, n, *v, &value) || fabsf(value - want) > 1e-6f)
		return false;
	*v = n->out[0];
	return true;
}

bool step_gelu_find(const struct graph *g, const bool *keep, struct step *s, bool *taken)
{
	struct chain c = {.g = g, .keep = keep};
	const float root_of_two = 1.41421356f;
	int v = g->node[s->last].out[0], x = v;
	if (v < 0 || !follow_scalar(&c, &v, OP_Div, 2, root_of_two) || g->node[c.member[0]].in[0] != x)
		return false;
	const struct node *n = follow(&c, v, OP_Erf, 1);
	if (!n)
		return false;
	int sum = n->out[0];
	if (!follow_scalar(&c, &sum, OP_Add, 1, 1.0f) || !(n = follow(&c, sum, OP_Mul, 1)) || (n->in[0] != x && n->in[1] != x))
		return false;
	v = n->out[0];
	if (!follow_scalar(&c, &v, OP_Mul, 1, 0.5f))
		return false;
	s->epi.act = (struct act){.kind = ACT_GELU};
	s->last = c.member[c.n - 1];
	for (int i = 0; i < c.n; i++)
		taken[c.member[i]] = true;
	return true;
}
