#include "sequences.h"

#include <stdlib.h>
#include <string.h>
#include "../proto/proto.h"
#include "qtui/base/mem.h"
#include "qtui/base/str.h"
#include "resolver.h"
#include "sequence_loops.h"

enum { OPSET_OF_SPLIT = 13 }; // since when sizes and axes are inputs

// ---- what the model says

// The Constant node that gives a name, as the only node that is asked: loops make thousands.
static struct proto_constants constant_of(struct resolver *r, const char *name)
{
	for (; r->indexed < r->nodes.n; r->indexed++) {
		const Onnx__NodeProto *p = r->nodes.at[r->indexed];
		if (p->n_output == 1 && !strcmp(text_of(p->op_type), "Constant"))
			namemap_put(r->constants, p->output[0], (int)r->indexed);
	}
	int i = namemap_get(r->constants, name);
	return (struct proto_constants){r->g, r->nodes.at + (i < 0 ? 0 : i), i >= 0};
}

bool resolver_int(int64_t *v, struct resolver *r, const char *name)
{
	for (; r; r = r->outer) {
		struct proto_constants known = constant_of(r, name);
		if (proto_constant_int(v, &known, name))
			return true;
	}
	return false;
}

static struct sequence *sequence_of(struct resolver *r, const Onnx__NodeProto *p)
{
	return p->n_input ? resolver_sequence(r, p->input[0]) : NULL;
}

// The place in `n` elements that the input says, from the end when negative; `absent` where there is none.
// False: not known, or not in [0, limit).
static bool position(size_t *at, struct resolver *r, const Onnx__NodeProto *p, size_t input, size_t n, size_t limit, size_t absent)
{
	int64_t v = (int64_t)absent;
	if (input < p->n_input && p->input[input][0] && !resolver_int(&v, r, p->input[input]))
		return false;
	v += v < 0 ? (int64_t)n : 0;
	*at = (size_t)v;
	return v >= 0 && v < (int64_t)limit;
}

// ---- sequences

struct sequence *resolver_new(struct resolver *r, const char *name)
{
	r->list = xgrow(r->list, &r->cap, r->n + 1, sizeof *r->list);
	r->list[r->n] = (struct sequence){0};
	namemap_put(r->names, name, (int)r->n);
	return &r->list[r->n++];
}

static void insert(struct sequence *s, size_t at, const char *name)
{
	s->at = xgrow(s->at, &s->cap, s->n + 1, sizeof *s->at);
	memmove(s->at + at + 1, s->at + at, (s->n - at) * sizeof *s->at);
	s->at[at] = xstrdup(name);
	s->n++;
}

void resolver_append(struct resolver *r, const char *name, const char *element)
{
	struct sequence *s = &r->list[namemap_get(r->names, name)];
	insert(s, s->n, element);
}

// A sequence of that name with the elements of another; NULL: too many are copied.
static struct sequence *copy(struct resolver *r, const char *name, const struct sequence *from)
{
	struct sequence own = *from, *s; // the list may move
	struct resolver *all = r;
	while (all->outer)
		all = all->outer;
	if ((all->copied += from->n) > COPIED_MAX)
		return NULL;
	s = resolver_new(r, name);
	for (size_t i = 0; i < own.n; i++)
		insert(s, i, own.at[i]);
	return s;
}

// As it is, pieces too. Those that were cut have their names in one graph only.
static struct sequence *copy_whole(struct resolver *r, const char *name, const struct sequence *from)
{
	struct sequence own = *from, *s;
	if (!own.whole)
		return copy(r, name, from);
	s = resolver_new(r, name);
	s->whole = xstrdup(own.whole);
	s->axis = own.axis;
	s->piece = own.piece;
	return s;
}

struct sequence *resolver_sequence(struct resolver *r, const char *name)
{
	int i = namemap_get(r->names, name);
	if (i >= 0)
		return &r->list[i];
	struct sequence *outside = r->outer ? resolver_sequence(r->outer, name) : NULL;
	return outside ? copy_whole(r, name, outside) : NULL;
}

