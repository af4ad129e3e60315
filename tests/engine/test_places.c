// Parts of a Concat are made where its result lies: the same numbers, and who reads a part later finds it as it was.
#include <stdlib.h>
#include "onnx_case.h"
#include "seen_case.h"

static int value_named(const struct graph *g, const char *name)
{
	int v = 0;
	while (strcmp(g->value[v].name, name) != 0)
		v++;
	return v;
}

static const char *end_of(const struct rep *r)
{
	return (const char *)r->t.data + tensor_bytes(&r->t);
}

static bool lies_in(const struct rep *part, const struct rep *whole)
{
	return (const char *)part->t.data >= (const char *)whole->t.data && end_of(part) <= end_of(whole);
}

static struct rep plain(const struct rep *r)
{
	struct rep in = *r, out;
	struct error err = {0};
	assert_int_equal(rep_to_layout(&out, &in, LAYOUT_PLAIN, 1, &err), STATUS_OK);
	return out;
}

// The parts along axis 1 of one image are one after another, whatever the layout that they had.
static void check_whole(const struct graph *g, const struct rep *kept, int node)
{
	const struct node *n = &g->node[node];
	struct rep whole = plain(&kept[n->out[0]]);
	const char *at = whole.t.data;
	for (int i = 0; i < n->n_in; i++) {
		struct rep part = plain(&kept[n->in[i]]);
		assert_memory_equal(at, part.t.data, tensor_bytes(&part.t));
		at += tensor_bytes(&part.t);
		rep_drop(&part);
	}
	assert_ptr_equal(at, end_of(&whole));
	rep_drop(&whole);
}

struct expected {
	const char *part, *whole; // a Concat along axis 1, and a part that is looked for in its memory, or NULL
	bool inside;
};

// Loads the case and runs it on random data, once with every tensor kept and once with none.
static void check(struct onnx_case *c, const struct expected *e)
{
	struct error err = {0};
	struct dataset *d;
	case_load(c);
	const struct graph *g = c->loaded;
	assert_int_equal(dataset_open(&d, NULL, g, &(struct dataset_options){.random = 1}, &err), STATUS_OK);
	struct seen passing = {0}, keeping = {.kept = xcalloc((size_t)g->n_values, sizeof *keeping.kept)};
	show_all(&passing, g, d);
	show_all(&keeping, g, d);
	assert_memory_equal(passing.key, keeping.key, (size_t)g->n_values * sizeof *passing.key);
	for (; e->whole; e++) {
		int whole = value_named(g, e->whole);
		check_whole(g, keeping.kept, g->value[whole].producer);
		if (e->part)
			assert_int_equal(lies_in(&keeping.kept[value_named(g, e->part)], &keeping.kept[whole]), e->inside);
	}
	check_kept(&keeping, g);
	free(passing.key);
	dataset_free(&d);
	case_done(c);
}

static void conv(struct onnx_case *c, const char *weights, const char *io, const char *y, int64_t channels)
{
	struct support_random r = {81};
	float w[40 * 5];
	support_random_floats(&r, w, 40 * 5, -1.0f, 1.0f);
	case_floats(c, weights, DIMS(channels, 5, 1, 1), w);
	case_node(c, "Conv", y, io, y);
}

// Parts of whole blocks and a last one that is padded;
// one part, and what becomes of the whole in place, are read later.
void test_places__channels(void **state)
{
	for (int64_t size = 4; size <= 8; size += 4) {
		struct onnx_case c;
		case_init(&c);
		case_input(&c, "x", FLOAT, DIMS(1, 5, size, 2 * size));
		conv(&c, "wa", "x wa", "a", 16);
		conv(&c, "wb", "x wb", "b", 32);
		conv(&c, "wt", "x wt", "t", 7);
		case_node(&c, "Sigmoid", "s", "a", "s");
		case_attr_int(&c, case_node(&c, "Concat", "cat", "s b t", "cat"), "axis", 1);
		case_node(&c, "Sigmoid", "over", "cat", "over");
		case_node(&c, "Relu", "late", "s", "late");
		case_output(&c, c.graph, "over");
		case_output(&c, c.graph, "late");
		check(&c, (const struct expected[]){{"s", "cat", true}, {"b", "cat", true}, {"t", "cat", true}, {0}});
	}
}

// Twice the same, an input of the network, parts that fill no block, several images: copied.
void test_places__what_has_none(void **state)
{
	struct onnx_case c;
	case_init(&c);
	case_input(&c, "x", FLOAT, DIMS(1, 5, 8, 8));
	conv(&c, "wa", "x wa", "a", 16);
	conv(&c, "wb", "x wb", "b", 7);
	case_attr_int(&c, case_node(&c, "Concat", "twice", "a a x", "twice"), "axis", 1);
	case_attr_int(&c, case_node(&c, "Concat", "ragged", "b a", "ragged"), "axis", 1);
	case_attr_int(&c, case_node(&c, "Concat", "both", "twice ragged", "both"), "axis", -3);
	case_output(&c, c.graph, "both");
	check(&c, (const struct expected[]){{"b", "ragged", false}, {NULL, "twice", false}, {NULL, "both", false}, {0}});
}

// In plain layout through another shape, and a Concat whose rows alternate in one whose parts do not.
void test_places__other_shapes(void **state)
{
	struct onnx_case c;
	case_init(&c);
	case_input(&c, "x", FLOAT, DIMS(1, 32, 6));
	case_ints(&c, "flat", 2, (int64_t[]){1, -1});
	case_node(&c, "Relu", "a", "x", "a");
	case_node(&c, "Neg", "n", "x", "n");
	case_attr_int(&c, case_node(&c, "Concat", "inner", "a n", "inner"), "axis", 2);
	case_node(&c, "Reshape", "rows", "inner flat", "rows");
	case_node(&c, "Reshape", "more", "x flat", "more");
	case_node(&c, "Abs", "abs", "more", "abs");
	case_attr_int(&c, case_node(&c, "Concat", "outer", "rows abs", "outer"), "axis", 1);
	case_output(&c, c.graph, "outer");
	check(&c, (const struct expected[]){{"rows", "outer", true}, {"inner", "outer", true}, {"abs", "outer", true}, {0}});
}
