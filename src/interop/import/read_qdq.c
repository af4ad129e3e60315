// A model that another tool quantized (quantize_static, Quark, qtui quantize), in QDQ form, to which the loader brings
// operators on codes: what its pairs of QuantizeLinear and DequantizeLinear say of tensors, and what has none stays in float.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "qtui/engine/file_grid.h"
#include "qtui/engine/onnx.h"
#include "qtui/engine/op.h"
#include "wishes.h"

enum said { SAID_NOTHING, ON_FLOATS, ON_CODES };
struct reading {
	struct wishes *w;
	const struct graph *file;
	int *pair;              // [file->n_values] the first QuantizeLinear that reads it, or -1
	enum said *said;        // [g->n_nodes] how the file runs the operators that the node owns
	bool *there;            // [g->n_nodes] the file has one of them
	bool *pairs_within;     // [g->n_nodes] one of them has a pair behind it: it runs by itself where the others are in float
	// Pairs: at tensors of the model, at others, within operators that run as one here, of tensors that a pair has rounded already.
	int found, lost, inner, again;
	int biases; // of nodes that have none in the model
};

static bool is_node(const struct graph *g, int node, enum op_id op)
{
	return node >= 0 && g->node[node].op->id == op;
}

// ---- which tensor of the model a tensor of the file is

static int without_suffix(const struct graph *g, const char *name)
{
	static const char suffix[] = "_QuantizeLinear_Input"; // of an output of the network, whose name is behind the pair
	size_t len = strlen(name), cut = sizeof suffix - 1;
	if (len <= cut || strcmp(name + len - cut, suffix) != 0)
		return -1;
	char *base = xstrdup(name);
	base[len - cut] = '\0';
	int v = graph_find_value(g, base);
	free(base);
	return v;
}

// Tools name tensors anew and leave nodes their names.
static int by_producer(const struct graph *g, const struct graph *file, int value)
{
	int maker = file->value[value].producer, node, place = 0;
	if (maker < 0 || file->origin[file->node[maker].origin].unnamed)
		return -1;
	const struct node *n = &file->node[maker];
	while (n->out[place] != value)
		place++;
	node = graph_find_node(g, n->name);
	return node >= 0 && g->node[node].op == n->op && place < g->node[node].n_out ? g->node[node].out[place] : -1;
}

// Behind what a tool put between an operator and its pair: a Clip to fewer codes, a Cast.
static int value_in_model(const struct graph *g, const struct graph *file, int value)
{
	enum { BETWEEN = 3 };
	for (int i = 0; i < BETWEEN; i++) {
		int v = graph_find_value(g, file->value[value].name);
		if (v < 0)
			v = without_suffix(g, file->value[value].name);
		if (v < 0)
			v = by_producer(g, file, value);
		int maker = file->value[value].producer;
		if (v >= 0 || !(is_node(file, maker, OP_Clip) || is_node(file, maker, OP_Cast)) || file->node[maker].in[0] < 0)
			return v;
		value = file->node[maker].in[0];
	}
	return -1;
}

// Was the node left out of the file? A Relu goes where the codes end at its zero.
static bool is_gone(const struct reading *r, int node)
{
	const struct graph *g = r->w->g;
	for (int i = 0; i < g->node[node].n_out; i++)
		if (g->node[node].out[i] >= 0 && graph_find_value(r->file, g->value[g->node[node].out[i]].name) >= 0)
			return false;
	return g->origin[g->node[node].origin].unnamed || graph_find_node(r->file, g->node[node].name) < 0;
}

// ---- what runs on codes

static int file_node_of(const struct reading *r, int node)
{
	const struct graph *g = r->w->g;
	const struct node *n = &g->node[node];
	for (int i = 0; i < n->n_out; i++) {
		int v = n->out[i] >= 0 ? graph_find_value(r->file, g->value[n->out[i]].name) : -1;
		if (v >= 0 && r->file->value[v].producer >= 0 && r->file->node[r->file->value[v].producer].op == n->op)
			return r->file->value[v].producer;
	}
	return g->origin[n->origin].unnamed ? -1 : graph_find_node(r->file, n->name);
}

// Behind a DequantizeLinear; or as codes, on which some operators work that only move them.
static bool comes_quantized(const struct graph *file, int value)
{
	int maker = value >= 0 ? file->value[value].producer : -1;
	while (maker >= 0 && (file->node[maker].op->flags & OPF_MOVES) && file->node[maker].n_in > 0 && file->node[maker].in[0] >= 0)
		maker = file->value[file->node[maker].in[0]].producer;
	return is_node(file, maker, OP_DequantizeLinear) || is_node(file, maker, OP_QuantizeLinear);
}

