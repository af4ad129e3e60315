// The opset that a file declares. Pairs are of ai.onnx from opset 10 on, with a scale for each channel from 13, and few readers know the
// domain in which ONNX Runtime has them before: its own optimizer fails on such a file where biases are floats. So the model
// is raised to what its pairs need where all of its operators can be written in that form.
#include <string.h>
#include "qtui/engine/op.h"
#include "write.h"

enum { OLDEST = 7, INTEGERS = 10, CHANNELS = 13 };

// Attributes that became inputs with opset 13.
static const struct {
	enum op_id op;
	const char *attribute;
} moved[] = {{OP_Squeeze, "axes"}, {OP_Unsqueeze, "axes"}, {OP_ReduceSum, "axes"}, {OP_Split, "split"}};

static const char *moved_attribute(enum op_id op)
{
	for (size_t i = 0; i < sizeof moved / sizeof *moved; i++)
		if (moved[i].op == op)
			return moved[i].attribute;
	return NULL;
}

static const void *attribute(const struct node *n, const char *name)
{
	for (int i = 0; i < n->op->n_attrs; i++)
		if (strcmp(n->op->attrs[i].name, name) == 0)
			return (const char *)n->attrs + n->op->attrs[i].offset;
	return NULL;
}

// Before opset 13 all dimensions from `axis` on were one: the same where the others hold one element.
static bool is_along_one_axis(const struct graph *g, const struct node *n)
{
	const struct shape *s = &g->value[n->in[0]].shape;
	const int64_t *at = attribute(n, "axis");
	int axis = at ? (int)(*at < 0 ? *at + s->rank : *at) : -1;

	if (axis < 0 || axis >= s->rank)
		return false;
	for (int i = axis + 1; i < s->rank; i++)
		if (s->dim[i] != 1)
			return false;
	return true;
}

static bool can_be_of(const struct graph *g, const struct node *n, int opset)
{
	enum op_id id = n->op->id;

	if (id == OP_Upsample || (id == OP_Scatter && opset > 10) || n->n_subgraphs)
		return false;
	if (n->op->domain[0] || op_find("", n->op->name, opset) == n->op)
		return true;
	if (opset != CHANNELS || op_find("", n->op->name, CHANNELS - 1) != n->op)
		return false;
	return (moved_attribute(id) && n->n_in == 1) ||
	       ((id == OP_Softmax || id == OP_LogSoftmax || id == OP_Hardmax) && is_along_one_axis(g, n));
}

static int first_obstacle(const struct graph *g, int opset)
{
	for (int i = 0; i < g->n_nodes; i++)
		if (!can_be_of(g, &g->node[i], opset))
			return i;
	return -1;
}

static int needed(const struct plan *p)
{
	for (int i = 0; i < p->n_slots; i++) {
		const struct quantizer *q = slot_quantizer(&p->slot[i]);

		if (q && (q->kind == QUANT_BF16 || (q->kind == QUANT_LINEAR && q->n > 1)))
			return CHANNELS;
	}
	return INTEGERS;
}

int opset_of_file(const struct plan *p)
{
	const struct graph *g = p->g;

	if (g->opset < OLDEST)
		return g->opset;
	if (g->opset < needed(p) && first_obstacle(g, needed(p)) < 0)
		return needed(p);
	return g->opset < INTEGERS && first_obstacle(g, INTEGERS) < 0 ? INTEGERS : g->opset;
}

void opset_tell(const struct writer *w)
{
	const struct graph *g = w->g;
	int node = first_obstacle(g, CHANNELS);

	if (w->opset < needed(w->plan) && w->opset < CHANNELS && needed(w->plan) == CHANNELS && node >= 0)
		str_addf(w->loss, "scales of channels are in ONNX Runtime's own domain, which its optimizer may refuse: "
		    "%s (%s) keeps the file at opset %d; convert the model to 13 (onnx.version_converter)\n",
		    g->node[node].name, g->node[node].op->name, w->opset);
}

static bool is_raised(const struct writer *w, const struct node *n)
{
	return !n->op->domain[0] && op_find("", n->op->name, w->opset) != n->op;
}

bool opset_leaves_out(const struct writer *w, const struct node *n, const char *name)
{
	const char *gone = moved_attribute(n->op->id);

	return gone && strcmp(gone, name) == 0 && is_raised(w, n);
}

bool opset_has_default(const struct writer *w, const struct node *n)
{
	return moved_attribute(n->op->id) || !is_raised(w, n);
}

enum status opset_add_input(const char **name, struct writer *w, const struct node *n, struct error *err)
{
	const char *attr = moved_attribute(n->op->id);
	const struct ints *list = attr && is_raised(w, n) ? attribute(n, attr) : NULL;
	struct tensor *t;

	*name = NULL;
	if (!list || list->n < 0)
		return STATUS_OK;
	struct shape shape = shape_of(1, (int64_t[]){list->n});
	enum status s = write_own(&t, w, DT_I64, &shape, err);
	if (s)
		return s;
	memcpy(t->data, list->at, (size_t)list->n * sizeof *list->at);
	*name = write_name(w, n->name, attr[0] == 'a' ? "_axes" : "_split");
	write_constant(w, *name, t);
	return STATUS_OK;
}
