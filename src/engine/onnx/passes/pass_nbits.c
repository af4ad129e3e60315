// A MatMulNBits or MatMulBnb4 of constant weights becomes a MatMul of what they stand for,
// and an Add of its bias: what a DequantizeLinear of constants becomes, too.
// The weights are unpacked once, and are weights like any other to a target.
#include "../infer.h"
#include "../proto/attr.h"
#include "pass.h"

enum { WEIGHTS = 1, SCALES, ZEROS, GROUPS, BIAS, INPUTS };

// Its constants; false where one is not, or is of a kind that the operator does not take.
static bool read_constants(const struct tensor *in[INPUTS], const struct draft *d, const struct draft_node *n)
{
	for (int i = 0; i < INPUTS; i++)
		in[i] = draft_constant(d, n, i);
	for (int i = WEIGHTS; i < INPUTS; i++)
		if (draft_in(d, n, i) && !in[i])
			return false;
	return in[WEIGHTS] && in[SCALES];
}

// Bytes of the weights as floats: no more than 4 codes a byte, or the operator refuses them.
static int64_t float_bytes(const struct node *n, const struct tensor *codes)
{
	double most = 4 * (double)tensor_count(codes), count = attr_number(n, "K") * attr_number(n, "N");
	return (int64_t)(count >= 0 && count < most ? count : most) * (int64_t)sizeof(float);
}

// Behind the node at `at`, whose output it takes over.
static void add_bias(struct draft *d, size_t at, int bias)
{
	struct draft_node *n = d->node[at];
	int y = n->n.out[0], product = draft_value_add(d, pass_name(d, n, "product"));
	d->value[product].type = d->value[y].type;
	d->value[product].shape = d->value[y].shape;
	d->value[product].producer = n;
	n->n.out[0] = product;
	pass_add_node(d, pass_name(d, n, "bias"), "Add", 7, (const int[]){product, bias}, 2, y);
	draft_move_nodes(d, d->n_nodes - 1, at + 1);
}

static enum status to_matmul(struct draft *d, size_t at, struct error *err)
{
	struct draft_node *n = d->node[at];
	const struct tensor *in[INPUTS];
	struct tensor w;
	int weight, bias = n->n.n_in > BIAS ? draft_resolve(d, n->n.in[BIAS]) : -1;
	enum status s = STATUS_OK;
	if (!read_constants(in, d, n) || n->n.out[0] < 0 ||
	    !infer_takes(d, float_bytes(&n->n, in[WEIGHTS])))
		return STATUS_OK;
	s = matmulnbits_weights(&w, &n->n, in, err);
	if (s)
		return error_prefix(err, "node %s (%s)", n->n.name, n->op_type);
	weight = draft_value_add(d, pass_name(d, n, "weight"));
	draft_set_constant(d, weight, &w);
	pass_set_input(d, n, WEIGHTS, weight);
	pass_become(d, &n->n, "MatMul", 1);
	n->n.n_in = 2;
	if (bias >= 0)
		add_bias(d, at, bias);
	return STATUS_OK;
}

enum status pass_nbits(struct draft *d, struct error *err)
{
	enum status s = STATUS_OK;
	for (size_t i = 0; i < d->n_nodes && !s; i++)
		if (d->node[i]->fate == FATE_KEPT && (d->node[i]->n.op->id == OP_MatMulNBits || d->node[i]->n.op->id == OP_MatMulBnb4))
			s = to_matmul(d, i, err);
	return s;
}
