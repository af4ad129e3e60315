#include "functions.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "../proto/proto.h"
#include "../proto/proto_names.h"
#include "../proto/proto_nodes.h"
#include "../proto/wire.h"
#include "qtui/base/hash.h"
#include "qtui/base/mem.h"
#include "qtui/base/str.h"
#include "qtui/engine/op.h"

enum { DEPTH_MAX_CALLS = 16, NODES_MAX = 1 << 20, BYTES_MAX = 1 << 30 };

// What the calls of a few bytes may become: a function may call another twice that calls a third twice.
struct made {
	size_t nodes; // calls and empty functions, too: they take time
	size_t bytes; // of the nodes that were copied, as a file would have them
};

struct known {
	const Onnx__FunctionProto *f;
	int alike;             // functions of that name and overload
	struct namemap *place; // of its inputs' names, and behind them its outputs'
};

struct functions {
	const Onnx__ModelProto *m;
	struct namemap *by_name; // of full_name, to an index of `at`
	struct known *at;
	struct made made;
};

struct call {
	struct functions *of;
	const struct known *known;
	const Onnx__FunctionProto *f;
	const Onnx__NodeProto *p;
	const char *prefix;
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

static char *full_name(const char *domain, const char *name, const ProtobufCMessage *m, uint32_t overload_tag)
{
	struct str s = {0};
	size_t i = 0, n = 0;
	const uint8_t *overload = unknown_bytes(&n, &i, m, overload_tag);
	str_addf(&s, "%s\n%s\n", domain_of(domain), text_of(name));
	if (n)
		str_addn(&s, (const char *)overload, n);
	return str_detach(&s);
}

// The first of equal names is put last.
static struct namemap *places(const Onnx__FunctionProto *f)
{
	struct namemap *m = namemap_new();
	for (size_t i = f->n_output; i-- > 0;)
		namemap_put(m, f->output[i], (int)(f->n_input + i));
	for (size_t i = f->n_input; i-- > 0;)
		namemap_put(m, f->input[i], (int)i);
	return m;
}

static void index_functions(struct functions *of)
{
	of->by_name = namemap_new();
	of->at = xcalloc(of->m->n_functions + 1, sizeof *of->at);
	for (size_t i = 0; i < of->m->n_functions; i++) {
		const Onnx__FunctionProto *f = of->m->functions[i];
		char *name = full_name(f->domain, f->name, &f->base, FUNCTION_OVERLOAD);
		int before = namemap_get(of->by_name, name);
		of->at[i] = (struct known){.f = f, .alike = before < 0 ? 1 : of->at[before].alike + 1, .place = places(f)};
		namemap_put(of->by_name, name, (int)i);
		free(name);
	}
}

static void functions_done(struct functions *of)
{
	for (size_t i = 0; i < of->m->n_functions; i++)
		namemap_free(&of->at[i].place);
	free(of->at);
	namemap_free(&of->by_name);
}

static const struct known *find(const struct functions *of, const Onnx__NodeProto *p)
{
	char *name = full_name(p->domain, p->op_type, &p->base, NODE_OVERLOAD);
	int i = namemap_get(of->by_name, name);
	free(name);
	return i < 0 ? NULL : &of->at[i];
}

static bool has_name(char *const *list, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(list[i], name))
			return true;
	return false;
}

// ---- names

// A name of the function as the call has it: an argument's, a result's, or one of its own.
static void rename_one(char **name, void *arg)
{
	const struct call *c = arg;
	char *own = *name;
	int i = own && own[0] ? namemap_get(c->known->place, own) : -1;
	size_t at = (size_t)i, result = at - c->f->n_input;
	if (!own || !own[0])
		return;
	if (i >= 0 && at < c->f->n_input)
		*name = xstrdup(at < c->p->n_input ? c->p->input[at] : "");
	else if (i >= 0 && result < c->p->n_output && c->p->output[result][0])
		*name = xstrdup(c->p->output[result]);
	else
		*name = str_format("%s/%s", c->prefix, own);
	free(own);
}

// ---- attributes

// *made: what the call gives for an attribute that refers to one of the function, or the function's default;
// NULL: there is neither, and the operator's default holds.
static enum status refer(Onnx__AttributeProto **made, const struct call *c, const Onnx__AttributeProto *a, struct error *err)
{
	*made = NULL;
	for (size_t i = 0; i < c->p->n_attribute && !*made; i++)
		if (!strcmp(text_of(c->p->attribute[i]->name), a->ref_attr_name))
			*made = (Onnx__AttributeProto *)wire_copy(&c->p->attribute[i]->base);
	if (!*made)
		*made = default_of(c->f, a->ref_attr_name);
	if (!*made && !has_name(c->f->attribute, c->f->n_attribute, a->ref_attr_name))
		return error_set(err, STATUS_FORMAT, "function %s has no attribute %s, to which node %s refers", text_of(c->f->name),
		    a->ref_attr_name, text_of(c->p->name));
	if (*made) {
		free((*made)->name);
		(*made)->name = xstrdup(text_of(a->name));
	}
	return STATUS_OK;
}

static enum status adapt_nodes(struct call *c, Onnx__NodeProto *const *node, size_t n, struct error *err);

static enum status adapt_attributes(struct call *c, Onnx__NodeProto *n, struct error *err)
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
			s = adapt_nodes(c, a->g->node, a->g->n_node, err);
		}
		if (s)
			made = a;
		if (made)
			n->attribute[kept++] = made;
	}
	n->n_attribute = kept;
	return s;
}