static bool has_weights(const struct node *n)
{
	enum op_id op = n->op->id;
	return (op == OP_Conv || op == OP_ConvTranspose || op == OP_Gemm || op == OP_MatMul) && n->n_in > 1 && n->in[1] >= 0;
}

// Codes; or floats that qtui rounded, where no runtime has codes for them.
static bool has_quantized_weights(const struct reading *r, const struct node *n)
{
	const struct value *weight = &r->file->value[n->in[1]];
	return comes_quantized(r->file, n->in[1]) || (weight->constant && str_has_suffix(weight->name, "_rounded"));
}

// What the file's own node says, whether its output has a pair or not.
static enum said said_by_node(const struct reading *r, const struct node *n)
{
	bool codes = n->n_in > 0 && comes_quantized(r->file, n->in[0]);
	if (has_weights(n) && (r->file->value[n->in[1]].constant || comes_quantized(r->file, n->in[1])))
		return codes && has_quantized_weights(r, n) ? ON_CODES : ON_FLOATS;
	return codes && (n->op->flags & OPF_MOVES) && n->op->id != OP_Concat ? ON_CODES : SAID_NOTHING; // whose codes need one grid
}

static void read_nodes(struct reading *r)
{
	for (int i = 0; i < r->w->g->n_nodes; i++) {
		int owner = r->w->p->group[i].owner, other = r->w->p->quantizable[i] ? file_node_of(r, i) : -1;
		enum said said = other >= 0 ? said_by_node(r, &r->file->node[other]) : SAID_NOTHING;
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
	return last != node && is_gone(r, last) ? graph_output(g, last) : value;
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
		if (is_node(r->file, x->consumer[i], OP_QuantizeLinear) && file_grid_read(&a, r->file, &r->file->node[quantize]) &&
		    file_grid_read(&b, r->file, &r->file->node[x->consumer[i]]) && (a.scale != b.scale || a.zero != b.zero || a.qmin != b.qmin))
			return true;
	return false;
}

static void read_grid(struct wishes *w, int value, const struct file_grid *grid, bool as_float)
{
	double bits = log2((double)(grid->qmax - grid->qmin + 1)), zero = grid->zero - (double)grid->qmin;
	if (as_float)
		wish_read_scale(w, value, bits, grid->scale, zero);
	else
		wish_tensor(w, w->g->value[value].name, bits, grid->scale, zero);
}

static void read_pair(struct reading *r, int quantize)
{
	const struct node *n = &r->file->node[quantize];
	struct file_grid grid;
	const char *why, *name;
	int value = value_in_model(r->w->g, r->file, n->in[0]);
	if (value < 0 || r->w->g->value[value].constant) {
		r->lost += value < 0;
		return;
	}
	r->found++;
	value = quantized_here(r, value);
	name = r->w->g->value[value].name;
	quantized_output(r->w, name, &why);
	bool as_float = is_made_in_float(r, value);
	int maker = r->w->g->value[value].producer, owner = maker < 0 ? -1 : r->w->p->group[maker].owner;
	if (owner >= 0 && !as_float)
		r->said[owner] = ON_CODES;
	if (owner >= 0 && maker != owner)
		r->pairs_within[owner] = true;
	if (why)
		r->inner++;
	else if (!file_grid_read(&grid, r->file, n) || grid.rounding > 0)
		wish_note(r->w, "%.120s: its pair has not one scale for integers, and is not read", name);
	else if ((as_float || maker < 0) && has_other_pairs(r, quantize))
		wish_note(r->w, "%.120s: those who read it have pairs of different scales, and it can have one: none is taken", name);
	else
		read_grid(r->w, value, &grid, as_float);
}

// A tensor that is quantized once more for a reader, which is to have another width or scale, has its own pair before.
static bool is_first_pair(const struct reading *r, int quantize)
{
	int value = r->file->node[quantize].in[0];
	return r->pair[value] == quantize && !is_node(r->file, r->file->value[value].producer, OP_DequantizeLinear);
}

static void read_pairs(struct reading *r)
{
	for (int i = r->file->n_nodes - 1; i >= 0; i--)
		if (is_node(r->file, i, OP_QuantizeLinear))
			r->pair[r->file->node[i].in[0]] = i;
	for (int i = 0; i < r->file->n_nodes; i++) {
		if (!is_node(r->file, i, OP_QuantizeLinear))
			continue;
		if (is_first_pair(r, i))
			read_pair(r, i);
		else
			r->again++;
	}
}

// ---- weights

static const struct node *dequantize_of(const struct graph *file, const struct node *n, int input)
{
	int value = input < n->n_in ? n->in[input] : -1, maker = value >= 0 ? file->value[value].producer : -1;
	return is_node(file, maker, OP_DequantizeLinear) ? &file->node[maker] : NULL;
}

// Rounded as the file rounds them, the model's own biases are the file's.
static bool is_own_bias(const struct tensor *own, const struct file_codes *c)
{
	for (int64_t i = 0, n = tensor_count(own); i < n; i++) {
		double step = c->scale.data ? (double)c->q.scale[c->q.n > 1 ? i : 0] : 0, x = (double)((const float *)own->data)[i];
		if (fabs((double)((const float *)c->x.data)[i] - x) > 0.501 * step + 1e-6 * fabs(x))
			return false;
	}
	return true;
}

static const struct tensor *own_constant(const struct graph *g, const struct node *n, int input)
{
	const struct tensor *x = input < n->n_in && n->in[input] >= 0 ? g->value[n->in[input]].constant : NULL;
	return x && x->type == DT_F32 ? x : NULL;
}

static void read_bias(struct reading *r, struct weight_wish *wish, const struct node *own, const struct node *theirs)
{
	const struct tensor *x = own_constant(r->w->g, own, 2), *y = own_constant(r->file, theirs, 2);
	const struct node *dequantize = dequantize_of(r->file, theirs, 2);
	struct file_codes c = {0};
	struct error err = {0};
	if (dequantize && file_codes_read(&c, r->file, dequantize, &err) != STATUS_OK)
		wish_note(r->w, "%.120s: its bias is not read: %s", own->name, err.text);
	else if (!dequantize && y && tensor_copy(&c.x, y, &err) != STATUS_OK)
		wish_note(r->w, "%.120s: its bias is not read: %s", own->name, err.text);
	else if (c.x.data && (!x || !shape_equal(&x->shape, &c.x.shape)))
		r->biases += !x; // of another shape where the model adds it by itself
	else if (c.x.data && !is_own_bias(x, &c))
		wish->bias = tensor_share(&c.x);
	file_codes_done(&c);
}

static void read_weights(struct reading *r)
{
	const struct graph *g = r->w->g;
	for (int i = 0; i < g->n_nodes; i++) {
		const struct node *n = &g->node[i];
		int other = r->w->p->quantizable[i] && has_weights(n) ? file_node_of(r, i) : -1;
		const struct node *dequantize = other >= 0 ? dequantize_of(r->file, &r->file->node[other], 1) : NULL;
		const struct tensor *own = own_constant(g, n, 1);
		struct weight_wish wish = {.node = i};
		struct error err = {0};
		if (!dequantize || !own)
			continue;
		if (file_codes_read(&wish.codes, r->file, dequantize, &err) == STATUS_OK && shape_equal(&own->shape, &wish.codes.x.shape)) {
			read_bias(r, &wish, n, &r->file->node[other]);
			wish_weight(r->w, &wish);
		} else {
			wish_note(r->w, "%.120s: its weights are not read: %s", n->name, err.text[0] ? err.text : "they have another shape");
			file_codes_done(&wish.codes);
		}
	}
}

// ---- the rest

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

static void tell(const struct reading *r)
{
	struct wishes *w = r->w;
	if (r->lost)
		wish_note(w, "quantized tensors of the file that are not in the model: %d of %d", r->lost, r->lost + r->found);
	if (r->inner)
		wish_note(w, "quantized tensors inside of what runs as one operator here, where nothing is quantized: %d of %d", r->inner, r->found);
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
	enum status s = onnx_load(file, path, &(struct onnx_options){.shape = shape, .n_shapes = g->n_inputs, .codes = true}, err);
	free(shape);
	return s;
}

static enum status nothing_read(const struct reading *r, const char *path, struct error *err)
{
	if (r->lost)
		return error_set(err, STATUS_FORMAT, "%s: none of its %d quantized tensors is in the model: is it made of another one?", path, r->lost);
	for (int i = 0; i < r->file->n_nodes; i++)
		if (is_node(r->file, i, OP_DynamicQuantizeLinear))
			return error_set(err, STATUS_UNSUPPORTED, "%s: it finds scales as it runs (DynamicQuantizeLinear), so it has none to import; "
			    "qtui compare FLOAT %s CALIB tells what it loses", path, path);
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
	memset(r.pair, -1, (size_t)file->n_values * sizeof *r.pair);
	read_nodes(&r);
	read_pairs(&r);
	read_weights(&r);
	if (r.found) {
		read_floats(&r);
		tell(&r);
	} else {
		s = nothing_read(&r, path, err);
	}
	free(r.pair);
	free(r.said);
	free(r.there);
	free(r.pairs_within);
	graph_free(&file);
	return s;
}
