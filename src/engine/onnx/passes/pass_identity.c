// Nodes that only pass a tensor on: Identity, Dropout as it infers, optional values, casts between floats
// (the engine has one float type) but for those that round, and shape changes that change nothing.
#include "../../ops/attrs.h"
#include "pass.h"
#include "qtui/engine/minifloat.h"

enum when { ALWAYS, SAME_TYPE, SAME_SHAPE };

static const struct {
	enum op_id op;
	enum when when;
} rules[] = {
    {OP_Identity, ALWAYS},
    {OP_Dropout, ALWAYS},
    {OP_Optional, ALWAYS},
    {OP_OptionalGetElement, ALWAYS},
    {OP_Cast, SAME_TYPE},
    {OP_Reshape, SAME_SHAPE},
    {OP_Flatten, SAME_SHAPE},
    {OP_Squeeze, SAME_SHAPE},
    {OP_Unsqueeze, SAME_SHAPE},
    {OP_Expand, SAME_SHAPE},
};

static bool holds(enum when when, const struct draft_value *in, const struct draft_value *out)
{
	switch (when) {
	case SAME_TYPE:
		return in->type == out->type && in->type != DT_NONE;
	case SAME_SHAPE:
		return in->shape.rank >= 0 && shape_equal(&in->shape, &out->shape);
	default:
		return true;
	}
}

// A Dropout whose mask is wanted stays.
static bool has_one_output(const struct draft *d, const struct draft_node *n)
{
	for (int i = 1; i < n->n.n_out; i++)
		if (n->n.out[i] >= 0 && d->value[n->n.out[i]].uses)
			return false;
	return n->n.n_out > 0 && n->n.out[0] >= 0;
}

static bool is_cast(const struct draft_node *n, int64_t to)
{
	return n && n->n.op->id == OP_Cast && ((const struct cast_attrs *)n->n.attrs)->to == to;
}

static bool is_narrowing(const struct draft_node *n)
{
	return is_cast(n, ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT16) || is_cast(n, ONNX__TENSOR_PROTO__DATA_TYPE__BFLOAT16);
}

// A cast to 16 bits that is read by one back alone rounds, as targets of casts are written,
// and so does one that is an output; between others nothing would run in 16 bits. One to 8 or 4 bits always rounds:
// nothing runs in them; the one back stays with it.
static bool is_rounding(const struct draft *d, const struct draft_node *n)
{
	if (n->n.op->id == OP_Cast && (is_minifloat(((const struct cast_attrs *)n->n.attrs)->to) || is_minifloat(draft_in(d, n, 0)->elements)))
		return true;
	if (is_narrowing(n) && draft_out(d, n, 0)->is_output)
		return true;
	const struct draft_node *first = is_narrowing(n) ? n : draft_in(d, n, 0)->producer;
	const struct draft_value *narrow = first && is_narrowing(first) ? draft_out(d, first, 0) : NULL;

	return narrow && narrow->uses == 1 && is_cast(narrow->user, ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT) && (n == first || n == narrow->user);
}

static bool passes_on(const struct draft *d, const struct draft_node *n)
{
	const struct draft_value *in = draft_in(d, n, 0), *out = draft_out(d, n, 0);
	for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
		if (rules[i].op == n->n.op->id)
			return in && out && has_one_output(d, n) && holds(rules[i].when, in, out) && !is_rounding(d, n);
	return false;
}

enum status pass_identity(struct draft *d, struct error *err)
{
	(void)err;
	draft_count_uses(d);
	for (size_t i = 0; i < d->n_nodes; i++) {
		struct draft_node *n = d->node[i];
		if (n->fate == FATE_KEPT && passes_on(d, n) && pass_on(d, n->n.out[0], n->n.in[0]))
			draft_remove(n, draft_in(d, n, 0)->producer);
	}
	return STATUS_OK;
}
