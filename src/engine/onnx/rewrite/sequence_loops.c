#include "sequence_loops.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "../proto/proto.h"
#include "../proto/proto_constants.h"
#include "../proto/proto_nodes.h"
#include "qtui/base/mem.h"
#include "qtui/base/str.h"

enum { LOOP_OWN = 2, BODY_OWN = 1 }; // inputs of a Loop and outputs of its body before those that are carried

static bool is_op(const Onnx__NodeProto *p, const char *op)
{
	return !domain_of(p->domain)[0] && !strcmp(text_of(p->op_type), op);
}

// How often a graph, and those inside it, read a name.
static size_t uses(const Onnx__GraphProto *g, const char *name)
{
	size_t n = 0;
	for (size_t i = 0; i < g->n_output; i++)
		n += !strcmp(text_of(g->output[i]->name), name);
	for (size_t i = 0; i < g->n_node; i++) {
		const Onnx__NodeProto *p = g->node[i];
		for (size_t k = 0; k < p->n_input; k++)
			n += !strcmp(p->input[k], name);
		for (size_t k = 0; k < p->n_attribute; k++)
			n += p->attribute[k]->g ? uses(p->attribute[k]->g, name) : 0;
	}
	return n;
}

static bool is_empty_sequence(const Onnx__GraphProto *g, const char *name)
{
	for (size_t i = 0; i < g->n_node; i++)
		if (is_op(g->node[i], "SequenceEmpty") && g->node[i]->n_output == 1 && !strcmp(g->node[i]->output[0], name))
			return true;
	return false;
}

// The node that appends to carried value i and does nothing else with it; NULL where there is none.
static Onnx__NodeProto *appending(const Onnx__GraphProto *body, size_t i)
{
	const char *from = text_of(body->input[LOOP_OWN + i]->name), *to = text_of(body->output[BODY_OWN + i]->name);
	for (size_t k = 0; k < body->n_node; k++) {
		Onnx__NodeProto *p = body->node[k];
		bool at_the_end = p->n_input == 2 || (p->n_input == 3 && !p->input[2][0]);
		if (is_op(p, "SequenceInsert") && at_the_end && p->n_output == 1 && !strcmp(p->input[0], from) && !strcmp(p->output[0], to))
			return uses(body, from) == 1 && uses(body, to) == 1 ? p : NULL;
	}
	return NULL;
}

// The element in the place of the longer sequence.
static void become_identity(Onnx__NodeProto *p)
{
	free(p->op_type);
	p->op_type = xstrdup("Identity");
	free(p->input[0]);
	p->input[0] = p->input[1];
	for (size_t i = 2; i < p->n_input; i++)
		free(p->input[i]);
	p->n_input = 1;
}

static void move_to_end(void *list, size_t n, size_t i)
{
	void **at = list, *moved = at[i];
	memmove(at + i, at + i + 1, (n - 1 - i) * sizeof *at);
	at[n - 1] = moved;
}

// Carried value i is collected from now on; the node that makes its sequence of that.
static Onnx__NodeProto *collect(Onnx__NodeProto *loop, Onnx__GraphProto *body, Onnx__NodeProto *append, size_t i)
{
	Onnx__NodeProto *split = proto_node("SplitToSequence", proto_node_name(loop), 1, 1);
	Onnx__ValueInfoProto *element = body->output[BODY_OWN + i];
	become_identity(append);
	if (element->type)
		onnx__type_proto__free_unpacked(element->type, NULL); // that of a sequence
	element->type = NULL;
	move_to_end(body->output, body->n_output, BODY_OWN + i);
	move_to_end(body->input, body->n_input, LOOP_OWN + i);
	onnx__value_info_proto__free_unpacked(body->input[--body->n_input], NULL);
	move_to_end(loop->input, loop->n_input, LOOP_OWN + i);
	free(loop->input[--loop->n_input]);
	move_to_end(loop->output, loop->n_output, i);
	split->output[0] = loop->output[loop->n_output - 1];
	split->input[0] = str_format("%s/elements", split->output[0]);
	loop->output[loop->n_output - 1] = xstrdup(split->input[0]);
	proto_add_int(split, "axis", 0);
	proto_add_int(split, "keepdims", 0);
	return split;
}

static void resolve_loop(struct proto_list *nodes, const Onnx__GraphProto *g, Onnx__NodeProto *loop)
{
	const Onnx__AttributeProto *a = proto_attribute(loop, "body");
	Onnx__GraphProto *body = a ? a->g : NULL;
	proto_push(nodes, loop);
	if (!body || body->n_input != loop->n_input || body->n_output != loop->n_output + BODY_OWN || body->n_output + 1 < body->n_input)
		return;
	for (size_t i = 0; LOOP_OWN + i < loop->n_input;) {
		Onnx__NodeProto *append = is_empty_sequence(g, loop->input[LOOP_OWN + i]) ? appending(body, i) : NULL;
		if (append)
			proto_push(nodes, collect(loop, body, append, i));
		else
			i++;
	}
}

void sequence_loops(Onnx__GraphProto *g)
{
	struct proto_list nodes = {0};
	for (size_t i = 0; i < g->n_node; i++)
		if (is_op(g->node[i], "Loop"))
			resolve_loop(&nodes, g, g->node[i]);
		else
			proto_push(&nodes, g->node[i]);
	proto_replace(g, &nodes);
}
