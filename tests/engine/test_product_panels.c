// Products whose constant is so large that it goes through its kernel in panels of columns.
// All values are small integers on the grids of their columns, so that every sum is exact in every simulation.
#include <math.h>
#include "onnx_case.h"
#include "plan_case.h"
#include "qtui/engine/run.h"

enum { K = 4200, N = 1100, MOST = 3 }; // 17.6 MiB: a panel, and less than another

static int x_at(int i, int p)
{
	return (5 * i + 3 * p) % 13 - 6;
}

// Columns differ in how far they reach, and so in their scales.
static int w_at(int p, int j)
{
	return ((7 * p + 3 * j + p * j % 11) % 15 - 7) * (1 << j % 7);
}

static int bias_at(int j)
{
	return j % 9 * 16;
}

static double sum_at(int i, int j)
{
	long sum = bias_at(j);
	for (int p = 0; p < K; p++)
		sum += (long)x_at(i, p) * w_at(p, j);
	return (double)sum;
}

static struct graph *gemm(int m, bool transposed)
{
	struct onnx_case c;
	float *w = xmalloc((size_t)K * N * sizeof *w), bias[N];
	for (int p = 0; p < K; p++)
		for (int j = 0; j < N; j++)
			w[transposed ? j * K + p : p * N + j] = (float)w_at(p, j);
	for (int j = 0; j < N; j++)
		bias[j] = (float)bias_at(j);
	case_init(&c);
	case_input(&c, "x", ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT, DIMS(m, K));
	case_floats(&c, "w", 2, transposed ? (int64_t[]){N, K} : (int64_t[]){K, N}, w);
	case_floats(&c, "b", DIMS(N), bias);
	case_attr_int(&c, case_node(&c, "Gemm", "gemm", "x w b", "y"), "transB", transposed);
	case_output(&c, c.graph, "y");
	case_load(&c);
	struct graph *g = c.loaded;
	c.loaded = NULL;
	case_done(&c);
	free(w);
	return g;
}

#define STEP 0x1p10f // of the output

static float on_grid(double sum)
{
	return fminf(fmaxf(rintf((float)sum / STEP), -128), 127) * STEP;
}

static void fill(float *x, int m)
{
	for (int i = 0; i < m * K; i++)
		x[i] = (float)x_at(i / K, i % K);
}

static void check(const struct fixture *f, enum sim sim, int m, int threads)
{
	float x[MOST * K];
	struct error err;
	struct tensor in = {.type = DT_F32, .shape = shape_of(2, (int64_t[]){m, K}), .data = x}, y;
	struct engine *e = engine_new(f->g, NULL, &(struct engine_options){.backend = BACKEND_ONEDNN, .threads = threads});
	fill(x, m);
	struct inference run = {.sim = sim, .in = &in, .want = f->g->output, .n_want = 1, .out = &y};
	if (engine_infer(e, sim == SIM_FLOAT ? NULL : f->p, &run, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	for (int i = 0; i < m * N; i++) {
		double sum = sum_at(i / N, i % N);
		assert_float_equal(((float *)y.data)[i], sim == SIM_FULL ? (double)on_grid(sum) : sum, 0);
	}
	tensor_drop(&y);
	engine_free(&e);
}

static void open_gemm(struct fixture *f, int m, bool transposed)
{
	struct error err;
	float scale[2];
	int32_t zero[2] = {0};
	fixture_plan(f, gemm(m, transposed), "esp32p4", CALIB_MINMAX);
	assert_int_equal(f->p->n_observe, 2);
	for (int i = 0; i < 2; i++)
		scale[i] = strcmp(f->g->value[f->p->observe[i].value].name, "x") == 0 ? 1 : STEP;
	if (plan_finish(f->p, scale, zero, f->e, &err))
		fail_msg("%s", err.text);
}

static void check_all(int m, bool transposed)
{
	struct fixture f;
	open_gemm(&f, m, transposed);
	assert_int_equal(in(&f, "gemm", 1)->quant.n, N);
	check(&f, SIM_FLOAT, m, 1);
	check(&f, SIM_WEIGHTS, m, 2);
	check(&f, SIM_FULL, m, 1);
	teardown(&f);
}

void test_product_panels__columns_lie_apart(void **state)
{
	check_all(1, false);
	check_all(MOST, false);
}

void test_product_panels__columns_lie_together(void **state)
{
	check_all(1, true);
	check_all(MOST, true);
}

// What is made of the weights is as large as the model has it: it may be refused at any place.
static int refusals(const struct fixture *f, enum sim sim)
{
	float x[K];
	struct tensor in = {.type = DT_F32, .shape = shape_of(2, (int64_t[]){1, K}), .data = x}, y;
	enum status st = STATUS_NOMEM;
	int of_weights = 0;
	fill(x, 1);
	for (long n = 1; st != STATUS_OK; n++) {
		struct error err = {0};
		struct engine *e = engine_new(f->g, NULL, &(struct engine_options){.backend = BACKEND_ONEDNN, .threads = 1});
		struct inference run = {.sim = sim, .in = &in, .want = f->g->output, .n_want = 1, .out = &y};
		mem_fail_at(n);
		st = engine_infer(e, f->p, &run, &err);
		mem_fail_at(0);
		assert_true(st == STATUS_OK || st == STATUS_NOMEM);
		of_weights += st && strstr(err.text, "no memory for the weights");
		engine_free(&e);
	}
	tensor_drop(&y);
	return of_weights;
}

void test_product_panels__no_memory_for_the_weights(void **state)
{
	enum { PANELS = 2, WEIGHTS_CODES_SCALE_BIAS = 4 };
	struct fixture f;
	open_gemm(&f, 1, false);
	assert_int_equal(refusals(&f, SIM_WEIGHTS), PANELS);
	assert_int_equal(refusals(&f, SIM_FULL), PANELS * WEIGHTS_CODES_SCALE_BIAS);
	teardown(&f);
}
