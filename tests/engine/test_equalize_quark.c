// Equalization by AMD Quark's rules. Expected weights are those of an independent implementation written
// from the tool's source, which agreed on some hundred random networks too.
#include <string.h>
#include "equalize_pair.h"
#include "qtui/engine/op.h"

static void end(struct onnx_case *c, const char *x)
{
	case_node(c, "Conv", "two", x, "y");
	case_output(c, c->graph, "y");
	case_load(c);
}

static struct equalization by_quark(const struct onnx_case *c)
{
	return equalized(c->loaded, EQUALIZE_DEFAULT_QUARK);
}

static const struct tuned *tuned_at(const struct equalization *e, const struct onnx_case *c, const char *node)
{
	const struct tuned *t = tuning_of(e->weights, graph_find_node(c->loaded, node));
	assert_non_null(t);
	return t;
}

static void same(const void *got, const float *want, int n)
{
	for (int i = 0; i < n; i++)
		assert_float_equal(((const float *)got)[i], want[i], 1e-6);
}

static void same_after(const struct onnx_case *c, const struct equalization *e)
{
	struct graph *after = written(c->loaded, e->weights);
	same_outputs(c->loaded, after);
	graph_free(&after);
}

static void drop(struct onnx_case *c, struct equalization *e)
{
	equalization_done(e);
	case_done(c);
}

static void close_case(struct onnx_case *c, struct equalization *e)
{
	same_after(c, e);
	drop(c, e);
}

// A channel's bias counts half as much as a weight here: 2 against .5, not .5.
// The channel of zeros has nothing to give.
void test_equalize_quark__pair(void **state)
{
	static const float w1[] = {2, .25f, -.5f, .70710677f, .35355338f, .17677669f, 0, 0, 0, .70710677f, -.70710677f, .35355338f};
	static const float b1[] = {.25f, -2.828427f, 3, 2.828427f}, w2[] = {2, 1.4142135f, 1, 1.4142135f, -1, .35355338f, 1, -1.4142135f};
	struct onnx_case c;
	begin(&c);
	case_node(&c, "LeakyRelu", "leaky", "h", "r");
	end(&c, "r w2");
	struct equalization e = by_quark(&c);
	assert_int_equal(e.n_groups, 1);
	same(tuned_at(&e, &c, "one")->weight.data, w1, MID * IN);
	same(tuned_at(&e, &c, "one")->bias.data, b1, MID);
	same(tuned_at(&e, &c, "two")->weight.data, w2, OUT * MID);
	close_case(&c, &e);
}

// Two pairs and their triple, the first pair once more in the end.
void test_equalize_quark__depthwise_between(void **state)
{
	static const float wd[] = {2, .25f, 1, .5f}, bd[] = {.5f, 1, -1, 2};
	static const float w1[] = {2, .25f, -.5f, .35355338f, .17677669f, .088388346f, 0, 0, 0, .5f, -.5f, .25f},
	                   b1[] = {.25f, -1.4142135f, 3, 2};
	static const float middle[] = {2, .70710677f, 1, 1}, middle_bias[] = {.125f, 2, -1, 2}, w2[] = {2, 1, 1, 1, -1, .25f, 1, -1};
	struct onnx_case c;
	begin(&c);
	case_floats(&c, "wd", DIMS(MID, 1, 1, 1), wd);
	case_floats(&c, "bd", DIMS(MID), bd);
	case_attr_int(&c, case_node(&c, "Conv", "depthwise", "h wd bd", "k"), "group", MID);
	case_node(&c, "Relu", "relu", "k", "r");
	end(&c, "r w2");
	struct equalization e = by_quark(&c);
	assert_int_equal(e.n_groups, 3);
	same(tuned_at(&e, &c, "one")->weight.data, w1, MID * IN);
	same(tuned_at(&e, &c, "one")->bias.data, b1, MID);
	same(tuned_at(&e, &c, "depthwise")->weight.data, middle, MID);
	same(tuned_at(&e, &c, "depthwise")->bias.data, middle_bias, MID);
	same(tuned_at(&e, &c, "two")->weight.data, w2, OUT * MID);
	close_case(&c, &e);
}

