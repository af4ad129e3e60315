// Operators in several nodes, of which esp-ppq and XSlim make one. Expected: their formatters, and their lists of what is quantized.
#include <math.h>
#include "written_out_case.h"
#include "plan_case.h"

static void setup(struct fixture *f, struct onnx_case *c, const char *target)
{
	case_output(c, c->graph, "y");
	case_load(c);
	fixture_plan(f, c->loaded, target, -1);
	c->loaded = NULL;
	case_done(c);
}

static void assert_one(const struct fixture *f, const char *const *part, int n, const char *op_type, bool quantized)
{
	for (int i = 0; i < n; i++) {
		bool ends = i == n - 1;
		assert_string_equal(plan_written_out(f->p, node(f, part[i]))->op_type, op_type);
		assert_int_equal(plan_written_out(f->p, node(f, part[i]))->last, node(f, part[n - 1]));
		for (int k = 0; k < f->g->node[node(f, part[i])].n_in; k++) {
			bool outside = f->g->node[node(f, part[i])].in[k] == tensor(f, "front");
			assert_int_equal(in(f, part[i], k)->state, outside && quantized ? SLOT_OVERLAPPED : SLOT_FLOAT);
		}
		assert_int_equal(out(f, part[i])->state, ends && quantized ? SLOT_ACTIVE : SLOT_FLOAT);
		assert_int_equal(f->p->precision[node(f, part[i])], quantized ? PREC_INT8 : PREC_FLOAT);
	}
}

void test_plan_written_out__rms(void **state)
{
	static const char *const part[] = {"square", "mean", "epsilon", "root", "inverse", "norm", "gained"};
	struct onnx_case c;
	struct fixture f;
	for (int i = 0; i < 2; i++) {
		written_out_begin(&c);
		written_out_rms(&c, "two", i ? "both" : "last");
		setup(&f, &c, "esp32p4");
		assert_one(&f, part, 7, "RMSNormalization", true);
		teardown(&f);
	}
}

// x / root, and x * (1 / root) without an epsilon.
void test_plan_written_out__rms_by_division(void **state)
{
	static const char *const part[] = {"square", "mean", "root", "norm", "gained"},
	                  *const longer[] = {"square", "mean", "root", "inverse", "norm", "gained"};
	struct onnx_case c;
	struct fixture f;
	written_out_begin(&c);
	written_out_squares(&c, "two", "last");
	case_node(&c, "Sqrt", "root", "m", "r");
	case_node(&c, "Div", "norm", "f r", "n");
	case_node(&c, "Mul", "gained", "n gain", "y");
	setup(&f, &c, "esp32s3");
	assert_one(&f, part, 5, "RMSNormalization", true);
	teardown(&f);
	written_out_begin(&c);
	written_out_squares(&c, "two", "last");
	case_node(&c, "Sqrt", "root", "m", "r");
	case_node(&c, "Div", "inverse", "one r", "i");
	case_node(&c, "Mul", "norm", "i f", "n");
	case_node(&c, "Mul", "gained", "n gain", "y");
	setup(&f, &c, "esp32");
	assert_one(&f, longer, 6, "RMSNormalization", true);
	teardown(&f);
}

static void assert_none(struct onnx_case *c, const char *target)
{
	struct fixture f;
	setup(&f, c, target);
	for (int i = 0; i < f.g->n_nodes; i++)
		assert_null(plan_written_out(f.p, i));
	if (target_is_of(f.t, "esp-ppq"))
		assert_int_not_equal(out(&f, "mean")->state, SLOT_FLOAT);
	teardown(&f);
}

