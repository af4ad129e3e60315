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
	if (mem_peak_rss_mib() > before + 140)
		fail_msg("%.0f MiB more", mem_peak_rss_mib() - before);
	free(nodes);
	study_close(&st);
}
