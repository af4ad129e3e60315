// Functions of one tensor write over it where nobody else has it: the same numbers, and what somebody keeps stays as it is.
#include <stdlib.h>
#include "qtui/engine/onnx.h"
#include "seen_case.h"

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