void test_plan_written_out__what_is_none(void **state)
{
	struct onnx_case c;
	written_out_begin(&c);
	written_out_rms(&c, "two", "last");
	assert_none(&c, "xquant"); // which is not esp-ppq's
	written_out_begin(&c);
	written_out_rms(&c, "three", "last");
	assert_none(&c, "esp32p4");
	written_out_begin(&c);
	written_out_rms(&c, "two", "middle");
	assert_none(&c, "esp32p4");
	written_out_begin(&c);
	written_out_rms(&c, "two", "last");
	case_node(&c, "Neg", "more", "m", "z"); // the mean has another reader
	case_output(&c, c.graph, "z");
	assert_none(&c, "esp32p4");
	written_out_begin(&c);
	written_out_rms(&c, "two", "last");
	case_output(&c, c.graph, "n"); // is to be seen
	assert_none(&c, "esp32p4");
}

// As torch writes normalize(): LpNormalization, which esp-ppq leaves in float.
void test_plan_written_out__lp(void **state)
{
	static const char *const part[] = {"length", "clip", "expand", "norm"};
	struct onnx_case c;
	struct fixture f;
	struct error err;
	written_out_begin(&c);
	case_node(&c, "ReduceL2", "length", "f last", "l");
	case_node(&c, "Clip", "clip", "l least", "k");
	case_node(&c, "Expand", "expand", "k shape", "e");
	case_node(&c, "Div", "norm", "f e", "y");
	setup(&f, &c, "esp32p4");
	assert_one(&f, part, 4, "LpNormalization", false);
	assert_int_equal(out(&f, "front")->state, SLOT_ACTIVE);
	assert_int_equal(plan_check_edit(f.p, node(&f, "length"), PREC_INT8, &err), STATUS_REFUSED);
	assert_non_null(strstr(err.text, "does not quantize LpNormalization, of which it is a part"));
	teardown(&f);
}

// The edit of its end is that of all of it: 16 bit reach what it reads, too. Who sets another node is told which to set with it.
void test_plan_written_out__edits(void **state)
{
	struct onnx_case c;
	struct fixture f;
	struct error err;
	written_out_begin(&c);
	written_out_rms(&c, "two", "last");
	setup(&f, &c, "esp32p4");
	f.e->precision[node(&f, "mean")] = PREC_FLOAT;
	f.e->precision[node(&f, "gained")] = PREC_INT16;
	plan_free(&f.p);
	assert_int_equal(plan_new(&f.p, f.g, f.t, CALIB_KL, f.e, NULL, &err), STATUS_OK);
	assert_int_equal(f.p->precision[node(&f, "gained")], PREC_INT16);
	assert_int_equal(in(&f, "square", 0)->state, SLOT_ACTIVE);
	assert_int_equal(in(&f, "square", 0)->quant.bits, 16);
	assert_int_equal(in(&f, "norm", 0)->quant.bits, 16);
	assert_int_equal(f.p->n_refused, 1);
	assert_non_null(strstr(f.p->refused[0].reason, "inside of RMSNormalization"));
	assert_non_null(strstr(f.p->refused[0].reason, "set gained"));
	int mean = node(&f, "mean"), more[8];
	struct plan *bare = plan_bare(f.g, f.t);
	assert_int_equal(plan_check_edit(bare, mean, PREC_INT16, &err), STATUS_OK);
	f.e->precision[mean] = f.e->precision[node(&f, "gained")] = -1;
	int n = plan_operator_nodes(bare, f.e, &mean, 1, PREC_INT16, more);
	assert_true(n > 0 && more[n - 1] == node(&f, "gained"));
	plan_free(&bare);
	teardown(&f);
}

void test_plan_written_out__layer_norm_of_xquant(void **state)
{
	static const char *const part[] = {"mean", "difference", "square", "variance", "epsilon", "root", "norm", "gained", "shifted"};
	struct onnx_case c;
	struct fixture f;
	for (int i = 0; i < 2; i++) {
		written_out_begin(&c);
		written_out_layer_norm(&c, i);
		setup(&f, &c, "xquant");
		assert_one(&f, part, 9, "LayerNormalization", true);
		teardown(&f);
	}
}

