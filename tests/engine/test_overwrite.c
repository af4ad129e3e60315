// Functions of one tensor write over it where nobody else has it: the same numbers, and what somebody keeps stays as it is.
#include <stdlib.h>
#include "qtui/base/hash.h"
#include "qtui/base/mem.h"
#include "qtui/engine/onnx.h"
#include "qtui/engine/run.h"
#include "support.h"

struct seen {
	struct key *key;  // [n_values] of the elements when they were shown
	struct rep *kept; // [n_values] NULL: nothing is kept
};

static struct key key_of_elements(const struct rep *r)
{
	return key_add((struct key){0}, r->t.data, tensor_bytes(&r->t));
}

static void see(void *arg, const struct sighting *s)
{
	struct seen *seen = arg;
	seen->key[s->value] = key_of_elements(s->rep[SIM_FLOAT]);
	if (seen->kept)
		seen->kept[s->value] = rep_share(s->rep[SIM_FLOAT]);
}

// With a store that holds nothing, since what is stored is not overwritten.
static void show_all(struct seen *seen, const struct graph *g, const struct dataset *d)
{
	struct error err = {0};
	struct engine *e = engine_new(g, d, &(struct engine_options){.threads = 1, .memory = 1});
	bool *want = xcalloc((size_t)g->n_values, sizeof *want);
	for (int v = 0; v < g->n_values; v++)
		want[v] = !g->value[v].constant;
	seen->key = xcalloc((size_t)g->n_values, sizeof *seen->key);
	if (engine_pass(e, &(struct pass){.want = {[SIM_FLOAT] = want}, .last = 1, .visit = see, .arg = seen}, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	free(want);
	engine_free(&e);
}

void test_overwrite__what_is_kept_stays(void **state)
{
	struct error err = {0};
	struct graph *g;
	struct dataset *d;
	assert_int_equal(onnx_load(&g, "examples/digits.onnx", &(struct onnx_options){0}, &err), STATUS_OK);
	assert_int_equal(dataset_open(&d, "examples/calib", g, &(struct dataset_options){.samples = 1}, &err), STATUS_OK);
	struct seen passing = {0}, keeping = {.kept = xcalloc((size_t)g->n_values, sizeof *keeping.kept)};
	show_all(&passing, g, d);
	show_all(&keeping, g, d);
	assert_memory_equal(passing.key, keeping.key, (size_t)g->n_values * sizeof *passing.key);
	for (int v = 0; v < g->n_values; v++)
		if (keeping.kept[v].t.data) {
			assert_true(key_equal(key_of_elements(&keeping.kept[v]), keeping.key[v]));
			rep_drop(&keeping.kept[v]);
		}
	free(passing.key);
	free(keeping.key);
	free(keeping.kept);
	dataset_free(&d);
	graph_free(&g);
}
