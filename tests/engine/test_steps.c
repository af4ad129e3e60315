// What is executed at once gives the numbers of its parts, each on its own:
// the bits, unless sums are taken in another order.
#include "../../src/engine/run/run_impl.h"
#include "../../src/engine/tensor/cpu.h"
#include "onnx_case.h"
#include "qtui/engine/eval.h"
#include "qtui/engine/run.h"

enum { C = 5, K = 11, SIZE = 9 };

static void conv(struct onnx_case *c)
{
	struct support_random r = {71};
	float w[K * C * 9], b[K];
	support_random_floats(&r, w, K * C * 9, -1.0f, 1.0f);
	support_random_floats(&r, b, K, -1.0f, 1.0f);
	case_init(c);
	case_input(c, "x", FLOAT, DIMS(1, C, SIZE, SIZE));
	case_floats(c, "w", DIMS(K, C, 3, 3), w);
	case_floats(c, "b", DIMS(K), b);
	case_node(c, "Conv", "conv", "x w b", "conv");
	case_floats(c, "gain", DIMS(1), (float[]){1.3f});
	case_floats(c, "shift", DIMS(1), (float[]){-0.7f});
}

// y, when only it is wanted or all values are.
static struct tensor infer(const struct graph *g, const struct tensor *x, bool all, int threads)
{
	struct error err = {0};
	struct tensor out[16] = {{0}};
	int want[16], n = 0;
	struct engine *e = engine_new(g, NULL, &(struct engine_options){.backend = BACKEND_ONEDNN, .threads = threads});
	want[n++] = g->output[0];
	for (int i = 0; all && i + 1 < g->n_nodes; i++)
		want[n++] = g->node[i].out[0];
	assert_int_equal(engine_infer(e, NULL, &(struct inference){.in = x, .want = want, .n_want = n, .out = out}, &err), STATUS_OK);
	for (int i = 1; i < n; i++)
		tensor_drop(&out[i]);
	engine_free(&e);
	return out[0];
}

static void check(struct onnx_case *c)
{
	struct support_random r = {72};
	struct error err = {0};
	struct tensor x = {.type = DT_F32, .shape = shape_of(4, (int64_t[]){1, C, SIZE, SIZE})};
	case_output(c, c->graph, "y");
	case_load(c);
	assert_int_equal(tensor_alloc(&x, NULL, &err), STATUS_OK);
	support_random_floats(&r, x.data, (size_t)tensor_count(&x), -1.0f, 1.0f);
	struct tensor apart = infer(c->loaded, &x, true, 1);
	for (int threads = 1; threads <= SUPPORT_WIDTH(2); threads++) {
		struct tensor at_once = infer(c->loaded, &x, false, threads);
		assert_true(shape_equal(&apart.shape, &at_once.shape));
		assert_memory_equal(apart.data, at_once.data, tensor_bytes(&apart));
		tensor_drop(&at_once);
	}
	tensor_drop(&apart);
	tensor_drop(&x);
	case_done(c);
}

void test_steps__constants_behind_an_activation(void **state)
{
	struct onnx_case c;
	conv(&c);
	case_node(&c, "Relu", "relu", "conv", "h");
	case_node(&c, "Mul", "mul", "gain h", "m");
	case_node(&c, "Add", "add", "m shift", "y");
	check(&c);
}

// The padding of the blocks must be zero again: a product behind the sum reads it.
void test_steps__a_sum_alone_and_a_convolution_behind_it(void **state)
{
	struct support_random r = {73};
	struct onnx_case c;
	float w[K];
	conv(&c);
	support_random_floats(&r, w, K, -1.0f, 1.0f);
	case_floats(&c, "w2", DIMS(1, K, 1, 1), w);
	case_node(&c, "Add", "add", "shift conv", "a");
	case_node(&c, "Conv", "last", "a w2", "y");
	check(&c);
}

