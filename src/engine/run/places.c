#include "places.h"

#include <stdlib.h>
#include <string.h>
#include "exec/exec.h"

enum {
	MOST_PARTS = 64, // bits of whole.given
	ALIGNED = 64     // bytes, as memory of its own is
};

static int axis_of(const struct node *n, int rank)
{
	const struct axis_attrs *a = n->attrs;
	return a->axis < 0 ? a->axis + rank : a->axis;
}

// Nothing before the axis repeats: in plain layout, and in blocks where the axis is that
// of the channels, a part is one run of bytes.
static bool has_runs(const struct graph *g, const struct node *n)
{
	const struct shape *s = &g->value[n->out[0]].shape;
	if (n->op->id != OP_Concat || n->n_in > MOST_PARTS || s->rank < 1 || shape_count(s) <= 0)
		return false;
	for (int i = 0; i < n->n_in; i++)
		if (n->in[i] < 0 || shape_count(&g->value[n->in[i]].shape) <= 0)
			return false;
	int axis = axis_of(n, s->rank);
	for (int d = 0; d < axis; d++)
		if (s->dim[d] != 1)
			return false;
	return true;
}

// The value is the Concat's input, or has its bytes alone.
static void note_part(struct places *p, const struct graph *g, int value, struct part part)
{
	while (value >= 0 && !g->value[value].constant && p->of_value[value].concat < 0) {
		int from = g->value[value].producer;
		p->of_value[value] = part;
		if (from < 0 || !(g->node[from].op->flags & OPF_VIEW) || g->node[from].n_out != 1)
			return;
		value = g->node[from].in[0];
		if (value >= 0 && (g->value[value].n_consumers != 1 || g->value[value].is_output))
			return;
	}
}

void places_build(struct places *p, const struct graph *g)
{
	*p = (struct places){.of_value = xmalloc(((size_t)g->n_values + 1) * sizeof *p->of_value),
	    .of_node = xmalloc(((size_t)g->n_nodes + 1) * sizeof *p->of_node), .node = xcalloc((size_t)g->n_nodes + 1, sizeof *p->node)};
	for (int v = 0; v < g->n_values; v++)
		p->of_value[v].concat = -1;
	for (int i = 0; i < g->n_nodes; i++) {
		p->of_node[i] = -1;
		if (!has_runs(g, &g->node[i]))
			continue;
		for (int k = 0; k < g->node[i].n_in; k++)
			note_part(p, g, g->node[i].in[k], (struct part){p->n, k});
		p->of_node[i] = p->n;
		p->node[p->n++] = i;
	}
}

void places_done(struct places *p)
{
	free(p->of_value);
	free(p->of_node);
	free(p->node);
	*p = (struct places){0};
}

// Bytes before input `end` of the Concat, in blocks or plain; SIZE_MAX where inputs do not fill their blocks.
static size_t bytes_before(const struct place *p, int end, enum dtype type, enum layout layout)
{
	size_t at = 0;
	for (int i = 0; i < end; i++) {
		struct tensor t = {.type = type, .layout = layout, .shape = p->g->value[p->concat->in[i]].shape};
		if (layout == LAYOUT_BLOCK && t.shape.dim[1] % layout_block() != 0)
			return SIZE_MAX;
		at += tensor_bytes(&t);
	}
	return at;
}

static bool fits(const struct place *p, enum layout layout, const struct shape *shape)
{
	const struct shape *part = &p->g->value[p->concat->in[p->input]].shape;
	if (layout == LAYOUT_BLOCK)
		return shape->rank == 4 && axis_of(p->concat, 4) == 1 && shape_equal(shape, part);
	return shape_count(shape) == shape_count(part);
}

static bool begin(const struct place *p, enum dtype type, enum layout layout)
{
	struct error err = {0};
	struct rep *r = &p->whole->rep;
	if (r->t.buf)
		return r->t.type == type && r->t.layout == layout;
	return rep_alloc(r, type, layout, &p->g->value[p->concat->out[0]].shape, &err) == STATUS_OK;
}

bool place_take(const struct place *p, struct rep *out, enum dtype type, enum layout layout, const struct shape *shape)
{
	uint64_t bit = (uint64_t)1 << p->input;
	size_t at = fits(p, layout, shape) ? bytes_before(p, p->input, type, layout) : SIZE_MAX;
	if (at == SIZE_MAX || at % ALIGNED != 0 || bytes_before(p, p->concat->n_in - 1, type, layout) == SIZE_MAX || (p->whole->given & bit) ||
	    !begin(p, type, layout))
		return false;
	p->whole->given |= bit;
	memset(out, 0, sizeof *out);
	out->t = tensor_share(&p->whole->rep.t);
	out->t.shape = *shape;
	out->t.data = (char *)out->t.data + at;
	return true;
}

// Has it the form of the result, and is it where it belongs if its room was given away?
static bool belongs(const struct place *p, int i, const struct rep *in)
{
	const struct tensor *whole = &p->whole->rep.t;
	if (in->t.type != whole->type || in->t.layout != whole->layout ||
	    shape_count(&in->t.shape) != shape_count(&p->g->value[p->concat->in[i]].shape))
		return false;
	return !(p->whole->given >> i & 1) || in->t.data == (char *)whole->data + bytes_before(p, i, whole->type, whole->layout);
}

bool whole_take(const struct place *p, struct rep *in, int n, struct rep *out, int width)
{
	struct rep *r = &p->whole->rep;
	bool all = r->t.buf != NULL;
	for (int i = 0; all && i < n; i++)
		all = belongs(p, i, &in[i]);
	if (!all) {
		rep_drop(r);
		return false;
	}
	for (int i = 0; i < n; i++)
		if (!(p->whole->given >> i & 1))
			exec_copy((char *)r->t.data + bytes_before(p, i, r->t.type, r->t.layout), in[i].t.data, tensor_bytes(&in[i].t), width);
	*out = rep_move(r);
	return true;
}
