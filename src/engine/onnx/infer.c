// Shape inference and constant folding. A node whose inputs are all constant is computed by the operator's
// own evaluation and its outputs become constants (the pass `folded` then takes the node out);
// Shape, Size and OptionalHasElement need only their input's shape. QuantizeLinear is never folded:
// it is what the user looks at. A DequantizeLinear of constants is, unless the caller wants its codes: its result is a weight.
#include <stdlib.h>
#include <string.h>
#include "infer.h"
#include "qtui/engine/eval.h"

#define FOLD_VALUE_MAX ((int64_t)64 << 20)
#define FOLD_TOTAL_MAX ((int64_t)256 << 20)
#define FOLD_WORK_MAX ((int64_t)1 << 32)
#define FOLD_WORK_TOTAL_MAX ((int64_t)1 << 36)
#define LOOP_WORK_MAX ((int64_t)1 << 31) // of the iterations of all loops: their bounds are less wide

static struct tensor view_of(const struct draft_value *v)
{
	struct tensor t = {.type = v->type, .shape = v->shape};
	if (v->constant)
		t.data = v->constant->data;
	return t;
}

static bool reads_shape_only(const struct op *op)
{
	return op->id == OP_Shape || op->id == OP_Size || op->id == OP_OptionalHasElement;
}

static bool has_room(const struct draft *d, int64_t bytes)
{
	return bytes <= FOLD_VALUE_MAX && d->folded.bytes + bytes <= FOLD_TOTAL_MAX;
}

bool infer_takes(struct draft *d, int64_t bytes)
{
	bool takes = has_room(d, bytes);
	d->folded.bytes += takes ? bytes : 0;
	return takes;
}

static int64_t output_bytes(const struct node *n, const struct tensor *out)
{
	int64_t total = 0;
	for (int i = 0; i < n->n_out; i++)
		total += shape_count(&out[i].shape) * (int64_t)dtype_size(out[i].type);
	return total;
}

// Takes the work of a node from what may be spent on constants.
static bool takes_work(struct draft *d, const struct node *n, const struct tensor *const *in, const struct tensor *out)
{
	int64_t work = reads_shape_only(n->op) ? 0 : eval_work(n, in, out);
	if (work > FOLD_WORK_MAX || work > FOLD_WORK_TOTAL_MAX - d->folded.work)
		return false;
	d->folded.work += work;
	return true;
}

static bool may_fold(
    struct draft *d, const struct node *n, const struct tensor *const *in, const struct tensor *out)
{
	int64_t bytes = output_bytes(n, out);
	bool codes = d->opt && d->opt->codes && n->op->id == OP_DequantizeLinear;
	if (!n->n_in || n->n_subgraphs || n->op->id == OP_QuantizeLinear || codes || !has_room(d, bytes))
		return false;
	for (int i = 0; i < n->n_in && !reads_shape_only(n->op); i++)
		if (in[i] && !in[i]->data)
			return false;
	return takes_work(d, n, in, out);
}

static enum status fold(
    struct draft *d, const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	enum status s = op_finish(n, in, out, 1, err);
	for (int i = 0; i < n->n_out && !s; i++) {
		if (n->out[i] < 0) {
			tensor_drop(&out[i]);
			continue;
		}
		d->folded.bytes += (int64_t)tensor_bytes(&out[i]);
		draft_set_constant(d, n->out[i], &out[i]);
	}
	return s;
}

static void set_types(struct draft *d, const struct node *n, const struct tensor *out)
{
	for (int i = 0; i < n->n_out; i++) {
		if (n->out[i] < 0)
			continue;
		d->value[n->out[i]].type = out[i].type;
		d->value[n->out[i]].shape = out[i].shape;
	}
}

static enum status check_shapes(const struct node *n, const struct tensor *out, struct error *err)
{
	char text[160];
	for (int i = 0; i < n->n_out; i++)
		if (n->out[i] >= 0 && out[i].shape.rank >= 0 && shape_count(&out[i].shape) < 0)
			return error_set(err, STATUS_UNSUPPORTED,
			    "its output would have the shape %s, which is too large",
			    shape_text(&out[i].shape, text, sizeof text));
	return STATUS_OK;
}

// The shape rule, then the value when it can be had. STATUS_UNSUPPORTED without a text: known when it runs.
static enum status infer_known(
    struct draft *d, struct draft_node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	int64_t work = LOOP_WORK_MAX - d->folded.loop_work;
	struct eval_limits before = eval_limit((struct eval_limits){.work = &work});
	enum status s = n->n.op->shape(&n->n, in, out, err);
	eval_limit(before);
	d->folded.loop_work = LOOP_WORK_MAX - (work < 0 ? 0 : work);
	if (s == STATUS_UNSUPPORTED && !err->text[0])
		return STATUS_OK;
	if (!s)
		s = check_shapes(&n->n, out, err);
	if (s)
		return s;
	set_types(d, &n->n, out);
	if (may_fold(d, &n->n, in, out))
		return fold(d, &n->n, in, out, err);
	for (int i = 0; i < n->n.n_out; i++) // results that the rule left
		tensor_drop(&out[i]);
	return STATUS_OK;
}

static bool all_folded(const struct draft *d, const struct node *n)
{
	for (int i = 0; i < n->n_out; i++)
		if (n->out[i] >= 0 && !d->value[n->out[i]].constant)
			return false;
	return true;
}

// Whether the text says "node NAME" already: a name may be as short as "1".
static bool names_node(const char *text, const char *name)
{
	for (const char *p = strstr(text, "node "); p; p = strstr(p + 1, "node "))
		if (!strncmp(p + 5, name, strlen(name)) && strchr(" :", p[5 + strlen(name)]))
			return true;
	return false;
}

static enum status infer_node(struct draft *d, struct draft_node *n, struct error *err)
{
	struct tensor *views = xcalloc((size_t)n->n.n_in + (size_t)n->n.n_out + 1, sizeof *views),
	              *out = views + n->n.n_in;
	const struct tensor **in = xcalloc((size_t)n->n.n_in + 1, sizeof *in);
	bool known = true;
	enum status s = STATUS_OK;
	for (int i = 0; i < n->n.n_in; i++) {
		const struct draft_value *v = draft_in(d, n, i);
		if (!v)
			continue;
		known = known && v->shape.rank >= 0;
		views[i] = view_of(v);
		in[i] = &views[i];
	}
	err->text[0] = '\0';
	if (known)
		s = infer_known(d, n, in, out, err);
	free(in);
	free(views);
	if (!s || (d->lenient && s != STATUS_NOMEM))
		return STATUS_OK;
	d->shape_failed = true;
	return names_node(err->text, n->n.name) ? s : error_prefix(err, "node %s (%s)", n->n.name, n->op_type);
}

enum status infer_draft(struct draft *d, struct error *err)
{
	enum status s = STATUS_OK;
	for (size_t i = 0; i < d->n_nodes && !s; i++) {
		struct draft_node *n = d->node[i];
		if (n->fate != FATE_KEPT || (n->n.n_out && all_folded(d, &n->n)))
			continue;
		if (!n->captured || n->n.n_subgraphs) // a node with graphs inside waits until they are built
			s = infer_node(d, n, err);
	}
	return s;
}
