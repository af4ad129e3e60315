// Reading the nodes and constants of a GraphProto.
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include "../ops/attrs.h"
#include "import.h"
#include "proto/attr.h"
#include "proto/proto.h"
#include "proto/sparse.h"
#include "rewrite/sequences.h"

enum status import_name(int *id, struct draft *d, struct scope *scope, const char *name, struct error *err)
{
	if (namemap_get(scope->names, name) >= 0)
		return error_set(err, STATUS_FORMAT, "tensor '%s' is defined twice", name);
	*id = draft_value_add(d, name);
	namemap_put(scope->names, name, *id);
	return STATUS_OK;
}

// What the engine has no type for, text mostly, is a constant that nothing may read.
static enum status import_initializer(
    struct draft *d, struct scope *scope, const Onnx__TensorProto *t, const Onnx__SparseTensorProto *sparse, struct error *err)
{
	struct tensor value = {0};
	char what[200];
	int id;
	enum status s = import_name(&id, d, scope, text_of(t->name), err);
	if (s)
		return s;
	if (tensor_proto_type(t->data_type) == DT_NONE) {
		d->value[id].unread = tensor_proto_type_name(t->data_type);
		return STATUS_OK;
	}
	snprintf(what, sizeof what, "initializer '%s'", text_of(t->name));
	d->value[id].elements = t->data_type;
	s = sparse ? sparse_read(&value, sparse, d->externals, what, err) : tensor_proto_read(&value, t, d->externals, what, err);
	if (!s)
		draft_set_constant(d, id, &value);
	return s;
}

static enum status import_initializers(
    struct draft *d, const Onnx__GraphProto *g, struct scope *scope, struct error *err)
{
	enum status s = STATUS_OK;
	for (size_t i = 0; i < g->n_initializer && !s; i++)
		s = import_initializer(d, scope, g->initializer[i], NULL, err);
	for (size_t i = 0; i < g->n_sparse_initializer && !s; i++) {
		const Onnx__SparseTensorProto *t = g->sparse_initializer[i];
		s = t->values ? import_initializer(d, scope, t->values, t, err)
		              : error_set(err, STATUS_FORMAT, "sparse initializer %zu has no values", i);
	}
	return s;
}

// AMD Quark's pairs of com.microsoft for more types of codes, by their names of now and of before.
static const struct {
	const char *domain, *name, *as;
} also_called[] = {
    {"com.amd.quark", "ExtendedQuantizeLinear", "QuantizeLinear"},
    {"com.amd.quark", "ExtendedDequantizeLinear", "DequantizeLinear"},
    {"com.vai.quantize", "VitisQuantizeLinear", "QuantizeLinear"},
    {"com.vai.quantize", "VitisDequantizeLinear", "DequantizeLinear"},
};

static const struct op *find_other_name(const char *domain, const char *name)
{
	for (size_t i = 0; i < sizeof also_called / sizeof *also_called; i++)
		if (strcmp(also_called[i].domain, domain) == 0 && strcmp(also_called[i].name, name) == 0)
			return op_find("com.microsoft", also_called[i].as, 1);
	return NULL;
}

bool onnx_quantizes(const char *op_type)
{
	static const char plain[] = "QuantizeLinear";
	bool other = false;
	for (size_t i = 0; i < sizeof also_called / sizeof *also_called; i++)
		other |= strcmp(also_called[i].name, op_type) == 0 && strcmp(also_called[i].as, plain) == 0;
	return other || strcmp(op_type, plain) == 0;
}

static enum status find_op(struct draft *d, struct draft_node *n, const Onnx__NodeProto *p, struct error *err)
{
	const char *domain = domain_of(p->domain);
	int opset = opset_of(d->model, domain);
	n->n.op = op_find(domain, n->op_type, opset);
	if (!n->n.op)
		n->n.op = find_other_name(domain, n->op_type);
	if (n->n.op)
		return STATUS_OK;
	if (opset < 1 && op_find(domain, n->op_type, INT_MAX))
		return error_set(err, STATUS_FORMAT, "node %s: operator %s%s%s: the file names no opset for it (opset_import)", n->n.name,
		    domain, domain[0] ? "." : "", n->op_type);
	if (strcmp(domain, "com.microsoft.nchwc") == 0) // in blocks of 8 or 16 channels, which the file does not say
		return error_set(err, STATUS_UNSUPPORTED,
		    "node %s: ONNX Runtime has laid this model out for one processor: take the model from before, or have it optimized at level "
		    "extended",
		    n->n.name);
	if (!domain[0] && sequences_name(n->op_type, opset))
		return error_set(err, STATUS_UNSUPPORTED,
		    "node %s: %s needs the length of its sequence, or a place in it, which is not known when the model opens: export it with "
		    "fixed shapes",
		    n->n.name, n->op_type);
	return error_set(err, STATUS_UNSUPPORTED,
	    "node %s: operator %s%s%s (opset %d) is not supported (`qtui ops` lists what is)", n->n.name, domain,
	    domain[0] ? "." : "", n->op_type, opset);
}

