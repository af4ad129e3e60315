// A model that another tool quantized (quantize_static, Quark, qtui quantize), in QDQ form, to which the loader brings
// operators on codes: what its pairs of QuantizeLinear and DequantizeLinear say of tensors, and what has none stays in float.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "qtui/engine/onnx.h"
#include "read_qdq.h"

static void find_pairs(struct reading *r)
{
	for (int i = r->file->n_nodes - 1; i >= 0; i--)
		if (qdq_is(r->file, i, OP_QuantizeLinear))
			r->pair[r->file->node[i].in[0]] = i;
}

static void read_nodes(struct reading *r)
{
	for (int i = 0; i < r->w->g->n_nodes; i++) {
		int owner = r->w->p->group[i].owner, other = r->w->p->quantizable[i] ? qdq_node(r, i) : -1;
		enum said said = other >= 0 ? qdq_said_by_node(r, i, &r->file->node[other]) : SAID_NOTHING;
		r->there[owner] |= other >= 0;
		if (said > r->said[owner])
			r->said[owner] = said;
	}
}

// ---- pairs

// The tensor whose quantizer the pair is: at the end of what runs as one, if that is in the file no more.
static int quantized_here(const struct reading *r, int value)
{
	const struct graph *g = r->w->g;
	int node = g->value[value].producer, last = node >= 0 ? r->w->p->group[node].last : -1;
	return last != node && qdq_is_gone(r, last) ? graph_output(g, last) : value;
}

// Where an operator stays in float, its readers round what it makes: then the pair is theirs.
static bool is_made_in_float(const struct reading *r, int value)
{
	int maker = r->w->g->value[value].producer;
	struct error why;
	if (maker < 0)
		return false;
	if (!r->w->p->quantizable[maker] || r->said[r->w->p->group[maker].owner] == ON_FLOATS)
		return true;
	return r->w->bare->precision[maker] == PREC_FLOAT && plan_check_edit(r->w->bare, maker, PREC_INT8, &why) != STATUS_OK;
}

// Readers of what comes in float may round it on scales of their own.
static bool has_other_pairs(const struct reading *r, int quantize)
{
	const struct value *x = &r->file->value[r->file->node[quantize].in[0]];
	struct file_grid a, b;
	for (int i = 0; i < x->n_consumers; i++)
		if (qdq_is(r->file, x->consumer[i], OP_QuantizeLinear) && file_grid_read(&a, r->file, &r->file->node[quantize]) &&
		    file_grid_read(&b, r->file, &r->file->node[x->consumer[i]]) && (a.scale != b.scale || a.zero != b.zero || a.qmin != b.qmin))
			return true;
	return false;
}

static double bits_of(const struct file_grid *grid)
{
	return log2((double)(grid->qmax - grid->qmin + 1));
}

static void read_grid(struct wishes *w, int value, const struct file_grid *grid, bool by_itself)
{
	double zero = grid->zero - (double)grid->qmin;
	if (by_itself)
		wish_read_scale(w, value, bits_of(grid), grid->scale, zero);
	else
		wish_tensor(w, w->g->value[value].name, bits_of(grid), grid->scale, zero);
}

static void read_pair(struct reading *r, int quantize)
{
	const struct node *n = &r->file->node[quantize];
	struct file_grid grid;
	const char *why, *name;
	int value = qdq_value(r->w->g, r->file, n->in[0]);
	if (r->file->value[n->in[0]].constant)
		return;
	if (value < 0 || r->w->g->value[value].constant) {
		r->lost += value < 0;
		return;
	}
	r->found++;
	r->zeros += file_grid_read(&grid, r->file, n) && grid.zero - (double)grid.qmin != exp2(bits_of(&grid) - 1);
	value = quantized_here(r, value);
	name = r->w->g->value[value].name;
	quantized_output(r->w, name, &why);
	bool as_float = is_made_in_float(r, value);
	int maker = r->w->g->value[value].producer, owner = maker < 0 ? -1 : r->w->p->group[maker].owner;
	if (owner >= 0 && !as_float)
		r->said[owner] = ON_CODES;
	if (owner >= 0 && maker != owner)
		r->pairs_within[owner] = true;
	bool part = owner >= 0 && r->w->p->group[owner].kind != GROUP_NONE && (as_float || r->split[owner]);
	if (why && !part)
		r->inner++;
	else if (!file_grid_read(&grid, r->file, n) || grid.rounding > 0)
		wish_note(r->w, "%.120s: its pair has not one scale for integers, and is not read", name);
	else if ((as_float || maker < 0) && has_other_pairs(r, quantize))
		wish_note(r->w, "%.120s: those who read it have pairs of different scales, and it can have one: none is taken", name);
	else
		read_grid(r->w, value, &grid, as_float || part);
}

