#include "proto_constants.h"

#include <stdlib.h>
#include "../../ops/element.h"
#include "proto.h"
#include "qtui/base/mem.h"
#include "tensor_proto.h"

const Onnx__AttributeProto *proto_attribute(const Onnx__NodeProto *p, const char *name)
{
	for (size_t i = 0; i < p->n_attribute; i++)
		if (!strcmp(text_of(p->attribute[i]->name), name))
			return p->attribute[i];
	return NULL;
}

int64_t proto_int(const Onnx__NodeProto *p, const char *name, int64_t absent)
{
	const Onnx__AttributeProto *a = proto_attribute(p, name);
	return a ? a->i : absent;
}

static const Onnx__TensorProto *constant_tensor(const struct proto_constants *c, const char *name, const Onnx__NodeProto **maker)
{
	*maker = NULL;
	for (size_t i = 0; i < c->g->n_initializer; i++)
		if (!strcmp(text_of(c->g->initializer[i]->name), name))
			return c->g->initializer[i];
	for (size_t i = 0; i < c->n_nodes && !*maker; i++)
		if (c->node[i]->n_output == 1 && !strcmp(c->node[i]->output[0], name) && !strcmp(text_of(c->node[i]->op_type), "Constant"))
			*maker = c->node[i];
	return *maker && proto_attribute(*maker, "value") ? proto_attribute(*maker, "value")->t : NULL;
}

int64_t *proto_constant_ints(size_t *n, int *rank, const struct proto_constants *c, const char *name)
{
	const Onnx__NodeProto *maker;
	const Onnx__TensorProto *p = constant_tensor(c, name, &maker);
	const Onnx__AttributeProto *list = maker ? proto_attribute(maker, "value_ints") : NULL;
	const Onnx__AttributeProto *one = maker ? proto_attribute(maker, "value_int") : NULL;
	struct tensor t;
	struct error err;
	int64_t *v = NULL;
	*n = list ? list->n_ints : 1;
	*rank = list != NULL;
	if (list || one) {
		v = xcalloc(*n + 1, sizeof *v);
		for (size_t i = 0; i < *n; i++)
			v[i] = list ? list->ints[i] : one->i;
	} else if (p && !tensor_proto_read(&t, p, NULL, name, &err)) {
		*n = (size_t)tensor_count(&t);
		*rank = t.shape.rank;
		v = t.type == DT_I64 || t.type == DT_I32 || t.type == DT_BOOL ? xcalloc(*n + 1, sizeof *v) : NULL;
		if (v)
			elements_load(v, t.type, t.data, 0, 1, (int64_t)*n);
		tensor_drop(&t);
	}
	return v;
}

bool proto_constant_int(int64_t *v, const struct proto_constants *c, const char *name)
{
	size_t n;
	int rank;
	int64_t *list = proto_constant_ints(&n, &rank, c, name);
	bool one = list && n == 1;
	if (one)
		*v = list[0];
	free(list);
	return one;
}
