// Add of a constant that has the shape of a bias, after a Conv, ConvTranspose or Gemm that has none. Where there is a
// bias already nothing is done: the sum of two constants would round differently. A MatMul keeps its Add, as it does in
// the tools whose operator names users know.
#include "pass.h"

// Whether `c`, added to a tensor of shape `y`, is one number a channel (dimension 1).
static bool is_bias(const struct shape *c, const struct shape *y)
{
	if (c->rank < 1 || c->rank > y->rank || c->rank < y->rank - 1)
		return false;
	for (int i = 0; i < c->rank; i++)
		if (c->dim[i] != (i + y->rank - c->rank == 1 ? y->dim[1] : 1))
			return false;
	return true;
}

static bool takes_bias(const struct draft *d, const struct draft_node *host)
{
	const struct tensor *w = draft_constant(d, host, 1);
	if (host->fate != FATE_KEPT || !w || w->type != DT_F32 || draft_in(d, host, 2))
		return false;
	if (host->n.op->id == OP_Gemm)
		return ((const struct gemm_attrs *)host->n.attrs)->beta == 1;
	return host->n.op->id == OP_Conv || host->n.op->id == OP_ConvTranspose;
}

static enum status take_bias(
    struct draft *d, struct draft_node *host, struct draft_node *add, const struct tensor *c, struct error *err)
{
	int bias;
	enum status s = pass_copy_constant(&bias, d, pass_name(d, host, "bias"), c, err);
	if (s)
		return s;
	d->value[bias].shape = d->value[bias].constant->shape = (struct shape){.rank = 1, .dim = {tensor_count(c)}};
	pass_set_input(d, host, 2, bias);
	host->n.out[0] = add->n.out[0];
	d->value[add->n.out[0]].producer = host;
	draft_fuse(add, host);
	return STATUS_OK;
}

static enum status fuse_add(struct draft *d, struct draft_node *add, int side, bool *done, struct error *err)
{
	const struct draft_value *x = draft_in(d, add, side), *y = draft_out(d, add, 0);
	const struct tensor *c = draft_constant(d, add, 1 - side);
	struct draft_node *host = x ? x->producer : NULL;
	*done = host && takes_bias(d, host) && y && c && c->type == DT_F32 && x->uses == 1 && x->shape.rank > 1 &&
	        shape_equal(&x->shape, &y->shape) && is_bias(&c->shape, &x->shape);
	return *done ? take_bias(d, host, add, c, err) : STATUS_OK;
}

enum status pass_bias(struct draft *d, struct error *err)
{
	enum status s = STATUS_OK;
	bool done;
	draft_count_uses(d);
	for (size_t i = 0; i < d->n_nodes && !s; i++) {
		if (d->node[i]->fate != FATE_KEPT || d->node[i]->n.op->id != OP_Add)
			continue;
		s = fuse_add(d, d->node[i], 0, &done, err);
		if (!s && !done)
			s = fuse_add(d, d->node[i], 1, &done, err);
	}
	return s;
}