// What stands between the two convolutions, and what is read twice or seen outside.
struct between {
	const char *op;
	int64_t pads[8];    // Pad: its list
	float value;        // Pad: with what
	int64_t axis;       // ReduceMean: over which
	bool seen, shared;  // an output of the network; a second reader
};

static int groups_across(const struct between *b)
{
	struct onnx_case c;
	begin(&c);
	case_ints(&c, "pads", 8, b->pads);
	case_floats(&c, "value", DIMS(), &b->value);
	Onnx__NodeProto *n = case_node(&c, b->op, "between", strcmp(b->op, "Pad") ? "h" : "h pads value", "r");
	if (strcmp(b->op, "MaxPool") == 0)
		case_attr_ints(&c, n, "kernel_shape", 2, (int64_t[]){1, 1});
	if (strcmp(b->op, "ReduceMean") == 0)
		case_attr_ints(&c, n, "axes", 1, &b->axis);
	if (b->seen)
		case_output(&c, c.graph, "h");
	if (b->shared) {
		case_node(&c, "Relu", "second", "h", "s");
		case_output(&c, c.graph, "s");
	}
	end(&c, "r w2");
	struct equalization e = by_quark(&c);
	int groups = e.n_groups;
	if (groups)
		close_case(&c, &e);
	else
		drop(&c, &e);
	return groups;
}

void test_equalize_quark__what_factors_pass(void **state)
{
	static const struct between passed[] = {
		{.op = "Relu"},
		{.op = "LeakyRelu"},
		{.op = "Pad", .pads = {0, 0, 1, 0, 0, 0, 0, 1}},
		{.op = "ReduceMean", .axis = 2},
	};
	static const struct between refused[] = {
		{.op = "Sigmoid"},
		{.op = "MaxPool"},
		{.op = "Clip"},
		{.op = "Pad", .pads = {0, 0, 1, 0, 0, 0, 0, 1}, .value = 1},
		{.op = "Pad", .pads = {0, 1, 0, 0, 0, -1, 0, 0}}, // channels move, and stay as many
		{.op = "Relu", .seen = true},
		{.op = "Relu", .shared = true},
	};
	for (size_t i = 0; i < sizeof passed / sizeof *passed; i++)
		assert_int_equal(groups_across(&passed[i]), 1);
	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
		assert_int_equal(groups_across(&refused[i]), 0);
}

// As many places as channels: the mean over channels leaves a tensor that looks like one over places.
void test_equalize_quark__mean_over_channels(void **state)
{
	static const float one[2 * 2] = {8, 1, .5f, 2}, two[2] = {1, 4};
	for (int64_t axis = 1; axis < 3; axis++) {
		struct onnx_case c;
		case_init(&c);
		case_input(&c, "x", FLOAT, DIMS(1, 2, 2, 2));
		case_floats(&c, "w1", DIMS(2, 2, 1, 1), one);
		case_floats(&c, "w2", DIMS(1, 2, 1), two);
		case_node(&c, "Conv", "one", "x w1", "h");
		Onnx__NodeProto *n = case_node(&c, "ReduceMean", "mean", "h", "m");
		case_attr_ints(&c, n, "axes", 1, &axis);
		case_attr_int(&c, n, "keepdims", 0);
		end(&c, "m w2");
		struct equalization e = by_quark(&c);
		assert_int_equal(e.n_groups, axis == 2);
		same_after(&c, &e);
		drop(&c, &e);
	}
}

