// What lies behind a selection whose length is known only when it runs is computed in float: from codes too, which the selection moves.
#include "onnx_case.h"
#include "plan_case.h"
#include "qtui/engine/run.h"

enum { ROWS = 4, SIZE = 4 };
static const float x[ROWS * SIZE] = {1, .5f, -1, .25f, 0, .3f, 1, 1, 2, -.75f, .6f, 0, -1, 1, 1, 1};
static const int taken[] = {0, 2}; // rows whose first element is above 0

// The rows of max(x, 0) that begin above 0, which is known to the run only, and the operator behind.
static struct graph *selected(struct onnx_case *c, const char *op, int rank, const int64_t *dims, const float *w)
{
	static const float zero = 0;
	static const int64_t size[] = {ROWS, 1, 2, 2};
	case_init(c);
	case_input(c, "x", FLOAT, rank == 4 ? 4 : 2, rank == 4 ? size : (const int64_t[]){ROWS, SIZE});
	case_floats(c, "zero", 0, NULL, &zero);
	case_floats(c, "w", rank, dims, w);
	case_ints(c, "flat", 2, (const int64_t[]){ROWS, SIZE});
	case_ints(c, "one", 1, (const int64_t[]){1});
	case_ints(c, "begin", 1, (const int64_t[]){0});
	case_node(c, "Relu", "relu", "x", "r");
	case_node(c, "Reshape", "reshape", "x flat", "f");
	case_node(c, "Slice", "first", "f begin one one", "s");
	case_node(c, "Greater", "greater", "s zero", "g");
	case_node(c, "NonZero", "nonzero", "g", "at");
	case_node(c, "Slice", "rows", "at begin one begin", "i");
	case_node(c, "Squeeze", "squeeze", "i begin", "index");
	case_node(c, "Gather", "gather", "r index", "picked");
	case_node(c, op, "behind", "picked w", "y");
	case_output(c, c->graph, "y");
	case_load(c);
	struct graph *g = c->loaded;
	c->loaded = NULL;
	return g;
}

// One weight for each element of a row, which are summed.
static void check(const char *op, int rank, const int64_t *dims)
{
	static const float w[SIZE] = {.5f, -1, 2, .25f};
	struct onnx_case c;
	struct fixture f;
	struct error err = {0};
	fixture_grids(&f, selected(&c, op, rank, dims, w), "esp32p4", (struct grid){.scale = .5f}, (struct grid){0});
	struct tensor in = {.type = DT_F32, .shape = f.g->value[f.g->input[0]].shape, .data = (void *)x}, y = {0};
	struct engine *e = engine_new(f.g, NULL, &(struct engine_options){.backend = BACKEND_ONEDNN, .threads = 1});
	if (engine_infer(e, f.p, &(struct inference){.sim = SIM_FULL, .in = &in, .want = f.g->output, .n_want = 1, .out = &y}, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	assert_int_equal(tensor_count(&y), 2);
	for (int i = 0; i < 2; i++) {
		float want = 0;
		for (int k = 0; k < SIZE; k++) {
			float v = x[taken[i] * SIZE + k];
			want += w[k] * (float)quantize_one(&out(&f, "relu")->quant, 0, v > 0 ? v : 0) * .5f;
		}
		assert_float_equal(((float *)y.data)[i], want, 0);
	}
	tensor_drop(&y);
	engine_free(&e);
	teardown(&f);
	case_done(&c);
}

void test_run_lengths__codes_that_a_selection_moves(void **state)
{
	check("MatMul", 2, (const int64_t[]){SIZE, 1});
	check("Conv", 4, (const int64_t[]){1, 1, 2, 2});
}
