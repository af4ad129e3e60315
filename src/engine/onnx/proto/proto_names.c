#include "proto_names.h"

static void rename_in_graph(Onnx__GraphProto *g, proto_renamer *each, void *arg)
{
	for (size_t i = 0; i < g->n_input; i++)
		each(&g->input[i]->name, arg);
	for (size_t i = 0; i < g->n_output; i++)
		each(&g->output[i]->name, arg);
	for (size_t i = 0; i < g->n_initializer; i++)
		each(&g->initializer[i]->name, arg);
	for (size_t i = 0; i < g->n_sparse_initializer; i++)
		if (g->sparse_initializer[i]->values)
			each(&g->sparse_initializer[i]->values->name, arg);
	for (size_t i = 0; i < g->n_node; i++)
		proto_rename(g->node[i], each, arg);
}

void proto_rename(Onnx__NodeProto *p, proto_renamer *each, void *arg)
{
	for (size_t i = 0; i < p->n_input; i++)
		each(&p->input[i], arg);
	for (size_t i = 0; i < p->n_output; i++)
		each(&p->output[i], arg);
	for (size_t i = 0; i < p->n_attribute; i++)
		if (p->attribute[i]->g)
			rename_in_graph(p->attribute[i]->g, each, arg);
}
