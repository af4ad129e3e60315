// Convolution and pooling over three spatial dimensions:
// the engine's kernels for two of them against the plain interpreter.
#include <math.h>
#include "graph_builder.h"
#include "qtui/engine/eval.h"
#include "qtui/engine/plan.h"
#include "qtui/engine/run.h"

enum { DIMS = 3 };
struct deep_case {
	int64_t n, c, oc, group, in[DIMS], kernel[DIMS], stride[DIMS], dilation[DIMS], pads[2 * DIMS];
};

// With outputs along every dimension.
static struct deep_case random_case(struct support_random *r)
{
	struct deep_case k = {.n = support_random_int(r, 1, 2), .group = support_random_int(r, 1, 3)};
	k.c = k.group * support_random_int(r, 1, 9);
	k.oc = k.group * support_random_int(r, 1, 9);
	for (int i = 0; i < DIMS; i++) {
		k.kernel[i] = support_random_int(r, 1, 3);
		k.stride[i] = support_random_int(r, 1, 2);
		k.dilation[i] = support_random_int(r, 1, 2);
		k.pads[i] = support_random_int(r, 0, k.kernel[i] - 1);
		k.pads[i + DIMS] = support_random_int(r, 0, k.kernel[i] - 1);
		k.in[i] = support_random_int(r, 5, 11);
	}
	return k;
}

static struct ints ints_of(struct builder *b, const int64_t *v, int n)
{
	int64_t *own = arena_alloc(b->g->arena, (size_t)n * sizeof *own);
	memcpy(own, v, (size_t)n * sizeof *own);
	return (struct ints){.at = own, .n = n};
}

// x -> the operator -> y, as a model file would be read.
static struct graph *graph_of(const struct deep_case *k, const char *op, const float *weights, const float *bias)
{
	struct builder b = builder_new();
	bool conv = strcmp(op, "Conv") == 0;
	struct shape w = shape_of(5, (int64_t[]){k->oc, k->c / k->group, k->kernel[0], k->kernel[1], k->kernel[2]});
	struct error err = {0};
	b.g->value[builder_input(&b, "x")].shape = shape_of(5, (int64_t[]){k->n, k->c, k->in[0], k->in[1], k->in[2]});
	if (conv) {
		builder_constant(&b, "w", DT_F32, w, weights);
		builder_constant(&b, "b", DT_F32, shape_of(1, &k->oc), bias);
	}
	struct node *n = &b.g->node[builder_node(&b, op, "node", conv ? "x w b" : "x", "y")];
	if (conv)
		*(struct conv_attrs *)n->attrs = (struct conv_attrs){.auto_pad = "NOTSET",
		    .group = k->group,
		    .output_padding.n = -1,
		    .output_shape.n = -1,
		    .kernel_shape = ints_of(&b, k->kernel, DIMS),
		    .strides = ints_of(&b, k->stride, DIMS),
		    .dilations = ints_of(&b, k->dilation, DIMS),
		    .pads = ints_of(&b, k->pads, 2 * DIMS)};
	else
		*(struct pool_attrs *)n->attrs = (struct pool_attrs){.auto_pad = "NOTSET",
		    .kernel_shape = ints_of(&b, k->kernel, DIMS),
		    .strides = ints_of(&b, k->stride, DIMS),
		    .dilations = ints_of(&b, k->dilation, DIMS),
		    .pads = ints_of(&b, k->pads, 2 * DIMS)};
	const struct tensor x = {.type = DT_F32, .shape = b.g->value[0].shape};
	const struct tensor *in[] = {&x, b.g->value[conv ? 1 : 0].constant, b.g->value[conv ? 2 : 0].constant};
	struct tensor y;
	assert_int_equal(n->op->shape(n, in, &y, &err), STATUS_OK);
	b.g->value[n->out[0]].shape = y.shape;
	builder_output(&b, "y");
	return b.g;
}

static struct tensor allocated(const struct shape *shape)
{
	struct error err = {0};
	struct tensor t = {.type = DT_F32, .shape = *shape};
	assert_int_equal(tensor_alloc(&t, NULL, &err), STATUS_OK);
	return t;
}

static void assert_same(const struct tensor *a, const struct tensor *b, float tolerance)
{
	const float *x = a->data, *y = b->data;
	assert_true(shape_equal(&a->shape, &b->shape));
	for (int64_t i = 0; i < tensor_count(a); i++)
		if (!(fabsf(x[i] - y[i]) <= tolerance * (1 + fabsf(y[i]))))
			fail_msg("element %lld is %.9g, not %.9g", (long long)i, (double)x[i], (double)y[i]);
}

