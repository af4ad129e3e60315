// One parser an attribute kind, picked by the operator's table of attributes.
#include <assert.h>
#include <string.h>
#include "attr.h"
#include "proto.h"
#include "qtui/base/log.h"
#include "qtui/base/str.h"
#include "tensor_proto.h"

typedef enum status parse_fn(struct draft *d, void *field, const Onnx__AttributeProto *a, struct error *err);

static enum status parse_int(struct draft *d, void *field, const Onnx__AttributeProto *a, struct error *err)
{
	(void)d, (void)err;
	*(int64_t *)field = a->i;
	return STATUS_OK;
}

static enum status parse_float(struct draft *d, void *field, const Onnx__AttributeProto *a, struct error *err)
{
	(void)d, (void)err;
	*(float *)field = a->f;
	return STATUS_OK;
}

static enum status parse_ints(struct draft *d, void *field, const Onnx__AttributeProto *a, struct error *err)
{
	(void)err;
	*(struct ints *)field = (struct ints){
	    .at = arena_memdup(d->arena, a->ints, a->n_ints * sizeof(int64_t)),
	    .n = (int)a->n_ints,
	};
	return STATUS_OK;
}

static enum status parse_floats(struct draft *d, void *field, const Onnx__AttributeProto *a, struct error *err)
{
	(void)err;
	*(struct floats *)field = (struct floats){
	    .at = arena_memdup(d->arena, a->floats, a->n_floats * sizeof(float)),
	    .n = (int)a->n_floats,
	};
	return STATUS_OK;
}

static enum status parse_text(struct draft *d, void *field, const Onnx__AttributeProto *a, struct error *err)
{
	struct str words = {0};
	(void)err;
	str_addn(&words, (const char *)a->s.data, a->s.len);
	for (size_t i = 0; i < a->n_strings; i++)
		str_addf(&words, "%s%.*s", words.len ? " " : "", (int)a->strings[i].len, (const char *)a->strings[i].data);
	*(const char **)field = arena_strndup(d->arena, str_text(&words), words.len);
	str_done(&words);
	return STATUS_OK;
}

// The bytes move into the arena, so that nothing of a node needs to be freed singly.
static enum status parse_tensor(struct draft *d, void *field, const Onnx__AttributeProto *a, struct error *err)
{
	struct tensor t, *kept;
	enum status s = tensor_proto_read(&t, a->t, d->externals, a->name, err);
	if (s)
		return s;
	kept = arena_alloc(d->arena, sizeof *kept);
	*kept = t;
	kept->buf = NULL;
	kept->data = arena_memdup(d->arena, t.data, tensor_bytes(&t));
	tensor_drop(&t);
	*(const struct tensor **)field = kept;
	return STATUS_OK;
}

static const struct kind_row {
	Onnx__AttributeProto__AttributeType type;
	parse_fn *parse;
} kinds[] = {
    [ATTR_INT] = {ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT, parse_int},
    [ATTR_FLOAT] = {ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT, parse_float},
    [ATTR_INTS] = {ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS, parse_ints},
    [ATTR_FLOATS] = {ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS, parse_floats},
    [ATTR_TEXT] = {ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING, parse_text},
    [ATTR_TENSOR] = {ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR, parse_tensor},
};

static void set_default(void *field, const struct attr_spec *spec)
{
	switch (spec->kind) {
	case ATTR_INT:
		*(int64_t *)field = (int64_t)spec->dflt;
		break;
	case ATTR_FLOAT:
		*(float *)field = (float)spec->dflt;
		break;
	case ATTR_INTS:
		*(struct ints *)field = (struct ints){.n = -1};
		break;
	case ATTR_FLOATS:
		*(struct floats *)field = (struct floats){.n = -1};
		break;
	case ATTR_TEXT:
		*(const char **)field = spec->dflt_text;
		break;
	case ATTR_TENSOR:
		*(const struct tensor **)field = NULL;
		break;
	}
}

static bool fits(const struct attr_spec *spec, const Onnx__AttributeProto *a)
{
	// Files of IR version 1 leave the type out.
	if (a->has_type && a->type != kinds[spec->kind].type)
		return spec->kind == ATTR_TEXT && a->type == ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRINGS;
	return spec->kind != ATTR_TENSOR || a->t;
}

const struct attr_spec *attr_spec_of(const struct op *op, const char *name)
{
	for (int i = 0; i < op->n_attrs; i++)
		if (!strcmp(op->attrs[i].name, name))
			return &op->attrs[i];
	return NULL;
}

// Attributes that mean nothing when a network infers.
static bool is_for_training(const char *name)
{
	static const char *const names[] = {"ratio", "seed", "momentum", "is_test", "consumed_inputs"};
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

static enum status parse_one(
    struct draft *d, struct draft_node *n, void *attrs, const Onnx__AttributeProto *a, struct error *err)
{
	const struct attr_spec *spec = attr_spec_of(n->n.op, text_of(a->name));
	enum status s;
	if (text_of(a->ref_attr_name)[0])
		return error_set(err, STATUS_UNSUPPORTED,
		    "node %s (%s): attribute '%s' refers to a function's attribute", n->n.name, n->op_type,
		    text_of(a->name));
	if (!spec) {
		if (a->type != ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__GRAPH && !is_for_training(text_of(a->name)))
			log_warn("node %s (%s): attribute '%s' is not known and is ignored", n->n.name, n->op_type,
			    text_of(a->name));
		return STATUS_OK;
	}
	if (!fits(spec, a))
		return error_set(err, STATUS_FORMAT, "node %s (%s): attribute '%s' has the wrong type", n->n.name,
		    n->op_type, a->name);
	s = kinds[spec->kind].parse(d, (char *)attrs + spec->offset, a, err);
	return s ? error_prefix(err, "node %s (%s)", n->n.name, n->op_type) : STATUS_OK;
}

void *attr_defaults(struct draft *d, const struct op *op)
{
	char *attrs = arena_alloc(d->arena, op->attrs_size ? op->attrs_size : 1);
	for (int i = 0; i < op->n_attrs; i++)
		set_default(attrs + op->attrs[i].offset, &op->attrs[i]);
	return attrs;
}

float attr_number(const struct node *n, const char *name)
{
	const struct attr_spec *spec = attr_spec_of(n->op, name);
	const char *field;
	assert(spec);
	field = (const char *)n->attrs + spec->offset;
	return spec->kind == ATTR_INT ? (float)*(const int64_t *)field : *(const float *)field;
}

enum status attr_parse(struct draft *d, struct draft_node *n, const Onnx__NodeProto *proto, struct error *err)
{
	char *attrs = attr_defaults(d, n->n.op);
	enum status s = STATUS_OK;
	for (size_t i = 0; i < proto->n_attribute && !s; i++)
		s = parse_one(d, n, attrs, proto->attribute[i], err);
	n->n.attrs = attrs;
	return s;
}