const struct sequence *resolver_elements(struct resolver *r, const Onnx__NodeProto *p, const char *name)
{
	struct sequence *s = resolver_sequence(r, name);
	int64_t length = 0, step;
	if (!s || !s->whole || s->n)
		return s;
	for (const struct resolver *in = r; in && length < 1; in = in->outer)
		length = pieces_length(in->g, s);
	step = s->piece ? s->piece : 1;
	if (length < 1 || (length - 1) / step >= ELEMENTS_MAX)
		return NULL;
	s->at = pieces_cut(&r->nodes, p, s, length, &s->n);
	s->cap = s->n;
	return s;
}

// The sequence that the node reads first.
static const struct sequence *elements_of(struct resolver *r, const Onnx__NodeProto *p)
{
	return p->n_input ? resolver_elements(r, p, p->input[0]) : NULL;
}

static bool construct(struct resolver *r, const Onnx__NodeProto *p)
{
	struct sequence *s = resolver_new(r, p->output[0]);
	for (size_t i = 0; i < p->n_input; i++)
		insert(s, s->n, p->input[i]);
	return true;
}

static bool insert_one(struct resolver *r, const Onnx__NodeProto *p)
{
	const struct sequence *from = elements_of(r, p);
	size_t at;
	if (!from || p->n_input < 2 || from->n >= ELEMENTS_MAX || !position(&at, r, p, 2, from->n, from->n + 1, from->n))
		return false;
	struct sequence *s = copy(r, p->output[0], from);
	if (s)
		insert(s, at, p->input[1]);
	return s != NULL;
}

static bool erase_one(struct resolver *r, const Onnx__NodeProto *p)
{
	const struct sequence *from = elements_of(r, p);
	size_t at;
	if (!from || !from->n || !position(&at, r, p, 1, from->n, from->n, from->n - 1))
		return false;
	struct sequence *s = copy(r, p->output[0], from);
	if (!s)
		return false;
	free(s->at[at]);
	s->n--;
	memmove(s->at + at, s->at + at + 1, (s->n - at) * sizeof *s->at);
	return true;
}

// One size for all, or none: pieces, which are cut where they are read.
static bool cut(struct resolver *r, const Onnx__NodeProto *p)
{
	int64_t piece = proto_int(p, "keepdims", 1) ? 1 : 0;
	if (p->n_input > 1 && p->input[1][0] && (!resolver_int(&piece, r, p->input[1]) || piece < 1 || piece > INT32_MAX))
		return false;
	struct sequence *s = resolver_new(r, p->output[0]);
	s->whole = xstrdup(p->input[0]);
	s->axis = proto_int(p, "axis", 0);
	s->piece = piece;
	return true;
}

// Sizes as a constant list: a Split.
static bool split(struct resolver *r, const Onnx__NodeProto *p)
{
	size_t n = 0;
	int rank = 0;
	if (!p->n_input)
		return false;
	struct proto_constants known_now = constant_of(r, p->n_input > 1 ? p->input[1] : "");
	int64_t *sizes = p->n_input > 1 ? proto_constant_ints(&n, &rank, &known_now, p->input[1]) : NULL;
	bool known = sizes && rank == 1 && n > 0 && n <= ELEMENTS_MAX;
	free(sizes);
	if (!known)
		return rank == 0 && cut(r, p);
	struct sequence *s = resolver_new(r, p->output[0]);
	Onnx__NodeProto *to = proto_add_node(&r->nodes, p, "Split", 2, n);
	to->input[0] = xstrdup(p->input[0]);
	to->input[1] = xstrdup(p->input[1]);
	proto_add_int(to, "axis", proto_int(p, "axis", 0));
	for (size_t i = 0; i < n; i++) {
		to->output[i] = str_format("%s/%zu", p->output[0], i);
		insert(s, i, to->output[i]);
	}
	return true;
}