// A tensor that is quantized once more for a reader, which is to have another width or scale, has its own pair before.
static bool is_first_pair(const struct reading *r, int quantize)
{
	int value = r->file->node[quantize].in[0];
	return r->pair[value] == quantize && !qdq_is(r->file, r->file->value[value].producer, OP_DequantizeLinear);
}

// Does the target let this part of an operator have 16 bits by itself?
static bool stands_alone(const struct reading *r, int node)
{
	struct edits *none = edits_new(r->w->g);
	int *with = xcalloc((size_t)r->w->g->n_nodes + 1, sizeof *with), n = plan_operator_nodes(r->w->bare, none, &node, 1, PREC_INT16, with);
	free(with);
	edits_free(&none);
	return n == 0;
}

// Of the pair behind a node: where those of one operator have different widths, its parts run by themselves.
static void note_width(struct reading *r, int quantize)
{
	struct file_grid grid;
	int value = qdq_value(r->w->g, r->file, r->file->node[quantize].in[0]);
	int maker = value < 0 ? -1 : r->w->g->value[quantized_here(r, value)].producer;
	if (maker < 0 || !is_first_pair(r, quantize) || !file_grid_read(&grid, r->file, &r->file->node[quantize]) || grid.rounding > 0)
		return;
	int owner = r->w->p->group[maker].owner, last = r->w->p->group[maker].last;
	r->ends[maker] = bits_of(&grid);
	for (int i = owner; i <= last; i++)
		if (r->w->p->group[i].owner == owner && r->ends[i] != 0 && r->ends[i] != r->ends[maker])
			r->split[owner] = stands_alone(r, r->ends[i] > r->ends[maker] ? i : maker);
}

// An activation by itself, which rounds neither what it reads nor what it makes where it is in float: then the operator in
// front has the first of the pairs, and those who read it the second, if there is one.
static bool may_be_between(const struct reading *r, int last)
{
	int owner = r->w->p->group[last].owner;
	struct error why;
	if (r->w->p->group[last].kind == GROUP_NONE || r->w->p->group[last].last != last || owner == last || r->said[owner] == ON_FLOATS)
		return false;
	for (int i = owner + 1; i < last; i++)
		if (r->w->p->group[i].owner == owner)
			return false;
	bool alike = r->ends[last] != 0 ? r->ends[last] == r->ends[owner] : qdq_node(r, last) >= 0;
	return r->ends[owner] != 0 && alike && plan_check_edit(r->w->bare, last, PREC_FLOAT, &why) == STATUS_OK;
}

static bool is_read_on_codes(const struct plan *p, int value)
{
	const struct value *v = &p->g->value[value];
	for (int c = 0; c < v->n_consumers; c++)
		for (int k = 0; p->precision[v->consumer[c]] != PREC_FLOAT && k < p->g->node[v->consumer[c]].n_in; k++)
			if (p->g->node[v->consumer[c]].in[k] == value && plan_in(p, v->consumer[c], k)->state == SLOT_ACTIVE)
				return true;
	return false;
}