// Products of ranges that no float holds move nothing; what is not finite is left as it is, biases too.
void test_equalize_quark__extremes(void **state)
{
	static const struct {
		float front, bias, behind;
		int groups;
	} extreme[] = {
		{1e30f, 1, 1e20f, 1},
		{1e-44f, 0, 3e38f, 1},
		{1, 1e38f, 1e20f, 1},
		{INFINITY, 1, 1, 0},
		{1, INFINITY, 1, 0},
		{1, 1, NAN, 0},
	};
	for (size_t i = 0; i < sizeof extreme / sizeof *extreme; i++) {
		float w1[] = {extreme[i].front, 1}, b1[] = {extreme[i].bias, 1}, w2[] = {extreme[i].behind, 1};
		struct onnx_case c;
		case_init(&c);
		case_input(&c, "x", FLOAT, DIMS(1, 1, 2, 2));
		case_floats(&c, "w1", DIMS(2, 1, 1, 1), w1);
		case_floats(&c, "b1", DIMS(2), b1);
		case_floats(&c, "w2", DIMS(1, 2, 1, 1), w2);
		case_node(&c, "Conv", "one", "x w1 b1", "h");
		end(&c, "h w2");
		struct equalization e = by_quark(&c);
		assert_int_equal(e.n_groups, extreme[i].groups);
		for (int k = 0; k < tuning_count(e.weights); k++) {
			const struct tuned *t = tuned_at(&e, &c, k ? "two" : "one");
			assert_true(isfinite(*(const float *)t->weight.data) && *(const float *)t->weight.data != 0);
		}
		drop(&c, &e);
	}
}

// Rows of weights that are not transposed are columns of the constant, the last one of zeros,
// whose bias does not count; weights that both nodes share become two constants.
void test_equalize_quark__gemm(void **state)
{
	static const float w[3 * 3] = {8, 1, 0, .5f, .25f, 0, 0, 4, 0};
	static const float one[2][3 * 3] = {
		{8, .35355338f, 0, .5f, .088388346f, 0, 0, 1.4142135f, 0},
		{8, 1, 0, 1, .5f, 0, 0, 4, 0},
	};
	static const float two[2][3 * 3] = {
		{8, 1, 0, 1.4142135f, .70710677f, 0, 0, 4, 0},
		{8, .5f, 0, .5f, .125f, 0, 0, 2, 0},
	};
	for (int transposed = 0; transposed < 2; transposed++) {
		struct onnx_case c;
		case_init(&c);
		case_input(&c, "x", FLOAT, DIMS(2, 3));
		case_floats(&c, "w", DIMS(3, 3), w);
		case_floats(&c, "b", DIMS(3), front_bias);
		case_attr_int(&c, case_node(&c, "Gemm", "one", "x w b", "h"), "transB", transposed);
		case_node(&c, "Relu", "relu", "h", "r");
		case_attr_int(&c, case_node(&c, "Gemm", "two", "r w", "y"), "transB", transposed);
		case_output(&c, c.graph, "y");
		case_load(&c);
		struct equalization e = by_quark(&c);
		assert_int_equal(e.n_groups, 1);
		same(tuned_at(&e, &c, "one")->weight.data, one[transposed], 3 * 3);
		same(tuned_at(&e, &c, "two")->weight.data, two[transposed], 3 * 3);
		close_case(&c, &e);
	}
}

// Of a convolution with groups that are more than a channel each, rows are not the columns that it reads.
void test_equalize_quark__groups(void **state)
{
	static const float grouped[MID * 2] = {1, 2, 3, 4, 5, 6, 7, 8};
	struct onnx_case c;
	begin(&c);
	case_floats(&c, "wg", DIMS(MID, 2, 1, 1), grouped);
	case_attr_int(&c, case_node(&c, "Conv", "grouped", "h wg", "k"), "group", 2);
	end(&c, "k w2");
	struct equalization e = by_quark(&c);
	assert_int_equal(e.n_groups, 0);
	drop(&c, &e);
}

// Wherever memory is refused, that is said, and nothing is left behind.
void test_equalize_quark__without_memory(void **state)
{
	struct onnx_case c;
	struct equalization e;
	struct error err = {0};
	enum status st = STATUS_NOMEM;
	int refused = 0;
	begin(&c);
	end(&c, "h w2");
	while (st == STATUS_NOMEM) {
		mem_fail_at(++refused);
		st = equalize(&e, c.loaded, &EQUALIZE_DEFAULT_QUARK, &err);
		mem_fail_at(0);
		assert_true(st == STATUS_OK || (st == STATUS_NOMEM && err.text[0] && !e.group && !e.weights));
	}
	assert_int_equal(st, STATUS_OK);
	assert_in_range(refused, 5, 100);
	drop(&c, &e);
}
