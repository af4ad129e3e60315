// Nodes with graphs inside that read or carry sequences: the nodes of a Loop's body, once an iteration (torch.onnx writes
// as_strided so), those of a SequenceMap's, once an element, and the branches of an If.
#include <stdlib.h>
#include <string.h>
#include "../proto/proto.h"
#include "bodies.h"
#include "qtui/base/mem.h"
#include "qtui/base/str.h"
#include "resolver.h"

enum { LOOP_OWN = 2, BODY_OWN = 1 }; // inputs of a Loop and outputs of its body before those that are carried

const char *resolver_read_by(struct resolver *r, const Onnx__NodeProto *p)
{
	const char *found = NULL;
	for (size_t i = 0; i < p->n_input && !found; i++)
		found = resolver_sequence(r, p->input[i]) ? p->input[i] : NULL;
	for (size_t i = 0; i < p->n_attribute && !found; i++)
		for (size_t k = 0; p->attribute[i]->g && k < p->attribute[i]->g->n_node && !found; k++)
			found = resolver_read_by(r, p->attribute[i]->g->node[k]);
	return found;
}

// Does the node carry a sequence, or a graph inside it read one by more than a place in a tensor?
static bool needs_elements(struct resolver *r, const Onnx__NodeProto *p)
{
	bool needs = false;
	for (size_t i = 0; i < p->n_input && !needs; i++) {
		const struct sequence *s = resolver_sequence(r, p->input[i]);
		needs = s && !(s->whole && s->piece == 0 && !strcmp(text_of(p->op_type), "SequenceAt"));
	}
	for (size_t i = 0; i < p->n_attribute && !needs; i++)
		for (size_t k = 0; p->attribute[i]->g && k < p->attribute[i]->g->n_node && !needs; k++)
			needs = needs_elements(r, p->attribute[i]->g->node[k]);
	return needs;
}

// May the body be put in the place of its node so often?
static bool may_repeat(struct resolver *r, const Onnx__GraphProto *body, int64_t times)
{
	size_t bytes = onnx__graph_proto__get_packed_size(body);
	while (r->outer)
		r = r->outer;
	if (times < 0 || times > ELEMENTS_MAX || body->n_sparse_initializer || bytes > REPEATED_MAX)
		return false;
	r->repeated += bytes * (size_t)times;
	return r->repeated <= REPEATED_MAX;
}

// The body's nodes once, those of them on sequences resolved in their turn; what bodies_put returns.
static char **put(struct resolver *r, const Onnx__NodeProto *p, const Onnx__GraphProto *body, char *const *in, const char *part)
{
	struct proto_list made = {0};
	char **out = bodies_put(&made, p, body, in, part);
	for (size_t i = 0; i < made.n; i++)
		resolver_take(r, made.at[i]);
	free(made.at);
	return out;
}

static const Onnx__NodeProto *maker_of(const Onnx__GraphProto *g, const char *name)
{
	for (size_t i = 0; i < g->n_node; i++)
		for (size_t k = 0; k < g->node[i]->n_output; k++)
			if (!strcmp(g->node[i]->output[k], name))
				return g->node[i];
	return NULL;
}

// Is the body's condition true, or what it was before?
static bool goes_on(struct resolver *r, const Onnx__GraphProto *body)
{
	const char *name = text_of(body->output[0]->name), *before = text_of(body->input[1]->name);
	struct proto_constants known = {body, body->node, body->n_node};
	int64_t v;
	for (size_t i = 0; i < body->n_node && strcmp(name, before); i++) {
		const Onnx__NodeProto *p = maker_of(body, name);
		bool same = p && p->n_input && (!strcmp(text_of(p->op_type), "Identity") || !strcmp(text_of(p->op_type), "Cast"));
		if (!same)
			break;
		name = p->input[0];
	}
	return !strcmp(name, before) || ((proto_constant_int(&v, &known, name) || resolver_int(&v, r, name)) && v);
}

// ---- Loop

