// If, Loop and Scan.
#include <stdlib.h>
#include "branch.h"
#include "import.h"
#include "infer.h"
#include "normalise.h"
#include "passes/pass.h"
#include "proto/proto.h"
#include "proto/proto_constants.h"
#include "proto/tensor_proto.h"
#include "qtui/base/log.h"

#define DEPTH_MAX 8 // each level may be built three times
#define BODY_ROUNDS 2 // tries to find shapes that stay the same from one iteration to the next

// The If's output becomes the branch's; through an Identity where both must keep their names.
static enum status connect_output(
    struct draft *d, struct draft_node *n, int output, struct scope *scope, const char *name, struct error *err)
{
	int from = scope_find(scope, name), to = n->n.out[output];
	if (from < 0)
		return error_set(err, STATUS_FORMAT, "node %s (If): its branch does not compute '%s'", n->n.name, name);
	if (to >= 0 && !pass_on(d, to, from))
		pass_add_node(d, n->n.name, "Identity", 1, &from, 1, to);
	return STATUS_OK;
}

static enum status inline_if(struct draft *d, size_t at, const Onnx__GraphProto *branch, struct error *err)
{
	struct draft_node *n = d->node[at];
	struct scope *scope = draft_scope(d, n->scope);
	size_t first = d->n_nodes;
	enum status s = import_graph(d, branch, scope, err);
	if (s)
		return s;
	if (branch->n_output != (size_t)n->n.n_out)
		return error_set(err, STATUS_FORMAT, "node %s (If): its branch has %zu outputs, the node %d", n->n.name,
		    branch->n_output, n->n.n_out);
	for (int i = 0; i < n->n.n_out && !s; i++)
		s = connect_output(d, n, i, scope, text_of(branch->output[i]->name), err);
	draft_remove(n, NULL);
	draft_move_nodes(d, first, at + 1);
	return s;
}

// The branch that is taken; NULL when that is not known, or this is not an If.
static const Onnx__GraphProto *taken_branch(const struct draft *d, const struct draft_node *n)
{
	const struct tensor *condition = draft_constant(d, n, 0);
	const Onnx__AttributeProto *a;
	if (n->fate != FATE_KEPT || !n->captured || n->n.op->id != OP_If || !condition ||
	    tensor_count(condition) != 1)
		return NULL;
	a = proto_attribute(n->proto, *(const uint8_t *)condition->data ? "then_branch" : "else_branch");
	return a ? a->g : NULL;
}

enum status branch_inline(struct draft *d, bool *changed, struct error *err)
{
	enum status s = STATUS_OK;
	*changed = false;
	for (size_t i = 0; i < d->n_nodes && !s; i++) {
		const Onnx__GraphProto *branch = taken_branch(d, d->node[i]);
		if (!branch)
			continue;
		*changed = true;
		s = inline_if(d, i, branch, err);
	}
	return s;
}

static enum status add_formal(
    struct draft *sub, struct scope *scope, const Onnx__ValueInfoProto *info, const struct tensor *known, struct error *err)
{
	const Onnx__TypeProto__Tensor *t = info->type && info->type->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE
	                                       ? info->type->tensor_type
	                                       : NULL;
	int id;
	enum status s = import_name(&id, sub, scope, text_of(info->name), err);
	if (s)
		return s;
	sub->value[id].type = t ? tensor_proto_type(t->elem_type) : DT_NONE;
	sub->value[id].elements = t ? t->elem_type : 0;
	if (known && known->shape.rank >= 0) {
		sub->value[id].type = known->type;
		sub->value[id].shape = known->shape;
	}
	draft_mark_input(sub, id);
	return STATUS_OK;
}

static enum status add_captured(struct draft *sub, struct scope *scope, const struct draft *outer,
    const struct draft_node *n, int k, struct error *err)
{
	const struct draft_value *v = draft_in(outer, n, n->n_explicit + k);
	int id;
	enum status s = import_name(&id, sub, scope, n->captured[k], err);
	if (s)
		return s;
	sub->value[id].type = v->type;
	sub->value[id].shape = v->shape;
	draft_mark_input(sub, id);
	if (v->constant) {
		struct tensor t = tensor_share(v->constant);
		draft_set_constant(sub, id, &t);
	}
	return STATUS_OK;
}

// The graph inside a node, as the file has it.
struct inner {
	const Onnx__GraphProto *proto;
	const struct tensor *formal; // what is known of its own inputs, or NULL
	bool lenient;                // a shape rule that does not hold leaves shapes unknown; running the graph will tell
};

static enum status fill_graph(
    struct draft *sub, const struct draft *outer, const struct draft_node *n, const struct inner *in, struct error *err)
{
	const Onnx__GraphProto *g = in->proto;
	struct scope *scope = draft_scope(sub, NULL);
	enum status s = STATUS_OK;
	for (size_t i = 0; i < g->n_input && !s; i++)
		s = add_formal(sub, scope, g->input[i], in->formal && (int)i < n->n_explicit ? &in->formal[i] : NULL, err);
	for (int k = 0; k < n->n.n_in - n->n_explicit && !s; k++)
		s = add_captured(sub, scope, outer, n, k, err);
	if (!s)
		s = import_graph(sub, g, scope, err);
	return s ? s : normalise_outputs(sub, g, scope, err);
}