// A product behind the sum, a constant that makes the tensor larger,
// a sum of the result with itself: none is part of the step.
void test_steps__what_does_not_belong_to_it(void **state)
{
	struct onnx_case c;
	conv(&c);
	case_floats(&c, "rows", DIMS(1, 1, 1, 1, 1), (float[]){2.0f});
	case_node(&c, "Add", "add", "conv shift", "a");
	case_node(&c, "Mul", "mul", "a gain", "m");
	case_node(&c, "Add", "twice", "m m", "t");
	case_node(&c, "Mul", "wider", "t rows", "y");
	check(&c);
}

// A Reshape and the Transpose behind it: channels go last, or what is moved mixes channels and pixels.
void test_steps__a_view_and_a_transpose(void **state)
{
	enum { LEFT = SIZE - 2 }; // of a 3x3 convolution
	static const struct {
		int rank;
		int64_t seen[5], perm[5];
	} move[] = {{5, {1, 1, K, LEFT, LEFT}, {0, 1, 3, 4, 2}}, {3, {1, K, LEFT * LEFT}, {0, 2, 1}}, {3, {1, K * LEFT, LEFT}, {0, 2, 1}}};
	for (size_t i = 0; i < sizeof move / sizeof *move; i++) {
		struct onnx_case c;
		conv(&c);
		case_ints(&c, "seen", move[i].rank, move[i].seen);
		case_node(&c, "Reshape", "view", "conv seen", "v");
		case_attr_ints(&c, case_node(&c, "Transpose", "turn", "v", "y"), "perm", move[i].rank, move[i].perm);
		check(&c);
	}
}

// Pad in blocks of channels; against the plain interpreter.
void test_steps__pad_in_blocks(void **state)
{
	static const int64_t pads[][8] = {
	    {0, 0, 1, 2, 0, 0, 3, 0}, {0, 0, 0, 0, 0, 0, 1, 1}, {0, 1, 1, 0, 0, 0, 0, 1}, {0, 0, -1, 0, 0, 0, 2, 1}};
	for (size_t i = 0; i < sizeof pads / sizeof *pads; i++) {
		struct onnx_case c;
		struct error err = {0};
		struct tensor x = {.type = DT_F32, .shape = shape_of(4, (int64_t[]){1, C, SIZE, SIZE})}, want = {0};
		struct support_random r = {74};
		conv(&c);
		case_ints(&c, "pads", 8, pads[i]);
		case_floats(&c, "value", DIMS(1), (float[]){i % 2 ? 0.5f : 0.0f});
		case_node(&c, "Pad", "pad", "conv pads value", "p");
		case_node(&c, "Relu", "relu", "p", "y");
		case_output(&c, c.graph, "y");
		case_load(&c);
		assert_int_equal(tensor_alloc(&x, NULL, &err), STATUS_OK);
		support_random_floats(&r, x.data, (size_t)tensor_count(&x), -1.0f, 1.0f);
		assert_int_equal(graph_eval(c.loaded, (const struct tensor *[]){&x}, &want, 1, &err), STATUS_OK);
		struct tensor y = infer(c.loaded, &x, false, 1);
		assert_true(shape_equal(&want.shape, &y.shape));
		for (int64_t e = 0; e < tensor_count(&y); e++)
			assert_float_equal(((float *)y.data)[e], ((float *)want.data)[e], 1e-5f);
		tensor_drop(&y);
		tensor_drop(&want);
		tensor_drop(&x);
		case_done(&c);
	}
}

