// Messages of an ONNX file: nodes with their attributes, initializers.
#include <math.h>
#include <string.h>
#include "../../ops/attrs.h"
#include "../proto/narrow.h"
#include "qtui/engine/minifloat.h"
#include "qtui/engine/op.h"
#include "write.h"

const char *write_name(struct writer *w, const char *base, const char *suffix)
{
	struct str name = {0};
	str_addf(&name, "%s%s", base, suffix);
	for (int i = 1; namemap_get(w->taken, str_text(&name)) >= 0; i++) {
		str_clear(&name);
		str_addf(&name, "%s%s_%d", base, suffix, i);
	}
	namemap_put(w->taken, str_text(&name), 0);
	const char *kept = arena_strdup(w->arena, str_text(&name));
	str_done(&name);
	return kept;
}

static int32_t type_of(enum dtype t)
{
	static const int32_t type[DT_COUNT] = {
	    [DT_F32] = ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT,
	    [DT_I8] = ONNX__TENSOR_PROTO__DATA_TYPE__INT8,
	    [DT_U8] = ONNX__TENSOR_PROTO__DATA_TYPE__UINT8,
	    [DT_I16] = ONNX__TENSOR_PROTO__DATA_TYPE__INT16,
	    [DT_U16] = ONNX__TENSOR_PROTO__DATA_TYPE__UINT16,
	    [DT_I32] = ONNX__TENSOR_PROTO__DATA_TYPE__INT32,
	    [DT_U32] = ONNX__TENSOR_PROTO__DATA_TYPE__UINT32,
	    [DT_I64] = ONNX__TENSOR_PROTO__DATA_TYPE__INT64,
	    [DT_U64] = ONNX__TENSOR_PROTO__DATA_TYPE__UINT64,
	    [DT_BOOL] = ONNX__TENSOR_PROTO__DATA_TYPE__BOOL,
	    [DT_I4] = NARROW_INT4,
	    [DT_U4] = NARROW_UINT4,
	};
	return type[t];
}

int32_t write_type(const struct value *v)
{
	return v->minifloat ? v->minifloat : type_of(v->type);
}

// ---- tensors

// Two elements a byte, the first in the low bits.
static ProtobufCBinaryData packed_nibbles(struct writer *w, const uint8_t *code, size_t n)
{
	uint8_t *to = arena_alloc(w->arena, (n + 1) / 2 + 1);
	for (size_t i = 0; i < n; i++)
		to[i / 2] |= (uint8_t)((code[i] & 15) << i % 2 * 4);
	return (ProtobufCBinaryData){.len = (n + 1) / 2, .data = to};
}

static Onnx__TensorProto *write_tensor(struct writer *w, const char *name, const struct tensor *t)
{
	Onnx__TensorProto *p = arena_alloc(w->arena, sizeof *p);
	onnx__tensor_proto__init(p);
	p->name = arena_strdup(w->arena, name);
	p->n_dims = (size_t)t->shape.rank;
	p->dims = arena_memdup(w->arena, t->shape.dim, p->n_dims * sizeof(int64_t));
	p->has_data_type = p->has_raw_data = true;
	p->data_type = type_of(t->type);
	p->raw_data = dtype_held(t->type) == t->type ? (ProtobufCBinaryData){.len = tensor_bytes(t), .data = t->data}
	                                             : packed_nibbles(w, t->data, (size_t)tensor_count(t));
	return p;
}

static Onnx__TensorProto *add_constant(struct writer *w, const char *name, const struct tensor *t)
{
	Onnx__GraphProto *g = &w->out;
	g->initializer = xgrow(g->initializer, &w->cap_constants, g->n_initializer + 1, sizeof *g->initializer);
	return g->initializer[g->n_initializer++] = write_tensor(w, name, t);
}

void write_constant(struct writer *w, const char *name, const struct tensor *t)
{
	add_constant(w, name, t);
}

void write_late(struct writer *w, const char *name, const struct tensor *from, const struct quantizer *q, enum dtype type)
{
	struct late *l;
	w->late = xgrow(w->late, &w->cap_late, w->n_late + 1, sizeof *w->late);
	l = &w->late[w->n_late++];
	*l = (struct late){.initializer = w->out.n_initializer, .type = type, .from = from, .quant = q};
	add_constant(w, name, &(struct tensor){.type = type, .shape = from->shape});
}

// The upper half of a float's bits: no two values of a float of 8 or 4 bits have the same; every NaN is one.
static size_t upper_half(float x)
{
	uint32_t bits;
	memcpy(&bits, isnan(x) ? &(float){NAN} : &x, sizeof bits);
	return bits >> 16;
}