static bool take_element(struct resolver *r, const Onnx__NodeProto *p)
{
	const struct sequence *s = sequence_of(r, p);
	int64_t place;
	size_t at;
	if (s && s->whole && p->n_input > 1)
		return pieces_take(&r->nodes, p, s, resolver_int(&place, r, p->input[1]) ? &place : NULL);
	if (!s || p->n_input < 2 || !position(&at, r, p, 1, s->n, s->n, 0))
		return false;
	Onnx__NodeProto *to = proto_add_node(&r->nodes, p, "Identity", 1, 1);
	to->input[0] = xstrdup(s->at[at]);
	to->output[0] = xstrdup(p->output[0]);
	return true;
}

static bool take_length(struct resolver *r, const Onnx__NodeProto *p)
{
	const struct sequence *s = sequence_of(r, p);
	if (!s)
		return false;
	if (s->whole) {
		pieces_count(&r->nodes, p, s);
		return true;
	}
	Onnx__NodeProto *to = proto_add_node(&r->nodes, p, "Constant", 0, 1);
	proto_add_int(to, "value_int", (int64_t)s->n);
	to->output[0] = xstrdup(p->output[0]);
	return true;
}

// A new axis of one element, on which they are joined.
static char *unsqueezed(struct resolver *r, const Onnx__NodeProto *p, const char *element, const char *axes, size_t i)
{
	Onnx__NodeProto *to = proto_add_node(&r->nodes, p, "Unsqueeze", 2, 1);
	to->input[0] = xstrdup(element);
	to->input[1] = xstrdup(axes);
	to->output[0] = str_format("%s/unsqueezed_%zu", p->output[0], i);
	return xstrdup(to->output[0]);
}

static bool concat(struct resolver *r, const Onnx__NodeProto *p)
{
	const struct sequence *s = sequence_of(r, p);
	const Onnx__AttributeProto *axis = proto_attribute(p, "axis");
	bool stack = proto_int(p, "new_axis", 0) != 0;
	if (s && s->whole && axis && pieces_concat(&r->nodes, p, s, axis->i, stack))
		return true;
	s = elements_of(r, p);
	if (!s || !s->n || !axis)
		return false;
	char *axes = stack ? proto_add_constant(&r->nodes, p, "axes", axis->i, true) : NULL, **in = xcalloc(s->n + 1, sizeof *in);
	for (size_t i = 0; i < s->n; i++)
		in[i] = stack ? unsqueezed(r, p, s->at[i], axes, i) : xstrdup(s->at[i]);
	Onnx__NodeProto *to = proto_add_node(&r->nodes, p, "Concat", s->n, 1);
	memcpy(to->input, in, s->n * sizeof *in);
	proto_add_int(to, "axis", axis->i);
	to->output[0] = xstrdup(p->output[0]);
	free(in);
	free(axes);
	return true;
}

static bool pass_through(struct resolver *r, const Onnx__NodeProto *p)
{
	const struct sequence *s = sequence_of(r, p);
	return s && copy_whole(r, p->output[0], s);
}

static const struct rule {
	const char *op;
	bool (*resolve)(struct resolver *r, const Onnx__NodeProto *p);
	bool one; // gives one value, and has no graph inside
	bool own; // nothing but sequences can be read or given by it
} rules[] = {
    {"SequenceEmpty", construct, true, true},
    {"SequenceConstruct", construct, true, true},
    {"SequenceInsert", insert_one, true, true},
    {"SequenceErase", erase_one, true, true},
    {"SplitToSequence", split, true, true},
    {"SequenceAt", take_element, true, true},
    {"SequenceLength", take_length, true, true},
    {"ConcatFromSequence", concat, true, true},
    {"SequenceMap", resolve_sequence_map, false, true},
    {"Identity", pass_through, true, false},
    {"Loop", resolve_loop, false, false},
};

// A name of p's outputs that is that of a sequence already, or NULL.
static const char *given_before(const struct resolver *r, const Onnx__NodeProto *p)
{
	for (size_t i = 0; i < p->n_output; i++)
		if (p->output[i][0] && namemap_get(r->names, p->output[i]) >= 0)
			return p->output[i];
	return NULL;
}

