// The opset that a file declares. Pairs are of ai.onnx from opset 10 on, with a scale for each channel from 13, and few
// readers know the domain in which ONNX Runtime has them before: its own optimizer fails on such a file where biases
// are floats. So the model is raised to what its pairs need where all of its operators can be written in that form.
#include <stdio.h>
#include <string.h>
#include "../proto/attr.h"
#include "qtui/engine/op.h"
#include "write.h"

// Opsets: files can be lifted from OLDEST on; QuantizeLinear is there from INTEGERS on, with scales per channel from
// CHANNELS on.
enum { OLDEST = 7, INTEGERS = 10, CHANNELS = 13 };

// Attributes that became inputs, in this order.
static const struct moved {
	enum op_id op;
	int since;
	const char *attribute[OPSET_MOVED];
} moved[] = {
	{OP_Slice, 10, {"starts", "ends", "axes"}},
	{OP_Clip, 11, {"min", "max"}},
	{OP_Pad, 11, {"pads", "value"}},
	{OP_Squeeze, 13, {"axes"}},
	{OP_Unsqueeze, 13, {"axes"}},
	{OP_ReduceSum, 13, {"axes"}},
	{OP_Split, 13, {"split"}},
};

static const struct moved *moved_of(enum op_id op)
{
	for (size_t i = 0; i < sizeof moved / sizeof *moved; i++)
		if (moved[i].op == op)
			return &moved[i];
	return NULL;
}

