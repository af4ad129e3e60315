// What a calibration holds while it runs.
#include <stdlib.h>
#include "qtui/base/mem.h"
#include "studies.h"

// Counts of 16 bit are 4 MiB a tensor: a network's must not be there all at once.
void test_calibrate__counts_of_16_bit_go_as_soon_as_they_have_served(void **state)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	skip(); // what is freed stays for a while, and shadows of it are memory too
#endif
	struct error err = {0};
	struct study *st = open_for_test((struct study_options){.model = "examples/digits.onnx", .calib = "examples/calib", .target = "esp32p4",
	    .method = CALIB_KL, .threads = 2, .memory = (size_t)64 << 20, .data = {.samples = 8}, .calibrate_only = true});
	int *nodes = NULL, n = 0;
	double before = mem_peak_rss_mib();
	assert_int_equal(study_select(st, "*", NULL, &nodes, &n, &err), STATUS_OK);
	assert_int_equal(study_set(st, nodes, n, PREC_INT16, NULL, &err), STATUS_OK);
	wait_for_run(st);
	assert_true(n > 80);
	// Some 94 MiB, up to 155 where two workers' samples end together; 195 where counts stay to the end.
	if (mem_peak_rss_mib() > before + 175)
		fail_msg("%.0f MiB more", mem_peak_rss_mib() - before);
	free(nodes);
	study_close(&st);
}

static struct study *open_with(enum calib_method m)
{
	return open_for_test((struct study_options){.model = "examples/digits.onnx", .calib = "examples/calib", .target = "onnxruntime",
	    .method = (int)m, .threads = 1, .data = {.samples = 4}, .calibrate_only = true});
}

// One calibrator for all, by hand for each node, is that calibrator; undo and the journal know of it.
void test_calibrate__by_hand_for_all_nodes_as_for_the_run(void **state)
{
	struct error err = {0};
	struct study *all = open_with(CALIB_PERCENTILE), *each = open_with(CALIB_KL);
	int *nodes = NULL, n = 0, refused = 0, steps, current;
	assert_int_equal(study_select(each, "*", NULL, &nodes, &n, &err), STATUS_OK);
	assert_int_equal(study_set_calibrator(each, nodes, n, CALIB_PERCENTILE, &refused, &err), STATUS_OK);
	assert_true(refused > 0 && refused < n / 2); // what only passes values on
	struct snapshot *a = run_study(all), *b = run_study(each);
	int compared = 0;
	assert_int_equal(a->n_sites, b->n_sites);
	for (int i = 0; i < a->n_sites; i++)
		for (int k = 0; k < a->site[i].n_scale; k++, compared++)
			if (a->site[i].scale[k] != b->site[i].scale[k] || a->site[i].zero[k] != b->site[i].zero[k])
				fail_msg("%s: %g and %g", a->g->value[a->site[i].value].name, (double)a->site[i].scale[k],
				    (double)b->site[i].scale[k]);
	assert_true(compared > 100);
	snapshot_drop(&a);
	snapshot_drop(&b);
	steps = study_steps(each, &current);
	assert_true(steps == 1 && current == 1);
	char *step = xstrdup(study_step(each, 0));
	assert_true(undoes(each));
	assert_int_equal(study_edits(each)->calibrator[nodes[0]], -1);
	assert_int_equal(study_command(each, step, &err), STATUS_OK);
	assert_int_equal(study_edits(each)->calibrator[nodes[0]], CALIB_PERCENTILE);
	free(step);
	free(nodes);
	study_close(&all);
	study_close(&each);
}