static bool resolve_node(struct resolver *r, const Onnx__NodeProto *p)
{
	if (given_before(r, p))
		return false; // the node may read what its output would take the place of
	for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
		if ((!rules[i].one || (p->n_output == 1 && p->output[0][0])) && !domain_of(p->domain)[0] &&
		    !strcmp(text_of(p->op_type), rules[i].op))
			return rules[i].resolve(r, p);
	return false;
}

bool sequences_name(const char *op, int opset)
{
	for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
		if (opset >= OPSET_OF_SPLIT && rules[i].own && !strcmp(op, rules[i].op))
			return true;
	return false;
}

// ---- graphs

struct resolver resolver_of(const Onnx__GraphProto *g, struct resolver *outer)
{
	return (struct resolver){.outer = outer, .g = g, .names = namemap_new(), .constants = namemap_new()};
}

void resolver_done(struct resolver *r)
{
	for (size_t i = 0; i < r->n; i++) {
		for (size_t k = 0; k < r->list[i].n; k++)
			free(r->list[i].at[k]);
		free(r->list[i].at);
		free(r->list[i].whole);
	}
	free(r->list);
	namemap_free(&r->names);
	namemap_free(&r->constants);
}

// A node that stays keeps its name, by which it is refused: not what was cut for it before that was known.
static void leave_name(struct resolver *r, size_t first, const Onnx__NodeProto *p)
{
	for (size_t i = first; i < r->nodes.n; i++)
		if (strcmp(text_of(r->nodes.at[i]->name), proto_node_name(p)) == 0) {
			char *name = str_format("%s/pieces", proto_node_name(p));
			proto_set_text(&r->nodes.at[i]->name, name);
			free(name);
		}
}

void resolver_take(struct resolver *r, Onnx__NodeProto *p)
{
	size_t first = r->nodes.n;
	if (resolve_node(r, p)) {
		onnx__node_proto__free_unpacked(p, NULL);
		return;
	}
	leave_name(r, first, p);
	resolve_inside(r, p);
	proto_push(&r->nodes, p);
}

static bool has_sequences(const Onnx__GraphProto *g)
{
	for (size_t i = 0; i < g->n_node; i++) {
		const Onnx__NodeProto *p = g->node[i];
		if (strstr(text_of(p->op_type), "Sequence"))
			return true;
		for (size_t k = 0; k < p->n_attribute; k++)
			if (p->attribute[k]->g && has_sequences(p->attribute[k]->g))
				return true;
	}
	return false;
}

// What has stayed and reads a sequence, or gives what is one; other operators on sequences are refused by name later.
static enum status check_stayed(struct resolver *r, struct error *err)
{
	for (size_t i = 0; i < r->nodes.n; i++) {
		const Onnx__NodeProto *p = r->nodes.at[i];
		const char *again = given_before(r, p);
		if (again)
			return error_set(err, STATUS_FORMAT, "node %s (%s): tensor '%s' is defined twice", proto_node_name(p), text_of(p->op_type), again);
		const char *read = sequences_name(text_of(p->op_type), OPSET_OF_SPLIT) ? NULL : resolver_read_by(r, p);
		if (read)
			return error_set(err, STATUS_UNSUPPORTED,
			    "node %s (%s): '%s', which it reads, is a sequence: a Loop takes one where its number of iterations is a constant and it "
			    "does not stop before; export the model with fixed shapes",
			    proto_node_name(p), text_of(p->op_type), read);
	}
	return STATUS_OK;
}

enum status sequences_resolve(Onnx__ModelProto *m, struct error *err)
{
	if (opset_of(m, "") < OPSET_OF_SPLIT || !has_sequences(m->graph))
		return STATUS_OK;
	sequence_loops(m->graph);
	struct resolver r = resolver_of(m->graph, NULL);
	for (size_t i = 0; i < m->graph->n_node; i++)
		resolver_take(&r, m->graph->node[i]);
	enum status s = check_stayed(&r, err);
	proto_replace(m->graph, &r.nodes);
	resolver_done(&r);
	return s;
}
