// The order of things. A pass is a row of the table; it leaves the draft valid and every shape known that was known.
#include "branch.h"
#include "fixed.h"
#include "infer.h"
#include "normalise.h"
#include "passes/pass.h"

#define ROUNDS_MAX 32 // of settling Ifs: a branch that is put in the place of one may hold the next

static enum status (*const passes[])(struct draft *d, struct error *err) = {
    pass_folded,    // nodes whose outputs are all constant
    pass_pairs,     // where a caller wants the float network: QuantizeLinear and DequantizeLinear
    pass_identity,  // nodes that only pass a tensor on
    pass_nbits,     // MatMulNBits and MatMulBnb4 of constants into MatMul
    pass_bias,      // Add of a constant into Conv, ConvTranspose, Gemm
    pass_batchnorm, // BatchNormalization into Conv, ConvTranspose, Gemm; alone: a depthwise Conv
    pass_unused,    // nodes on which no output depends
};

enum status normalise_outputs(struct draft *d, const Onnx__GraphProto *g, struct scope *scope, struct error *err)
{
	for (size_t i = 0; i < g->n_output; i++) {
		const char *name = g->output[i]->name ? g->output[i]->name : "";
		int id = scope_find(scope, name);
		if (id < 0)
			return error_set(err, STATUS_FORMAT, "output '%s' is not computed by any node", name);
		if (d->value[id].unread)
			return error_set(err, STATUS_UNSUPPORTED, "output '%s' has elements of type %s: nothing is computed with them", name,
			    d->value[id].unread);
		draft_mark_output(d, id);
		if (g->output[i]->type && g->output[i]->type->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE)
			d->value[id].elements = g->output[i]->type->tensor_type->elem_type;
	}
	return g->n_output ? STATUS_OK : error_set(err, STATUS_FORMAT, "the model has no outputs: nothing of it is computed");
}

static enum status settle_branches(struct draft *d, struct error *err)
{
	bool changed = true;
	enum status s = STATUS_OK;
	for (int round = 0; changed && !s; round++) {
		s = round < ROUNDS_MAX ? branch_inline(d, &changed, err)
		                       : error_set(err, STATUS_UNSUPPORTED, "If nodes are nested too deeply");
		if (!s && !changed)
			s = fixed_inputs(d, &changed, err);
		if (!s && changed)
			s = infer_draft(d, err);
	}
	if (!s)
		s = branch_build(d, err);
	return s ? s : infer_draft(d, err);
}

enum status normalise_draft(struct draft *d, struct error *err)
{
	enum status s = infer_draft(d, err);
	if (!s)
		s = settle_branches(d, err);
	for (size_t i = 0; i < sizeof passes / sizeof passes[0] && !s; i++)
		s = passes[i](d, err);
	return s;
}
