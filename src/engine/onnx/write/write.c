// The normalised graph as an ONNX file, with the quantizers of a plan or in float.
#include <stdlib.h>
#include <string.h>
#include "qtui/base/file.h"
#include "qtui/engine/onnx.h"
#include "qtui/engine/op.h"
#include "write.h"

// ---- inputs and outputs

static Onnx__TensorShapeProto *make_shape(struct writer *w, const struct shape *shape)
{
	Onnx__TensorShapeProto *p = arena_alloc(w->arena, sizeof *p);
	onnx__tensor_shape_proto__init(p);
	p->n_dim = (size_t)shape->rank;
	p->dim = arena_alloc(w->arena, (p->n_dim + 1) * sizeof *p->dim);
	for (size_t i = 0; i < p->n_dim; i++) {
		Onnx__TensorShapeProto__Dimension *d = p->dim[i] = arena_alloc(w->arena, sizeof *d);
		onnx__tensor_shape_proto__dimension__init(d);
		d->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
		d->dim_value = shape->dim[i];
	}
	return p;
}

Onnx__ValueInfoProto *write_info(struct writer *w, const char *name, const struct value *v)
{
	Onnx__ValueInfoProto *info = arena_alloc(w->arena, sizeof *info);
	Onnx__TypeProto *type = arena_alloc(w->arena, sizeof *type);
	Onnx__TypeProto__Tensor *tensor = arena_alloc(w->arena, sizeof *tensor);
	onnx__value_info_proto__init(info);
	info->name = arena_strdup(w->arena, name);
	if (v->type == DT_NONE)
		return info;
	onnx__type_proto__init(type);
	onnx__type_proto__tensor__init(tensor);
	info->type = type;
	type->value_case = ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
	type->tensor_type = tensor;
	tensor->has_elem_type = true;
	tensor->elem_type = write_type(v);
	if (v->shape.rank >= 0)
		tensor->shape = make_shape(w, &v->shape);
	return info;
}

static Onnx__ValueInfoProto **make_infos(struct writer *w, const int *value, int n)
{
	Onnx__ValueInfoProto **infos = arena_alloc(w->arena, ((size_t)n + 1) * sizeof(Onnx__ValueInfoProto *));
	for (int i = 0; i < n; i++) {
		infos[i] = write_info(w, w->g->value[value[i]].name, &w->g->value[value[i]]);
		if (infos[i]->type)
			infos[i]->type->tensor_type->elem_type = interface_type(w, value[i]);
	}
	return infos;
}

// ---- nodes

static const struct tensor *tuned_constant(const struct writer *w, int node, int i)
{
	const struct tuned *t = tuning_of(w->tuning, node);
	return t ? tuned_input(t, i) : NULL;
}

// Nodes that share a constant need not share what it was tuned to: the name stays where there is one that reads it.
static const char *float_input(struct writer *w, int node, int i)
{
	const struct value *v = &w->g->value[w->g->node[node].in[i]];
	const struct tensor *t = tuned_constant(w, node, i);
	const char *name;
	if (!t)
		return w->read[w->g->node[node].in[i]];
	name = v->n_consumers == 1 && !v->is_output ? v->name : write_name(w, v->name, "_tuned");
	write_constant(w, name, t);
	return name;
}

static enum status read_inputs(const char **in, struct writer *w, int node, struct error *err)
{
	const struct node *n = &w->g->node[node];
	enum status s = STATUS_OK;
	for (int i = 0; i < n->n_in && !s; i++) {
		in[i] = "";
		if (n->in[i] >= 0 && w->plan)
			s = qdq_input(&in[i], w, plan_in(w->plan, node, i), err);
		else if (n->in[i] >= 0)
			in[i] = float_input(w, node, i);
	}
	return s;
}

static int without_absent(const char *const *name, int n)
{
	while (n > 0 && !name[n - 1][0])
		n--;
	return n;
}

static void write_stand_in(struct writer *w, Onnx__NodeProto *to, const struct stand_in *f)
{
	write_float_attribute(w, to, "alpha", f->alpha);
	if (strcmp(f->op, "HardSigmoid") == 0)
		write_float_attribute(w, to, "beta", f->beta);
}