struct loop {
	struct resolver *r;
	const Onnx__NodeProto *p;
	const Onnx__GraphProto *body;
	int64_t trips;
	size_t n_carried, n_collected;
	char **carried;              // names, as of the last iteration
	struct proto_list collected; // nodes of one input an iteration, which join what each gives
};

static bool begin_loop(struct loop *l)
{
	const Onnx__NodeProto *p = l->p;
	const Onnx__AttributeProto *a = proto_attribute(p, "body");
	int64_t going = 1;
	l->body = a ? a->g : NULL;
	if (!l->body || p->n_input < LOOP_OWN || l->body->n_input != p->n_input || l->body->n_output != p->n_output + BODY_OWN)
		return false;
	l->n_carried = p->n_input - LOOP_OWN;
	if (p->n_output < l->n_carried || !bodies_first_output(p)[0] || !needs_elements(l->r, p) || !resolver_int(&l->trips, l->r, p->input[0]))
		return false;
	l->n_collected = p->n_output - l->n_carried;
	if ((p->input[1][0] && !resolver_int(&going, l->r, p->input[1])) || !going || !goes_on(l->r, l->body))
		return false;
	return (l->trips > 0 || !l->n_collected) && may_repeat(l->r, l->body, l->trips);
}

static void collect(struct loop *l, size_t i, int64_t trip, const char *element, const char *axes)
{
	Onnx__NodeProto *to = proto_node("Unsqueeze", proto_node_name(l->p), 2, 1);
	to->input[0] = xstrdup(element);
	to->input[1] = xstrdup(axes);
	to->output[0] = str_format("%s/collected_%zu_%lld", bodies_first_output(l->p), i, (long long)trip);
	l->collected.at[i]->input[trip] = xstrdup(to->output[0]);
	proto_push(&l->r->nodes, to);
}

static char *add_number(struct loop *l, const char *what, int64_t v, bool list)
{
	Onnx__NodeProto *c = proto_add_node(&l->r->nodes, l->p, "Constant", 0, 1);
	c->output[0] = str_format("%s/%s", bodies_first_output(l->p), what);
	if (list)
		proto_add_ints(c, "value_ints", &v, 1);
	else
		proto_add_int(c, "value_int", v);
	return xstrdup(c->output[0]);
}

static char *add_true(struct loop *l)
{
	char *one = add_number(l, "one", 1, false);
	Onnx__NodeProto *c = proto_add_node(&l->r->nodes, l->p, "Cast", 1, 1);
	c->input[0] = one;
	c->output[0] = str_format("%s/true", bodies_first_output(l->p));
	proto_add_int(c, "to", ONNX__TENSOR_PROTO__DATA_TYPE__BOOL);
	return xstrdup(c->output[0]);
}

static void iterate(struct loop *l, int64_t trip, const char *going, const char *axes)
{
	char *part = str_format("iteration_%lld", (long long)trip), *number = str_format("number_%lld", (long long)trip);
	char **in = xcalloc(l->body->n_input + 1, sizeof *in), **out;
	in[0] = add_number(l, number, trip, false);
	in[1] = xstrdup(going);
	memcpy(in + LOOP_OWN, l->carried, l->n_carried * sizeof *in);
	out = put(l->r, l->p, l->body, in, part);
	bodies_names_free(in, l->body->n_input);
	for (size_t i = 0; i < l->n_carried; i++)
		l->carried[i] = xstrdup(out[BODY_OWN + i]);
	for (size_t i = 0; i < l->n_collected; i++)
		collect(l, i, trip, out[BODY_OWN + l->n_carried + i], axes);
	bodies_names_free(out, l->body->n_output);
	free(number);
	free(part);
}

static void end_loop(struct loop *l)
{
	for (size_t i = 0; i < l->n_carried; i++) {
		const char *to = l->p->output[i];
		Onnx__NodeProto *same = to[0] ? proto_node("Identity", proto_node_name(l->p), 1, 1) : NULL;
		if (!same)
			continue;
		same->input[0] = xstrdup(l->carried[i]);
		same->output[0] = xstrdup(to);
		resolver_take(l->r, same);
	}
	for (size_t i = 0; i < l->n_collected; i++)
		proto_push(&l->r->nodes, l->collected.at[i]);
}