// The forms of Constant besides `value`: a number or a list of numbers.
static void constant_form(Onnx__TensorProto *t, const Onnx__AttributeProto *a)
{
	bool is_float = !strcmp(a->name, "value_float") || !strcmp(a->name, "value_floats");
	bool is_list = a->name[strlen(a->name) - 1] == 's';
	t->has_data_type = true;
	t->data_type = is_float ? ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT : ONNX__TENSOR_PROTO__DATA_TYPE__INT64;
	t->n_float_data = is_float ? (is_list ? a->n_floats : 1) : 0;
	t->float_data = is_list ? a->floats : (float *)&a->f;
	t->n_int64_data = is_float ? 0 : (is_list ? a->n_ints : 1);
	t->int64_data = is_list ? a->ints : (int64_t *)&a->i;
	t->n_dims = is_list;
}

static enum status constant_value(
    struct tensor *out, struct draft *d, const struct draft_node *n, const Onnx__AttributeProto *a, struct error *err)
{
	static const char *const forms[] = {"value_float", "value_floats", "value_int", "value_ints"};
	Onnx__TensorProto t = ONNX__TENSOR_PROTO__INIT;
	int64_t length;
	if (!strcmp(a->name, "value") && a->t)
		return tensor_proto_read(out, a->t, d->externals, n->n.name, err);
	if (!strcmp(a->name, "sparse_value") && a->sparse_tensor)
		return sparse_read(out, a->sparse_tensor, d->externals, n->n.name, err);
	for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
		if (strcmp(a->name, forms[i]))
			continue;
		constant_form(&t, a);
		length = (int64_t)(t.n_float_data + t.n_int64_data);
		t.dims = &length;
		return tensor_proto_read(out, &t, NULL, n->n.name, err);
	}
	return error_set(err, STATUS_UNSUPPORTED, "node %s (Constant): '%s' is not supported", n->n.name, a->name);
}

// NULL, or what a constant that the engine has no type for holds.
static const char *unread_constant(const Onnx__AttributeProto *a)
{
	if (!strcmp(a->name, "value_string") || !strcmp(a->name, "value_strings"))
		return tensor_proto_type_name(ONNX__TENSOR_PROTO__DATA_TYPE__STRING);
	return a->t && tensor_proto_type(a->t->data_type) == DT_NONE ? tensor_proto_type_name(a->t->data_type) : NULL;
}

static enum status import_constant(struct draft *d, struct draft_node *n, const Onnx__NodeProto *p, struct error *err)
{
	struct tensor value;
	enum status s;
	if (p->n_attribute != 1 || !p->attribute[0]->name || !p->attribute[0]->name[0] || n->n.n_out != 1 ||
	    n->n.out[0] < 0)
		return error_set(
		    err, STATUS_FORMAT, "node %s (Constant) must have one value and one output", n->n.name);
	n->fate = FATE_FOLDED;
	d->value[n->n.out[0]].unread = unread_constant(p->attribute[0]);
	if (d->value[n->n.out[0]].unread)
		return STATUS_OK;
	d->value[n->n.out[0]].elements = p->attribute[0]->t ? p->attribute[0]->t->data_type : 0;
	s = constant_value(&value, d, n, p->attribute[0], err);
	if (!s)
		draft_set_constant(d, n->n.out[0], &value);
	return s;
}

static enum status import_outputs(
    struct draft *d, struct draft_node *n, const Onnx__NodeProto *p, struct scope *scope, struct error *err)
{
	enum status s;
	n->n.n_out = n->n_out_names = (int)p->n_output;
	n->n.out = arena_alloc(d->arena, (p->n_output + 1) * sizeof(int));
	n->out_name = arena_alloc(d->arena, (p->n_output + 1) * sizeof(char *));
	for (int i = 0; i < n->n.n_out; i++) {
		n->out_name[i] = arena_strdup(d->arena, p->output[i]);
		n->n.out[i] = -1;
		if (!p->output[i][0])
			continue;
		s = import_name(&n->n.out[i], d, scope, p->output[i], err);
		if (s)
			return error_prefix(err, "node %s (%s)", n->n.name, n->op_type);
		d->value[n->n.out[i]].producer = n;
	}
	return STATUS_OK;
}

static enum status check_arity(const struct draft_node *n, size_t n_in, size_t n_out, struct error *err)
{
	const struct op *op = n->n.op;
	bool bad_in = (int)n_in < op->in_min || (op->in_max >= 0 && (int)n_in > op->in_max);
	bool bad_out = (int)n_out < op->out_min || (op->out_max >= 0 && (int)n_out > op->out_max);
	if (bad_in || bad_out)
		return error_set(err, STATUS_FORMAT, "node %s (%s) cannot have %zu %s", n->n.name, n->op_type,
		    bad_in ? n_in : n_out, bad_in ? "inputs" : "outputs");
	return STATUS_OK;
}

static bool has_graphs(const Onnx__NodeProto *p)
{
	for (size_t i = 0; i < p->n_attribute; i++)
		if (p->attribute[i]->g)
			return true;
	return false;
}

