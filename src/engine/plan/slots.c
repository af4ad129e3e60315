// A quantizer template and a first state for every slot.
#include <string.h>
#include "qtui/engine/op.h"
#include "plan_impl.h"

static void set_range(struct quantizer *q, const struct scheme *s, int bits)
{
	int64_t half = (int64_t)1 << (bits - (s->reduce_range ? 2 : 1));
	bool narrow = s->narrow && s->symmetric;
	q->bits = bits;
	q->symmetric = s->symmetric;
	q->qmax = s->sign ? half - 1 : 2 * half - 1;
	q->qmin = s->sign ? -half + (narrow ? 1 : 0) : 0;
	if (s->sign && narrow && s->reduce_range) { // as ONNX Runtime has it: -64 .. 64
		q->qmin = -half;
		q->qmax = half;
	}
}

static int weight_axis(const struct node *n, const struct weight_rule *w, const struct shape *shape)
{
	int axis = w->axis;
	if (axis == AXIS_OUTPUT)
		axis = n->op->id == OP_Gemm && !((const struct gemm_attrs *)n->attrs)->trans_b ? 1 : 0;
	else if (axis == AXIS_COLUMN)
		axis = shape->rank > 1 ? shape->rank - 1 : AXIS_TENSOR; // a vector is one column
	return axis < shape->rank ? axis : AXIS_TENSOR;
}

bool plan_adds_value(const struct plan *p, int node)
{
	const struct node *n = &p->g->node[node];
	const struct pad_attrs *a = n->attrs;
	if (n->op->id != OP_Pad || strcmp(a->mode, "constant") != 0)
		return false;
	if (n->n_in < 3 || n->in[2] < 0)
		return n->op->since < 11 && a->value != 0;
	const struct tensor *value = p->g->value[n->in[2]].constant;
	return !value || value->type != DT_F32 || tensor_count(value) != 1 || *(const float *)value->data != 0;
}

static bool is_weight(const struct plan *p, const struct slot *s)
{
	return !s->is_output && s->index == 1 && s->parameter && p->priv->node[s->node].rule->weight.weighted;
}

bool slot_is_bias(const struct plan *p, const struct slot *s)
{
	return !s->is_output && s->index == 2 && s->parameter && p->priv->node[s->node].rule->weight.weighted;
}

// A constant that is no weight by its place, but has the codes of one: also its scales, where it is an operand of what has
// weights (a MatMul's left one).
static void like_weight_template(const struct plan *p, struct slot *s)
{
	const struct weight_rule *w = &p->priv->node[s->node].rule->weight;
	set_range(&s->quant, &p->target->weight, node_width(p, s->node)->weight);
	if (w->weighted)
		s->quant.axis = weight_axis(&p->g->node[s->node], w, &p->g->value[s->value].shape);
}

static void weight_template(const struct plan *p, struct slot *s)
{
	const struct node *n = &p->g->node[s->node];
	const struct weight_rule *w = &p->priv->node[s->node].rule->weight;
	set_range(&s->quant, &p->target->weight, node_width(p, s->node)->weight);
	s->quant.pow2 = w->pow2;
	s->quant.axis = weight_axis(n, w, &p->g->value[s->value].shape);
}

static void bias_template(const struct plan *p, struct slot *s)
{
	static const struct scheme plain = {.sign = true, .symmetric = true};
	set_range(&s->quant, p->target->bias.own_scale ? &p->target->weight : &plain, node_width(p, s->node)->bias);
	s->quant.axis = p->target->bias.per_channel && !p->target->bias.own_scale ? 0 : AXIS_TENSOR;
	s->state = !p->target->bias.quantized ? SLOT_FLOAT : p->target->bias.own_scale ? SLOT_ACTIVE : SLOT_PASSIVE;
}

static bool can_be_quantized(const struct plan *p, const struct slot *s)
{
	return p->priv->node[s->node].platform != PLATFORM_FLOAT && s->value >= 0 && p->g->value[s->value].type == DT_F32;
}

