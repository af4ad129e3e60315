#include "functions.h"

#include <stdlib.h>
#include <string.h>
#include "proto.h"
#include "proto_nodes.h"
#include "wire.h"
#include "qtui/base/mem.h"
#include "qtui/base/str.h"

enum { DEPTH_MAX_CALLS = 16, NODES_MAX = 1 << 20, BYTES_MAX = 1 << 30 };

// What the calls of a few bytes may become: a function may call another twice that calls a third twice.
struct made {
	size_t nodes; // calls and empty functions, too: they take time
	size_t bytes; // of the nodes that were copied, as a file would have them
};

struct call {
	const Onnx__ModelProto *m;
	const Onnx__FunctionProto *f;
	const Onnx__NodeProto *p;
	const char *prefix;
	int alike; // functions of that name and overload
};

// ---- fields that the description of the format is too old for

enum { NODE_OVERLOAD = 8, FUNCTION_DEFAULTS = 11, FUNCTION_OVERLOAD = 13 };

// The bytes of field `tag` from unknown field *i on, of which the length comes first; NULL: there are no more.
static const uint8_t *unknown_bytes(size_t *n, size_t *i, const ProtobufCMessage *m, uint32_t tag)
{
	for (; *i < m->n_unknown_fields; ++*i) {
		const ProtobufCMessageUnknownField *f = &m->unknown_fields[*i];
		size_t prefix = 0;

		if (f->tag != tag || f->wire_type != PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED)
			continue;
		while (prefix < f->len && f->data[prefix++] & 0x80)
			;
		*n = f->len - prefix;
		return f->data + prefix;
	}
	return NULL;
}

static bool same_overload(const Onnx__FunctionProto *f, const Onnx__NodeProto *p)
{
	size_t i = 0, k = 0, n = 0, m = 0;
	const uint8_t *a = unknown_bytes(&n, &i, &f->base, FUNCTION_OVERLOAD), *b = unknown_bytes(&m, &k, &p->base, NODE_OVERLOAD);

	return n == m && (n == 0 || !memcmp(a, b, n));
}

// The attribute of that name for which the function has a default; NULL: there is none. The caller frees it.
static Onnx__AttributeProto *default_of(const Onnx__FunctionProto *f, const char *name)
{
	Onnx__AttributeProto *a = NULL;
	const uint8_t *bytes;
	struct error err;
	size_t n;

	for (size_t i = 0; (bytes = unknown_bytes(&n, &i, &f->base, FUNCTION_DEFAULTS)); i++) {
		if (!wire_check(&onnx__attribute_proto__descriptor, bytes, n, text_of(f->name), &err))
			(void)!wire_unpack((ProtobufCMessage **)&a, &onnx__attribute_proto__descriptor, bytes, n, text_of(f->name), &err);
		if (a && !strcmp(text_of(a->name), name))
			break;
		if (a)
			onnx__attribute_proto__free_unpacked(a, NULL);
		a = NULL;
	}
	return a;
}

// *alike: how many functions have that name and overload.
static const Onnx__FunctionProto *find(int *alike, const Onnx__ModelProto *m, const Onnx__NodeProto *p)
{
	const Onnx__FunctionProto *found = NULL;

	*alike = 0;
	for (size_t i = 0; i < m->n_functions; i++)
		if (!strcmp(text_of(m->functions[i]->name), text_of(p->op_type)) &&
		    !strcmp(domain_of(m->functions[i]->domain), domain_of(p->domain)) && same_overload(m->functions[i], p)) {
			found = m->functions[i];
			++*alike;
		}
	return found;
}

// ---- names

static int place_of(char *const *list, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(list[i], name))
			return (int)i;
	return -1;
}