// A layer normalisation written out, up to one of its last three operators.
static void norm_case(struct onnx_case *c, const float *gain, const float *shift, int64_t n, const char *last)
{
	case_init(c);
	case_input(c, "x", FLOAT, DIMS(3, 7, n));
	case_floats(c, "two", DIMS(1), (float[]){2.0f});
	case_floats(c, "eps", DIMS(1), (float[]){1e-5f});
	case_floats(c, "gain", 1, &n, gain);
	case_floats(c, "shift", 1, &n, shift);
	case_ints(c, "axes", 1, (int64_t[]){-1});
	case_node(c, "ReduceMean", "mean", "x axes", "m");
	case_node(c, "Sub", "sub", "x m", "d");
	case_node(c, "Pow", "pow", "d two", "p");
	case_node(c, "ReduceMean", "var", "p axes", "v");
	case_node(c, "Add", "eps_add", "v eps", "e");
	case_node(c, "Sqrt", "root", "e", "r");
	case_node(c, "Div", "div", "d r", strcmp(last, "div") ? "q" : "y");
	if (strcmp(last, "div") == 0)
		return;
	case_node(c, "Mul", "mul", "q gain", strcmp(last, "mul") ? "s" : "y");
	if (strcmp(last, "mul") == 0)
		return;
	case_node(c, "Add", "add", "shift s", "y");
}

void test_steps__layer_normalisation(void **state)
{
	static const char *const last[] = {"div", "mul", "add"};
	float gain[37], shift[37];
	struct support_random r = {75};
	support_random_floats(&r, gain, 37, 0.5f, 2.0f);
	support_random_floats(&r, shift, 37, -1.0f, 1.0f);
	for (int i = 0; i < 6; i++) {
		int64_t n = i < 3 ? 37 : 5;
		struct onnx_case c;
		struct error err = {0};
		struct tensor x = {.type = DT_F32, .shape = shape_of(3, (int64_t[]){3, 7, n})};
		norm_case(&c, gain, shift, n, last[i % 3]);
		c.opset.version = 18;
		case_output(&c, c.graph, "y");
		case_load(&c);
		assert_int_equal(tensor_alloc(&x, NULL, &err), STATUS_OK);
		support_random_floats(&r, x.data, (size_t)tensor_count(&x), -3.0f, 3.0f);
		struct tensor apart = infer(c.loaded, &x, true, 1), at_once = infer(c.loaded, &x, false, 2);
		for (int64_t e = 0; e < tensor_count(&x); e++)
			assert_float_equal(((float *)apart.data)[e], ((float *)at_once.data)[e], 1e-6f);
		for (int level = CPU_PLAIN; level < CPU_LEVELS; level++) {
			cpu_limit((enum cpu_level)level);
			struct tensor y = infer(c.loaded, &x, false, 1);
			assert_memory_equal(y.data, at_once.data, tensor_bytes(&y));
			tensor_drop(&y);
		}
		cpu_limit(CPU_LEVELS);
		tensor_drop(&apart);
		tensor_drop(&at_once);
		tensor_drop(&x);
		case_done(&c);
	}
}

enum { M = 6, N = 20, DEPTH = 13 };

static void product(struct onnx_case *c)
{
	struct support_random r = {76};
	float w[DEPTH * N], b[N];
	support_random_floats(&r, w, DEPTH * N, -1.0f, 1.0f);
	support_random_floats(&r, b, N, -1.0f, 1.0f);
	case_init(c);
	case_input(c, "x", FLOAT, DIMS(2, M, DEPTH));
	case_floats(c, "w", DIMS(DEPTH, N), w);
	case_floats(c, "b", DIMS(N), b);
	case_node(c, "MatMul", "product", "x w", "p");
	case_node(c, "Add", "add", "b p", "a");
}

static void check_close(struct onnx_case *c)
{
	struct support_random r = {77};
	struct error err = {0};
	struct tensor x = {.type = DT_F32, .shape = shape_of(3, (int64_t[]){2, M, DEPTH})};
	case_output(c, c->graph, "y");
	case_load(c);
	assert_int_equal(tensor_alloc(&x, NULL, &err), STATUS_OK);
	support_random_floats(&r, x.data, (size_t)tensor_count(&x), -1.0f, 1.0f);
	struct tensor apart = infer(c->loaded, &x, true, 1), at_once = infer(c->loaded, &x, false, 1);
	assert_true(shape_equal(&apart.shape, &at_once.shape));
	for (int64_t e = 0; e < tensor_count(&apart); e++)
		assert_float_equal(((float *)apart.data)[e], ((float *)at_once.data)[e], 1e-5f);
	tensor_drop(&apart);
	tensor_drop(&at_once);
	tensor_drop(&x);
	case_done(c);
}