// By the target's rule for the operator; alignment may still pull such a slot in.
static bool starts_float(const struct plan *p, const struct slot *s)
{
	const struct op_rule *rule = p->priv->node[s->node].rule;
	unsigned bit = s->index < 32 ? 1u << s->index : 0;
	if (plan_written_out(p, s->node) && !s->is_output) // it counts inputs of the whole
		return false;
	return ((s->is_output ? rule->float_out : rule->float_in | rule->follow_in) & bit) != 0;
}

// The inside of a merged Swish is one function: what Sigmoid gives and what Mul takes is not quantized,
// save that x of the Mul is the same tensor as x of the Sigmoid and has its quantizer.
static bool inside_swish(const struct plan *p, const struct slot *s)
{
	int other = p->priv->node[s->node].merged;
	if (other < 0)
		return false;
	return s->node < other ? s->is_output : !s->is_output;
}

// Of a written-out operator what it reads and gives is outside; so are the weights of one that has them.
static bool inside_written_out(const struct plan *p, const struct slot *s)
{
	const struct written_out *w = plan_written_out(p, s->node);
	if (w && s->node == w->weights && !s->is_output && s->index > 0)
		return false;
	return w && (s->is_output ? s->node != w->last : s->value != w->input);
}

bool slot_has_fixed_scale(const struct plan *p, const struct slot *s)
{
	return s->is_output && s->index == 0 && p->priv->node[s->node].rule->fixed_scale.scale > 0;
}

bool slot_has_step_scale(const struct plan *p, const struct slot *s)
{
	bool bias = !s->is_output && s->index == RNN_BIAS && s->parameter, cell = s->is_output && s->index == RNN_CELL;
	return p->priv->node[s->node].rule->step_scale > 0 && (bias || cell);
}

static void slot_template(struct plan *p, int id)
{
	struct slot *s = &p->slot[id];
	static const enum quantizer_kind kinds[] = {
		[TARGET_LINEAR] = QUANT_LINEAR, [TARGET_FLOAT16] = QUANT_FP16, [TARGET_BFLOAT16] = QUANT_BF16,
	};
	static const struct scheme steps = {.sign = true, .symmetric = true};
	struct scheme full = p->target->activation;
	full.reduce_range = false;
	s->state = SLOT_FLOAT;
	s->quant = (struct quantizer){.axis = AXIS_TENSOR};
	if (!can_be_quantized(p, s) || inside_swish(p, s) || inside_written_out(p, s))
		return;
	s->state = SLOT_ACTIVE;
	s->quant.kind = kinds[p->target->kind];
	s->quant.rounding = p->target->rounding;
	s->quant.pow2 = p->target->scale.pow2;
	if (p->target->kind != TARGET_LINEAR)
		s->quant.bits = 16;
	else if (is_weight(p, s))
		weight_template(p, s);
	else if (s->parameter && (p->priv->node[s->node].rule->flags & RULE_LIKE_WEIGHTS) && !slot_is_bias(p, s))
		like_weight_template(p, s);
	else if (slot_is_bias(p, s))
		bias_template(p, s);
	else if (slot_has_step_scale(p, s))
		set_range(&s->quant, &steps, 16);
	else
		set_range(&s->quant, slot_has_fixed_scale(p, s) ? &full : &p->target->activation, node_width(p, s->node)->activation);
	if (starts_float(p, s))
		s->state = SLOT_FLOAT;
}

static int add_slots(struct plan *p, int next, int node, bool output)
{
	const struct node *n = &p->g->node[node];
	int count = output ? n->n_out : n->n_in;
	for (int i = 0; i < count; i++, next++) {
		struct slot *s = &p->slot[next];
		*s = (struct slot){.node = node, .index = i, .is_output = output, .follows = -1, .observe = -1};
		s->value = output ? n->out[i] : n->in[i];
		s->parameter = s->value >= 0 && p->g->value[s->value].constant != NULL;
		p->priv->slot[next].dominator = next;
		p->priv->slot[next].calibrator = -1;
		slot_template(p, next);
	}
	return next;
}

void plan_make_slots(struct plan *p)
{
	int next = 0;
	for (int i = 0; i < p->g->n_nodes; i++) {
		p->first_in[i] = next;
		next = add_slots(p, next, i, false);
		p->first_out[i] = next;
		next = add_slots(p, next, i, true);
	}
}