// A name of the function as the call has it: an argument's, a result's, or one of its own.
static void rename_one(const struct call *c, char **name)
{
	const char *to = NULL;
	struct str own = {0};
	int i;

	if (!*name || !**name)
		return;
	if ((i = place_of(c->f->input, c->f->n_input, *name)) >= 0)
		to = (size_t)i < c->p->n_input ? c->p->input[i] : "";
	else if ((i = place_of(c->f->output, c->f->n_output, *name)) >= 0 && (size_t)i < c->p->n_output && c->p->output[i][0])
		to = c->p->output[i];
	if (!to) {
		str_addf(&own, "%s/%s", c->prefix, *name);
		to = str_text(&own);
	}
	to = xstrdup(to);
	free(*name);
	*name = (char *)to;
	str_done(&own);
}

static enum status adapt_node(const struct call *c, Onnx__NodeProto *n, struct error *err);

static enum status adapt_graph(const struct call *c, Onnx__GraphProto *g, struct error *err)
{
	enum status s = STATUS_OK;

	for (size_t i = 0; i < g->n_input; i++)
		rename_one(c, &g->input[i]->name);
	for (size_t i = 0; i < g->n_output; i++)
		rename_one(c, &g->output[i]->name);
	for (size_t i = 0; i < g->n_initializer; i++)
		rename_one(c, &g->initializer[i]->name);
	for (size_t i = 0; i < g->n_sparse_initializer; i++)
		if (g->sparse_initializer[i]->values)
			rename_one(c, &g->sparse_initializer[i]->values->name);
	for (size_t i = 0; i < g->n_node && !s; i++)
		s = adapt_node(c, g->node[i], err);
	return s;
}

// ---- attributes

// *made: what the call gives for an attribute that refers to one of the function, or the function's default; NULL: there is neither, and the
// operator's default holds.
static enum status refer(Onnx__AttributeProto **made, const struct call *c, const Onnx__AttributeProto *a, struct error *err)
{
	*made = NULL;
	for (size_t i = 0; i < c->p->n_attribute && !*made; i++)
		if (!strcmp(text_of(c->p->attribute[i]->name), a->ref_attr_name))
			*made = (Onnx__AttributeProto *)wire_copy(&c->p->attribute[i]->base);
	if (!*made)
		*made = default_of(c->f, a->ref_attr_name);
	if (!*made && place_of(c->f->attribute, c->f->n_attribute, a->ref_attr_name) < 0)
		return error_set(err, STATUS_FORMAT, "function %s has no attribute %s, to which node %s refers", text_of(c->f->name), a->ref_attr_name,
		    text_of(c->p->name));
	if (*made) {
		free((*made)->name);
		(*made)->name = xstrdup(text_of(a->name));
	}
	return STATUS_OK;
}

static enum status adapt_attributes(const struct call *c, Onnx__NodeProto *n, struct error *err)
{
	size_t kept = 0;
	enum status s = STATUS_OK;

	for (size_t i = 0; i < n->n_attribute; i++) {
		Onnx__AttributeProto *a = n->attribute[i], *made = a;

		if (!s && text_of(a->ref_attr_name)[0]) {
			s = refer(&made, c, a, err);
			if (!s)
				onnx__attribute_proto__free_unpacked(a, NULL);
		} else if (!s && a->g) {
			s = adapt_graph(c, a->g, err);
		}
		if (s)
			made = a;
		if (made)
			n->attribute[kept++] = made;
	}
	n->n_attribute = kept;
	return s;
}

static enum status adapt_node(const struct call *c, Onnx__NodeProto *n, struct error *err)
{
	struct str name = {0};

	for (size_t i = 0; i < n->n_input; i++)
		rename_one(c, &n->input[i]);
	for (size_t i = 0; i < n->n_output; i++)
		rename_one(c, &n->output[i]);
	str_addf(&name, "%s/%s", c->prefix, text_of(n->name)[0] ? n->name : text_of(n->op_type));
	free(n->name);
	n->name = xstrdup(str_text(&name));
	str_done(&name);
	return adapt_attributes(c, n, err);
}

// ---- calls

// One set of operators serves the model and its functions.
static enum status check_call(const struct call *c, struct error *err)
{
	int version = opset_of(c->m, "");