static void find_between(struct reading *r)
{
	const struct graph *g = r->w->g;
	struct edits *e = edits_new(g);
	int n = 0;
	for (int i = 0; i < g->n_nodes; i++)
		if (may_be_between(r, i)) {
			e->precision[i] = PREC_FLOAT;
			n++;
		}
	struct plan *with = n ? plan_outline(g, r->w->p->target, e) : NULL;
	for (int i = 0; with && i < g->n_nodes; i++)
		if (e->precision[i] == PREC_FLOAT && (r->ends[i] == 0 || is_read_on_codes(with, graph_output(g, i))))
			r->between[i] = r->split[r->w->p->group[i].owner] = true;
	if (with)
		plan_free(&with);
	edits_free(&e);
}

static void read_pairs(struct reading *r)
{
	for (int i = 0; i < r->file->n_nodes; i++)
		if (qdq_is(r->file, i, OP_QuantizeLinear))
			note_width(r, i);
	find_between(r);
	for (int i = 0; i < r->file->n_nodes; i++) {
		if (!qdq_is(r->file, i, OP_QuantizeLinear))
			continue;
		if (is_first_pair(r, i))
			read_pair(r, i);
		else
			r->again++;
	}
}

// ---- the rest

// On what a part of an operator ends that runs by itself. What nothing has rounded before may be in float as well, with a pair that is
// its readers'; then these have that width.
static enum precision part_width(const struct reading *r, int node)
{
	const struct wishes *w = r->w;
	if (r->between[node])
		return PREC_FLOAT;
	const struct value *y = &w->g->value[graph_output(w->g, node)];
	enum precision p = r->ends[node] == 16 ? PREC_INT16 : PREC_INT8;
	int other = qdq_node(r, node);
	bool readers = other >= 0 && r->file->node[other].n_in > 0 && !qdq_comes_quantized(r->file, r->file->node[other].in[0]);
	for (int i = 0; readers && i < y->n_consumers; i++) {
		int owner = w->p->group[y->consumer[i]].owner, said = w->precision[owner];
		readers = (said >= 0 ? said : (int)w->p->precision[owner]) == (int)p;
	}
	return readers ? PREC_FLOAT : p;
}

static void read_parts(struct reading *r)
{
	for (int i = 0; i < r->w->g->n_nodes; i++) {
		int owner = r->w->p->group[i].owner;
		if (r->between[i] || (r->ends[i] != 0 && (r->split[owner] || (i != owner && r->said[owner] == ON_FLOATS))))
			r->w->part[i] = (signed char)part_width(r, i);
	}
}

static void read_floats(struct reading *r)
{
	int unknown = 0;
	for (int i = 0; i < r->w->g->n_nodes; i++) {
		if (r->w->p->group[i].owner != i || !r->w->p->quantizable[i] || r->said[i] == ON_CODES)
			continue;
		unknown += !r->there[i];
		if (r->there[i]) {
			wish_precision(r->w, i, PREC_FLOAT);
			r->w->each[i] = !r->pairs_within[i];
		}
	}
	if (unknown)
		wish_note(r->w, "operators of which the file says nothing, as they are not in it: %d", unknown);
}

// What the target rounds behind operators with weights on codes, whose results go on as floats in the file: those of TensorRT's
// quantizers, and OpTypesToExcludeOutputQuantization of ONNX Runtime's.
static void tell_open_ends(const struct reading *r)
{
	struct wishes *w = r->w;
	int open = 0, first = -1;
	for (int i = 0; i < w->g->n_nodes; i++) {
		int last = w->p->group[i].last, k = i;
		if (w->p->group[i].owner != i || r->said[i] != ON_CODES || !qdq_has_weights(&w->g->node[i]) || !slot_quantizes(plan_out(w->p, last, 0)))
			continue;
		while (k <= last && (w->p->group[k].owner != i || r->ends[k] == 0))
			k++;
		first = k > last && open++ == 0 ? i : first;
	}
	if (open)
		wish_note(w, "results that the file leaves in float, and the target rounds behind weights on codes: of %d nodes, %.120s first", open,
		    w->g->node[first].name);
}

// Its pairs are what another target would have, which runs there on codes.
static bool is_symmetric(const struct reading *r)
{
	return !r->zeros && target_splits_if_symmetric(r->w->p->target);
}

