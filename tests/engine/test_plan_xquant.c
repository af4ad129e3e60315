// Target xquant as XSlim 2 plans and observes. Ranges are those that an independent implementation
// (torch, written from the tool's observer with its buffers) chose for the same histograms;
// plans of some hundred random networks were compared with it as well.
#include "../../src/engine/plan/observers/observer_impl.h"
#include "plan_case.h"

// A peak at bin `center`, as wide as `width` says; what is below `cut` is empty, but for both ends.
static void peak(uint32_t hist[JOINT_BINS], int center, int width, uint32_t cut)
{
	for (int i = 0; i < JOINT_BINS; i++) {
		uint32_t n = 1000000u / (1u + (uint32_t)((i - center) * (i - center) / width));
		hist[i] = n < cut ? 0 : n;
	}
	hist[0] += !hist[0];
	hist[JOINT_BINS - 1] += !hist[JOINT_BINS - 1];
}

void test_plan_xquant__ranges_are_the_tools(void **state)
{
	static const struct {
		int center, width;
		uint32_t cut;
		int first, wide;      // the percentiles' range
		int start, chosen;
	} wanted[] = {
		{0, 300, 50, 0, 2600, 0, 2400}, {0, 30, 200, 0, 500, 0, 512}, {2048, 2000, 30, 100, 3900, 0, 4032},
		{600, 50, 400, 300, 700, 224, 736}, {1200, 9000, 2000, 7, 3001, 0, 3296}, {100, 4, 900, 90, 33, 32, 512},
	};
	for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
		uint32_t hist[JOINT_BINS];
		peak(hist, wanted[i].center, wanted[i].width, wanted[i].cut);
		int start = wanted[i].first, width = wanted[i].wide;
		joint_search(hist, true, &start, &width);
		assert_int_equal(start, wanted[i].start);
		assert_int_equal(width, wanted[i].chosen);
		start = wanted[i].first, width = wanted[i].wide;
		joint_search(hist, false, &start, &width); // the divergence alone likes the whole range best
		assert_int_equal(start, 0);
		assert_int_equal(width, JOINT_BINS);
	}
}

// x -> Conv -> c, whose readers the case adds.
static struct builder convolution(void)
{
	static const float w[2] = {1, -.25f};
	struct builder b = builder_new();
	b.g->value[builder_input(&b, "x")].shape = shape_of(4, (int64_t[]){1, 1, 4, 4});
	builder_constant(&b, "w", DT_F32, shape_of(4, (int64_t[]){2, 1, 1, 1}), w);
	builder_node(&b, "Conv", "conv", "x w", "c");
	return b;
}

// The lowest value that the convolution's output can have after two samples of -100 .. 6.
static double lowest(struct builder *b, enum calib_method m)
{
	enum { N = 4000 };
	struct fixture f;
	struct error err;
	static float x[N];
	float scale[8];
	int32_t zero[8];
	builder_output(b, "y");
	fixture_plan(&f, b->g, "xquant", m);
	for (int i = 0; i < N; i++)
		x[i] = (float)(6 - 106.0 * i * i / N / (N - 1.0));
	x[N - 1] = -100;
	assert_in_range(f.p->n_observe, 1, 8);
	for (int i = 0; i < f.p->n_observe; i++) {
		struct observer *o = observer_new(f.p, i, 2);
		struct tensor t = {.type = DT_F32, .shape = shape_of(1, (int64_t[]){N}), .data = x};
		for (int phase = 0; phase < observer_phases(o); phase++)
			for (int s = 0; s < 2; s++)
				observer_feed(o, phase, s, &t);
		assert_true(observer_finish(o, &scale[i], &zero[i]));
		observer_free(&o);
	}
	assert_int_equal(plan_finish(f.p, scale, zero, f.e, &err), STATUS_OK);
	const struct quantizer *q = &out(&f, "conv")->quant;
	assert_int_equal(q->qmin, -128);
	double low = q->scale[0] * ((double)q->qmin - q->zero[0]);
	teardown(&f);
	return low;
}

static struct builder with_silu(void)
{
	struct builder b = convolution();
	builder_node(&b, "Sigmoid", "sigmoid", "c", "s");
	builder_node(&b, "Mul", "mul", "c s", "y");
	return b;
}

