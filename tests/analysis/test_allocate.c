// What is widened within a budget of work or of a board's time.
#include <stdlib.h>
#include "repair_case.h"

struct allocation {
	struct study *st;
	struct repair *r;
	struct snapshot *snap;
	struct parts *parts;
	double *alone;
	struct allocator *a;
	bool *wide;
};

// Of the demo, each part doing less than the one before.
static struct allocation allocation_open(const char *times)
{
	struct allocation x = {.st = open_study(2)};
	if (times)
		give_times(x.st, times);
	x.r = open_repair(x.st, (struct repair_options){0});
	x.snap = study_snapshot(x.st);
	x.parts = parts_new(snapshot_plan(x.snap));
	x.alone = xcalloc((size_t)x.parts->n + 1, sizeof *x.alone);
	for (int i = 0; i < x.parts->n; i++)
		x.alone[i] = 1. / (i + 1);
	x.a = allocator_new(x.r, x.parts, snapshot_plan(x.snap), x.alone);
	x.wide = xcalloc((size_t)study_graph(x.st)->n_nodes + 1, 1);
	return x;
}

static void allocation_close(struct allocation *x)
{
	allocator_free(&x->a);
	parts_free(&x->parts);
	free(x->alone);
	free(x->wide);
	snapshot_drop(&x->snap);
	repair_free(&x->r);
	study_close(&x->st);
}

static struct outlay fill(struct allocation *x, struct outlay budget)
{
	memset(x->wide, 0, (size_t)study_graph(x->st)->n_nodes);
	allocator_fill(x->a, budget, x->wide);
	return allocator_outlay(x->a, x->wide);
}

// Whatever the budget, it holds; more of it leaves less at 8 bit.
// A MAC at 16 bit is one more: both limits are the same.
void test_allocate__stays_within_its_budget(void **state)
{
	struct allocation x = allocation_open(NULL);
	static const double budget[] = {0.01, 0.1, 0.4, 1};
	double before = INFINITY;
	for (size_t i = 0; i < sizeof budget / sizeof *budget; i++) {
		struct outlay o = fill(&x, (struct outlay){budget[i], NAN});
		double left = allocator_left(x.a, x.wide);
		assert_true(o.wide <= budget[i] && o.wide == o.cost);
		assert_true(left < before);
		before = left;
		assert_true(fill(&x, (struct outlay){NAN, budget[i]}).cost == o.cost && allocator_left(x.a, x.wide) == left);
	}
	assert_true(before < 0.05 * allocator_left(x.a, NULL));
	allocation_close(&x);
}

// What a board does as fast at 16 bit costs nothing; what it does slowly is not bought.
void test_allocate__pays_in_a_boards_time(void **state)
{
	struct allocation x = allocation_open("name,us,bits\n" FIRST ",100,8\n" FIRST ",100,16\n");
	assert_true(fill(&x, (struct outlay){NAN, 0}).wide > 0.1); // of all convolutions: as of the one that the file knows
	int first = graph_find_node(x.r->g, FIRST);
	assert_true(x.wide[first]);
	allocation_close(&x);
	x = allocation_open("name,us,bits\n" FIRST ",100,8\n" FIRST ",1000,16\n");
	memset(x.wide, 0, (size_t)x.r->g->n_nodes);
	x.wide[first] = true;
	assert_true(fabs(allocator_outlay(x.a, x.wide).cost - 900 / x.r->costs->narrow) < 1e-12);
	struct outlay o = fill(&x, (struct outlay){0.5, 0.5});
	assert_true(o.cost <= 0.5 && o.wide < 0.5 / 8); // nine times the time for every MAC
	allocation_close(&x);
}