// The node writes to another name; a product with the factor gives its own.
static void write_gain(struct writer *w, const char *product, const char *mean, float gain)
{
	const char *factor = write_name(w, mean, "_factor"), *in[] = {mean, factor};
	struct tensor t = {.type = DT_F32, .shape = shape_of(0, NULL), .data = arena_memdup(w->arena, &gain, sizeof gain)};
	write_constant(w, factor, &t);
	struct new_node mul = {
	    .domain = "", .op = "Mul", .name = write_name(w, mean, "_scaled"), .in = in, .n_in = 2, .out = &product, .n_out = 1};
	write_node(w, &mul);
}

static const char *output_name(struct writer *w, int node, int i)
{
	const struct node *n = &w->g->node[node];
	if (n->out[i] >= 0)
		return w->plan ? qdq_output(w, plan_out(w->plan, node, i)) : w->name[n->out[i]];
	bool counts = n->op->out_max < 0; // a Split shares out among as many as it has
	return counts || i < n->op->out_min ? write_name(w, n->name, "_unused") : "";
}

static enum status add_node(struct writer *w, int node, struct error *err)
{
	const struct node *n = &w->g->node[node];
	const char **in = xcalloc((size_t)n->n_in + OPSET_MOVED, sizeof *in), **out = xcalloc((size_t)n->n_out + 1, sizeof *out);
	enum status s = read_inputs(in, w, node, err);
	if (s)
		goto out;
	for (int i = 0; i < n->n_out; i++)
		out[i] = output_name(w, node, i);
	const struct stand_in none = {0}, *f = w->plan ? &w->plan->stand_in[node] : &none;
	const char *product = out[0];
	if (f->gain != 0)
		out[0] = write_name(w, product, "_mean");
	int n_in = without_absent(in, n->n_in - n->n_captured);
	s = opset_add_inputs(in, &n_in, w, n, err);
	if (s)
		goto out;
	struct new_node as = {.domain = n->op->domain, .op = f->op ? f->op : opset_operator(w, n), .name = n->name, .in = in, .n_in = n_in,
	    .out = out, .n_out = without_absent(out, n->n_out)};
	Onnx__NodeProto *made = write_node(w, &as);
	if (f->op)
		write_stand_in(w, made, f);
	else
		write_all_attributes(w, made, n, in);
	if (f->gain != 0)
		write_gain(w, product, out[0], f->gain);
	out[0] = product;
	for (int i = 0; w->plan && i < n->n_out && !s; i++)
		if (n->out[i] >= 0)
			s = qdq_after(w, plan_out(w->plan, node, i), out[i], err);
out:
	free(in);
	free(out);
	return s;
}

// Is the node's input read as it is?
static bool reads_plain(const struct writer *w, int node, int i)
{
	const struct quantizer *q = w->plan ? slot_quantizer(plan_in(w->plan, node, i)) : NULL;
	return (!q || q->kind == QUANT_NONE) && !tuned_constant(w, node, i);
}

// Those that are read as they are, and those that are an output of the model.
static void add_constants(struct writer *w)
{
	bool *plain = xcalloc((size_t)w->g->n_values + 1, sizeof *plain);
	for (int n = 0; n < w->g->n_nodes; n++)
		for (int i = 0; i < w->g->node[n].n_in; i++)
			if (w->g->node[n].in[i] >= 0 && reads_plain(w, n, i))
				plain[w->g->node[n].in[i]] = true;
	for (int i = 0; i < w->g->n_values; i++) {
		const struct value *v = &w->g->value[i];
		if (v->constant && (plain[i] || v->is_output))
			write_constant_value(w, v->name, v);
	}
	free(plain);
}

static enum status build(struct writer *w, struct error *err)
{
	enum status s = STATUS_OK;
	for (int i = 0; i < w->g->n_values; i++)
		namemap_put(w->taken, w->g->value[i].name, 0);
	for (int i = 0; i < w->g->n_nodes; i++)
		namemap_put(w->taken, w->g->node[i].name, 0);
	interface_name_floats(w);
	memcpy(w->read, w->name, (size_t)w->g->n_values * sizeof *w->read);
	add_constants(w);
	interface_add_inputs(w);
	for (int i = 0; i < w->g->n_nodes && !s; i++)
		s = add_node(w, i, err);
	interface_add_outputs(w);
	return s;
}