// esp-ppq's formatter knows no LayerNormalization, but what follows the difference is an RMSNormalization of it.
void test_plan_written_out__layer_norm_of_esp_ppq(void **state)
{
	static const char *const outside[] = {"mean", "difference", "shifted"}, *const part[] = {"square", "variance", "root", "norm", "gained"};
	struct onnx_case c;
	struct fixture f;
	written_out_begin(&c);
	written_out_layer_norm(&c, false);
	setup(&f, &c, "esp32p4");
	for (int i = 0; i < 3; i++) {
		assert_null(plan_written_out(f.p, node(&f, outside[i])));
		assert_int_not_equal(out(&f, outside[i])->state, SLOT_FLOAT);
	}
	for (int i = 0; i < 5; i++) {
		assert_string_equal(plan_written_out(f.p, node(&f, part[i]))->op_type, "RMSNormalization");
		assert_int_equal(plan_written_out(f.p, node(&f, part[i]))->last, node(&f, "gained"));
	}
	assert_int_equal(out(&f, "norm")->state, SLOT_FLOAT);
	teardown(&f);
}

// One node of a pattern, and what it must not be.
struct line {
	const char *type, *name, *in, *out;
	struct {
		const char *type, *in; // NULL: as it is; both NULL: no more
	} wrong[4];
};
static const struct line gelu[] = {{"Div", "scaled", "f root2", "a", {{"Div", "f two"}, {"Mul", NULL}, {"Div", "root2 f"}}},
    {"Erf", "erf", "a", "b", {{"Tanh", NULL}}}, {"Add", "plus", "b one", "c", {{NULL, "b two"}, {NULL, "b b"}, {"Sub", NULL}}},
    {"Mul", "times", "f c", "d", {{NULL, "c c"}, {NULL, "c one"}, {"Add", NULL}}},
    {"Mul", "half", "d half_of", "y", {{NULL, "d one"}, {NULL, "d f"}, {"Add", NULL}}}};
static const struct line layer[] = {{"ReduceMean", "mean", "f last", "m", {{NULL, "f middle"}, {NULL, "f both"}, {"ReduceMax", NULL}}},
    {"Sub", "difference", "f m", "d", {{NULL, "m f"}, {"Add", NULL}}}, {"Pow", "square", "d two", "s", {{NULL, "d three"}, {NULL, "two d"}}},
    {"ReduceMean", "variance", "s last", "v", {{NULL, "s middle"}, {NULL, "s both"}, {"ReduceMax", NULL}}},
    {"Add", "epsilon", "v least", "e", {{NULL, "v m"}, {"Mul", NULL}}}, {"Sqrt", "root", "e", "r", {{"Exp", NULL}}},
    {"Div", "norm", "d r", "n", {{NULL, "r d"}, {NULL, "f r"}, {"Mul", NULL}}},
    {"Mul", "gained", "n gain", "g", {{NULL, "n f"}, {"Add", NULL}}}, {"Add", "shifted", "g gain", "y", {{NULL, "g f"}, {"Mul", NULL}}}};
static const struct line lp[] = {{"ReduceL2", "length", "f last", "l", {{NULL, "f both"}, {"ReduceL1", NULL}}},
    {"Clip", "clip", "l least", "k", {{"Max", NULL}}}, {"Expand", "expand", "k shape", "e", {{"Reshape", "f shape"}}},
    {"Div", "norm", "f e", "y", {{NULL, "e f"}, {NULL, "e e"}, {"Mul", NULL}}}};
static const struct line rms[] = {
    {"Pow", "square", "f two", "s", {{NULL, "f three"}, {NULL, "f f"}, {NULL, "two f"}}},
    {"ReduceMean", "mean", "s last", "m", {{NULL, "s middle"}, {"ReduceMax", NULL}}}, {"Add", "epsilon", "m least", "e", {{"Mul", NULL}}},
    {"Sqrt", "root", "e", "r", {{"Exp", NULL}}}, {"Reciprocal", "inverse", "r", "i", {{"Exp", NULL}}},
    {"Mul", "norm", "f i", "n", {{NULL, "i i"}, {NULL, "i gain"}, {"Div", NULL}}},
    {"Mul", "gained", "gain n", "y", {{NULL, "f n"}, {"Add", NULL}}}};