// The bias of a product with a constant matrix is the product's, with the activation behind it.
void test_steps__a_row_behind_a_product(void **state)
{
	struct onnx_case c;
	product(&c);
	case_node(&c, "Relu", "relu", "a", "y");
	check_close(&c);
}

// Gelu written out, where `half` is .5, behind a product.
static void gelu(struct onnx_case *c, float half)
{
	product(c);
	case_floats(c, "root", DIMS(1), (float[]){1.41421356f});
	case_floats(c, "one", DIMS(1), (float[]){1.0f});
	case_floats(c, "half", DIMS(1), &half);
	case_node(c, "Div", "div", "a root", "d");
	case_node(c, "Erf", "erf", "d", "e");
	case_node(c, "Add", "sum", "e one", "s");
	case_node(c, "Mul", "mul", "a s", "m");
	case_node(c, "Mul", "halve", "m half", "y");
}

// And a chain that is not one, for its last factor.
void test_steps__gelu(void **state)
{
	for (int i = 0; i < 2; i++) {
		struct onnx_case c;
		gelu(&c, i ? 0.25f : 0.5f);
		check_close(&c);
	}
}

// How many steps lead to the output, where nothing else is asked for.
static int steps_to_output(struct onnx_case *c)
{
	struct steps steps;
	case_output(c, c->graph, "y");
	case_load(c);
	bool *keep = xcalloc((size_t)c->loaded->n_values + 1, sizeof *keep);
	keep[c->loaded->output[0]] = true;
	steps_build(&steps, c->loaded, NULL, keep, true, false);
	int n = steps.n;
	steps_done(&steps);
	free(keep);
	case_done(c);
	return n;
}

// What runs at once is the same to the last bits as what does not: only the number of steps tells.
void test_steps__chains_are_one_step(void **state)
{
	static const char *const last[] = {"div", "mul", "add"};
	static const float gain[5] = {1, 2, 3, 4, 5}, shift[5] = {5, 4, 3, 2, 1};
	struct onnx_case c;
	for (int i = 0; i < 3; i++) {
		norm_case(&c, gain, shift, 5, last[i]);
		c.opset.version = 18;
		assert_int_equal(steps_to_output(&c), 1);
	}
	for (int i = 0; i < 2; i++) {
		gelu(&c, i ? 0.25f : 0.5f);
		int steps = steps_to_output(&c);
		assert_true(i ? steps > 1 : steps == 1);
	}
}

// The mean of every channel of the convolution, whose own values come with it.
static void mean_case(int64_t keepdims, const int64_t axes[2], int threads)
{
	struct support_random r = {76};
	struct onnx_case c;
	struct error err = {0};
	struct tensor x = {.type = DT_F32, .shape = shape_of(4, (int64_t[]){1, C, SIZE, SIZE})};
	conv(&c);
	case_ints(&c, "axes", 2, axes);
	case_attr_int(&c, case_node(&c, "ReduceMean", "mean", "conv axes", "y"), "keepdims", keepdims);
	case_output(&c, c.graph, "y");
	c.opset.version = 18;
	case_load(&c);
	assert_int_equal(tensor_alloc(&x, NULL, &err), STATUS_OK);
	support_random_floats(&r, x.data, (size_t)tensor_count(&x), -1.0f, 1.0f);
	const struct graph *g = c.loaded;
	struct engine *e = engine_new(g, NULL, &(struct engine_options){.backend = BACKEND_ONEDNN, .threads = threads});
	struct tensor out[2] = {{0}};
	struct inference run = {.in = &x, .want = (int[]){g->output[0], g->node[0].out[0]}, .n_want = 2, .out = out};
	assert_int_equal(engine_infer(e, NULL, &run, &err), STATUS_OK);
	int64_t plane = out[1].shape.dim[2] * out[1].shape.dim[3];
	assert_int_equal(out[0].shape.rank, keepdims ? 4 : 2);
	assert_int_equal(tensor_count(&out[0]), K);
	for (int k = 0; k < K; k++) {
		double sum = 0;
		for (int64_t p = 0; p < plane; p++)
			sum += (double)((float *)out[1].data)[k * plane + p];
		assert_float_equal(((float *)out[0].data)[k], (float)(sum / (double)plane), 1e-5f);
	}
	engine_free(&e);
	tensor_drop(&out[0]);
	tensor_drop(&out[1]);
	tensor_drop(&x);
	case_done(&c);
}