// code[upper_half(value)], the least where several are NaN.
static void codes_of_values(uint8_t code[1 << 16], int minifloat)
{
	float value[256];
	memset(code, 0, 1 << 16);
	for (int i = minifloat_values(value, minifloat); i-- > 0;)
		code[upper_half(value[i])] = (uint8_t)i;
}

void write_constant_value(struct writer *w, const char *name, const struct value *v)
{
	Onnx__TensorProto *p = add_constant(w, name, v->constant);
	size_t n = (size_t)tensor_count(v->constant);
	if (!v->minifloat)
		return;
	uint8_t code_of[1 << 16], *code = arena_alloc(w->arena, n + 1);
	codes_of_values(code_of, v->minifloat);
	for (size_t i = 0; i < n; i++)
		code[i] = code_of[upper_half(((const float *)v->constant->data)[i])];
	p->data_type = v->minifloat;
	p->raw_data = v->minifloat == MINIFLOAT_E2M1 ? packed_nibbles(w, code, n) : (ProtobufCBinaryData){.len = n, .data = code};
}

enum status write_own(struct tensor **out, struct writer *w, enum dtype type, const struct shape *shape, struct error *err)
{
	struct tensor t = {.type = type, .shape = *shape};
	enum status s = tensor_alloc(&t, NULL, err);
	if (s)
		return s;
	w->own = xgrow(w->own, &w->cap_own, w->n_own + 1, sizeof *w->own);
	w->own[w->n_own] = t;
	*out = &w->own[w->n_own++];
	return STATUS_OK;
}

// ---- nodes

static char **copy_names(struct writer *w, const char *const *name, int n)
{
	char **copy = arena_alloc(w->arena, ((size_t)n + 1) * sizeof *copy);
	for (int i = 0; i < n; i++)
		copy[i] = arena_strdup(w->arena, name[i]);
	return copy;
}

Onnx__NodeProto *write_node(struct writer *w, const struct new_node *n)
{
	Onnx__GraphProto *g = &w->out;
	Onnx__NodeProto *p = arena_alloc(w->arena, sizeof *p);
	onnx__node_proto__init(p);
	p->op_type = arena_strdup(w->arena, n->op);
	p->domain = arena_strdup(w->arena, n->domain);
	p->name = arena_strdup(w->arena, n->name ? n->name : write_name(w, n->out[0], "_node"));
	p->input = copy_names(w, n->in, n->n_in);
	p->n_input = (size_t)n->n_in;
	p->output = copy_names(w, n->out, n->n_out);
	p->n_output = (size_t)n->n_out;
	g->node = xgrow(g->node, &w->cap_nodes, g->n_node + 1, sizeof *g->node);
	g->node[g->n_node++] = p;
	return p;
}

Onnx__NodeProto *write_simple_node(struct writer *w, const char *op, const char *in, const char *out)
{
	return write_node(w, &(struct new_node){.domain = "", .op = op, .in = &in, .n_in = 1, .out = &out, .n_out = 1});
}

// ---- attributes

static Onnx__AttributeProto *add_attribute(
    struct writer *w, Onnx__NodeProto *n, const char *name, Onnx__AttributeProto__AttributeType type)
{
	Onnx__AttributeProto *a = arena_alloc(w->arena, sizeof *a);
	Onnx__AttributeProto **all = arena_alloc(w->arena, (n->n_attribute + 1) * sizeof(Onnx__AttributeProto *));
	onnx__attribute_proto__init(a);
	a->name = arena_strdup(w->arena, name);
	a->has_type = true;
	a->type = type;
	if (n->n_attribute)
		memcpy(all, n->attribute, n->n_attribute * sizeof *all);
	n->attribute = all;
	n->attribute[n->n_attribute++] = a;
	return a;
}

void write_int_attribute(struct writer *w, Onnx__NodeProto *n, const char *name, int64_t value)
{
	Onnx__AttributeProto *a = add_attribute(w, n, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT);
	a->has_i = true;
	a->i = value;
}

void write_float_attribute(struct writer *w, Onnx__NodeProto *n, const char *name, float value)
{
	Onnx__AttributeProto *a = add_attribute(w, n, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT);
	a->has_f = true;
	a->f = value;
}

void write_graph_attribute(struct writer *w, Onnx__NodeProto *n, const char *name, Onnx__GraphProto *value)
{
	add_attribute(w, n, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__GRAPH)->g = value;
}

static ProtobufCBinaryData text_data(struct writer *w, const char *text, size_t len)
{
	return (ProtobufCBinaryData){.len = len, .data = (uint8_t *)arena_strndup(w->arena, text, len)};
}