// With one node changed; at < 0: none.
static void add_lines(struct onnx_case *c, const struct line *l, int n, int at, int wrong)
{
	for (int i = 0; i < n; i++) {
		const char *type = i == at ? l[i].wrong[wrong].type : NULL, *in = i == at ? l[i].wrong[wrong].in : NULL;
		Onnx__NodeProto *node = case_node(c, type ? type : l[i].type, l[i].name, in ? in : l[i].in, l[i].out);
		if (strcmp(node->op_type, "Concat") == 0)
			case_attr_int(c, node, "axis", 1);
	}
}

static bool has_wrong(const struct line *l, int k)
{
	return k < 4 && (l->wrong[k].type || l->wrong[k].in);
}

// The model so, or with one value more to be seen.
static bool finds(const struct line *l, int n, const char *target, const char *op_type, int at, int wrong, const char *seen)
{
	struct onnx_case c;
	struct fixture f;
	bool found = false;
	written_out_begin(&c);
	case_floats(&c, "root2", 0, NULL, &(float){1.41421354f});
	case_floats(&c, "half_of", 0, NULL, &(float){.5f});
	add_lines(&c, l, n, at, wrong);
	if (seen)
		case_output(&c, c.graph, seen);
	setup(&f, &c, target);
	for (int i = 0; i < f.g->n_nodes; i++)
		found |= plan_written_out(f.p, i) && strcmp(plan_written_out(f.p, i)->op_type, op_type) == 0;
	teardown(&f);
	return found;
}

// Of every node of a pattern, what makes it another one: type, order, constants, readers.
void test_plan_written_out__every_node_counts(void **state)
{
	static const struct {
		const struct line *l;
		int n;
		const char *target, *op_type;
	} pattern[] = {{gelu, 5, "xquant", "Gelu"}, {layer, 9, "xquant", "LayerNormalization"}, {lp, 4, "esp32p4", "LpNormalization"},
	    {rms, 7, "esp32p4", "RMSNormalization"}};
	for (size_t p = 0; p < sizeof pattern / sizeof *pattern; p++) {
		const struct line *l = pattern[p].l;
		int n = pattern[p].n;
		assert_true(finds(l, n, pattern[p].target, pattern[p].op_type, -1, 0, NULL));
		for (int i = 0; i < n; i++) {
			for (int k = 0; has_wrong(&l[i], k); k++)
				if (finds(l, n, pattern[p].target, pattern[p].op_type, i, k, NULL))
					fail_msg("%s with %s as its number %d", pattern[p].op_type, l[i].name, k);
			if (i < n - 1 && finds(l, n, pattern[p].target, pattern[p].op_type, -1, 0, l[i].out))
				fail_msg("%s, of which %s is an output of the network", pattern[p].op_type, l[i].out);
		}
	}
}

void test_plan_written_out__gelu_of_xquant(void **state)
{
	static const char *const part[] = {"scaled", "erf", "plus", "times", "half"};
	struct onnx_case c;
	struct fixture f;
	written_out_begin(&c);
	case_floats(&c, "root2", 0, NULL, &(float){1.41421354f});
	case_floats(&c, "half_of", 0, NULL, &(float){.5f});
	add_lines(&c, gelu, 5, -1, 0);
	setup(&f, &c, "xquant");
	assert_one(&f, part, 5, "Gelu", true);
	teardown(&f);
}

