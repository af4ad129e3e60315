// The float network of a quantized one: pairs of QuantizeLinear and DequantizeLinear on what is computed go. Where a
// tool left a Relu out, since the codes end at zero, it comes back in the QuantizeLinear's place.
#include <math.h>
#include <stdlib.h>
#include "../../ops/attrs.h"
#include "../proto/attr.h"
#include "pass.h"
#include "qtui/engine/op.h"

static const double SIX = 0.01; // how near to 6 a grid ends that stands for a Clip at 6

// What may be negative, and is followed by a Relu in many networks. A sum is that of two branches of a residual network;
// of other sums (of boxes and their places) it is known that nothing was negative, not that anything was cut off.
static bool has_signs(const struct draft_node *n, const struct shape *s)
{
	static const enum op_id of[] = {OP_Conv, OP_ConvTranspose, OP_Gemm, OP_BatchNormalization};
	for (size_t i = 0; n && i < sizeof of / sizeof *of; i++)
		if (n->n.op->id == of[i])
			return true;
	return n && n->n.op->id == OP_Add && s->rank == 4;
}

static bool is_lowest(const struct tensor *zero, enum dtype codes)
{
	if (!zero || tensor_count(zero) != 1)
		return !zero && codes == DT_U8;
	switch (zero->type) {
	case DT_U8: return ((const uint8_t *)zero->data)[0] == 0;
	case DT_I8: return ((const int8_t *)zero->data)[0] == INT8_MIN;
	case DT_U16: return ((const uint16_t *)zero->data)[0] == 0;
	case DT_I16: return ((const int16_t *)zero->data)[0] == INT16_MIN;
	default: return false;
	}
}

// Does the grid begin at 0? *end: where it ends.
static bool begins_at_zero(double *end, const struct draft *d, const struct draft_node *quantize)
{
	const struct tensor *scale = draft_constant(d, quantize, 1), *zero = draft_constant(d, quantize, 2);
	enum dtype codes = draft_out(d, quantize, 0)->type;
	if (!scale || scale->type != DT_F32 || tensor_count(scale) != 1 || (draft_in(d, quantize, 2) && !zero) || !is_lowest(zero, codes))
		return false;
	*end = (double)((const float *)scale->data)[0] * (dtype_size(codes) == 1 ? UINT8_MAX : UINT16_MAX);
	return true;
}

// Named after the operator that it follows. What tools quantize with an activation in it has the name of what comes out of
// that: here it comes out of `n`, and the floats in front get another. Where somebody else reads them they keep it, and what
// comes out, since there may be several, is named after its quantizer.
static void become_activation(struct draft *d, struct draft_node *n, const struct draft_node *host, double end)
{
	struct draft_value *in = draft_in(d, n, 0), *out = draft_out(d, n, 0);
	bool six = fabs(end - 6) < SIX, alone = in->uses == 1;
	struct act_attrs *attrs = pass_become(d, &n->n, six ? "Clip" : "Relu", 6);
	if (six) {
		attrs->low = 0;
		attrs->high = 6;
	}
	n->n.name = pass_name(d, alone ? host : n, six ? "Clip" : "Relu");
	n->n.n_in = 1;
	out->name = alone ? in->name : pass_name(d, n, "output");
	out->type = DT_F32;
	if (alone)
		in->name = pass_name(d, n, "input");
}

// Some tools write a QuantizeLinear for each reader: those of one tensor on one grid are one.
static void join_quantizers(struct draft *d)
{
	struct draft_node **first = xcalloc(d->n_values + 1, sizeof(struct draft_node *));
	for (size_t i = 0; i < d->n_nodes; i++) {
		struct draft_node *n = d->node[i];
		const struct draft_value *y = draft_out(d, n, 0);
		if (n->fate != FATE_KEPT || n->n.op->id != OP_QuantizeLinear || !y || y->is_output)
			continue;
		struct draft_node **of = &first[draft_resolve(d, n->n.in[0])];
		const struct tensor *scale = draft_constant(d, n, 1);
		if (!*of)
			*of = n;
		else if (scale && tensor_count(scale) == 1 && draft_in(d, n, 1) == draft_in(d, *of, 1) &&
		    draft_in(d, n, 2) == draft_in(d, *of, 2) && y->type == draft_out(d, *of, 0)->type &&
		    pass_on(d, n->n.out[0], (*of)->n.out[0]))
			draft_remove(n, *of);
	}
	free(first);
}

// Gives no codes of what it reads, and the same of the floats in their place.
static bool reads_floats_too(const struct draft_node *n)
{
	static const enum op_id of[] = {OP_DequantizeLinear, OP_ArgMax, OP_ArgMin, OP_Shape, OP_Size};
	for (size_t i = 0; i < sizeof of / sizeof *of; i++)
		if (n->n.op->id == of[i])
			return true;
	return false;
}

// By value: is it read by what would not take floats, as an operator that computes with codes?
static bool *needed_as_codes(const struct draft *d)
{
	bool *needed = xcalloc(d->n_values + 1, sizeof *needed);
	for (size_t i = 0; i < d->n_nodes; i++) {
		const struct draft_node *n = d->node[i];
		for (int k = 0; n->fate == FATE_KEPT && !reads_floats_too(n) && k < n->n.n_in; k++)
			if (n->n.in[k] >= 0)
				needed[draft_resolve(d, n->n.in[k])] = true;
	}
	return needed;
}

static void take_quantize(struct draft *d, struct draft_node *n, const bool *needed)
{
	const struct draft_value *x = draft_in(d, n, 0), *y = draft_out(d, n, 0);
	double end;
	if (!x || !y || x->constant || x->type != DT_F32 || y->is_output || needed[draft_resolve(d, n->n.out[0])])
		return;
	if (has_signs(x->producer, &x->shape) && begins_at_zero(&end, d, n))
		become_activation(d, n, x->producer, end);
	else if (pass_on(d, n->n.out[0], n->n.in[0]))
		draft_remove(n, x->producer);
}

// An output that cannot have the name of what is in front of it gets it by an Identity.
static void take_dequantize(struct draft *d, struct draft_node *n, const bool *needed)
{
	(void)needed;
	const struct draft_value *x = draft_in(d, n, 0);
	if (!x || x->constant || x->type != DT_F32)
		return;
	if (pass_on(d, n->n.out[0], n->n.in[0])) {
		draft_remove(n, x->producer);
		return;
	}
	pass_become(d, &n->n, "Identity", 1);
	n->n.n_in = 1;
}

static void each(struct draft *d, enum op_id op, const bool *needed, void (*take)(struct draft *d, struct draft_node *n, const bool *needed))
{
	for (size_t i = 0; i < d->n_nodes; i++)
		if (d->node[i]->fate == FATE_KEPT && d->node[i]->n.op->id == op)
			take(d, d->node[i], needed);
}

enum status pass_pairs(struct draft *d, struct error *err)
{
	(void)err;
	if (!d->opt || !d->opt->floats)
		return STATUS_OK;
	join_quantizers(d);
	draft_count_uses(d);
	bool *needed = needed_as_codes(d);
	each(d, OP_QuantizeLinear, needed, take_quantize);
	each(d, OP_DequantizeLinear, needed, take_dequantize);
	free(needed);
	return STATUS_OK;
}
