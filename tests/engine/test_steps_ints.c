// Products of integers: what is one step with a product of floats stays a step of its own.
#include "onnx_case.h"
#include "qtui/engine/run.h"

#define INT64 ONNX__TENSOR_PROTO__DATA_TYPE__INT64

void test_steps_ints__relu_behind_a_product(void **state)
{
	static const char *const ops[] = {"MatMul", "Gemm"};
	static const int64_t w[4] = {1, 2, 3, -60};
	(void)state;
	for (int i = 0; i < 2; i++) {
		struct onnx_case c;
		struct error err = {0};
		int64_t x[2] = {5, 7};
		case_init(&c);
		case_input(&c, "x", INT64, 2, (const int64_t[]){1, 2});
		Onnx__TensorProto *t = case_ints(&c, "w", 4, w);
		t->n_dims = 2;
		t->dims = case_new(&c, 2 * sizeof *t->dims);
		t->dims[0] = t->dims[1] = 2;
		case_node(&c, ops[i], "product", "x w", "y");
		case_node(&c, "Relu", "relu", "y", "z");
		case_output(&c, c.graph, "z");
		case_load(&c);
		const struct graph *g = c.loaded;
		struct tensor in = {.type = DT_I64, .shape = g->value[g->input[0]].shape, .data = x}, out = {0};
		struct engine *e = engine_new(g, NULL, &(struct engine_options){.backend = BACKEND_ONEDNN, .threads = 1});
		assert_int_equal(engine_infer(e, NULL, &(struct inference){.in = &in, .want = g->output, .n_want = 1, .out = &out}, &err), STATUS_OK);
		assert_memory_equal(out.data, ((int64_t[]){26, 0}), 2 * sizeof(int64_t));
		tensor_drop(&out);
		engine_free(&e);
		case_done(&c);
	}
}