// Names of nodes, and attributes.
static enum status adapt_nodes(struct call *c, Onnx__NodeProto *const *node, size_t n, struct error *err)
{
	enum status s = STATUS_OK;
	for (size_t i = 0; i < n && !s; i++) {
		char *own = node[i]->name;
		node[i]->name = str_format("%s/%s", c->prefix, text_of(own)[0] ? own : text_of(node[i]->op_type));
		free(own);
		s = adapt_attributes(c, node[i], err);
	}
	return s;
}

// ---- calls

// The first operator of the nodes, or of a graph inside them, whose meaning differs between two opsets; NULL: there is none. What
// the functions of other domains call is looked at where it is put in their place.
static const char *differing(Onnx__NodeProto *const *node, size_t n, int opset, int other)
{
	const char *found = NULL;
	for (size_t i = 0; i < n && !found; i++) {
		const Onnx__NodeProto *p = node[i];
		const char *op = text_of(p->op_type);
		if (!domain_of(p->domain)[0] && op_find("", op, opset) != op_find("", op, other))
			found = op;
		for (size_t k = 0; k < p->n_attribute && !found; k++)
			if (p->attribute[k]->g)
				found = differing(p->attribute[k]->g->node, p->attribute[k]->g->n_node, opset, other);
	}
	return found;
}

// One set of operators serves the model and its functions.
static enum status check_call(const struct call *c, struct error *err)
{
	int version = opset_of(c->of->m, "");
	if (c->known->alike > 1)
		return error_set(err, STATUS_UNSUPPORTED, "function %s is there %d times: inline it first (onnx.inliner)", text_of(c->f->name),
		    c->known->alike);
	for (size_t i = 0; i < c->f->n_opset_import; i++) {
		const Onnx__OperatorSetIdProto *o = c->f->opset_import[i];
		int own = o->version > INT_MAX ? INT_MAX : (int)o->version;
		const char *op = domain_of(o->domain)[0] || version == own ? NULL : differing(c->f->node, c->f->n_node, own, version);
		if (op)
			return error_set(err, STATUS_UNSUPPORTED,
			    "function %s is of opset %d, the model of %d, and %s differs between them: inline it first (onnx.inliner)",
			    text_of(c->f->name), own, version, op);
	}
	return STATUS_OK;
}

static enum status inline_graph(struct functions *of, Onnx__GraphProto *g, int depth, struct error *err);
static enum status take_node(struct proto_list *to, struct functions *of, Onnx__NodeProto *p, int depth, struct error *err);

static enum status count_node(struct made *made, size_t bytes, struct error *err)
{
	made->bytes += bytes;
	if (++made->nodes > NODES_MAX || made->bytes > BYTES_MAX)
		return error_set(err, STATUS_UNSUPPORTED, "the functions of the model make more than %d nodes or %d MB", NODES_MAX,
		    BYTES_MAX >> 20);
	return STATUS_OK;
}

static enum status expand(struct proto_list *to, struct call *c, int depth, struct error *err)
{
	enum status s = check_call(c, err);
	if (depth >= DEPTH_MAX_CALLS)
		return error_set(err, STATUS_UNSUPPORTED, "function %s: calls are nested too deeply", text_of(c->f->name));
	for (size_t i = 0; i < c->f->n_node && !s; i++) {
		s = count_node(&c->of->made, onnx__node_proto__get_packed_size(c->f->node[i]), err);
		if (s)
			return s;
		Onnx__NodeProto *n = (Onnx__NodeProto *)wire_copy(&c->f->node[i]->base);
		if (!n)
			return error_set(err, STATUS_FORMAT, "function %s cannot be read", text_of(c->f->name));
		proto_rename(n, rename_one, c);
		s = adapt_nodes(c, &n, 1, err);
		if (s)
			onnx__node_proto__free_unpacked(n, NULL);
		else
			s = take_node(to, c->of, n, depth + 1, err);
	}
	return s;
}

// Takes the node, or what it calls in its place. It is freed when that fails.
static enum status take_node(struct proto_list *to, struct functions *of, Onnx__NodeProto *p, int depth, struct error *err)
{
	struct call c = {.of = of, .known = find(of, p), .p = p, .prefix = text_of(p->name)[0] ? p->name : p->n_output ? p->output[0] : ""};
	enum status s = STATUS_OK;
	if (c.known) {
		c.f = c.known->f;
		s = expand(to, &c, depth, err);
		onnx__node_proto__free_unpacked(p, NULL);
		return s;
	}
	proto_push(to, p);
	for (size_t i = 0; i < p->n_attribute && !s; i++)
		if (p->attribute[i]->g)
			s = inline_graph(of, p->attribute[i]->g, depth, err);
	return s;
}

static enum status inline_graph(struct functions *of, Onnx__GraphProto *g, int depth, struct error *err)
{
	struct proto_list nodes = {0};
	enum status s = STATUS_OK;
	size_t taken = 0;
	while (taken < g->n_node && !s)
		s = take_node(&nodes, of, g->node[taken++], depth, err);
	for (; taken < g->n_node; taken++) // after a failure the graph is freed as it is
		proto_push(&nodes, g->node[taken]);
	proto_replace(g, &nodes);
	return s;
}

enum status functions_inline(Onnx__ModelProto *m, struct error *err)
{
	struct functions of = {.m = m};
	enum status s;
	if (!m->n_functions)
		return STATUS_OK;
	index_functions(&of);
	s = inline_graph(&of, m->graph, 0, err);
	functions_done(&of);
	return s;
}
