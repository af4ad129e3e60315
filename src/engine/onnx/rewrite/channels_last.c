#include "channels_last.h"

#include <stdlib.h>
#include "../proto/proto.h"
#include "../proto/proto_constants.h"
#include "../proto/proto_nodes.h"
#include "qtui/base/mem.h"
#include "qtui/base/str.h"
#include "qtui/engine/tensor.h"

#define MS "com.microsoft"
#define FLAG "channels_last"

enum { IMAGE_RANK = 4 };

static const struct rule {
	const char *op;        // of com.microsoft
	bool always;           // else where its attribute says so
	const char *to, *domain;
	size_t weights;        // the input that has as many dimensions; 0: none
} rules[] = {
    {"NhwcMaxPool", true, "MaxPool", "", 0},
    {"QLinearConv", false, "QLinearConv", "", 3},
    {"QLinearAveragePool", false, "QLinearAveragePool", MS, 0},
    {"QLinearGlobalAveragePool", false, "QLinearGlobalAveragePool", MS, 0},
};

static const struct rule *rule_of(const Onnx__NodeProto *p)
{
	for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
		if (!strcmp(text_of(p->domain), MS) && !strcmp(text_of(p->op_type), rules[i].op) && p->n_input && p->n_output)
			return &rules[i];
	return NULL;
}

// As the file declares a value; 0: it does not.
static size_t declared_rank(Onnx__ValueInfoProto *const *v, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++) {
		const Onnx__TypeProto *t = strcmp(text_of(v[i]->name), name) ? NULL : v[i]->type;
		if (t && t->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE && t->tensor_type->shape)
			return t->tensor_type->shape->n_dim;
	}
	return 0;
}

// As its kernel, its weights or its input have it. Where none of them tells, it pools images.
static size_t rank_of(const struct rule *rule, const Onnx__GraphProto *g, const Onnx__NodeProto *p)
{
	const Onnx__AttributeProto *kernel = proto_attribute(p, "kernel_shape");
	if (kernel)
		return kernel->n_ints + 2;
	for (size_t i = 0; i < g->n_initializer && rule->weights && p->n_input > rule->weights; i++)
		if (!strcmp(text_of(g->initializer[i]->name), p->input[rule->weights]))
			return g->initializer[i]->n_dims;
	size_t given = declared_rank(g->input, g->n_input, p->input[0]);
	given = given ? given : declared_rank(g->value_info, g->n_value_info, p->input[0]);
	return given ? given : IMAGE_RANK;
}

static Onnx__NodeProto *transpose(const Onnx__NodeProto *p, const char *what, size_t rank, bool to_last)
{
	int64_t perm[SHAPE_MAX_RANK] = {0};
	char *name = str_format("%s/%s", proto_node_name(p), what);
	Onnx__NodeProto *t = proto_node("Transpose", name, 1, 1);
	free(name);
	for (size_t i = 1; i < rank; i++)
		perm[i] = (int64_t)(to_last ? i % (rank - 1) + 1 : i == 1 ? rank - 1 : i - 1);
	proto_add_ints(t, "perm", perm, rank);
	return t;
}

static void drop_flag(Onnx__NodeProto *p)
{
	size_t kept = 0;
	for (size_t i = 0; i < p->n_attribute; i++)
		if (strcmp(text_of(p->attribute[i]->name), FLAG) != 0)
			p->attribute[kept++] = p->attribute[i];
		else
			onnx__attribute_proto__free_unpacked(p->attribute[i], NULL);
	p->n_attribute = kept;
}

static void take(struct proto_list *to, const Onnx__GraphProto *g, Onnx__NodeProto *p)
{
	const struct rule *rule = rule_of(p);
	bool last = rule && (rule->always || proto_int(p, FLAG, 0));
	size_t rank = last ? rank_of(rule, g, p) : 0;
	Onnx__NodeProto *before, *after;
	if (!rule || (last && (rank < 2 || rank > SHAPE_MAX_RANK))) { // the latter is refused where its attributes are read
		proto_push(to, p);
		return;
	}
	proto_set_text(&p->op_type, rule->to);
	proto_set_text(&p->domain, rule->domain);
	drop_flag(p);
	if (!last) {
		proto_push(to, p);
		return;
	}
	before = transpose(p, "channels_first", rank, false);
	after = transpose(p, "channels_last", rank, true);
	before->input[0] = p->input[0];
	after->output[0] = p->output[0];
	before->output[0] = str_format("%s/x_channels_first", after->output[0]);
	after->input[0] = str_format("%s/channels_first", after->output[0]);
	p->input[0] = xstrdup(before->output[0]);
	p->output[0] = xstrdup(after->input[0]);
	proto_push(to, before);
	proto_push(to, p);
	proto_push(to, after);
}

static void resolve_graph(Onnx__GraphProto *g)
{
	struct proto_list nodes = {0};
	for (size_t i = 0; i < g->n_node; i++) {
		for (size_t k = 0; k < g->node[i]->n_attribute; k++)
			if (g->node[i]->attribute[k]->g)
				resolve_graph(g->node[i]->attribute[k]->g);
		take(&nodes, g, g->node[i]);
	}
	proto_replace(g, &nodes);
}

void channels_last_resolve(Onnx__ModelProto *m)
{
	resolve_graph(m->graph);
}