// XSlim makes a Mul of it, which it quantizes; a Div of two tensors stays in float.
void test_plan_written_out__division_by_a_constant(void **state)
{
	struct onnx_case c;
	struct fixture f;
	written_out_begin(&c);
	case_node(&c, "Div", "scaled", "f three", "a");
	case_node(&c, "Div", "quotient", "a f", "y");
	setup(&f, &c, "xquant");
	assert_int_equal(in(&f, "scaled", 0)->state, SLOT_OVERLAPPED);
	assert_int_equal(in(&f, "scaled", 1)->state, SLOT_FLOAT);
	assert_int_equal(out(&f, "scaled")->state, SLOT_ACTIVE);
	assert_int_equal(out(&f, "quotient")->state, SLOT_FLOAT);
	teardown(&f);
}

// What YOLOv8 makes of its distances, and joins with its scores.
enum { DECODE = 9 };
static const struct line decode[DECODE] = {{"Sigmoid", "sigmoid", "s", "p", {{"Tanh", NULL}}},
    {"Sub", "corner0", "anchors l0", "c0", {{NULL, "l0 anchors"}, {"Mul", NULL}}}, {"Add", "corner1", "anchors l1", "c1", {{"Mul", NULL}}},
    {"Add", "sum", "c0 c1", "u", {{NULL, "c0 c0"}, {NULL, "c1 anchors"}, {"Mul", NULL}}},
    {"Div", "center", "u two", "v", {{NULL, "u three"}, {NULL, "two u"}, {"Mul", NULL}}},
    {"Sub", "size", "c1 c0", "w", {{NULL, "c0 c1"}, {NULL, "c1 anchors"}, {"Add", NULL}}},
    {"Concat", "box", "v w", "x0", {{NULL, "v v"}, {NULL, "v anchors"}}},
    {"Mul", "scaled", "x0 strides", "x1", {{NULL, "x0 x0"}, {"Add", NULL}}},
    {"Concat", "all", "x1 p", "y", {{NULL, "p x1"}, {NULL, "x1 p x1"}, {NULL, "x1 f"}}}};

// Behind its last Concat: logits of four distances, 16 each, and of 3 classes at each of 8 places.
static void yolo(struct onnx_case *c, int64_t softmax_axis, int64_t bins, int at, int wrong)
{
	float weight[16];
	for (int i = 0; i < 16; i++)
		weight[i] = (float)i;
	case_init(c);
	case_input(c, "x", FLOAT, DIMS(1, 4 * bins + 3, 8));
	case_floats(c, "dfl_weight", DIMS(1, bins, 1, 1), weight);
	case_floats(c, "anchors", DIMS(1, 2, 8), weight);
	case_floats(c, "strides", DIMS(1, 8), weight);
	case_floats(c, "two", 0, NULL, &(float){2});
	case_floats(c, "three", 0, NULL, &(float){3});
	case_ints(c, "sizes", 2, (int64_t[]){4 * bins, 3});
	case_ints(c, "planes", 4, (int64_t[]){1, 4, bins, 8});
	case_ints(c, "lines", 3, (int64_t[]){1, 4, 8});
	case_ints(c, "zero", 1, (int64_t[]){0});
	case_ints(c, "one", 1, (int64_t[]){1});
	case_ints(c, "middle", 1, (int64_t[]){2});
	case_ints(c, "end", 1, (int64_t[]){4});
	case_node(c, "Neg", "front", "x", "f"); // float on xquant
	case_attr_int(c, case_node(c, "Split", "split", "f sizes", "b s"), "axis", 1);
	case_node(c, "Reshape", "reshape", "b planes", "r");
	case_attr_ints(c, case_node(c, "Transpose", "transpose", "r", "t"), "perm", 4, (int64_t[]){0, 2, 1, 3});
	case_attr_int(c, case_node(c, "Softmax", "softmax", "t", "q"), "axis", softmax_axis);
	case_node(c, "Conv", "dfl", "q dfl_weight", "k");
	case_node(c, "Reshape", "flat", "k lines", "l");
	case_node(c, "Slice", "low", "l zero middle one", "l0");
	case_node(c, "Slice", "high", "l middle end one", "l1");
	add_lines(c, decode, DECODE, at, wrong);
}

