// AMD Quark's corrections behind calibration: operators whose tensors must have one scale take the coarsest, or the
// output's, and scales move until every shift that the NPU needs between them exists. Positions are -log2 of scales.
// A rule moves the scale of a tensor wherever it is read, so that one rule may undo what another did:
// the tool goes through all of them at most five times. Where several nodes quantize a tensor that no
// node has quantized before them, the first one's quantizer stands for all.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "qtui/engine/op.h"
#include "plan_impl.h"

enum { ROUNDS = 5 }; // as the tool has it

struct refining {
	struct plan *p;
	const struct node *n;
	int node;
	int *first; // [n_values] slot of the first reader that quantizes it by itself, or of one whose scale the user gives, + 1
	bool changed;
};

// The slot whose scale is that of the tensor at `slot`; -1: it is float there.
static int ruling(const struct refining *r, int slot)
{
	if (r->p->slot[slot].state == SLOT_FLOAT)
		return -1;
	int root = plan_root(r->p, slot);
	return r->p->slot[root].is_output ? root : r->first[r->p->slot[root].value] - 1;
}

static int input(const struct refining *r, int i)
{
	return i < r->n->n_in ? ruling(r, r->p->first_in[r->node] + i) : -1;
}

static int output(const struct refining *r, int i)
{
	return i < r->n->n_out ? ruling(r, r->p->first_out[r->node] + i) : -1;
}

static bool rules_itself(const struct refining *r, int slot)
{
	const struct slot *s = &r->p->slot[slot];
	return !s->is_output && s->state == SLOT_ACTIVE && s->quant.axis < 0 && plan_root(r->p, slot) == slot;
}

static void find_first(struct refining *r)
{
	r->first = xcalloc((size_t)r->p->g->n_values + 1, sizeof *r->first);
	for (int i = 0; i < r->p->n_slots; i++) {
		if (!rules_itself(r, i))
			continue;
		int *first = &r->first[r->p->slot[i].value];
		if (!*first || (r->p->slot[i].locked && !r->p->slot[*first - 1].locked))
			*first = i + 1;
	}
}

static void follow_first(struct refining *r)
{
	struct plan_priv *v = r->p->priv;
	for (int i = 0; i < r->p->n_slots; i++) {
		if (!rules_itself(r, i))
			continue;
		int first = r->first[r->p->slot[i].value] - 1;
		v->slot[i].scale = v->slot[first].scale;
		v->slot[i].zero = v->slot[first].zero;
	}
	free(r->first);
}

static int position(const struct refining *r, int root)
{
	return (int)lround(-log2(r->p->priv->slot[root].scale));
}

static int clamped(int x, int least, int most)
{
	return x < least ? least : x > most ? most : x;
}

// The scale of who is given by the user stays.
static bool give(struct refining *r, int root, float scale, int32_t zero)
{
	struct plan_priv *v = r->p->priv;
	if (r->p->slot[root].locked || (v->slot[root].scale == scale && v->slot[root].zero == zero))
		return false;
	v->slot[root].scale = scale;
	v->slot[root].zero = zero;
	return true;
}

static bool move(struct refining *r, int root, int to)
{
	return give(r, root, (float)ldexp(1, -to), r->p->priv->slot[root].zero);
}

static bool is(const struct refining *r, enum op_id id)
{
	return r->n->op->id == id;
}

// All inputs and the output of a Concat; of other operators input 0 and each output.
static void take_coarsest(struct refining *r)
{
	int n_in = is(r, OP_Concat) ? r->n->n_in : 1;
	for (int k = 0; k < r->n->n_out; k++) {
		int out = output(r, k), coarsest = out;
		if (out < 0)
			continue;
		for (int i = 0; i < n_in; i++)
			if (input(r, i) >= 0 && r->p->priv->slot[input(r, i)].scale > r->p->priv->slot[coarsest].scale)
				coarsest = input(r, i);
		float scale = r->p->priv->slot[coarsest].scale;
		int32_t zero = r->p->priv->slot[coarsest].zero;
		r->changed |= give(r, out, scale, zero);
		for (int i = 0; i < n_in; i++)
			if (input(r, i) >= 0)
				r->changed |= give(r, input(r, i), scale, zero);
	}
}

static void take_output(struct refining *r)
{
	int out = output(r, 0);
	for (int i = 0; i < r->n->n_in && out >= 0; i++)
		if (input(r, i) >= 0)
			r->changed |= give(r, input(r, i), r->p->priv->slot[out].scale, r->p->priv->slot[out].zero);
}

// A ReduceMean is a pool when it is the mean of an image, which keeps its dimensions; another one is not aligned.
static bool is_pool_or_no_mean(const struct refining *r)
{
	const struct shape *x = &r->p->g->value[r->n->in[0]].shape, *y = &r->p->g->value[r->n->out[0]].shape;
	return !is(r, OP_ReduceMean) || plan_is_image_mean(x, y);
}

static void align(struct refining *r)
{
	switch (r->p->priv->node[r->node].rule->align) {
	case ALIGN_COARSEST:
		if (is_pool_or_no_mean(r))
			take_coarsest(r);
		break;
	case ALIGN_WHOLE:
		take_output(r);
		break;
	default:
		break;
	}
}

