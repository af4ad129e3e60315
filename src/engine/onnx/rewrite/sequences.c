#include "sequences.h"

#include <stdlib.h>
#include <string.h>
#include "../proto/proto.h"
#include "../proto/proto_constants.h"
#include "../proto/proto_nodes.h"
#include "qtui/base/hash.h"
#include "qtui/base/mem.h"
#include "qtui/base/str.h"
#include "pieces.h"
#include "sequence_loops.h"

enum {
	ELEMENTS_MAX = 4096,
	COPIED_MAX = 1 << 22,  // elements of a sequence that others begin as copies of, in all
	OPSET_OF_SPLIT = 13,   // since when sizes and axes are inputs
};

struct resolver {
	const Onnx__GraphProto *g; // as it was
	struct sequence *list;
	size_t n, cap, copied;
	struct namemap *names; // sequence by the name of its tensor
	struct proto_list nodes;
};

// ---- what the model says

static struct proto_constants constants(const struct resolver *r)
{
	return (struct proto_constants){r->g, r->nodes.at, r->nodes.n};
}

static bool constant_int(int64_t *v, const struct resolver *r, const char *name)
{
	struct proto_constants known = constants(r);
	return proto_constant_int(v, &known, name);
}

static struct sequence *sequence_of(const struct resolver *r, const Onnx__NodeProto *p)
{
	int i = p->n_input ? namemap_get(r->names, p->input[0]) : -1;
	return i >= 0 ? &r->list[i] : NULL;
}

// The place in `n` elements that the input says, from the end when negative; `absent` where there is none.
// False: not known, or not in [0, limit).
static bool position(size_t *at, const struct resolver *r, const Onnx__NodeProto *p, size_t input, size_t n, size_t limit, size_t absent)
{
	int64_t v = (int64_t)absent;
	if (input < p->n_input && p->input[input][0] && !constant_int(&v, r, p->input[input]))
		return false;
	v += v < 0 ? (int64_t)n : 0;
	*at = (size_t)v;
	return v >= 0 && v < (int64_t)limit;
}

// ---- sequences

static struct sequence *new_sequence(struct resolver *r, const char *name, const struct sequence *from)
{
	struct sequence s = {0};
	for (size_t i = 0; from && i < from->n; i++) {
		s.at = xgrow(s.at, &s.cap, s.n + 1, sizeof *s.at);
		s.at[s.n++] = xstrdup(from->at[i]);
	}
	r->list = xgrow(r->list, &r->cap, r->n + 1, sizeof *r->list);
	r->list[r->n] = s;
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

// The sequence that the node reads, its elements by name; NULL: they are pieces, and the file does not say how many.
static const struct sequence *elements_of(struct resolver *r, const Onnx__NodeProto *p)
{
	struct sequence *s = sequence_of(r, p);
	if (!s || !s->whole || s->n)
		return s;
	int64_t length = pieces_length(r->g, s), step = s->piece ? s->piece : 1;
	if (length < 1 || (length - 1) / step >= ELEMENTS_MAX)
		return NULL;
	s->at = pieces_cut(&r->nodes, p, s, length, &s->n);
	s->cap = s->n;
	return s;
}

static bool construct(struct resolver *r, const Onnx__NodeProto *p)
{
	struct sequence *s = new_sequence(r, p->output[0], NULL);
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
	if ((r->copied += from->n) > COPIED_MAX)
		return false;
	struct sequence own = *from; // the list may move
	insert(new_sequence(r, p->output[0], &own), at, p->input[1]);
	return true;
}

static bool erase_one(struct resolver *r, const Onnx__NodeProto *p)
{
	const struct sequence *from = elements_of(r, p);
	size_t at;
	if (!from || !from->n || !position(&at, r, p, 1, from->n, from->n, from->n - 1))
		return false;
	if ((r->copied += from->n) > COPIED_MAX)
		return false;
	struct sequence own = *from; // the list may move
	struct sequence *s = new_sequence(r, p->output[0], &own);
	free(s->at[at]);
	s->n--;
	memmove(s->at + at, s->at + at + 1, (s->n - at) * sizeof *s->at);
	return true;
}

// One size for all, or none: pieces, which are cut where they are read.
static bool cut(struct resolver *r, const Onnx__NodeProto *p)
{
	int64_t piece = proto_int(p, "keepdims", 1) ? 1 : 0;
	if (p->n_input > 1 && p->input[1][0] && (!constant_int(&piece, r, p->input[1]) || piece < 1 || piece > INT32_MAX))
		return false;
	struct sequence *s = new_sequence(r, p->output[0], NULL);
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
	struct proto_constants known_now = constants(r);
	int64_t *sizes = p->n_input > 1 ? proto_constant_ints(&n, &rank, &known_now, p->input[1]) : NULL;
	bool known = sizes && rank == 1 && n > 0 && n <= ELEMENTS_MAX;
	free(sizes);
	if (!known)
		return rank == 0 && cut(r, p);
	struct sequence *s = new_sequence(r, p->output[0], NULL);
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
		return pieces_take(&r->nodes, p, s, constant_int(&place, r, p->input[1]) ? &place : NULL);
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

static const struct rule {
	const char *op;
	bool (*resolve)(struct resolver *r, const Onnx__NodeProto *p);
} rules[] = {
    {"SequenceEmpty", construct},
    {"SequenceConstruct", construct},
    {"SequenceInsert", insert_one},
    {"SequenceErase", erase_one},
    {"SplitToSequence", split},
    {"SequenceAt", take_element},
    {"SequenceLength", take_length},
    {"ConcatFromSequence", concat},
};

static bool resolve_node(struct resolver *r, const Onnx__NodeProto *p)
{
	for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
		if (p->n_output == 1 && p->output[0][0] && !domain_of(p->domain)[0] && !strcmp(text_of(p->op_type), rules[i].op))
			return rules[i].resolve(r, p);
	return false;
}

bool sequences_name(const char *op, int opset)
{
	for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
		if (opset >= OPSET_OF_SPLIT && !strcmp(op, rules[i].op))
			return true;
	return false;
}

static bool has_sequences(const Onnx__GraphProto *g)
{
	for (size_t i = 0; i < g->n_node; i++)
		if (strstr(text_of(g->node[i]->op_type), "Sequence"))
			return true;
	return false;
}

void sequences_resolve(Onnx__ModelProto *m)
{
	struct resolver r = {.g = m->graph};
	if (opset_of(m, "") < OPSET_OF_SPLIT || !has_sequences(m->graph))
		return;
	sequence_loops(m->graph);
	r.names = namemap_new();
	for (size_t i = 0; i < m->graph->n_node; i++) {
		Onnx__NodeProto *p = m->graph->node[i];
		if (resolve_node(&r, p))
			onnx__node_proto__free_unpacked(p, NULL);
		else
			proto_push(&r.nodes, p);
	}
	proto_replace(m->graph, &r.nodes);
	for (size_t i = 0; i < r.n; i++) {
		for (size_t k = 0; k < r.list[i].n; k++)
			free(r.list[i].at[k]);
		free(r.list[i].at);
		free(r.list[i].whole);
	}
	free(r.list);
	namemap_free(&r.names);
}
