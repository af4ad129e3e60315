// What a target runs in place of an operator where it is quantized: functions of constants that AMD's NPU has,
// means by an integer and a shift, recurrences that round within their steps.
#include <math.h>
#include "qtui/engine/op.h"
#include "plan_impl.h"

// The k / 2^n next to 1 / count, as a factor on the true mean.
// The first n is taken that nothing beats, ties of k go to even.
static double factor_of_count(int64_t count)
{
	int shifts = 7 + (int)ceil(log2((double)count));
	double best = 1, least = INFINITY;
	for (int n = 0; n < shifts; n++) {
		double power = ldexp(1, n), share = nearbyint(power / (double)count) / power, off = fabs(share - 1 / (double)count);
		if (off < least) {
			least = off;
			best = share * (double)count;
		}
	}
	return best;
}

// Some square windows have a factor of their own; 1 where the NPU's is not known:
// windows that are no square, or too large.
static double factor_of_window(int64_t rows, int64_t columns)
{
	static const struct {
		int side;
		double factor;
	} own[] = {{3, 9 * 7 / 64.0}, {5, 25 * 10 / 256.0}, {6, 36 * 7 / 256.0}, {7, 49 * 21 / 1024.0}, {14, 196 * 21 / 4096.0}};
	if (rows != columns || rows < 1 || rows > 255)
		return 1;
	for (size_t i = 0; i < sizeof own / sizeof *own; i++)
		if (own[i].side == rows)
			return own[i].factor;
	return factor_of_count(rows * columns);
}

static double factor_of_reduced(const struct shape *x, const struct shape *y)
{
	int64_t from = shape_count(x), to = shape_count(y);
	return from > 0 && to > 0 ? factor_of_count(from / to) : 1;
}

bool plan_is_gate(const struct node *n)
{
	if (n->op->id != OP_HardSigmoid)
		return false;
	const struct act_attrs *a = n->attrs;
	return fabsf(a->alpha - 1 / 6.f) < 1e-6f && fabsf(a->beta - .5f) < 1e-6f;
}

bool plan_is_image_mean(const struct shape *x, const struct shape *y)
{
	return x->rank == 4 && y->rank == 4 && y->dim[0] == x->dim[0] && y->dim[1] == x->dim[1] && y->dim[2] == 1 && y->dim[3] == 1;
}

// A mean of rows and columns that keeps its dimensions is a pool to the tool's quantizer for CNNs, another one is not.
static double factor_of_mean(const struct graph *g, const struct node *n, bool pools)
{
	const struct shape *x = &g->value[n->in[0]].shape, *y = &g->value[n->out[0]].shape;
	if (n->op->id == OP_AveragePool) {
		const struct ints *kernel = &((const struct pool_attrs *)n->attrs)->kernel_shape;
		return kernel->n == 2 ? factor_of_window(kernel->at[0], kernel->at[1]) : 1;
	}
	if (n->op->id == OP_GlobalAveragePool || (pools && plan_is_image_mean(x, y)))
		return x->rank == 4 ? factor_of_window(x->dim[2], x->dim[3]) : 1;
	return factor_of_reduced(x, y);
}

struct stand_in plan_stand_in(const struct graph *g, const struct node *n, const struct op_rule *rule)
{
	const float sixth = 2731 / 16384.f; // the upper end of the HardSigmoid, 6 * 2731 / 2^14, is above all codes
	const struct act_attrs *a = n->attrs;
	switch (rule->becomes) {
	case BECOMES_HARD_SIGMOID:
		if (n->op->id == OP_Sigmoid || plan_is_gate(n))
			return (struct stand_in){.op = "HardSigmoid", .alpha = sixth, .beta = 3 * sixth};
		break;
	case BECOMES_ROUNDED_SLOPE:
		if (n->op->id == OP_LeakyRelu)
			return (struct stand_in){.op = "LeakyRelu", .alpha = nearbyintf(a->alpha * 256) / 256};
		break;
	case BECOMES_POOLED_MEAN:
	case BECOMES_SHIFTED_MEAN: {
		double factor = factor_of_mean(g, n, rule->becomes == BECOMES_POOLED_MEAN);
		return (struct stand_in){.gain = factor == 1 ? 0 : (float)factor};
	}
	default:
		break;
	}
	return (struct stand_in){.step_scale = rule->step_scale};
}

// The slot of whose quantizer a node's stand-in is a part: that of its result, which may be at the end of its group, else
// of what it reads. -1: nothing of it is quantized.
static int slot_of_stand_in(const struct plan *p, int node)
{
	const struct node *n = &p->g->node[node];
	int last = p->group[node].kind == GROUP_NONE ? node : p->group[node].last;
	const int out[] = {p->first_out[node], p->first_out[last]};
	for (int i = 0; i < 2; i++)
		if (slot_quantizes(&p->slot[out[i]]))
			return out[i];
	for (int i = 0; i < n->n_in; i++)
		if (slot_quantizes(plan_in(p, node, i)) && !plan_in(p, node, i)->parameter)
			return p->first_in[node] + i;
	return -1;
}

void plan_quantize_only(struct plan *p, const bool *keep)
{
	for (int i = 0; i < p->g->n_nodes; i++) {
		int slot = slot_of_stand_in(p, i);
		if (slot >= 0 && !keep[slot])
			p->stand_in[i] = (struct stand_in){0};
	}
	for (int i = 0; i < p->n_slots; i++)
		if (slot_quantizes(&p->slot[i]) && !keep[i])
			p->slot[i].state = SLOT_FLOAT;
}
