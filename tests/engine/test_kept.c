// What is kept from one single run to the next belongs to one plan.
#include "onnx_case.h"
#include "plan_case.h"
#include "qtui/engine/run.h"

enum { N = 2 * 4 * 4 };

static struct tensor infer(struct engine *e, const struct graph *g, const struct plan *p)
{
	float x[4 * 4];
	struct error err = {0};
	struct tensor in = {.type = DT_F32, .shape = shape_of(4, (int64_t[]){1, 1, 4, 4}), .data = x}, y = {0};
	for (int i = 0; i < 4 * 4; i++)
		x[i] = (float)i / 7;
	if (engine_infer(e, p, &(struct inference){.sim = SIM_FULL, .in = &in, .want = g->output, .n_want = 1, .out = &y}, &err))
		fail_msg("%s", err.text);
	assert_int_equal(tensor_count(&y), N);
	return y;
}

static struct graph *convolution(void)
{
	struct onnx_case c;
	case_init(&c);
	case_input(&c, "x", ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT, DIMS(1, 1, 4, 4));
	case_floats(&c, "w", DIMS(2, 1, 1, 1), (float[]){1, -.25f});
	case_node(&c, "Conv", "conv", "x w", "y");
	case_output(&c, c.graph, "y");
	case_load(&c);
	struct graph *g = c.loaded;
	c.loaded = NULL;
	case_done(&c);
	return g;
}

static struct plan *plan_with(const struct fixture *f, float scale)
{
	struct plan *p;
	struct error err;
	if (plan_new(&p, f->g, f->t, CALIB_MINMAX, f->e, NULL, &err) ||
	    plan_finish(p, (float[]){scale, scale}, (int32_t[]){0, 0}, f->e, &err))
		fail_msg("%s", err.text);
	return p;
}

// A plan that lies where another was has nothing of it.
void test_kept__a_plan_at_the_address_of_another(void **state)
{
	struct fixture f;
	fixture_plan(&f, convolution(), "esp32p4", CALIB_MINMAX);
	assert_int_equal(f.p->n_observe, 2);
	struct plan *fine = plan_with(&f, 0x1p-5f), *coarse = plan_with(&f, 1), kept = *fine;
	struct engine *e = engine_new(f.g, NULL, &(struct engine_options){.backend = BACKEND_REF, .threads = 1});
	struct tensor before = infer(e, f.g, fine), want = infer(e, f.g, coarse), again = infer(e, f.g, fine);
	*fine = *coarse;
	struct tensor now = infer(e, f.g, fine);
	assert_memory_equal(again.data, before.data, N * sizeof(float));
	assert_memory_not_equal(want.data, before.data, N * sizeof(float));
	assert_memory_equal(now.data, want.data, N * sizeof(float));
	*fine = kept;
	struct tensor *all[] = {&before, &want, &again, &now};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		tensor_drop(all[i]);
	engine_free(&e);
	plan_free(&fine);
	plan_free(&coarse);
	teardown(&f);
}
