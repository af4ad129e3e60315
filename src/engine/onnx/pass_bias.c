// Add of a constant that has the shape of a bias, after a Conv, ConvTranspose or Gemm that has none. Where there is a bias already
// nothing is done: the sum of two constants would round differently. A MatMul keeps its Add, as it does in the tools whose
// operator names users know.
#include "pass.h"

// Whether `c`, added to a tensor of shape `y`, is one number a channel; `axis` is the channel's.
static bool is_bias(const struct shape *c, const struct shape *y, int axis)
{
	if (c->rank < 1 || c->rank > y->rank || c->rank < y->rank - axis)
		return false;
	for (int i = 0; i < c->rank; i++)
		if (c->dim[i] != (i + y->rank - c->rank == axis ? y->dim[axis] : 1))
			return false;
	return true;
}

static int channel_axis(const struct draft *d, const struct draft_node *host)
{
	const struct draft_value *y = draft_out(d, host, 0);
	const struct tensor *w = draft_constant(d, host, 1);

	if (!w || w->type != DT_F32 || !y || draft_in(d, host, 2))
		return -1;
	switch (host->n.op->id) {
	case OP_Conv:
	case OP_ConvTranspose:
		return 1;
	case OP_Gemm:
		return ((const struct gemm_attrs *)host->n.attrs)->beta == 1 ? 1 : -1;
	default:
		return -1;
	}
}

static enum status take_bias(struct draft *d, struct draft_node *host, struct draft_node *add, const struct tensor *c, struct error *err)
{
	int bias;
	enum status s = pass_copy_constant(&bias, d, pass_name(d, host, "bias"), c, err);

	if (s)
		return s;
	d->value[bias].shape = d->value[bias].constant->shape = (struct shape){ .rank = 1, .dim = { tensor_count(c) } };
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
	int axis = host && host->fate == FATE_KEPT ? channel_axis(d, host) : -1;

	*done = axis >= 0 && y && c && c->type == DT_F32 && x->uses == 1 && x->shape.rank > axis &&
	    shape_equal(&x->shape, &y->shape) && is_bias(&c->shape, &x->shape, axis);
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
