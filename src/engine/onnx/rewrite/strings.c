#include "strings.h"

#include <stdlib.h>
#include <string.h>
#include "../proto/proto.h"
#include "../proto/proto_constants.h"
#include "../proto/proto_nodes.h"
#include "qtui/base/hash.h"
#include "qtui/base/log.h"
#include "qtui/base/mem.h"
#include "qtui/engine/op.h"

enum { TEXT = ONNX__TENSOR_PROTO__DATA_TYPE__STRING };

struct strings {
	const Onnx__ModelProto *m;
	Onnx__GraphProto *g;
	struct namemap *names; // of tensors of strings
	bool *moves;           // [n_node] the node makes such by moving others
	const char *picked_by; // the last tensor that such a node reads and that is computed
};

static bool has(const struct namemap *names, const char *name)
{
	return name && name[0] && namemap_get(names, name) >= 0;
}

static bool is_text_constant(const Onnx__NodeProto *p)
{
	const Onnx__AttributeProto *value = proto_attribute(p, "value");
	bool is_constant = !domain_of(p->domain)[0] && !strcmp(text_of(p->op_type), "Constant");
	return is_constant && ((value && value->t && value->t->data_type == TEXT) || proto_attribute(p, "value_string") ||
	                          proto_attribute(p, "value_strings"));
}

static bool is_mover(const struct strings *s, const Onnx__NodeProto *p)
{
	const char *domain = domain_of(p->domain);
	const struct op *op = op_find(domain, text_of(p->op_type), opset_of(s->m, domain));
	return op && ((op->flags & (OPF_MOVES | OPF_VIEW)) || op->id == OP_Where);
}

static bool is_constant(const Onnx__GraphProto *g, const char *name)
{
	bool found = false;
	for (size_t i = 0; i < g->n_initializer && !found; i++)
		found = !strcmp(text_of(g->initializer[i]->name), name);
	for (size_t i = 0; i < g->n_node && !found; i++)
		found = !strcmp(text_of(g->node[i]->op_type), "Constant") && g->node[i]->n_output && !strcmp(g->node[i]->output[0], name);
	return found;
}

static void find(struct strings *s)
{
	for (size_t i = 0; i < s->g->n_initializer; i++)
		if (s->g->initializer[i]->data_type == TEXT)
			namemap_put(s->names, text_of(s->g->initializer[i]->name), 1);
	for (size_t i = 0; i < s->g->n_node; i++) {
		const Onnx__NodeProto *p = s->g->node[i];
		bool reads = false;
		for (size_t k = 0; k < p->n_input; k++)
			reads |= has(s->names, p->input[k]);
		s->moves[i] = reads && is_mover(s, p);
		for (size_t k = 0; k < p->n_output && (s->moves[i] || is_text_constant(p)); k++)
			namemap_put(s->names, p->output[k], 1);
		for (size_t k = 0; k < p->n_input && s->moves[i]; k++)
			if (p->input[k][0] && !has(s->names, p->input[k]) && !is_constant(s->g, p->input[k]))
				s->picked_by = p->input[k];
	}
}

static void note_read(struct namemap *read, const Onnx__NodeProto *p)
{
	for (size_t i = 0; i < p->n_input; i++)
		namemap_put(read, p->input[i], 1);
	for (size_t i = 0; i < p->n_attribute; i++) {
		const Onnx__GraphProto *g = p->attribute[i]->g;
		for (size_t k = 0; g && k < g->n_node; k++)
			note_read(read, g->node[k]);
		for (size_t k = 0; g && k < g->n_output; k++)
			namemap_put(read, text_of(g->output[k]->name), 1);
	}
}

// From the end, so that what only such nodes read goes with them. Others that read strings are left, to be refused.
static void drop_unread(struct strings *s)
{
	struct namemap *read = namemap_new();
	size_t kept = s->g->n_node;
	for (size_t i = s->g->n_node; i-- > 0;) {
		Onnx__NodeProto *p = s->g->node[i];
		bool needed = !s->moves[i];
		for (size_t k = 0; k < p->n_output && !needed; k++)
			needed = has(read, p->output[k]);
		if (needed) {
			note_read(read, p);
			s->g->node[--kept] = p;
		} else {
			onnx__node_proto__free_unpacked(p, NULL);
		}
	}
	s->g->n_node -= kept;
	memmove(s->g->node, s->g->node + kept, s->g->n_node * sizeof *s->g->node);
	namemap_free(&read);
}

static size_t count_outputs(const struct strings *s)
{
	size_t n = 0;
	for (size_t i = 0; i < s->g->n_output; i++)
		n += has(s->names, s->g->output[i]->name);
	return n;
}

static void drop_outputs(struct strings *s)
{
	Onnx__ValueInfoProto **out = s->g->output;
	size_t kept = 0;
	bool other = count_outputs(s) < s->g->n_output;
	char *instead = other ? NULL : xstrdup(s->picked_by);
	for (size_t i = 0; i < s->g->n_output; i++) {
		if (!has(s->names, out[i]->name)) {
			out[kept++] = out[i];
			continue;
		}
		log_warn("output %s holds strings, with which nothing is computed: it is left out%s%s", out[i]->name,
		    other ? "" : "; in its place stands what picks them, ", other ? "" : instead);
		if (!other && kept == 0) {
			free(out[i]->name);
			out[i]->name = xstrdup(instead);
			onnx__type_proto__free_unpacked(out[i]->type, NULL);
			out[i]->type = NULL;
			out[kept++] = out[i];
		} else {
			onnx__value_info_proto__free_unpacked(out[i], NULL);
		}
	}
	s->g->n_output = kept;
	free(instead);
}

void strings_leave_out(Onnx__ModelProto *m)
{
	struct strings s = {.m = m, .g = m->graph, .names = namemap_new()};
	s.moves = xcalloc(s.g->n_node + 1, sizeof *s.moves);
	find(&s);
	size_t n = count_outputs(&s);
	if (n && (n < s.g->n_output || s.picked_by)) {
		drop_outputs(&s);
		drop_unread(&s);
	}
	namemap_free(&s.names);
	free(s.moves);
}