void test_plan_written_out__yolo_of_xquant(void **state)
{
	static const char *const part[] = {"reshape", "transpose", "softmax", "dfl", "flat", "low", "corner0", "high", "corner1", "size",
	    "sum", "center", "box", "scaled", "sigmoid", "all"};
	struct onnx_case c;
	struct fixture f;
	yolo(&c, 1, 16, -1, 0);
	setup(&f, &c, "xquant");
	assert_one(&f, part, 16, "YoloDecode", false);
	teardown(&f);
	for (int i = 0; i < 2; i++) { // no patterns of XSlim's
		yolo(&c, i ? 1 : 2, i ? 8 : 16, -1, 0);
		setup(&f, &c, "xquant");
		assert_null(plan_written_out(f.p, node(&f, "dfl")));
		assert_int_equal(out(&f, "all")->state, SLOT_ACTIVE);
		teardown(&f);
	}
	for (int i = 0; i < DECODE; i++)
		for (int k = 0; has_wrong(&decode[i], k); k++) {
			yolo(&c, 1, 16, i, k);
			setup(&f, &c, "xquant");
			if (plan_written_out(f.p, node(&f, "dfl")))
				fail_msg("%s as its number %d", decode[i].name, k);
			teardown(&f);
		}
	yolo(&c, 1, 16, -1, 0);
	setup(&f, &c, "esp32p4");
	assert_null(plan_written_out(f.p, node(&f, "dfl")));
	teardown(&f);
}

// x -> Conv of two channels -> what `op` says, by `c`: one number, one of each channel, or one of each column; then a Relu.
static void folded(struct fixture *f, const char *target, const char *op, const char *in)
{
	struct onnx_case c;
	case_init(&c);
	case_input(&c, "x", FLOAT, DIMS(1, 1, 4, 2));
	case_floats(&c, "w", DIMS(2, 1, 1, 1), (float[]){1, -.5f});
	case_floats(&c, "one", 0, NULL, (float[]){3});
	case_floats(&c, "channels", DIMS(1, 2, 1, 1), (float[]){3, -4});
	case_floats(&c, "columns", DIMS(2), (float[]){3, -4});
	case_node(&c, "Conv", "conv", "x w", "a");
	case_node(&c, op, "first", in, "b");
	case_node(&c, "Mul", "second", "one b", "c");
	case_node(&c, "Mul", "third", "c one", "d");
	case_node(&c, "Relu", "relu", "d", "y");
	setup(f, &c, target);
}

void test_plan_written_out__folded_constants_of_xquant(void **state)
{
	static const struct {
		const char *op, *in;
		bool folds;
	} cases[] = {{"Mul", "a channels", true}, {"Add", "one a", true}, {"Div", "a one", true}, {"Sub", "a channels", true},
	    {"Div", "one a", false}, {"Mul", "a columns", false}, {"Add", "a a", false}};
	struct fixture f;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		folded(&f, "xquant", cases[i].op, cases[i].in);
		assert_int_equal(plan_written_out(f.p, node(&f, "conv")) != NULL, cases[i].folds);
		if (cases[i].folds) {
			assert_int_equal(plan_written_out(f.p, node(&f, "first"))->last, node(&f, "second")); // two at the most
			assert_int_equal(in(&f, "conv", 1)->state, SLOT_ACTIVE);
			assert_int_equal(in(&f, "conv", 1)->quant.axis, 0);
			assert_int_equal(out(&f, "conv")->state, SLOT_FLOAT);
			assert_int_equal(in(&f, "second", 0)->state, SLOT_FLOAT);
			assert_int_equal(out(&f, "second")->state, SLOT_ACTIVE);
			assert_int_equal(f.p->group[node(&f, "second")].owner, node(&f, "conv"));
			assert_int_equal(out(&f, "third")->state, SLOT_OVERLAPPED); // by the Relu
		}
		teardown(&f);
	}
	folded(&f, "tensorrt", "Mul", "a channels");
	assert_null(plan_written_out(f.p, node(&f, "conv")));
	teardown(&f);
}