static enum status import_node(
    struct draft *d, const Onnx__NodeProto *p, size_t index, struct scope *scope, struct error *err)
{
	const char *type = text_of(p->op_type);
	char name[300];
	struct draft_node *n;
	enum status s;
	snprintf(name, sizeof name, "%.200s_%zu", type, index);
	n = draft_node_add(d, p->name && p->name[0] ? p->name : name);
	n->unnamed = !p->name || !p->name[0];
	n->op_type = arena_strdup(d->arena, type);
	n->proto = p;
	n->scope = scope;
	n->n_explicit = (int)p->n_input;
	s = import_outputs(d, n, p, scope, err);
	if (s)
		return s;
	if (!strcmp(type, "Constant") && !domain_of(p->domain)[0])
		return import_constant(d, n, p, err);
	s = find_op(d, n, p, err);
	if (!s)
		s = check_arity(n, p->n_input, p->n_output, err);
	if (!s)
		s = attr_parse(d, n, p, err);
	if (!s && n->n.op->id == OP_Cast && n->n.out[0] >= 0)
		d->value[n->n.out[0]].elements = (int)((const struct cast_attrs *)n->n.attrs)->to;
	return s;
}

static int elements_in(const struct draft *d, const struct draft_node *n, int input)
{
	return n->n.n_in > input && n->n.in[input] >= 0 ? d->value[n->n.in[input]].elements : 0;
}

// Operators whose result has the elements of an input, which the engine may have no type for.
static void tell_elements(struct draft *d, struct draft_node *n)
{
	struct quantize_attrs *q = (struct quantize_attrs *)n->n.attrs;
	int elements = 0;
	if (n->n.op->id == OP_CastLike) {
		((struct cast_attrs *)n->n.attrs)->to = elements = elements_in(d, n, 1);
	} else if (n->n.op->id == OP_QuantizeLinear) {
		q->zero_type = elements_in(d, n, 2);
		elements = (int)(q->zero_type ? q->zero_type : q->output_dtype);
	}
	if (elements && n->n.out[0] >= 0)
		d->value[n->n.out[0]].elements = elements;
}

// Of Quark's pairs. They are one with Casts, which are known; a pair of floats of 16 bits would not be found in a file that is
// written from here.
static enum status refuse_halves(const struct draft *d, const struct draft_node *n, struct error *err)
{
	int codes = elements_in(d, n, 2);
	bool pair = n->n.op->id == OP_QuantizeLinear || n->n.op->id == OP_DequantizeLinear;
	if (!pair || (codes != ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT16 && codes != ONNX__TENSOR_PROTO__DATA_TYPE__BFLOAT16))
		return STATUS_OK;
	return error_set(err, STATUS_UNSUPPORTED, "node %s (%s): its codes are floats of 16 bits: have the file written with Casts instead "
	    "(Quark: convert_fp32_to_bf16 --format with_cast)", n->n.name, n->op_type);
}

enum status import_readable(const struct draft *d, const struct draft_node *n, int id, const char *name, struct error *err)
{
	const char *unread = d->value[id].unread;
	if (!unread)
		return STATUS_OK;
	return error_set(err, STATUS_UNSUPPORTED, "node %s (%s): '%s', which it reads, has elements of type %s: nothing is computed with them",
	    n->n.name, n->op_type, name, unread);
}

static enum status import_inputs(struct draft *d, struct draft_node *n, struct error *err)
{
	const Onnx__NodeProto *p = n->proto;
	enum status s = STATUS_OK;
	n->n.n_in = (int)p->n_input;
	n->n.in = arena_alloc(d->arena, (p->n_input + 1) * sizeof(int));
	for (int i = 0; i < n->n.n_in && !s; i++) {
		n->n.in[i] = p->input[i][0] ? scope_find(n->scope, p->input[i]) : -1;
		if (n->n.in[i] < 0 && p->input[i][0])
			return error_set(err, STATUS_FORMAT,
			    "node %s (%s): input '%s' is neither an input of the model, nor an initializer, nor any "
			    "node's output",
			    n->n.name, n->op_type, p->input[i]);
		if (n->n.in[i] >= 0)
			s = import_readable(d, n, n->n.in[i], p->input[i], err);
	}
	if (!s && n->n.op)
		tell_elements(d, n);
	if (!s && n->n.op)
		s = refuse_halves(d, n, err);
	return !s && has_graphs(p) ? capture_outer(d, n, err) : s;
}

enum status import_graph(struct draft *d, const Onnx__GraphProto *g, struct scope *scope, struct error *err)
{
	size_t first = d->n_nodes;
	enum status s = import_initializers(d, g, scope, err);
	for (size_t i = 0; i < g->n_node && !s; i++)
		s = import_node(d, g->node[i], i, scope, err);
	for (size_t i = first; i < d->n_nodes && !s; i++)
		s = import_inputs(d, d->node[i], err);
	return s ? s : order_nodes(d, first, err);
}
