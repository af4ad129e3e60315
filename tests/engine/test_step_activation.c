// The activation that a target makes part of the operator in front of it: every family of kernels applies it, on every
// backend as on the reference, which has it in a pass of its own.
#include <math.h>
#include "onnx_case.h"
#include "qtui/engine/plan.h"
#include "qtui/engine/run.h"

static const char *const targets[] = {"esp32p4", "onnxruntime", "tensorrt", "xquant"};

// An operator behind a convolution of 16 channels, in the blocks that most kernels read.
struct behind {
	const char *type, *inputs, *mode;
	int64_t window; // kernel_shape; 0: none
};
static const struct behind operators[] = {{"Resize", "a - scales", "linear", 0}, {"Resize", "a - scales", "cubic", 0},
    {"Resize", "a - scales", "nearest", 0}, {"AveragePool", "a", NULL, 2}, {"MaxPool", "a", NULL, 2}, {"GlobalAveragePool", "a", NULL, 0},
    {"Pad", "a pads", NULL, 0}, {"Pad", "a pads", "reflect", 0}, {"ReduceMean", "a", NULL, 0}, {"Transpose", "a", NULL, 0},
    {"InstanceNormalization", "a one one", NULL, 0}, {"Add", "a a", NULL, 0}, {"Mul", "a one4", NULL, 0}, {"Concat", "a a", NULL, 0},
    {"Tanh", "a", NULL, 0}, {"Conv", "a v", NULL, 0}, {"MatMul", "a a", NULL, 0}};

static void build(struct onnx_case *c, const struct behind *o, const char *act)
{
	struct support_random r = {84};
	float w[16 * 4], v[16 * 16], one[16];
	case_init(c);
	case_input(c, "x", FLOAT, DIMS(1, 4, 6, 6));
	support_random_floats(&r, w, sizeof w / sizeof *w, -1, 1);
	support_random_floats(&r, v, sizeof v / sizeof *v, -1, 1);
	support_random_floats(&r, one, 16, 0.5f, 1);
	case_floats(c, "w", DIMS(16, 4, 1, 1), w);
	case_floats(c, "v", DIMS(16, 16, 1, 1), v);
	case_floats(c, "one", DIMS(16), one);
	case_floats(c, "one4", DIMS(1, 16, 1, 1), one);
	case_floats(c, "scales", DIMS(4), (float[]){1, 1, 2, 2});
	case_ints(c, "pads", 8, (int64_t[]){0, 0, 1, 1, 0, 0, 1, 1});
	case_node(c, "Conv", "conv", "x w", "a");
	Onnx__NodeProto *n = case_node(c, o->type, "behind", o->inputs, "b");
	if (o->mode)
		case_attr_text(c, n, "mode", o->mode);
	if (o->window)
		case_attr_ints(c, n, "kernel_shape", 2, (int64_t[]){o->window, o->window});
	if (strcmp(o->type, "Concat") == 0)
		case_attr_int(c, n, "axis", 1);
	case_node(c, act, "act", "b", "y");
	case_output(c, c->graph, "y");
	case_load(c);
}

// With rounded weights and nothing else: there are no ranges yet.
static struct tensor run(const struct graph *g, const struct plan *p, const struct tensor *x, int backend)
{
	struct error err = {0};
	struct tensor y = {0};
	struct engine *e = engine_new(g, NULL, &(struct engine_options){.backend = backend, .threads = SUPPORT_WIDTH(2)});
	if (engine_infer(e, p, &(struct inference){.sim = SIM_WEIGHTS, .in = x, .want = g->output, .n_want = 1, .out = &y}, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	engine_free(&e);
	return y;
}

static void compare(const struct graph *g, const struct plan *p, const struct tensor *x)
{
	struct tensor want = run(g, p, x, BACKEND_REF);
	for (int backend = 0; backend < BACKEND_COUNT; backend++) {
		struct tensor y = run(g, p, x, backend);
		assert_true(shape_equal(&y.shape, &want.shape));
		for (int64_t i = 0; i < tensor_count(&y); i++) {
			assert_true(((float *)y.data)[i] >= 0); // Relu, Sigmoid
			assert_true(fabsf(((float *)y.data)[i] - ((float *)want.data)[i]) <= 1e-4f);
		}
		tensor_drop(&y);
	}
	tensor_drop(&want);
}

// The number of targets that make one operator of both.
static int check(const struct behind *o, const char *act)
{
	struct support_random r = {85};
	struct onnx_case c;
	struct error err = {0};
	struct tensor x = {.type = DT_F32, .shape = shape_of(4, (int64_t[]){1, 4, 6, 6})};
	int joined = 0;
	build(&c, o, act);
	assert_int_equal(tensor_alloc(&x, NULL, &err), STATUS_OK);
	support_random_floats(&r, x.data, (size_t)tensor_count(&x), -1, 1);
	for (size_t t = 0; t < sizeof targets / sizeof *targets; t++) {
		struct target *target;
		struct plan *p;
		struct edits *e = edits_new(c.loaded);
		assert_int_equal(target_load(&target, targets[t], &err), STATUS_OK);
		assert_int_equal(plan_new(&p, c.loaded, target, CALIB_MINMAX, e, NULL, &err), STATUS_OK);
		joined += p->group[graph_find_node(c.loaded, "behind")].last == graph_find_node(c.loaded, "act");
		compare(c.loaded, p, &x);
		plan_free(&p);
		edits_free(&e);
		target_free(&target);
	}
	tensor_drop(&x);
	case_done(&c);
	return joined;
}

void test_step_activation__behind_every_family(void **state)
{
	for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
		int joined = check(&operators[i], "Relu");
		check(&operators[i], "Sigmoid");
		if (strcmp(operators[i].type, "Resize") == 0)
			assert_true(joined > 0); // else nothing is tested
	}
}