// ---- the model

#define DOMAINS_MAX 8 // more than ops.def has

static void add_opset(struct writer *w, Onnx__ModelProto *m, const char *domain, int version)
{
	Onnx__OperatorSetIdProto *o;
	for (size_t i = 0; i < m->n_opset_import; i++)
		if (!strcmp(m->opset_import[i]->domain, domain))
			return;
	o = arena_alloc(w->arena, sizeof *o);
	onnx__operator_set_id_proto__init(o);
	o->domain = arena_strdup(w->arena, domain);
	o->has_version = true;
	o->version = version;
	m->opset_import[m->n_opset_import++] = o;
}

static void add_opsets_of(struct writer *w, Onnx__ModelProto *m, const Onnx__GraphProto *g)
{
	for (size_t i = 0; i < g->n_node; i++) {
		add_opset(w, m, g->node[i]->domain, 1);
		for (size_t k = 0; k < g->node[i]->n_attribute; k++)
			if (g->node[i]->attribute[k]->g)
				add_opsets_of(w, m, g->node[i]->attribute[k]->g);
	}
}

static void add_opsets(struct writer *w, Onnx__ModelProto *m)
{
	m->opset_import = arena_alloc(w->arena, DOMAINS_MAX * sizeof *m->opset_import);
	add_opset(w, m, "", w->opset);
	add_opsets_of(w, m, &w->out);
}

static void add_property(struct writer *w, Onnx__ModelProto *m, const char *key, const char *text)
{
	Onnx__StringStringEntryProto *e = m->metadata_props[m->n_metadata_props++] = arena_alloc(w->arena, sizeof *e);
	onnx__string_string_entry_proto__init(e);
	e->key = arena_strdup(w->arena, key);
	e->value = arena_strdup(w->arena, text);
}

// Behind the key, where the plan does not find them: ",BITS:ZERO" for each scale, the bits of the float in hexadecimal.
static void add_scales(struct str *text, const struct tuned *t)
{
	const float *scale = t->scale.data;
	const int32_t *zero = t->zero.data;
	for (int64_t i = 0, n = scale ? tensor_count(&t->scale) : 0; i < n; i++) {
		uint32_t bits;
		memcpy(&bits, &scale[i], sizeof bits);
		str_addf(text, ",%08x:%d", (unsigned)bits, (int)zero[i]);
	}
}

// Which nodes are tuned, and for which grids: lines of key and name.
static void add_grids(struct writer *w, Onnx__ModelProto *m)
{
	struct str text = {0};
	for (int i = 0; i < tuning_count(w->tuning); i++) {
		const struct tuned *t = tuning_at(w->tuning, i);
		char key[33];
		if (key_is_zero(t->grid))
			continue;
		key_text(t->grid, key);
		str_add(&text, key);
		add_scales(&text, t);
		str_addf(&text, " %s\n", w->g->node[t->node].name);
	}
	if (text.len)
		add_property(w, m, ONNX_TUNED, str_text(&text));
	str_done(&text);
}

static void add_metadata(struct writer *w, Onnx__ModelProto *m)
{
	const struct graph *g = w->g;
	m->metadata_props = arena_alloc(w->arena, ((size_t)g->n_metadata + 2) * sizeof *m->metadata_props);
	for (int i = 0; i < g->n_metadata; i++)
		if (strcmp(g->metadata[i].key, ONNX_TUNED) != 0)
			add_property(w, m, g->metadata[i].key, g->metadata[i].text);
	add_grids(w, m);
}

// The oldest version of the format that knows the opset.
static int ir_version(int opset)
{
	return opset >= 24 ? 12 : opset >= 23 ? 11 : opset >= 21 ? 10 : opset >= 19 ? 9 : opset >= 9 ? 8 : 4;
}

