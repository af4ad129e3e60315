// Functions of one tensor write over it where nobody else has it:
// the same numbers, and what somebody keeps stays as it is.
#include <stdlib.h>
#include "qtui/engine/onnx.h"
#include "onnx_case.h"
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
	check_kept(&keeping, g);
	free(passing.key);
	dataset_free(&d);
	graph_free(&g);
}

// The floats of two values in a pass in which the steps are the plan's, or (plan NULL) every node is one.
static void show_two(struct key key[2], const struct graph *g, const struct dataset *d, const struct plan *p)
{
	struct error err = {0};
	struct seen seen = {.key = xcalloc((size_t)g->n_values, sizeof *seen.key)};
	struct engine *e = engine_new(g, d, &(struct engine_options){.backend = BACKEND_ONEDNN, .threads = 1, .memory = 1});
	bool *want = xcalloc((size_t)g->n_values, sizeof *want);
	for (int i = 0; i < 2; i++)
		want[g->output[i]] = true;
	if (engine_pass(e, &(struct pass){.plan = p, .want = {[SIM_FLOAT] = want}, .last = 1, .visit = see, .arg = &seen}, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	for (int i = 0; i < 2; i++)
		key[i] = seen.key[g->output[i]];
	free(want);
	free(seen.key);
	engine_free(&e);
}

// Relu is one step with the Reshape in front of it, which is a view: the other reader of n gets n.
void test_overwrite__an_activation_behind_a_view(void **state)
{
	struct error err = {0};
	struct onnx_case c;
	struct dataset *d;
	struct target *t;
	struct edits *none;
	struct key apart[2], at_once[2];
	case_init(&c);
	case_input(&c, "x", FLOAT, DIMS(1, 4, 5, 3));
	case_ints(&c, "flat", 2, (const int64_t[]){1, 60});
	case_node(&c, "Neg", "neg", "x", "n");
	case_node(&c, "Reshape", "reshape", "n flat", "r");
	case_node(&c, "Relu", "relu", "r", "y");
	case_node(&c, "Tanh", "tanh", "n", "z");
	case_output(&c, c.graph, "y");
	case_output(&c, c.graph, "z");
	case_load(&c);
	assert_int_equal(target_load(&t, "esp32p4", &err), STATUS_OK);
	assert_int_equal(dataset_open(&d, NULL, c.loaded, &(struct dataset_options){.samples = 1, .random = 1}, &err), STATUS_OK);
	none = edits_new(c.loaded);
	struct plan *p = plan_outline(c.loaded, t, none);
	show_two(apart, c.loaded, d, NULL);
	show_two(at_once, c.loaded, d, p);
	assert_memory_equal(apart, at_once, sizeof apart);
	plan_free(&p);
	edits_free(&none);
	dataset_free(&d);
	target_free(&t);
	case_done(&c);
}
