// If, Loop and Scan.
#include <stdlib.h>
#include <string.h>
#include "attr.h"
#include "branch.h"
#include "import.h"
#include "normalise.h"
#include "pass.h"
#include "tensor_proto.h"

#define DEPTH_MAX 16

// Moves the nodes from `first` on to the position `at` < first.
static void move_nodes(struct draft *d, size_t first, size_t at)
{
	size_t n = d->n_nodes - first;
	struct draft_node **moved = xmalloc((n + 1) * sizeof(*moved));

	memcpy(moved, d->node + first, n * sizeof(*moved));
	memmove(d->node + at + n, d->node + at, (first - at) * sizeof(*moved));
	memcpy(d->node + at, moved, n * sizeof(*moved));
	free(moved);
}

// The If's output becomes the branch's; through an Identity where both must keep their names.
static enum status connect_output(
    struct draft *d, struct draft_node *n, int output, struct scope *scope, const char *name, struct error *err)
{
	int from = scope_find(scope, name), to = n->n.out[output];
	struct draft_node *copy;

	if (from < 0)
		return error_set(err, STATUS_FORMAT, "node %s (If): its branch does not compute '%s'", n->n.name, name);
	if (to < 0 || pass_on(d, to, from))
		return STATUS_OK;
	copy = draft_node_add(d, n->n.name);
	copy->n.op = op_find("", "Identity", 1);
	copy->op_type = copy->n.op->name;
	copy->n.attrs = arena_alloc(d->arena, copy->n.op->attrs_size + 1);
	copy->n.in = arena_memdup(d->arena, &from, sizeof(from));
	copy->n.out = arena_memdup(d->arena, &to, sizeof(to));
	copy->n.n_in = copy->n.n_out = 1;
	d->value[to].producer = copy;
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
		s = connect_output(d, n, i, scope, branch->output[i]->name ? branch->output[i]->name : "", err);
	draft_remove(n, NULL);
	move_nodes(d, first, at + 1);
	return s;
}

// The branch that is taken; NULL when that is not known, or this is not an If.
static const Onnx__GraphProto *taken_branch(const struct draft *d, const struct draft_node *n)
{
	const struct tensor *condition = draft_constant(d, n, 0);
	const Onnx__AttributeProto *a;

	if (n->fate != FATE_KEPT || !n->captured || strcmp(n->op_type, "If") || !condition ||
	    tensor_count(condition) != 1)
		return NULL;
	a = attr_find(n->proto, *(const uint8_t *)condition->data ? "then_branch" : "else_branch");
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
    struct draft *sub, struct scope *scope, const Onnx__ValueInfoProto *info, struct error *err)
{
	const Onnx__TypeProto__Tensor *t = info->type && info->type->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE
	                                       ? info->type->tensor_type
	                                       : NULL;
	int id;
	enum status s = import_name(&id, sub, scope, info->name ? info->name : "", err);

	if (s)
		return s;
	sub->value[id].type = t ? tensor_proto_type(t->elem_type) : DT_NONE;
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

static enum status fill_graph(struct draft *sub, const struct draft *outer, const struct draft_node *n,
    const Onnx__GraphProto *g, struct error *err)
{
	struct scope *scope = draft_scope(sub, NULL);
	enum status s = STATUS_OK;

	for (size_t i = 0; i < g->n_input && !s; i++)
		s = add_formal(sub, scope, g->input[i], err);
	for (int k = 0; k < n->n.n_in - n->n_explicit && !s; k++)
		s = add_captured(sub, scope, outer, n, k, err);
	if (!s)
		s = import_graph(sub, g, scope, err);
	return s ? s : normalise_outputs(sub, g, scope, err);
}

static enum status build_graph(
    const struct graph **out, struct draft *d, const struct draft_node *n, const Onnx__GraphProto *g, struct error *err)
{
	struct draft *sub = draft_new(d->model, d->externals);
	enum status s;

	sub->depth = d->depth + 1;
	sub->folded_bytes = d->folded_bytes;
	if (sub->depth > DEPTH_MAX)
		s = error_set(
		    err, STATUS_UNSUPPORTED, "node %s (%s): graphs are nested too deeply", n->n.name, n->op_type);
	else
		s = fill_graph(sub, d, n, g, err);
	if (!s)
		s = normalise_draft(sub, err);
	d->shape_failed = d->shape_failed || sub->shape_failed;
	d->folded_bytes = sub->folded_bytes;
	if (!s)
		*out = draft_finish(sub);
	draft_free(&sub);
	return s;
}

static enum status build_graphs(struct draft *d, struct draft_node *n, struct error *err)
{
	static const char *const names[] = {"then_branch", "else_branch", "body"};
	const struct graph **list = arena_alloc(d->arena, 2 * sizeof(*list));
	enum status s = STATUS_OK;

	n->n.subgraph = list;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !s; i++) {
		const Onnx__AttributeProto *a = attr_find(n->proto, names[i]);

		if (!a || !a->g)
			continue;
		if (n->n.n_subgraphs == 2 || (!strcmp(n->op_type, "If") && a->g->n_output != (size_t)n->n.n_out))
			return error_set(
			    err, STATUS_FORMAT, "node %s (%s): its graphs are malformed", n->n.name, n->op_type);
		s = build_graph(&list[n->n.n_subgraphs], d, n, a->g, err);
		n->n.n_subgraphs += s == STATUS_OK;
	}
	if (!s && !strcmp(n->op_type, "If") && n->n.n_subgraphs != 2)
		s = error_set(err, STATUS_FORMAT, "node %s (If) must have two branches", n->n.name);
	return s;
}

enum status branch_build(struct draft *d, struct error *err)
{
	enum status s = STATUS_OK;

	for (size_t i = 0; i < d->n_nodes && !s; i++)
		if (d->node[i]->fate == FATE_KEPT && d->node[i]->captured)
			s = build_graphs(d, d->node[i], err);
	return s;
}