static void fill_model(struct writer *w, Onnx__ModelProto *m)
{
	onnx__model_proto__init(m);
	m->has_ir_version = true;
	m->ir_version = ir_version(w->opset);
	m->producer_name = arena_strdup(w->arena, "qtui");
	m->graph = &w->out;
	w->out.name = arena_strdup(w->arena, w->plan ? "quantized" : "float");
	w->out.n_input = (size_t)w->g->n_inputs;
	w->out.input = make_infos(w, w->g->input, w->g->n_inputs);
	w->out.n_output = (size_t)w->g->n_outputs;
	w->out.output = make_infos(w, w->g->output, w->g->n_outputs);
	add_opsets(w, m);
	add_metadata(w, m);
}

static void tell_fixed(const struct writer *w)
{
	for (int i = 0; i < w->g->n_inputs; i++) {
		const struct value *v = &w->g->value[w->g->input[i]];
		if (v->fixed)
			str_addline(w->loss, "input %s is fixed: the file has it, and computes for %lld whatever it is given", v->name,
			    (long long)*v->fixed);
	}
}

// Recurrences whose sums and states the target rounds at every step, where a pair has no place.
static void tell_steps(const struct writer *w)
{
	int n = 0, first = -1;
	for (int i = 0; i < w->g->n_nodes; i++)
		if (w->plan->stand_in[i].step_scale > 0) {
			first = first < 0 ? i : first;
			n++;
		}
	if (n)
		str_addline(w->loss,
		    "%s: %d recurrence%s that target %s rounds within every step, which a file of pairs cannot say: what it gives differs from the "
		    "figures here",
		    w->g->node[first].name, n, plural(n), target_name(w->plan->target));
}

static void tell_losses(const struct writer *w)
{
	bool ties = false;
	for (int i = 0; i < w->plan->n_slots; i++) {
		const struct quantizer *q = slot_quantizer(&w->plan->slot[i]);
		ties = ties || (q && q->kind == QUANT_LINEAR && !w->plan->slot[i].parameter && q->rounding != ROUND_HALF_EVEN);
	}
	if (ties)
		str_addline(w->loss, "QuantizeLinear rounds ties to even, target %s otherwise: codes at a tie differ by one",
		    target_name(w->plan->target));
	tell_steps(w);
	opset_tell(w);
	tell_fixed(w);
	if (w->float_products)
		str_addline(w->loss, "%d weight%s of MatMul with scales that no integer product has: written as floats",
		    w->float_products, plural(w->float_products));
	if (w->wide_biases)
		str_addline(w->loss, "%d bias%s of more than 32 bits: written as floats", w->wide_biases, w->wide_biases == 1 ? "" : "es");
}

static enum status write_graph(struct writer *w, const char *path, struct error *err)
{
	Onnx__ModelProto model;
	enum status s;
	w->arena = arena_new();
	w->taken = namemap_new();
	w->made = keymap_new();
	w->name = xcalloc((size_t)w->g->n_values + 1, sizeof *w->name);
	w->read = xcalloc((size_t)w->g->n_values + 1, sizeof *w->read);
	w->grid = xcalloc((size_t)w->g->n_values + 1, sizeof *w->grid);
	onnx__graph_proto__init(&w->out);
	s = build(w, err);
	if (!s) {
		fill_model(w, &model);
		s = write_parts(path, &model, w->late, w->n_late, err);
	}
	for (size_t i = 0; i < w->n_own; i++)
		tensor_drop(&w->own[i]);
	free(w->own);
	free(w->late);
	free(w->name);
	free(w->read);
	free(w->grid);
	free(w->out.node);
	free(w->out.initializer);
	keymap_free(&w->made);
	namemap_free(&w->taken);
	arena_free(&w->arena);
	return s;
}

enum status onnx_save_qdq(const char *path, const struct plan *p, struct str *loss, struct error *err)
{
	struct writer w = {.plan = p, .g = p->g, .loss = loss, .opset = opset_of_file(p)};
	enum status s = write_graph(&w, path, err);
	if (!s)
		tell_losses(&w);
	return s;
}

enum status onnx_save_tuned(const char *path, const struct graph *g, const struct tuning *t, struct error *err)
{
	struct writer w = {.g = g, .tuning = t, .opset = g->opset};
	return write_graph(&w, path, err);
}