void test_plan_xquant__gates_do_not_see_far_below_zero(void **state)
{
	struct builder silu = with_silu();
	assert_float_equal(lowest(&silu, CALIB_MSE), -10, .1);
	silu = with_silu();
	assert_float_equal(lowest(&silu, CALIB_MINMAX), -100, .5); // only the tool's own observers know of it
	struct builder others = with_silu();
	builder_node(&others, "Relu", "relu", "c", "r"); // a third reader
	builder_output(&others, "r");
	assert_true(lowest(&others, CALIB_MSE) < -50);
	struct builder plain = convolution();
	builder_node(&plain, "LeakyRelu", "leaky", "c", "y");
	assert_true(lowest(&plain, CALIB_MSE) < -50);
}

static void check_constant(const float *value, float scale, int32_t zero)
{
	struct fixture f;
	struct builder b = convolution();
	builder_constant(&b, "k", DT_F32, shape_of(1, (int64_t[]){2}), value);
	builder_node(&b, "Mul", "mul", "c k", "y");
	builder_output(&b, "y");
	fixture_plan(&f, b.g, "xquant", CALIB_MINMAX);
	assert_float_equal(in(&f, "mul", 1)->quant.scale[0], scale, 1e-7);
	assert_int_equal(in(&f, "mul", 1)->quant.zero[0], zero);
	teardown(&f);
}

void test_plan_xquant__constants_that_are_codes(void **state)
{
	check_constant((float[]){2, -128}, 1, 0);
	check_constant((float[]){2, 255}, 1, -128);
	check_constant((float[]){2, 256}, 256 / 255.f, -128);
	check_constant((float[]){2.5f, -1}, 3.5f / 255, -55);
}

// Weights of a convolution have a scale for each channel; all others one power of two, rounded up.
// Sums are not aligned, a SiLU is two operators.
void test_plan_xquant__weights_and_activations(void **state)
{
	static const float w[4] = {1, .1f, -.3f, .2f};
	struct fixture f;
	struct builder b = convolution();
	builder_constant(&b, "v", DT_F32, shape_of(2, (int64_t[]){4, 1}), w);
	builder_node(&b, "Sigmoid", "sigmoid", "c", "s");
	builder_node(&b, "Mul", "mul", "c s", "m");
	builder_node(&b, "Add", "add", "m c", "a");
	builder_node(&b, "MatMul", "matmul", "a v", "y");
	builder_output(&b, "y");
	fixture_plan(&f, b.g, "xquant", CALIB_MINMAX);
	assert_int_equal(in(&f, "conv", 1)->quant.n, 2);
	assert_float_equal(in(&f, "conv", 1)->quant.scale[1], .5 / 255, 1e-9);
	assert_float_equal(in(&f, "matmul", 1)->quant.scale[0], 0x1p-6f, 0); // 2 / 255 is over 2^-7
	assert_int_equal(out(&f, "conv")->state, SLOT_ACTIVE);
	assert_int_equal(out(&f, "sigmoid")->state, SLOT_ACTIVE);
	assert_int_equal(in(&f, "add", 0)->state, SLOT_OVERLAPPED);
	assert_false(out(&f, "add")->quant.symmetric);
	teardown(&f);
}

// A region in float says nothing of who belongs together: what is behind it is rounded once, not where it is read and again.
void test_plan_xquant__behind_an_operator_in_float(void **state)
{
	static const struct {
		const char *target;
		enum slot_state relu, pool;
	} row[] = {{"xquant", SLOT_OVERLAPPED, SLOT_OVERLAPPED}, {"esp32p4", SLOT_ACTIVE, SLOT_ACTIVE}, {"tensorrt", SLOT_ACTIVE, SLOT_ACTIVE}};
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		static const float v[4] = {1, 2, 3, 4};
		struct fixture f;
		struct builder b = convolution();
		builder_constant(&b, "v", DT_F32, shape_of(4, (int64_t[]){2, 2, 1, 1}), v);
		builder_node(&b, "Relu", "relu", "c", "r");
		builder_node(&b, "Conv", "second", "r v", "d");
		builder_node(&b, "MaxPool", "pool", "d", "p");
		builder_node(&b, "Conv", "third", "p v", "y");
		builder_output(&b, "y");
		fixture_plan(&f, b.g, row[i].target, CALIB_MINMAX);
		f.e->precision[node(&f, "conv")] = f.e->precision[node(&f, "second")] = PREC_FLOAT;
		fixture_replan(&f);
		assert_int_equal(out(&f, "conv")->state, SLOT_FLOAT);
		assert_int_equal(in(&f, "relu", 0)->state, row[i].relu);
		assert_int_equal(out(&f, "relu")->state, SLOT_ACTIVE);
		assert_int_equal(in(&f, "pool", 0)->state, SLOT_ACTIVE);
		assert_int_equal(out(&f, "pool")->state, row[i].pool);
		teardown(&f);
	}
}
