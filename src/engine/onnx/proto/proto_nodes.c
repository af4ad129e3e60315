#include "proto_nodes.h"

#include <stdlib.h>
#include "proto.h"
#include "qtui/base/mem.h"

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