static void tell(const struct reading *r)
{
	static const char other_target[] = "; its pairs are symmetric: --target NAME,activation.symmetric=true quantizes there";
	struct wishes *w = r->w;
	int between = 0;
	for (int i = 0; i < w->g->n_nodes; i++)
		between += r->between[i];
	if (r->lost)
		wish_note(w, "quantized tensors of the file that are not in the model: %d of %d", r->lost, r->lost + r->found);
	if (r->inner)
		wish_note(w, "quantized tensors inside of what runs as one operator here, where nothing is quantized: %d of %d%s", r->inner, r->found,
		    is_symmetric(r) ? other_target : "");
	if (between && is_symmetric(r))
		wish_note(w, "activations that stay in float, as the file rounds before and behind them: %d%s", between, other_target);
	if (r->biases)
		wish_note(w, "biases of nodes that have none in the model: %d", r->biases);
	if (r->again)
		wish_note(w, "pairs behind a pair, for one reader, on a scale that the target chooses here: %d", r->again);
}

// ----

static enum status load(struct graph **file, const struct graph *g, const char *path, struct error *err)
{
	struct onnx_input_shape *shape = xcalloc((size_t)g->n_inputs + 1, sizeof *shape);
	for (int i = 0; i < g->n_inputs; i++)
		shape[i] = (struct onnx_input_shape){.name = g->value[g->input[i]].name, .shape = g->value[g->input[i]].shape};
	enum status s =
	    onnx_load(file, path, &(struct onnx_options){.shape = shape, .n_shapes = g->n_inputs, .pairs = true, .codes = true}, err);
	free(shape);
	return s;
}

static enum status nothing_read(const struct reading *r, const char *path, struct error *err)
{
	if (r->lost)
		return error_set(
		    err, STATUS_FORMAT, "%s: none of its %d quantized tensors is in the model: is it made of another one?", path, r->lost);
	for (int i = 0; i < r->file->n_nodes; i++)
		if (str_has_prefix(r->file->node[i].op->name, "DynamicQuantize"))
			return error_set(err, STATUS_UNSUPPORTED,
			    "%s: it finds scales as it runs (%s), so it has none to import; "
			    "qtui compare FLOAT %s CALIB tells what it loses",
			    path, r->file->node[i].op->name, path);
	for (int i = 0; i < r->file->n_nodes; i++)
		if (qdq_is(r->file, i, OP_DequantizeLinear) || qdq_is(r->file, i, OP_MatMulNBits))
			return error_set(err, STATUS_UNSUPPORTED,
			    "%s: its weights alone are quantized, which no edit says; qtui compare FLOAT %s CALIB tells what they lose", path, path);
	return error_set(err, STATUS_FORMAT, "%s: no QuantizeLinear is in it, so there is nothing to import: a float model is opened", path);
}

enum status read_qdq(struct wishes *w, const char *path, struct error *err)
{
	struct graph *file = NULL;
	enum status s = load(&file, w->g, path, err);
	if (s != STATUS_OK)
		return s;
	size_t n = (size_t)w->g->n_nodes + 1;
	struct reading r = {.w = w, .file = file};
	r.pair = xcalloc((size_t)file->n_values + 1, sizeof *r.pair);
	r.said = xcalloc(n, sizeof *r.said);
	r.there = xcalloc(n, sizeof *r.there);
	r.pairs_within = xcalloc(n, sizeof *r.pairs_within);
	r.ends = xcalloc(n, sizeof *r.ends);
	r.split = xcalloc(n, sizeof *r.split);
	r.between = xcalloc(n, sizeof *r.between);
	memset(r.pair, -1, (size_t)file->n_values * sizeof *r.pair);
	find_pairs(&r);
	read_nodes(&r);
	read_pairs(&r);
	qdq_read_weights(&r);
	if (r.found) {
		read_floats(&r);
		read_parts(&r);
		tell(&r);
		tell_open_ends(&r);
		qdq_note_constants(&r);
	} else {
		s = nothing_read(&r, path, err);
	}
	free(r.pair);
	free(r.said);
	free(r.there);
	free(r.pairs_within);
	free(r.ends);
	free(r.split);
	free(r.between);
	graph_free(&file);
	return s;
}
