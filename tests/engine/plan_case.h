// What tests of plans share: a graph, its plan for a target, and slots by the names of nodes.
// What goes wrong fails the test.
#ifndef TESTS_ENGINE_PLAN_CASE_H
#define TESTS_ENGINE_PLAN_CASE_H

#include "graph_builder.h"
#include "qtui/engine/plan.h"

struct fixture {
	struct graph *g;
	struct target *t;
	struct edits *e;
	struct plan *p;
};

// The plan without scales; method -1: the target's own. The fixture takes the graph over.
static inline void fixture_plan(struct fixture *f, struct graph *g, const char *target, int method)
{
	struct error err;
	*f = (struct fixture){.g = g, .e = edits_new(g)};
	if (target_load(&f->t, target, &err) ||
	    plan_new(&f->p, g, f->t, method < 0 ? target_default_calibration(f->t) : (enum calib_method)method, f->e, NULL, &err))
		fail_msg("%s", err.text);
}

static inline void teardown(struct fixture *f)
{
	plan_free(&f->p);
	edits_free(&f->e);
	target_free(&f->t);
	graph_free(&f->g);
}

static inline int node(const struct fixture *f, const char *name)
{
	int id = graph_find_node(f->g, name);
	assert_true(id >= 0);
	return id;
}

// What the node makes, as a value id.
static inline int tensor(const struct fixture *f, const char *name)
{
	return graph_output(f->g, node(f, name));
}

static inline struct slot *in(const struct fixture *f, const char *name, int i)
{
	return plan_in(f->p, node(f, name), i);
}

static inline struct slot *out(const struct fixture *f, const char *name)
{
	return plan_out(f->p, node(f, name), 0);
}

struct grid {
	float scale;
	int32_t zero;
};
// The finished plan of min-max calibration: every observed tensor has the grid `usual`, that called "wide" the grid `wide`.
static inline void fixture_grids(struct fixture *f, struct graph *g, const char *target, struct grid usual, struct grid wide)
{
	struct error err;
	float scale[32];
	int32_t zero[32];
	fixture_plan(f, g, target, CALIB_MINMAX);
	assert_in_range(f->p->n_observe, 1, 32);
	for (int i = 0; i < f->p->n_observe; i++) {
		bool is_wide = strcmp(f->g->value[f->p->observe[i].value].name, "wide") == 0;
		scale[i] = is_wide ? wide.scale : usual.scale;
		zero[i] = is_wide ? wide.zero : usual.zero;
	}
	if (plan_finish(f->p, scale, zero, f->e, &err))
		fail_msg("%s", err.text);
}

static inline void has_grid(const struct slot *s, float scale, int32_t zero, int qmax)
{
	assert_int_not_equal(s->state, SLOT_FLOAT);
	assert_float_equal(s->quant.scale[0], scale, 0);
	assert_int_equal(s->quant.zero[0], zero);
	assert_int_equal(s->quant.qmax, qmax);
}

// x -> Conv "conv", its weights {1, -.25}, its bias {.5, 0}; and the limits "low" and "six" of a Relu6.
static inline struct builder one_convolution(const char *result)
{
	static const float w[2] = {1, -.25f}, bias[2] = {.5f, 0};
	struct builder b = builder_new();
	b.g->value[builder_input(&b, "x")].shape = shape_of(4, (int64_t[]){1, 1, 4, 4});
	builder_constant(&b, "w", DT_F32, shape_of(4, (int64_t[]){2, 1, 1, 1}), w);
	builder_constant(&b, "bias", DT_F32, shape_of(1, (int64_t[]){2}), bias);
	builder_constant(&b, "low", DT_F32, shape_of(0, NULL), &(float){0});
	builder_constant(&b, "six", DT_F32, shape_of(0, NULL), &(float){6});
	builder_node(&b, "Conv", "conv", "x w bias", result);
	return b;
}

// x -> Conv+Relu -> MaxPool -> Conv (Swish) -> Add with the pool -> Concat with an index chain beside it.
static inline struct graph *small_graph(void)
{
	static const float w1[2 * 1 * 1 * 1] = {1.0f, -0.25f}, b1[2] = {0.5f, -0.125f};
	static const float w2[2 * 2 * 1 * 1] = {0.5f, 0.25f, -1.5f, 2.0f};
	static const int64_t shape[2] = {1, -1};
	struct builder b = builder_new();
	int x = builder_input(&b, "x");
	b.g->value[x].shape = shape_of(4, (int64_t[]){1, 1, 4, 4});
	builder_constant(&b, "w1", DT_F32, shape_of(4, (int64_t[]){2, 1, 1, 1}), w1);
	builder_constant(&b, "b1", DT_F32, shape_of(1, (int64_t[]){2}), b1);
	builder_constant(&b, "w2", DT_F32, shape_of(4, (int64_t[]){2, 2, 1, 1}), w2);
	builder_constant(&b, "shape", DT_I64, shape_of(1, (int64_t[]){2}), shape);
	builder_node(&b, "Conv", "conv1", "x w1 b1", "c1");
	builder_node(&b, "Relu", "relu1", "c1", "r1");
	builder_node(&b, "MaxPool", "pool", "r1", "p");
	builder_node(&b, "Conv", "conv2", "p w2", "c2");
	builder_node(&b, "Sigmoid", "sigmoid", "c2", "s");
	builder_node(&b, "Mul", "mul", "c2 s", "m");
	builder_node(&b, "Add", "add", "m p", "a");
	builder_node(&b, "Softmax", "softmax", "a", "sm");
	builder_node(&b, "Shape", "shapeof", "a", "dims");
	builder_node(&b, "Reshape", "reshape", "sm shape", "y");
	b.g->value[namemap_get(b.g->value_by_name, "dims")].type = DT_I64;
	builder_output(&b, "y");
	return b.g;
}

static inline void fixture_replan(struct fixture *f)
{
	struct error err;
	plan_free(&f->p);
	if (plan_new(&f->p, f->g, f->t, target_default_calibration(f->t), f->e, NULL, &err))
		fail_msg("%s", err.text);
}

static inline void fixture_small(struct fixture *f, const char *target)
{
	fixture_plan(f, small_graph(), target, -1);
}

// Scales 1/64 for all that is observed.
static inline void fixture_finish(struct fixture *f)
{
	float scale[64];
	int32_t zero[64] = {0};
	struct error err;
	assert_in_range(f->p->n_observe, 1, 64);
	for (int i = 0; i < f->p->n_observe; i++)
		scale[i] = 0x1p-6f;
	if (plan_finish(f->p, scale, zero, f->e, &err))
		fail_msg("%s", err.text);
}

#endif