// The reader has joined the texts of the list with blanks.
static void add_texts(struct writer *w, Onnx__NodeProto *n, const char *name, const char *text)
{
	Onnx__AttributeProto *a = add_attribute(w, n, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRINGS);
	a->strings = arena_alloc(w->arena, (strlen(text) + 1) * sizeof *a->strings);
	for (size_t len; *text; text += len + (text[len] == ' ')) {
		len = strcspn(text, " ");
		a->strings[a->n_strings++] = text_data(w, text, len);
	}
}

void write_text_attribute(struct writer *w, Onnx__NodeProto *n, const char *name, const char *text)
{
	Onnx__AttributeProto *a = add_attribute(w, n, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING);
	a->has_s = true;
	a->s = text_data(w, text, strlen(text));
}

static void add_ints(struct writer *w, Onnx__NodeProto *n, const char *name, const struct ints *v)
{
	Onnx__AttributeProto *a = add_attribute(w, n, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS);
	a->n_ints = (size_t)v->n;
	a->ints = v->at;
}

static void add_floats(struct writer *w, Onnx__NodeProto *n, const char *name, const struct floats *v)
{
	Onnx__AttributeProto *a = add_attribute(w, n, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS);
	a->n_floats = (size_t)v->n;
	a->floats = v->at;
}

// A default may be left out, except where a version of the operator had none or another.
static bool may_leave_out(const struct writer *w, const struct node *n, const struct attr_spec *spec)
{
	return strcmp(spec->name, "axis") || (n->op->id != OP_Concat && opset_has_default(w, n));
}

static void add_spec(struct writer *w, Onnx__NodeProto *to, const struct node *n, const struct attr_spec *spec, const void *field)
{
	const struct ints *ints = field;
	const struct floats *floats = field;
	const char *text;
	const struct tensor *tensor;
	switch (spec->kind) {
	case ATTR_INT:
		if (*(const int64_t *)field != (int64_t)spec->dflt || !may_leave_out(w, n, spec))
			write_int_attribute(w, to, spec->name, *(const int64_t *)field);
		break;
	case ATTR_FLOAT:
		if (*(const float *)field != (float)spec->dflt)
			write_float_attribute(w, to, spec->name, *(const float *)field);
		break;
	case ATTR_INTS:
		if (ints->n >= 0)
			add_ints(w, to, spec->name, ints);
		break;
	case ATTR_FLOATS:
		if (floats->n >= 0)
			add_floats(w, to, spec->name, floats);
		break;
	case ATTR_TEXT:
		text = *(const char *const *)field;
		if (!text || !strcmp(text, spec->dflt_text ? spec->dflt_text : ""))
			break;
		if (!strcmp(spec->name, "activations"))
			add_texts(w, to, spec->name, text);
		else
			write_text_attribute(w, to, spec->name, text);
		break;
	case ATTR_TENSOR:
		tensor = *(const struct tensor *const *)field;
		if (tensor)
			add_attribute(w, to, spec->name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR)->t =
			    write_tensor(w, spec->name, tensor);
		break;
	}
}

static bool rounds_to_16_bits(const struct writer *w, const struct node *n)
{
	if (n->op->id != OP_Cast || w->g->value[n->in[0]].type != DT_F32)
		return false;
	int64_t to = ((const struct cast_attrs *)n->attrs)->to;
	return to == ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT16 || to == ONNX__TENSOR_PROTO__DATA_TYPE__BFLOAT16;
}

static void cast_back(struct writer *w, Onnx__NodeProto *narrow)
{
	const char *own = narrow->output[0], *between = write_name(w, own, "_Cast_Output");
	narrow->output[0] = arena_strdup(w->arena, between);
	write_int_attribute(w, write_simple_node(w, "Cast", between, own), "to", ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT);
}

// The engine knows one float type, so that what a file says of element types may no longer be so.
static bool says_type(const struct attr_spec *spec)
{
	return !strcmp(spec->name, "to") || !strcmp(spec->name, "dtype");
}

void write_attributes(struct writer *w, Onnx__NodeProto *to, const struct node *n)
{
	bool rounds = rounds_to_16_bits(w, n);
	for (int i = 0; i < n->op->n_attrs; i++) {
		const struct attr_spec *spec = &n->op->attrs[i];
		if (!spec->name || !spec->name[0] || opset_leaves_out(w, n, spec->name))
			continue;
		if (says_type(spec) && !rounds && n->out[0] >= 0 && w->g->value[n->out[0]].type != DT_NONE)
			write_int_attribute(w, to, spec->name, write_type(&w->g->value[n->out[0]]));
		else
			add_spec(w, to, n, spec, (const char *)n->attrs + spec->offset);
	}
	opset_add_attributes(w, to, n);
	if (rounds)
		cast_back(w, to);
}
