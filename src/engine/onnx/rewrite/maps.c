#include "maps.h"

#include <string.h>
#include "../proto/proto.h"
#include "../proto/proto_nodes.h"
#include "qtui/base/log.h"

static bool makes_maps(const Onnx__NodeProto *p)
{
	return !strcmp(text_of(p->domain), "ai.onnx.ml") && !strcmp(text_of(p->op_type), "ZipMap") && p->n_input == 1 && p->n_output == 1;
}

static Onnx__ValueInfoProto *find_output(const Onnx__GraphProto *g, const char *name)
{
	for (size_t i = 0; i < g->n_output; i++)
		if (!strcmp(text_of(g->output[i]->name), name))
			return g->output[i];
	return NULL;
}

// The node hands its matrix on: the labels, its attributes, go.
static void make_identity(Onnx__NodeProto *p)
{
	proto_set_text(&p->op_type, "Identity");
	proto_set_text(&p->domain, "");
	while (p->n_attribute)
		onnx__attribute_proto__free_unpacked(p->attribute[--p->n_attribute], NULL);
}

void maps_resolve(Onnx__ModelProto *m)
{
	for (size_t i = 0; i < m->graph->n_node; i++) {
		Onnx__NodeProto *p = m->graph->node[i];
		Onnx__ValueInfoProto *out = makes_maps(p) ? find_output(m->graph, p->output[0]) : NULL;
		if (!out)
			continue;
		log_warn("output %s holds maps from labels to numbers: the numbers stand in their place, without the labels", out->name);
		make_identity(p);
		onnx__type_proto__free_unpacked(out->type, NULL);
		out->type = NULL;
	}
}