static struct tensor infer(struct graph *g, const struct plan *p, const struct tensor *x, enum kernel_backend b)
{
	struct error err = {0};
	struct tensor y;
	struct engine *e = engine_new(g, NULL, &(struct engine_options){.backend = b, .threads = 2});
	if (engine_infer(e, p, &(struct inference){.sim = p ? SIM_FULL : SIM_FLOAT, .in = x, .want = g->output, .n_want = 1, .out = &y}, &err))
		fail_msg("%s", err.text);
	engine_free(&e);
	return y;
}

static struct tensor interpreted(struct graph *g, const struct tensor *x)
{
	struct error err = {0};
	struct tensor y = {0};
	assert_int_equal(graph_eval(g, &x, &y, 1, &err), STATUS_OK);
	return y;
}

static void check_floats(struct support_random *r, const char *op)
{
	struct deep_case k = random_case(r);
	float w[27 * 9 * 27], bias[27];
	support_random_floats(r, w, sizeof w / sizeof *w, -1, 1);
	support_random_floats(r, bias, 27, -1, 1);
	struct graph *g = graph_of(&k, op, w, bias);
	struct tensor x = allocated(&g->value[g->input[0]].shape);
	support_random_floats(r, x.data, (size_t)tensor_count(&x), -1, 1);
	struct tensor want = interpreted(g, &x);
	for (int b = 0; b < BACKEND_COUNT; b++) {
		struct tensor y = infer(g, NULL, &x, (enum kernel_backend)b);
		assert_same(&y, &want, strcmp(op, "Conv") == 0 ? 1e-4f : 0);
		tensor_drop(&y);
	}
	tensor_drop(&x);
	tensor_drop(&want);
	graph_free(&g);
}

void test_deep__convolutions(void **state)
{
	struct support_random r = {1};
	for (int i = 0; i < 40; i++)
		check_floats(&r, "Conv");
}

void test_deep__maxima(void **state)
{
	struct support_random r = {2};
	for (int i = 0; i < 40; i++)
		check_floats(&r, "MaxPool");
}

// Numbers of 1/128 and one of 127/128 a channel, whose scale is then a power of two:
// sums of floats are exact, and codes are told.
static void fill_exact(struct support_random *r, float *w, int64_t channels, int64_t each)
{
	for (int64_t i = 0; i < channels * each; i++)
		w[i] = i % each == 0 ? 127.0f / 128 : (float)support_random_int(r, -127, 127) / 128;
}

static struct plan *plan_of(struct graph *g, struct edits *e, const struct target *t, float in_scale, float out_scale)
{
	struct error err = {0};
	struct plan *p;
	float scale[8];
	int32_t zero[8];
	if (plan_new(&p, g, t, target_default_calibration(t), e, NULL, &err))
		fail_msg("%s", err.text);
	assert_int_equal(p->n_observe, 2);
	for (int i = 0; i < 2; i++) {
		bool in = p->observe[i].value == g->input[0];
		scale[i] = in ? in_scale : out_scale;
		zero[i] = in ? 7 : 121;
	}
	if (plan_finish(p, scale, zero, e, &err))
		fail_msg("%s", err.text);
	return p;
}

static void check_codes(struct support_random *r, const struct target *t)
{
	struct deep_case k = random_case(r);
	float w[27 * 9 * 27], bias[27] = {0};
	fill_exact(r, w, k.oc, k.c / k.group * k.kernel[0] * k.kernel[1] * k.kernel[2]);
	struct graph *g = graph_of(&k, "Conv", w, bias);
	struct edits *e = edits_new(g);
	struct plan *p = plan_of(g, e, t, 0x1p-5f, 0x1p-3f);
	struct tensor x = allocated(&g->value[g->input[0]].shape);
	for (int64_t i = 0; i < tensor_count(&x); i++)
		((float *)x.data)[i] = (float)(support_random_int(r, 0, 255) - 7) * 0x1p-5f;
	struct tensor want = interpreted(g, &x);
	const struct quantizer *q = slot_quantizer(plan_out(p, 0, 0));
	assert_non_null(q);
	for (int64_t i = 0; i < tensor_count(&want); i++) {
		float *v = (float *)want.data + i;
		*v = (float)(quantize_one(q, 0, *v) - q->zero[0]) * q->scale[0];
	}
	for (int b = 0; b < BACKEND_COUNT; b++) {
		struct tensor y = infer(g, p, &x, (enum kernel_backend)b);
		assert_same(&y, &want, 0);
		tensor_drop(&y);
	}
	tensor_drop(&x);
	tensor_drop(&want);
	plan_free(&p);
	edits_free(&e);
	graph_free(&g);
}

// Zero points that are not zero: what lies outside of the input stands for it.
void test_deep__convolutions_of_codes(void **state)
{
	struct support_random r = {3};
	struct target *t;
	struct error err = {0};
	if (target_load(&t, "onnxruntime", &err))
		fail_msg("%s", err.text);
	for (int i = 0; i < 40; i++)
		check_codes(&r, t);
	target_free(&t);
}
