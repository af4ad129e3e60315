// A network of one input and one output y in the engine, on every backend, against the plain interpreter.
#ifndef TESTS_ENGINE_INFER_CASE_H
#define TESTS_ENGINE_INFER_CASE_H

#include <math.h>
#include "onnx_case.h"
#include "qtui/engine/eval.h"
#include "qtui/engine/run.h"

static inline struct tensor infer_result(const struct graph *g, const struct tensor *x, int backend)
{
	struct error err = {0};
	struct tensor y = {0};
	struct engine *e = engine_new(g, NULL, &(struct engine_options){.backend = backend, .threads = SUPPORT_WIDTH(2)});
	if (engine_infer(e, NULL, &(struct inference){.in = x, .want = g->output, .n_want = 1, .out = &y}, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	engine_free(&e);
	return y;
}

// Ends the case.
static inline void infer_check(struct onnx_case *c, float tolerance)
{
	struct support_random r = {82};
	struct error err = {0};
	struct tensor want = {0};
	case_output(c, c->graph, "y");
	case_load(c);
	struct tensor x = {.type = DT_F32, .shape = c->loaded->value[c->loaded->input[0]].shape};
	const struct tensor *in = &x;
	assert_int_equal(tensor_alloc(&x, NULL, &err), STATUS_OK);
	support_random_floats(&r, x.data, (size_t)tensor_count(&x), -1.0f, 1.0f);
	assert_int_equal(graph_eval(c->loaded, &in, &want, 1, &err), STATUS_OK);
	for (int backend = 0; backend < BACKEND_COUNT; backend++) {
		struct tensor y = infer_result(c->loaded, &x, backend);
		assert_true(shape_equal(&y.shape, &want.shape));
		for (int64_t i = 0; i < tensor_count(&y); i++)
			assert_true(fabsf(((float *)y.data)[i] - ((float *)want.data)[i]) <= tolerance);
		tensor_drop(&y);
	}
	tensor_drop(&want);
	tensor_drop(&x);
	case_done(c);
}

#endif