void test_steps__mean_of_planes(void **state)
{
	for (int i = 0; i < 8; i++)
		mean_case(i % 2, i / 2 % 2 ? (int64_t[]){-1, -2} : (int64_t[]){2, 3}, 1 + i / 4);
}

// A long branch and a short one behind one product: what lies behind is that of the dearer way,
// not of both, and of nothing it is nothing.
void test_steps__what_is_behind_is_the_dearest_way(void **state)
{
	enum { SIDE = 64 };
	static float w[SIDE * SIDE];
	struct onnx_case c;
	struct steps s;
	case_init(&c);
	case_input(&c, "x", FLOAT, DIMS(SIDE, SIDE));
	case_floats(&c, "w", DIMS(SIDE, SIDE), w);
	case_node(&c, "MatMul", "first", "x w", "a");
	case_node(&c, "MatMul", "short", "a w", "d");
	case_node(&c, "MatMul", "long1", "a w", "b");
	case_node(&c, "MatMul", "long2", "b w", "c");
	case_output(&c, c.graph, "c");
	case_output(&c, c.graph, "d");
	case_load(&c);
	bool *keep = xcalloc((size_t)c.loaded->n_values, sizeof *keep);
	steps_build(&s, c.loaded, NULL, keep, false, false);
	static const struct {
		const char *value;
		double behind; // the products are equal, and the longest way has three
	} want[] = {{"a", 2 / 3.0}, {"b", 1 / 3.0}, {"c", 0}, {"d", 0}};
	for (int i = 0; i < 4; i++)
		assert_float_equal(s.step[s.of_value[graph_find_value(c.loaded, want[i].value)]].behind, want[i].behind, 1e-6);
	steps_done(&s);
	free(keep);
	case_done(&c);
}

// x * Sigmoid(x) behind a convolution and alone, and a Relu: how many steps.
static int gated_steps(bool ordered)
{
	struct onnx_case c;
	struct steps s = {0};
	float w[4] = {1, -1, 2, .5f};
	case_init(&c);
	case_input(&c, "x", FLOAT, DIMS(1, 2, 3, 3));
	case_floats(&c, "w", DIMS(2, 2, 1, 1), w);
	case_node(&c, "Conv", "conv", "x w", "a");
	case_node(&c, "Sigmoid", "gate", "a", "b");
	case_node(&c, "Mul", "gated", "a b", "d");
	case_node(&c, "Neg", "between", "d", "e");
	case_node(&c, "Sigmoid", "gate2", "e", "f");
	case_node(&c, "Mul", "gated2", "e f", "g");
	case_node(&c, "Conv", "conv2", "g w", "h");
	case_node(&c, "Relu", "relu", "h", "y");
	case_output(&c, c.graph, "y");
	case_load(&c);
	steps_build(&s, c.loaded, NULL, NULL, true, ordered);
	int n = s.n;
	steps_done(&s);
	case_done(&c);
	return n;
}

// ONNX Runtime's Sigmoid has bits of its own: where they are wanted it runs by itself,
// or codes behind it change places.
void test_steps__gates_in_the_runtimes_order(void **state)
{
	assert_int_equal(gated_steps(true) - gated_steps(false), 3);
}