	if (c->alike > 1)
		return error_set(err, STATUS_UNSUPPORTED, "function %s is there %d times: inline it first (onnx.inliner)", text_of(c->f->name), c->alike);
	for (size_t i = 0; i < c->f->n_opset_import; i++) {
		const Onnx__OperatorSetIdProto *o = c->f->opset_import[i];
		if (!domain_of(o->domain)[0] && version != (int)o->version)
			return error_set(err, STATUS_UNSUPPORTED, "function %s is of opset %d, the model of %d: inline it first (onnx.inliner)",
			    text_of(c->f->name), (int)o->version, version);
	}
	return STATUS_OK;
}

static enum status inline_graph(const Onnx__ModelProto *m, Onnx__GraphProto *g, struct made *made, int depth, struct error *err);
static enum status take_node(struct proto_list *to, const Onnx__ModelProto *m, Onnx__NodeProto *p, struct made *made, int depth, struct error *err);

static enum status count_node(struct made *made, size_t bytes, struct error *err)
{
	made->bytes += bytes;
	if (++made->nodes > NODES_MAX || made->bytes > BYTES_MAX)
		return error_set(err, STATUS_UNSUPPORTED, "the functions of the model make more than %d nodes or %d MB", NODES_MAX, BYTES_MAX >> 20);
	return STATUS_OK;
}

static enum status expand(struct proto_list *to, const struct call *c, struct made *made, int depth, struct error *err)
{
	enum status s = depth < DEPTH_MAX_CALLS ? check_call(c, err)
	                                        : error_set(err, STATUS_UNSUPPORTED, "function %s: calls are nested too deeply", text_of(c->f->name));

	for (size_t i = 0; i < c->f->n_node && !s; i++) {
		s = count_node(made, onnx__node_proto__get_packed_size(c->f->node[i]), err);
		if (s)
			return s;
		Onnx__NodeProto *n = (Onnx__NodeProto *)wire_copy(&c->f->node[i]->base);
		if (!n)
			return error_set(err, STATUS_FORMAT, "function %s cannot be read", text_of(c->f->name));
		s = adapt_node(c, n, err);
		if (s)
			onnx__node_proto__free_unpacked(n, NULL);
		else
			s = take_node(to, c->m, n, made, depth + 1, err);
	}
	return s;
}

// Takes the node, or what it calls in its place. It is freed when that fails.
static enum status take_node(struct proto_list *to, const Onnx__ModelProto *m, Onnx__NodeProto *p, struct made *made, int depth, struct error *err)
{
	struct call c = {.m = m, .p = p, .prefix = text_of(p->name)[0] ? p->name : p->n_output ? p->output[0] : ""};
	enum status s = STATUS_OK;

	c.f = find(&c.alike, m, p);
	if (c.f) {
		s = expand(to, &c, made, depth, err);
		onnx__node_proto__free_unpacked(p, NULL);
		return s;
	}
	proto_push(to, p);
	for (size_t i = 0; i < p->n_attribute && !s; i++)
		if (p->attribute[i]->g)
			s = inline_graph(m, p->attribute[i]->g, made, depth, err);
	return s;
}

static enum status inline_graph(const Onnx__ModelProto *m, Onnx__GraphProto *g, struct made *made, int depth, struct error *err)
{
	struct proto_list nodes = {0};
	enum status s = STATUS_OK;
	size_t taken = 0;

	while (taken < g->n_node && !s)
		s = take_node(&nodes, m, g->node[taken++], made, depth, err);
	for (; taken < g->n_node; taken++) // after a failure the graph is freed as it is
		proto_push(&nodes, g->node[taken]);
	proto_replace(g, &nodes);
	return s;
}

enum status functions_inline(Onnx__ModelProto *m, struct error *err)
{
	struct made made = {0};

	return m->n_functions ? inline_graph(m, m->graph, &made, 0, err) : STATUS_OK;
}
