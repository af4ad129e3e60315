// If: its branches are graphs whose inputs are, in order, the node's inputs after the condition. (A condition that is
// known at load has already made way for its branch.)
#include <stdlib.h>
#include <string.h>
#include "../rule.h"
#include "qtui/engine/eval.h"

static const struct graph *taken(const struct node *n, const struct tensor *condition)
{
	return n->subgraph[*(const uint8_t *)condition->data ? 0 : 1];
}

static struct tensor output_of(const struct graph *g, int i)
{
	const struct value *v = &g->value[g->output[i]];
	return (struct tensor){.type = v->type, .shape = v->shape};
}

static bool same_form(const struct tensor *a, const struct tensor *b)
{
	return a->type == b->type && shape_equal(&a->shape, &b->shape);
}

static enum status run(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	return graph_eval(taken(n, in[0]), in + 1, out, width, err);
}

// Shapes that depend on data: only the run tells.
static enum status shape_by_run(
    const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	for (int i = 1; i < n->n_in; i++)
		if (in[i] && !in[i]->data)
			return rule_pending(err);
	return run(n, in, out, 1, err);
}

enum status if_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	bool known = n->n_subgraphs == 2;
	if (tensor_count(in[0]) != 1)
		return error_set(err, STATUS_FORMAT, "its condition must be one element");
	for (int i = 0; i < n->n_out && known; i++) {
		struct tensor a = output_of(n->subgraph[0], i), b = output_of(n->subgraph[1], i);
		out[i] = !in[0]->data || taken(n, in[0]) == n->subgraph[0] ? a : b;
		known = out[i].shape.rank >= 0 && out[i].type && (in[0]->data || same_form(&a, &b));
	}
	if (known)
		return STATUS_OK;
	return n->n_subgraphs == 2 && in[0]->data ? shape_by_run(n, in, out, err) : rule_pending(err);
}

enum status if_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	struct tensor *result = xcalloc((size_t)n->n_out + 1, sizeof *result);
	enum status s = run(n, in, result, width, err);
	for (int i = 0; i < n->n_out; i++) {
		if (!s && n->out[i] >= 0 && same_form(&result[i], &out[i]))
			memcpy(out[i].data, result[i].data, tensor_bytes(&out[i]));
		else if (!s && n->out[i] >= 0)
			s = error_set(err, STATUS_UNSUPPORTED, "the branch gives another shape than was inferred");
		tensor_drop(&result[i]);
	}
	free(result);
	return s;
}