bool resolve_loop(struct resolver *r, const Onnx__NodeProto *p)
{
	struct loop l = {.r = r, .p = p};
	char *going, *axes;
	if (!begin_loop(&l))
		return false;
	going = p->input[1][0] ? xstrdup(p->input[1]) : add_true(&l);
	axes = add_number(&l, "axes", 0, true);
	l.carried = xcalloc(l.n_carried + 1, sizeof *l.carried);
	for (size_t i = 0; i < l.n_carried; i++)
		l.carried[i] = xstrdup(p->input[LOOP_OWN + i]);
	for (size_t i = 0; i < l.n_collected; i++) {
		Onnx__NodeProto *join = proto_node("Concat", proto_node_name(p), (size_t)l.trips, 1);
		join->output[0] = xstrdup(p->output[l.n_carried + i]);
		proto_add_int(join, "axis", 0);
		proto_push(&l.collected, join);
	}
	for (int64_t trip = 0; trip < l.trips; trip++)
		iterate(&l, trip, going, axes);
	end_loop(&l);
	bodies_names_free(l.carried, l.n_carried);
	free(l.collected.at);
	free(going);
	free(axes);
	return true;
}

// ---- SequenceMap

// Input i as it is for one element: the element, or a tensor for all.
static char **inputs_of(struct resolver *r, const Onnx__NodeProto *p, size_t element)
{
	char **in = xcalloc(p->n_input + 1, sizeof *in);
	for (size_t i = 0; i < p->n_input; i++) {
		const struct sequence *s = resolver_elements(r, p, p->input[i]);
		in[i] = xstrdup(s ? s->at[element] : p->input[i]);
	}
	return in;
}

bool resolve_sequence_map(struct resolver *r, const Onnx__NodeProto *p)
{
	const Onnx__AttributeProto *a = proto_attribute(p, "body");
	const struct sequence *first = p->n_input ? resolver_elements(r, p, p->input[0]) : NULL;
	size_t n = first ? first->n : 0;
	if (!first || !a || !a->g || a->g->n_input != p->n_input || a->g->n_output != p->n_output || !may_repeat(r, a->g, (int64_t)n))
		return false;
	for (size_t i = 1; i < p->n_input; i++) {
		const struct sequence *s = resolver_elements(r, p, p->input[i]);
		if ((s && s->n < n) || (!s && resolver_sequence(r, p->input[i])))
			return false;
	}
	for (size_t k = 0; k < p->n_output; k++)
		if (p->output[k][0])
			resolver_new(r, p->output[k]);
	for (size_t i = 0; i < n; i++) {
		char *part = str_format("element_%zu", i), **in = inputs_of(r, p, i), **out = put(r, p, a->g, in, part);
		for (size_t k = 0; k < p->n_output; k++)
			if (p->output[k][0])
				resolver_append(r, p->output[k], out[k]);
		bodies_names_free(out, p->n_output);
		bodies_names_free(in, p->n_input);
		free(part);
	}
	return true;
}

// ---- graphs that stay inside their node

// A node that stays and reads a sequence, as one on an empty list in a branch that is not taken, reads no tensor of that name:
// it is refused by its own name where the branch is.
static void forget_sequences(struct resolver *r)
{
	for (size_t i = 0; i < r->nodes.n; i++)
		for (size_t k = 0; k < r->nodes.at[i]->n_input; k++)
			if (resolver_sequence(r, r->nodes.at[i]->input[k]))
				proto_set_text(&r->nodes.at[i]->input[k], "");
}

struct branches { // or the body of a Loop or a Scan
	Onnx__NodeProto *p;
	struct resolver *each;
	size_t n;
};

// How many elements output i has in all branches; -1: it is none of a sequence in any; -2: they differ.
static int64_t elements_of_output(struct branches *b, size_t i)
{
	int64_t n = -1;
	for (size_t k = 0; k < b->n; k++) {
		const Onnx__GraphProto *g = b->each[k].g;
		const struct sequence *s = i < g->n_output ? resolver_elements(&b->each[k], b->p, text_of(g->output[i]->name)) : NULL;
		int64_t own = s ? (int64_t)s->n : -1;
		if (k && own != n)
			return -2;
		n = own;
	}
	return n;
}

