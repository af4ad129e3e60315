#include "proto_nodes.h"

#include <stdlib.h>
#include "proto.h"
#include "qtui/base/mem.h"
#include "qtui/base/str.h"
#include "wire.h"

void proto_push(struct proto_list *l, Onnx__NodeProto *p)
{
	l->at = xgrow(l->at, &l->cap, l->n + 1, sizeof *l->at);
	l->at[l->n++] = p;
}

void proto_replace(Onnx__GraphProto *g, struct proto_list *l)
{
	free(g->node);
	g->node = l->at;
	g->n_node = l->n;
	*l = (struct proto_list){0};
}

Onnx__NodeProto *proto_node(const char *op, const char *name, size_t n_in, size_t n_out)
{
	Onnx__NodeProto *p = xmalloc(sizeof *p);
	onnx__node_proto__init(p);
	p->op_type = xstrdup(op);
	p->name = xstrdup(name);
	p->input = xcalloc(n_in + 1, sizeof(char *));
	p->output = xcalloc(n_out + 1, sizeof(char *));
	p->n_input = n_in;
	p->n_output = n_out;
	return p;
}

const char *proto_node_name(const Onnx__NodeProto *p)
{
	return text_of(p->name)[0] || !p->n_output ? text_of(p->name) : p->output[0];
}

void proto_set_text(char **field, const char *text)
{
	free(*field);
	*field = xstrdup(text);
}

static Onnx__AttributeProto *proto_add_attribute(Onnx__NodeProto *p, const char *name, Onnx__AttributeProto__AttributeType type)
{
	Onnx__AttributeProto *a = xmalloc(sizeof *a);
	onnx__attribute_proto__init(a);
	a->name = xstrdup(name);
	a->has_type = true;
	a->type = type;
	p->attribute = xrealloc(p->attribute, (p->n_attribute + 1) * sizeof *p->attribute);
	return p->attribute[p->n_attribute++] = a;
}

void proto_add_int(Onnx__NodeProto *p, const char *name, int64_t v)
{
	Onnx__AttributeProto *a = proto_add_attribute(p, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT);
	a->has_i = true;
	a->i = v;
}

void proto_add_ints(Onnx__NodeProto *p, const char *name, const int64_t *v, size_t n)
{
	Onnx__AttributeProto *a = proto_add_attribute(p, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS);
	a->ints = xcalloc(n + 1, sizeof *a->ints);
	memcpy(a->ints, v, n * sizeof *v);
	a->n_ints = n;
}

void proto_add_tensor(Onnx__NodeProto *p, const char *name, const Onnx__TensorProto *t)
{
	proto_add_attribute(p, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR)->t = (Onnx__TensorProto *)wire_copy(&t->base);
}

Onnx__NodeProto *proto_add_node(struct proto_list *to, const Onnx__NodeProto *from, const char *op, size_t n_in, size_t n_out)
{
	Onnx__NodeProto *p = proto_node(op, proto_node_name(from), n_in, n_out);
	proto_push(to, p);
	return p;
}

Onnx__NodeProto *proto_add_step(
    struct proto_list *to, const Onnx__NodeProto *p, const char *op, const char *from, size_t n_in, const char *name)
{
	Onnx__NodeProto *step = proto_add_node(to, p, op, n_in, 1);
	step->input[0] = xstrdup(from);
	step->output[0] = name ? str_format("%s/%s", p->output[0], name) : xstrdup(p->output[0]);
	return step;
}

char *proto_add_constants(struct proto_list *to, const Onnx__NodeProto *from, const char *what, const int64_t *v, size_t n)
{
	Onnx__NodeProto *c = proto_add_node(to, from, "Constant", 0, 1);
	c->output[0] = str_format("%s/%s", from->output[0], what);
	proto_add_ints(c, "value_ints", v, n);
	return xstrdup(c->output[0]);
}

char *proto_add_constant(struct proto_list *to, const Onnx__NodeProto *from, const char *what, int64_t v, bool list)
{
	if (list)
		return proto_add_constants(to, from, what, &v, 1);
	Onnx__NodeProto *c = proto_add_node(to, from, "Constant", 0, 1);
	c->output[0] = str_format("%s/%s", from->output[0], what);
	proto_add_int(c, "value_int", v);
	return xstrdup(c->output[0]);
}
