// What tests of plans share: a graph, its plan for a target, and slots by the names of nodes. What goes wrong fails the test.
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
	*f = (struct fixture){.g = g, .e = edits_new(g->n_nodes)};
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

static inline struct slot *in(const struct fixture *f, const char *name, int i)
{
	return plan_in(f->p, node(f, name), i);
}

static inline struct slot *out(const struct fixture *f, const char *name)
{
	return plan_out(f->p, node(f, name), 0);
}

#endif