static void split_in_branch(struct branches *b, size_t branch, const int64_t *n_elements, size_t n_out)
{
	struct resolver *r = &b->each[branch];
	Onnx__GraphProto *g = (Onnx__GraphProto *)r->g;
	Onnx__ValueInfoProto **out = xcalloc(n_out + 1, sizeof *out);
	size_t n = 0;
	for (size_t i = 0; i < g->n_output; i++) {
		for (int64_t k = 0; k < n_elements[i]; k++) {
			const struct sequence *s = resolver_elements(r, b->p, g->output[i]->name);
			Onnx__NodeProto *same = proto_add_node(&r->nodes, b->p, "Identity", 1, 1);
			same->input[0] = xstrdup(s->at[k]);
			same->output[0] = str_format("%s/branch_%lld", b->p->output[i], (long long)k);
			out[n] = xmalloc(sizeof **out);
			onnx__value_info_proto__init(out[n]);
			out[n++]->name = xstrdup(same->output[0]);
		}
		if (n_elements[i] < 0)
			out[n++] = g->output[i];
		else
			onnx__value_info_proto__free_unpacked(g->output[i], NULL);
	}
	free(g->output);
	g->output = out;
	g->n_output = n;
}

static void split_in_node(struct branches *b, struct resolver *r, const int64_t *n_elements, size_t n_out)
{
	char **out = xcalloc(n_out + 1, sizeof *out);
	size_t n = 0;
	for (size_t i = 0; i < b->p->n_output; i++) {
		char *own = b->p->output[i];
		if (n_elements[i] < 0) {
			out[n++] = own;
			continue;
		}
		resolver_new(r, own);
		for (int64_t k = 0; k < n_elements[i]; k++) {
			out[n] = str_format("%s/%lld", own, (long long)k);
			resolver_append(r, own, out[n++]);
		}
		free(own);
	}
	free(b->p->output);
	b->p->output = out;
	b->p->n_output = n;
}

// A sequence that all branches give with as many elements becomes so many outputs.
static void split_outputs(struct branches *b, struct resolver *r)
{
	size_t n_out = b->p->n_output, total = 0;
	int64_t *n_elements = xcalloc(n_out + 1, sizeof *n_elements);
	bool splits = false, fits = b->n > 0;
	for (size_t k = 0; k < b->n; k++)
		fits = fits && b->each[k].g->n_output == n_out;
	for (size_t i = 0; i < n_out && fits; i++) {
		n_elements[i] = elements_of_output(b, i);
		fits = n_elements[i] > -2 && n_elements[i] != 0 && b->p->output[i][0];
		splits |= n_elements[i] > 0;
		total += n_elements[i] < 0 ? 1 : (size_t)n_elements[i];
	}
	for (size_t k = 0; k < b->n && fits && splits; k++)
		split_in_branch(b, k, n_elements, total);
	if (fits && splits)
		split_in_node(b, r, n_elements, total);
	free(n_elements);
}

void resolve_inside(struct resolver *r, Onnx__NodeProto *p)
{
	struct branches b = {.p = p, .each = xcalloc(p->n_attribute + 1, sizeof *b.each)};
	for (size_t i = 0; i < p->n_attribute; i++) {
		Onnx__GraphProto *g = p->attribute[i]->g;
		if (!g)
			continue;
		struct resolver *inner = &b.each[b.n++];
		*inner = resolver_of(g, r);
		for (size_t k = 0; k < g->n_node; k++)
			resolver_take(inner, g->node[k]);
	}
	if (!domain_of(p->domain)[0] && !strcmp(text_of(p->op_type), "If"))
		split_outputs(&b, r);
	for (size_t i = 0; i < b.n; i++) {
		forget_sequences(&b.each[i]);
		proto_replace((Onnx__GraphProto *)b.each[i].g, &b.each[i].nodes);
		resolver_done(&b.each[i]);
	}
	free(b.each);
}