// Positions of all inputs; false when one of them has none.
static bool inputs(const struct refining *r, int *finest, int *coarsest, int *sum)
{
	*finest = *coarsest = -1;
	*sum = 0;
	for (int i = 0; i < r->n->n_in; i++) {
		int root = input(r, i);
		if (root < 0)
			return false;
		*sum += position(r, root);
		if (*finest < 0 || position(r, root) > position(r, *finest))
			*finest = root;
		if (*coarsest < 0 || position(r, root) < position(r, *coarsest))
			*coarsest = root;
	}
	return *finest >= 0;
}

// Operands of a sum are shifted to a common grid by 7 bits at most.
static void limit_read(struct refining *r)
{
	int finest, coarsest, sum;
	if ((!is(r, OP_Add) && !is(r, OP_Sub)) || !inputs(r, &finest, &coarsest, &sum))
		return;
	int least = position(r, coarsest);
	if (position(r, finest) - least > 7)
		r->changed |= move(r, finest, least + 7);
}

static void limit_write(struct refining *r)
{
	int finest, coarsest, sum, out = output(r, 0);
	bool add = is(r, OP_Add);
	if ((!add && !is(r, OP_Mul)) || out < 0 || !inputs(r, &finest, &coarsest, &sum))
		return;
	int from = add ? position(r, coarsest) : sum, shift = from - position(r, out);
	bool moved = move(r, out, from - (add ? clamped(shift, -7, 25) : clamped(shift, 0, 32)));
	r->changed |= moved && add; // a product alone is no reason for another round
}

// From the accumulator to the output.
static void limit_cut(struct refining *r)
{
	int in = input(r, 0), weight = input(r, 1), out = output(r, 0);
	if ((!is(r, OP_Conv) && !is(r, OP_Gemm)) || in < 0 || weight < 0 || out < 0)
		return;
	int between = position(r, out) - position(r, in);
	r->changed |= move(r, weight, clamped(position(r, weight) - between, 0, 16) + between);
}

static bool runs_with_leaky_relu(const struct refining *r)
{
	int act = r->p->priv->node[r->node].fused_next;
	return act >= 0 && r->p->g->node[act].op->id == OP_LeakyRelu;
}

// From the bias to the accumulator.
static void limit_bias(struct refining *r)
{
	int in = input(r, 0), weight = input(r, 1), bias = input(r, 2), out = output(r, 0);
	if ((!is(r, OP_Conv) && !is(r, OP_Gemm)) || in < 0 || weight < 0 || bias < 0 || out < 0)
		return;
	int sum = position(r, in) + position(r, weight), cut = sum - position(r, out);
	int least = cut < 16 && !runs_with_leaky_relu(r) ? cut - 16 : 0;
	r->changed |= move(r, bias, sum - clamped(sum - position(r, bias), least, 15));
}

static bool is_gate(const struct plan *p, int node)
{
	const char *op = p->stand_in[node].op;
	return op ? strcmp(op, "HardSigmoid") == 0 : plan_is_gate(&p->g->node[node]);
}

static void limit_gate(struct refining *r)
{
	int in = input(r, 0), out = output(r, 0);
	if (!is_gate(r->p, r->node) || in < 0 || out < 0)
		return;
	int from = clamped(position(r, in), 0, 15), to = position(r, out) > 7 ? position(r, out) : 7;
	if (14 + from - to <= 0)
		to = 14 + from;
	r->changed |= move(r, in, from);
	r->changed |= move(r, out, to);
}

static bool multiplies_gate(const struct refining *r)
{
	for (int i = 0; i < r->n->n_in; i++) {
		const struct value *x = &r->p->g->value[r->n->in[i]];
		for (int k = 0; k < x->n_consumers; k++)
			if (is_gate(r->p, x->consumer[k]))
				return true;
	}
	return false;
}

static void limit_swish(struct refining *r)
{
	int a = input(r, 0), b = input(r, 1), out = output(r, 0);
	if (!is(r, OP_Mul) || a < 0 || b < 0 || out < 0 || !multiplies_gate(r))
		return;
	int sum = position(r, a) + position(r, b);
	r->changed |= move(r, out, sum - clamped(sum - position(r, out), 0, 15));
}

static void for_each_node(struct refining *r, void (*rule)(struct refining *))
{
	for (r->node = 0; r->node < r->p->g->n_nodes; r->node++) {
		r->n = &r->p->g->node[r->node];
		if (r->p->priv->node[r->node].platform != PLATFORM_FLOAT)
			rule(r);
	}
}

void plan_refine(struct plan *p)
{
	static void (*const limit[LIMIT_COUNT])(struct refining *) = { // in the tool's order
		[LIMIT_READ] = limit_read, [LIMIT_WRITE] = limit_write, [LIMIT_CUT] = limit_cut, [LIMIT_BIAS] = limit_bias,
		[LIMIT_GATE] = limit_gate, [LIMIT_SWISH] = limit_swish,
	};
	struct refining r = {.p = p, .changed = true};
	if (!p->target->refines)
		return;
	find_first(&r);
	for (int round = 0; round < ROUNDS && r.changed; round++) {
		r.changed = false;
		for_each_node(&r, align);
		for (int i = 0; i < LIMIT_COUNT; i++)
			if (p->target->shift_limits >> i & 1)
				for_each_node(&r, limit[i]);
	}
	follow_first(&r);
}