static const void *attribute(const struct node *n, const char *name)
{
	const struct attr_spec *spec = attr_spec_of(n->op, name);
	return spec ? (const char *)n->attrs + spec->offset : NULL;
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

// Does nothing else change between the node's version and that of the opset?
static bool changes_at(const struct node *n, int since, int opset)
{
	const char *name = n->op->name;
	return opset >= since && op_find("", name, since - 1) == n->op && op_find("", name, since) == op_find("", name, opset);
}

// Upsample and the first Resize are a Resize of opset 11 with other coordinates.
static bool is_old_resize(const struct node *n)
{
	return !n->op->domain[0] && (n->op->id == OP_Upsample || (n->op->id == OP_Resize && n->op->since < 11));
}

// How a Resize of opset 11 says that the first one rounds down where it grows and up where it shrinks; NULL: it cannot.
static const char *nearest_mode(const struct graph *g, const struct node *n)
{
	const struct tensor *t = n->op->id == OP_Resize && n->in[1] >= 0 ? g->value[n->in[1]].constant : NULL;
	bool grows = false, shrinks = false;
	if (n->op->id == OP_Upsample || strcmp(*(const char *const *)attribute(n, "mode"), "nearest") != 0)
		return "floor";
	if (!t || t->type != DT_F32)
		return NULL;
	for (int64_t i = 0; i < tensor_count(t); i++) {
		grows |= ((const float *)t->data)[i] > 1;
		shrinks |= ((const float *)t->data)[i] < 1;
	}
	return !shrinks ? "floor" : !grows ? "ceil" : NULL;
}

static bool can_be_of(const struct graph *g, const struct node *n, int opset)
{
	enum op_id id = n->op->id;
	const struct moved *m = moved_of(id);
	if ((id == OP_Scatter && opset > 10) || n->n_subgraphs)
		return false;
	if (is_old_resize(n))
		return nearest_mode(g, n) != NULL;
	if (n->op->domain[0] || op_find("", n->op->name, opset) == n->op)
		return true;
	if (m)
		return n->n_in == 1 && changes_at(n, m->since, opset);
	return (id == OP_Softmax || id == OP_LogSoftmax || id == OP_Hardmax) && changes_at(n, CHANNELS, opset) && is_along_one_axis(g, n);
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
	int wanted = needed(w->plan), node = first_obstacle(g, wanted);
	if (w->opset < wanted && node >= 0)
		str_addline(w->loss, "pairs below opset %d are in ONNX Runtime's own domain, which its optimizer may refuse: "
		    "%s (%s) keeps the file at opset %d; convert the model first (onnx.version_converter)",
		    wanted, g->node[node].name, g->node[node].op->name, w->opset);
}

static bool is_raised(const struct writer *w, const struct node *n)
{
	return !n->op->domain[0] && op_find("", n->op->name, w->opset) != n->op;
}

static bool becomes_resize(const struct writer *w, const struct node *n)
{
	return is_old_resize(n) && w->opset >= (n->op->id == OP_Upsample ? 10 : 11);
}

const char *opset_operator(const struct writer *w, const struct node *n)
{
	return becomes_resize(w, n) ? "Resize" : n->op->name;
}

void opset_add_attributes(struct writer *w, Onnx__NodeProto *to, const struct node *n)
{
	if (!becomes_resize(w, n) || w->opset < 11)
		return;
	write_text_attribute(w, to, "coordinate_transformation_mode", "asymmetric");
	write_text_attribute(w, to, "nearest_mode", nearest_mode(w->g, n));
}

bool opset_leaves_out(const struct writer *w, const struct node *n, const char *name)
{
	const struct moved *m = is_raised(w, n) ? moved_of(n->op->id) : NULL;
	if (becomes_resize(w, n))
		return strcmp(name, "scales") == 0;
	for (int i = 0; m && i < OPSET_MOVED && m->attribute[i]; i++)
		if (strcmp(m->attribute[i], name) == 0)
			return true;
	return false;
}

bool opset_has_default(const struct writer *w, const struct node *n)
{
	return moved_of(n->op->id) || !is_raised(w, n);
}

// A list of integers or floats, or one float; *name stays "" where the node has none.
static enum status add_input(const char **name, struct writer *w, const struct node *n, const char *attr, struct error *err)
{
	const struct attr_spec *spec = attr_spec_of(n->op, attr);
	const struct ints *ints = attribute(n, attr);
	const struct floats *floats = attribute(n, attr);
	bool whole = spec->kind == ATTR_INTS, number = spec->kind == ATTR_FLOAT;
	int count = number ? 1 : whole ? ints->n : floats->n;
	const void *values = number ? (const void *)floats : whole ? (const void *)ints->at : floats->at;
	struct shape shape = number ? shape_of(0, NULL) : shape_of(1, (int64_t[]){count});
	struct tensor *t;
	char suffix[32];
	if (count < 0)
		return STATUS_OK;
	enum status s = write_own(&t, w, whole ? DT_I64 : DT_F32, &shape, err);
	if (s)
		return s;
	if (count > 0)
		memcpy(t->data, values, tensor_bytes(t));
	snprintf(suffix, sizeof suffix, "_%s", attr);
	*name = write_name(w, n->name, suffix);
	write_constant(w, *name, t);
	return STATUS_OK;
}

// Scales are input 1, from opset 11 on 2.
static enum status add_scales(const char **in, int *n_in, struct writer *w, const struct node *n, struct error *err)
{
	enum status s = STATUS_OK;
	if (*n_in == 1) {
		in[1] = "";
		s = add_input(&in[1], w, n, "scales", err);
	}
	if (w->opset >= 11) {
		in[2] = in[1];
		in[1] = "";
	}
	*n_in = w->opset >= 11 ? 3 : 2;
	return s;
}

enum status opset_add_inputs(const char **in, int *n_in, struct writer *w, const struct node *n, struct error *err)
{
	const struct moved *m = is_raised(w, n) ? moved_of(n->op->id) : NULL;
	enum status s = STATUS_OK;
	if (becomes_resize(w, n))
		return add_scales(in, n_in, w, n, err);
	for (int i = 0; m && i < OPSET_MOVED && m->attribute[i] && !s; i++) {
		in[*n_in] = "";
		s = add_input(&in[*n_in], w, n, m->attribute[i], err);
		*n_in += in[*n_in][0] != '\0';
	}
	return s;
}
