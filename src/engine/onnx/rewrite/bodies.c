#include "bodies.h"

#include <stdlib.h>
#include "../proto/proto.h"
#include "../proto/proto_names.h"
#include "../proto/wire.h"
#include "qtui/base/hash.h"
#include "qtui/base/mem.h"
#include "qtui/base/str.h"

struct use {
	const Onnx__GraphProto *body;
	char *const *in;
	char *values;          // what the names that it defines begin with
	struct namemap *place; // of its inputs; of what else it defines: n_input
};

static void define(struct use *u, const char *name)
{
	if (text_of(name)[0] && namemap_get(u->place, name) < 0)
		namemap_put(u->place, name, (int)u->body->n_input);
}

static void define_all(struct use *u)
{
	for (size_t i = u->body->n_input; i-- > 0;)
		namemap_put(u->place, text_of(u->body->input[i]->name), (int)i);
	for (size_t i = 0; i < u->body->n_initializer; i++)
		define(u, u->body->initializer[i]->name);
	for (size_t i = 0; i < u->body->n_node; i++)
		for (size_t k = 0; k < u->body->node[i]->n_output; k++)
			define(u, u->body->node[i]->output[k]);
}

// What it reads from outside keeps its name.
static void rename_one(char **name, void *arg)
{
	const struct use *u = arg;
	char *own = *name;
	int i = text_of(own)[0] ? namemap_get(u->place, own) : -1;
	if (i < 0)
		return;
	*name = (size_t)i < u->body->n_input ? xstrdup(u->in[i]) : str_format("%s/%s", u->values, own);
	free(own);
}

static void put_constants(struct proto_list *to, const Onnx__NodeProto *p, struct use *u)
{
	for (size_t i = 0; i < u->body->n_initializer; i++) {
		Onnx__NodeProto *c = proto_add_node(to, p, "Constant", 0, 1);
		c->output[0] = xstrdup(text_of(u->body->initializer[i]->name));
		rename_one(&c->output[0], u);
		proto_add_tensor(c, "value", u->body->initializer[i]);
	}
}

const char *bodies_first_output(const Onnx__NodeProto *p)
{
	for (size_t i = 0; i < p->n_output; i++)
		if (p->output[i][0])
			return p->output[i];
	return "";
}

char **bodies_put(struct proto_list *to, const Onnx__NodeProto *p, const Onnx__GraphProto *body, char *const *in, const char *part)
{
	struct use u = {body, in, str_format("%s/%s", bodies_first_output(p), part), namemap_new()};
	char **out = xcalloc(body->n_output + 1, sizeof *out);
	define_all(&u);
	put_constants(to, p, &u);
	for (size_t i = 0; i < body->n_node; i++) {
		Onnx__NodeProto *n = (Onnx__NodeProto *)wire_copy(&body->node[i]->base);
		char *own = n->name;
		proto_rename(n, rename_one, &u);
		n->name = str_format("%s/%s/%s", proto_node_name(p), part, text_of(own)[0] ? own : text_of(n->op_type));
		free(own);
		proto_push(to, n);
	}
	for (size_t i = 0; i < body->n_output; i++) {
		out[i] = xstrdup(text_of(body->output[i]->name));
		rename_one(&out[i], &u);
	}
	namemap_free(&u.place);
	free(u.values);
	return out;
}

void bodies_names_free(char **name, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(name[i]);
	free(name);
}
