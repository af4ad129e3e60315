// What the passes share, and the small passes.
#include <string.h>
#include "../proto/attr.h"
#include "pass.h"
#include "qtui/base/str.h"

bool pass_on(struct draft *d, int to, int from)
{
	struct draft_value *a = &d->value[to], *b;
	from = draft_resolve(d, from);
	b = &d->value[from];
	if (a->is_output) {
		const char *name = a->name;
		if (b->is_input || b->is_output || b->constant || !b->producer)
			return false;
		a->name = b->name;
		b->name = name;
		a->is_output = false;
		b->is_output = true;
		b->elements = a->elements;
	}
	a->same_as = from;
	return true;
}

enum status pass_copy_constant(
    int *out, struct draft *d, const char *name, const struct tensor *value, struct error *err)
{
	struct tensor t;
	enum status s = tensor_copy(&t, value, err);
	if (s)
		return s;
	*out = draft_value_add(d, name);
	draft_set_constant(d, *out, &t);
	return STATUS_OK;
}

enum status pass_new_vector(int *out, struct draft *d, const char *name, int64_t n, struct error *err)
{
	struct tensor t = {.type = DT_F32, .shape = shape_of(1, &n)};
	enum status s = tensor_alloc(&t, NULL, err);
	if (s)
		return s;
	memset(t.data, 0, tensor_bytes(&t));
	*out = draft_value_add(d, name);
	draft_set_constant(d, *out, &t);
	return STATUS_OK;
}

void pass_set_input(struct draft *d, struct draft_node *n, int i, int value)
{
	if (i >= n->n.n_in) {
		int *in = arena_alloc(d->arena, ((size_t)i + 1) * sizeof(int));
		for (int k = 0; k < i; k++)
			in[k] = k < n->n.n_in ? n->n.in[k] : -1;
		n->n.in = in;
		n->n.n_in = i + 1;
	}
	n->n.in[i] = value;
}

void *pass_become(struct draft *d, struct node *n, const char *op, int opset)
{
	void *attrs;
	n->op = op_find("", op, opset);
	n->attrs = attrs = attr_defaults(d, n->op);
	return attrs;
}

void pass_add_node(struct draft *d, const char *name, const char *op, int opset, const int *in, int n_in, int out)
{
	struct draft_node *n = draft_node_add(d, name);
	pass_become(d, &n->n, op, opset);
	n->op_type = n->n.op->name;
	n->n.in = arena_memdup(d->arena, in, (size_t)n_in * sizeof *in);
	n->n.n_in = n_in;
	n->n.out = arena_memdup(d->arena, &out, sizeof out);
	n->n.n_out = 1;
	d->value[out].producer = n;
}

const char *pass_name(struct draft *d, const struct draft_node *n, const char *suffix)
{
	struct str s = {0};
	const char *name;
	str_addf(&s, "%s_%s", n->n.name, suffix);
	name = arena_strdup(d->arena, str_text(&s));
	str_done(&s);
	return name;
}

static bool is_folded(const struct draft *d, const struct draft_node *n)
{
	bool any = false;
	for (int i = 0; i < n->n.n_out; i++) {
		if (n->n.out[i] < 0)
			continue;
		if (!d->value[n->n.out[i]].constant)
			return false;
		any = true;
	}
	return any;
}

enum status pass_folded(struct draft *d, struct error *err)
{
	(void)err;
	for (size_t i = 0; i < d->n_nodes; i++)
		if (d->node[i]->fate == FATE_KEPT && is_folded(d, d->node[i]))
			d->node[i]->fate = FATE_FOLDED;
	return STATUS_OK;
}

// Whether any output is wanted; when not, the node's inputs lose their use.
static bool is_used(struct draft *d, struct draft_node *n)
{
	for (int i = 0; i < n->n.n_out; i++)
		if (n->n.out[i] >= 0 && d->value[n->n.out[i]].uses)
			return true;
	for (int i = 0; i < n->n.n_in; i++)
		if (n->n.in[i] >= 0)
			d->value[n->n.in[i]].uses--;
	return false;
}

enum status pass_unused(struct draft *d, struct error *err)
{
	(void)err;
	draft_count_uses(d);
	for (size_t i = d->n_nodes; i-- > 0;)
		if (d->node[i]->fate == FATE_KEPT && !is_used(d, d->node[i]))
			draft_remove(d->node[i], NULL);
	return STATUS_OK;
}
