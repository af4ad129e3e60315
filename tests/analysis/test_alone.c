// Nodes on their own: where nothing before a node is quantized, it gives what it gives in the quantized network.
#include <stdlib.h>
#include <string.h>
#include "qtui/analysis/study.h"
#include "qtui/base/hash.h"
#include "qtui/base/mem.h"
#include "support.h"

struct seen {
	const struct graph *g;
	struct key *alone;   // [n_values] of the elements
	bool *shared;        // [n_values] with the quantized network
};

static void see(void *arg, const struct sighting *s)
{
	struct seen *seen = arg;
	const struct rep *full = s->rep[SIM_FULL], *alone = s->rep[SIM_ALONE];
	seen->alone[s->value] = key_add((struct key){0}, alone->t.data, tensor_bytes(&alone->t));
	seen->shared[s->value] = full && full->t.data == alone->t.data;
}

static void run(struct seen *seen, struct engine *e, const struct plan *plan, bool beside_full)
{
	struct error err = {0};
	const struct graph *g = seen->g;
	bool *want = xcalloc((size_t)g->n_values, sizeof *want);
	seen->alone = xcalloc((size_t)g->n_values, sizeof *seen->alone);
	seen->shared = xcalloc((size_t)g->n_values, sizeof *seen->shared);
	for (int n = 0; n < g->n_nodes; n++)
		if (strcmp(g->node[n].op->name, "Conv") == 0)
			want[engine_group_value(g, plan, g->node[n].out[0])] = true;
	struct pass p = {.plan = plan, .want = {[SIM_ALONE] = want, [SIM_FULL] = beside_full ? want : NULL}, .last = 1, .visit = see, .arg = seen};
	if (engine_pass(e, &p, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	free(want);
}

static int count(const bool *set, int n)
{
	int sum = 0;
	for (int i = 0; i < n; i++)
		sum += set[i];
	return sum;
}

void test_alone__the_first_node_is_computed_once(void **state)
{
	struct error err = {0};
	struct study *s;
	struct study_options opt = {.model = "examples/digits.onnx", .calib = "examples/calib", .method = CALIB_MINMAX, .data = {.samples = 2},
	    .threads = 2, .calibrate_only = true};
	assert_int_equal(study_open(&s, &opt, &err), STATUS_OK);
	study_run(s);
	assert_int_equal(study_wait(s, &err), STATUS_OK);
	struct snapshot *snap = study_snapshot(s);
	const struct graph *g = study_graph(s);
	struct engine *e = engine_new(g, study_dataset(s), &(struct engine_options){.threads = 1, .memory = (size_t)64 << 20});
	struct seen beside = {.g = g}, by_itself = {.g = g};
	run(&beside, e, snapshot_plan(snap), true);
	run(&by_itself, e, snapshot_plan(snap), false);
	assert_int_equal(count(beside.shared, g->n_values), 1);
	assert_true(beside.shared[engine_group_value(g, snapshot_plan(snap), g->node[0].out[0])]);
	assert_memory_equal(beside.alone, by_itself.alone, (size_t)g->n_values * sizeof *beside.alone);
	free(beside.alone);
	free(beside.shared);
	free(by_itself.alone);
	free(by_itself.shared);
	engine_free(&e);
	snapshot_drop(&snap);
	study_close(&s);
}
