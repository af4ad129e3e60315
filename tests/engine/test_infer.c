// Whole networks by the kernels against the plain interpreter, which knows no layout, no fusion and no kernel.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "infer_case.h"
#include "qtui/engine/eval.h"
#include "qtui/engine/onnx.h"
#include "qtui/engine/run.h"
#include "support.h"

enum { MOST = 8 }; // inputs or outputs

static void fill(struct support_random *r, struct tensor *t)
{
	struct error err = {0};
	assert_int_equal(tensor_alloc(t, NULL, &err), STATUS_OK);
	memset(t->data, 0, tensor_bytes(t));
	if (t->type == DT_F32)
		support_random_floats(r, t->data, (size_t)tensor_count(t), -1.0f, 1.0f);
}

static void assert_near(const struct tensor *a, const struct tensor *b)
{
	assert_true(shape_equal(&a->shape, &b->shape));
	assert_int_equal(a->type, DT_F32);
	const float *x = a->data, *y = b->data;
	for (int64_t i = 0; i < tensor_count(a); i++)
		if (!(fabsf(x[i] - y[i]) <= 1e-4f * (1.0f + fabsf(y[i]))))
			fail_msg("element %lld is %.9g, the interpreter says %.9g", (long long)i, (double)x[i], (double)y[i]);
}

static void check(const char *model, const struct onnx_input_shape *shapes, int n_shapes, const int64_t *rate)
{
	const char *path = support_data(model);
	struct support_random r = {61};
	struct error err = {0};
	struct graph *g = NULL;
	struct tensor in[MOST] = {{0}}, expected[MOST] = {{0}}, out[MOST] = {{0}};
	const struct tensor *given[MOST];
	if (!path)
		skip();
	assert_int_equal(onnx_load(&g, path, &(struct onnx_options){.shape = shapes, .n_shapes = n_shapes}, &err), STATUS_OK);
	for (int i = 0; i < g->n_inputs; i++) {
		const struct value *v = &g->value[g->input[i]];
		in[i] = (struct tensor){.type = v->type, .shape = v->shape};
		fill(&r, &in[i]);
		if (v->type == DT_I64)
			memcpy(in[i].data, rate, sizeof *rate);
		given[i] = &in[i];
	}
	assert_int_equal(graph_eval(g, given, expected, SUPPORT_WIDTH(2), &err), STATUS_OK);
	for (int threads = 1; threads <= 2; threads++) {
		struct engine *e = engine_new(g, NULL, &(struct engine_options){.backend = BACKEND_ONEDNN, .threads = threads});
		for (int again = 0; again < 2; again++) {
			struct inference run = {.in = in, .want = g->output, .n_want = g->n_outputs, .out = out};
			assert_int_equal(engine_infer(e, NULL, &run, &err), STATUS_OK);
			for (int i = 0; i < g->n_outputs; i++) {
				assert_near(&out[i], &expected[i]);
				tensor_drop(&out[i]);
			}
		}
		engine_free(&e);
	}
	for (int i = 0; i < MOST; i++) {
		tensor_drop(&in[i]);
		tensor_drop(&expected[i]);
	}
	graph_free(&g);
}

// An If whose branches are whole networks, with an LSTM and one-dimensional convolutions.
void test_infer__branches(void **state)
{
	static const int64_t rate[] = {16000, 8000};
	for (int i = 0; i < 2; i++) {
		const struct onnx_input_shape shapes[] = {{.name = "input", .shape = shape_of(2, (int64_t[]){1, 576 >> i})},
		    {.name = "state", .shape = shape_of(3, (int64_t[]){2, 1, 128})}};
		check("misc/silero_vad.onnx", shapes, 2, &rate[i]);
	}
}

// Linear Resize, a transposed convolution, gates of one value a channel.
void test_infer__segmentation(void **state)
{
	check("misc/selfie_segmentation.onnx", NULL, 0, NULL);
}

// A file that is quantized: whatever its size, what a DequantizeLinear makes of constants is a constant.
void test_infer__dequantized_weights_are_constants(void **state)
{
	const char *path = support_data("models/yolov8n_qdq_minmax.onnx");
	struct error err = {0};
	struct graph *g = NULL;
	if (!path)
		skip();
	assert_int_equal(onnx_load(&g, path, &(struct onnx_options){0}, &err), STATUS_OK);
	for (int i = 0; i < g->n_nodes; i++)
		if (g->node[i].op->id == OP_Conv)
			assert_non_null(g->value[g->node[i].in[1]].constant);
	graph_free(&g);
}

// Of a Split in blocks of channels one part is not wanted, and has no name.
void test_infer__a_split_with_a_part_that_nobody_wants(void **state)
{
	float w[48 * 4] = {0};
	struct support_random r = {83};
	struct onnx_case c;
	case_init(&c);
	case_input(&c, "x", FLOAT, DIMS(1, 4, 5, 5));
	support_random_floats(&r, w, 48 * 4, -1, 1);
	case_floats(&c, "w", DIMS(48, 4, 1, 1), w);
	case_node(&c, "Conv", "conv", "x w", "a");
	case_ints(&c, "sizes", 3, (int64_t[]){16, 16, 16});
	case_attr_int(&c, case_node(&c, "Split", "split", "a sizes", "b - d"), "axis", 1);
	case_node(&c, "Add", "add", "b d", "y");
	infer_check(&c, 1e-5f);
}

// The mask of a Dropout is an output of its own beside the elements that are passed on.
void test_infer__the_mask_of_a_dropout(void **state)
{
	float values[] = {1, -2, 3};
	struct onnx_case c;
	struct error err = {0};
	struct tensor out[2] = {0}, in = {.type = DT_F32, .shape = shape_of(1, (int64_t[]){3})};
	case_init(&c);
	case_input(&c, "x", FLOAT, DIMS(3));
	case_node(&c, "Dropout", "drop", "x", "y mask");
	case_output(&c, c.graph, "y");
	case_output(&c, c.graph, "mask");
	case_load(&c);
	if (tensor_alloc(&in, NULL, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	memcpy(in.data, values, sizeof values);
	struct engine *e = engine_new(c.loaded, NULL, &(struct engine_options){.backend = BACKEND_ONEDNN, .threads = 1});
	struct inference run = {.in = &in, .want = c.loaded->output, .n_want = 2, .out = out};
	assert_int_equal(engine_infer(e, NULL, &run, &err), STATUS_OK);
	assert_memory_equal(out[0].data, values, sizeof values);
	assert_int_equal(out[1].type, DT_BOOL);
	assert_memory_equal(out[1].data, "\1\1\1", 3);
	engine_free(&e);
	tensor_drop(&in);
	tensor_drop(&out[0]);
	tensor_drop(&out[1]);
	case_done(&c);
}