// *shape_failed: a shape rule did not hold.
static enum status build_graph(const struct graph **out, bool *shape_failed, struct draft *d, const struct draft_node *n,
    const struct inner *in, struct error *err)
{
	struct draft *sub = draft_new(d->model, d->externals);
	enum status s;
	sub->depth = d->depth + 1;
	sub->lenient = in->lenient;
	sub->folded = d->folded;
	if (sub->depth > DEPTH_MAX)
		s = error_set(
		    err, STATUS_UNSUPPORTED, "node %s (%s): graphs are nested too deeply", n->n.name, n->op_type);
	else
		s = fill_graph(sub, d, n, in, err);
	if (!s)
		s = normalise_draft(sub, err);
	*shape_failed = sub->shape_failed;
	d->folded = sub->folded;
	if (!s)
		*out = draft_finish(sub);
	draft_free(&sub);
	return s;
}

static const Onnx__GraphProto *graph_attr(const struct draft_node *n, const char *name)
{
	const Onnx__AttributeProto *a = proto_attribute(n->proto, name);
	return a ? a->g : NULL;
}

// Of a model with a branch a configuration (a sample rate, say), only one fits the input: the other may be wrong in its
// shapes, and is kept for the message that it gives when it is taken after all.
static enum status build_if(struct draft *d, struct draft_node *n, const struct graph **list, struct error *err)
{
	static const char *const names[] = {"then_branch", "else_branch"};
	struct error own[2];
	bool shape_failed[2];
	enum status s[2];
	n->n.n_subgraphs = 2; // those that are built by the time of an error go with the node
	for (int i = 0; i < 2; i++) {
		const Onnx__GraphProto *g = graph_attr(n, names[i]);
		if (!g || g->n_output != (size_t)n->n.n_out)
			return error_set(
			    err, STATUS_FORMAT, "node %s (If): its %s is missing or malformed", n->n.name, names[i]);
		s[i] = build_graph(&list[i], &shape_failed[i], d, n, &(struct inner){.proto = g}, &own[i]);
	}
	for (int i = 0; i < 2; i++)
		if (s[i] && shape_failed[i] && !s[1 - i]) {
			log_warn("node %s (If): its %s does not fit: %s", n->n.name, names[i], own[i].text);
			struct inner in = {.proto = graph_attr(n, names[i]), .lenient = true};
			s[i] = build_graph(&list[i], &shape_failed[i], d, n, &in, &own[i]);
			n->n.unfit = list[i];
		}
	if (!s[0] && !s[1])
		return STATUS_OK;
	d->shape_failed = shape_failed[0] || shape_failed[1];
	*err = own[s[0] ? 0 : 1];
	return err->status;
}

// Shapes that the first iteration sees may be those of all: the body tells.
static enum status build_body(
    const struct graph **out, struct draft *d, struct draft_node *n, const Onnx__GraphProto *body, struct error *err)
{
	struct tensor *views = xcalloc((size_t)n->n.n_in + 1, sizeof *views);
	struct tensor *formal = xcalloc((size_t)n->n.n_in + 1, sizeof *formal);
	const struct tensor **in = xcalloc((size_t)n->n.n_in + 1, sizeof *in);
	int64_t folded = d->folded.bytes;
	bool settled = false, failed;
	for (int i = 0; i < n->n.n_in; i++) {
		const struct draft_value *v = draft_in(d, n, i);
		if (v)
			views[i] = (struct tensor){.type = v->type, .shape = v->shape};
		in[i] = v ? &views[i] : NULL;
	}
	loop_formals(formal, &n->n, in);
	// What changes is taken back; what changes with that too, with all else.
	for (int round = 0; round < BODY_ROUNDS && !settled; round++) {
		enum status s = build_graph(out, &failed, d, n, &(struct inner){.proto = body, .formal = formal}, err);
		d->folded.bytes = s ? folded : d->folded.bytes;
		if (s)
			break;
		settled = loop_settle(formal, &n->n, *out);
		if (!settled) {
			graph_free((struct graph **)out);
			d->folded.bytes = folded;
		}
	}
	free(in);
	free(formal);
	free(views);
	return settled ? STATUS_OK : build_graph(out, &d->shape_failed, d, n, &(struct inner){.proto = body}, err);
}

static enum status build_graphs(struct draft *d, struct draft_node *n, struct error *err)
{
	const struct graph **list = arena_alloc(d->arena, 2 * sizeof *list);
	const Onnx__GraphProto *body = graph_attr(n, "body");
	enum status s;
	n->n.subgraph = list;
	if (n->n.op->id == OP_If)
		return build_if(d, n, list, err);
	if (!body)
		return error_set(err, STATUS_FORMAT, "node %s (%s): it has no body", n->n.name, n->op_type);
	s = build_body(&list[0], d, n, body, err);
	n->n.n_subgraphs = s == STATUS_OK;
	return s ? s : infer_draft(d, err); // another body may read what this one's node gives
}

enum status branch_build(struct draft *d, struct error *err)
{
	enum status s = STATUS_OK;
	for (size_t i = 0; i < d->n_nodes && !s; i++)
		if (d->node[i]->fate == FATE_KEPT && d->node[i]->captured)
			s = build_graphs(d, d->node[i], err);
	return s;
}