// x -> Conv -> Flatten -> Gemm -> Relu. The weights are those of three classes, by columns if `columns`.
static void classifier(struct fixture *f, const char *target, int64_t axis, bool columns, float alpha)
{
	static const float rows[3 * 4] = {.5f, -.25f, .125f, .3f, 3, -1, 2, .7f, .01f, .02f, -.005f, .004f};
	float w[3 * 4];
	struct onnx_case c;
	for (int i = 0; i < 12; i++)
		w[columns ? i % 4 * 3 + i / 4 : i] = rows[i];
	case_init(&c);
	case_input(&c, "x", FLOAT, DIMS(1, 1, 2, 2));
	case_floats(&c, "k", DIMS(1, 1, 1, 1), (float[]){1.5f});
	case_floats(&c, "w", DIMS(columns ? 4 : 3, columns ? 3 : 4), w);
	case_floats(&c, "b", DIMS(3), (float[]){1, 2, 3});
	case_node(&c, "Conv", "conv", "x k", "a");
	case_attr_int(&c, case_node(&c, "Flatten", "flat", "a", "f"), "axis", axis);
	Onnx__NodeProto *n = case_node(&c, "Gemm", "gemm", "f w b", "g");
	case_attr_int(&c, n, "transB", !columns);
	case_attr_float(&c, n, "alpha", alpha);
	case_node(&c, "Relu", "relu", "g", "y");
	setup(f, &c, target);
}

// XSlim makes a Conv of it, whose weights have a scale for each class; those of its Gemm have one, a power of two.
void test_plan_written_out__flattened_images_of_xquant(void **state)
{
	static const float most[] = {.5f, 3, .02f};
	struct fixture f;
	for (int columns = 0; columns < 2; columns++) {
		classifier(&f, "xquant", 1, columns, 1);
		const struct quantizer *w = &in(&f, "gemm", 1)->quant;
		const struct written_out *whole = plan_written_out(f.p, node(&f, "flat"));
		assert_non_null(whole);
		assert_int_equal(whole->last, node(&f, "gemm"));
		assert_int_equal(whole->input, tensor(&f, "conv"));
		assert_int_equal(w->axis, columns);
		assert_int_equal(w->n, 3);
		for (int i = 0; i < 3; i++)
			assert_true(fabsf(w->scale[i] - 2 * most[i] / 255) < 1e-6f * most[i]);
		assert_int_equal(in(&f, "flat", 0)->state, SLOT_OVERLAPPED); // by the Conv in front
		assert_int_equal(out(&f, "flat")->state, SLOT_FLOAT);
		assert_int_equal(in(&f, "gemm", 0)->state, SLOT_FLOAT);
		assert_int_equal(in(&f, "gemm", 2)->state, SLOT_FLOAT);
		assert_int_equal(out(&f, "relu")->state, SLOT_ACTIVE);
		assert_int_equal(f.p->group[node(&f, "flat")].owner, node(&f, "gemm"));
		assert_int_equal(f.p->group[node(&f, "relu")].owner, node(&f, "gemm"));
		teardown(&f);
	}
	static const struct {
		const char *target;
		int64_t axis;
		float alpha;
	} none[] = {{"xquant", -3, 1}, {"xquant", 1, 2}, {"esp32p4", 1, 1}, {"tensorrt", 1, 1}};
	for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
		classifier(&f, none[i].target, none[i].axis, false, none[i].alpha);
		assert_null(plan_written_out(f.p, node(&f, "gemm")));
		teardown(&f);
	}
}
