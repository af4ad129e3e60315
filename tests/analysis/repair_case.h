// What tests of blame and repair share: the shipped detector as a study, and a repair of it.
#ifndef TESTS_ANALYSIS_REPAIR_CASE_H
#define TESTS_ANALYSIS_REPAIR_CASE_H

#include <math.h>
#include <string.h>
#include "../../src/analysis/repair/repair_impl.h"
#include "../../src/analysis/task/kinds/boxes.h"
#include "studies.h"

// Joins pixels and probabilities on one grid.
#define JOINED "/model.12/Concat_4"
// The first convolution.
#define FIRST "/model.0/conv/Conv"

// Calibrated on four pictures, without figures.
static inline struct study *open_study_of(const char *model, int threads)
{
	struct study *st = open_for_test((struct study_options){.model = model, .calib = "examples/calib", .target = "esp32p4",
	    .method = CALIB_PERCENTILE, .threads = threads, .memory = (size_t)512 << 20, .data = {.samples = 4}, .calibrate_only = true});
	wait_for_run(st);
	return st;
}

static inline struct study *open_study(int threads)
{
	return open_study_of("examples/digits.onnx", threads);
}

// Prepared, on two samples; without a reader the result is measured as of a network whose outputs no decoder reads.
static inline struct repair *open_either(struct study *st, struct repair_options o, bool read)
{
	struct error err = {0};
	struct repair *r = NULL;
	o.samples = 2;
	o.goal.max_wide = o.goal.max_wide > 0 ? o.goal.max_wide : 0.15;
	o.goal.max_time = o.goal.max_time > 0 ? o.goal.max_time : NAN;
	if (repair_open(&r, st, &o, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	if (!read)
		boxes_reader_free(&r->reader);
	if (repair_prepare(r, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	return r;
}

static inline struct repair *open_repair(struct study *st, struct repair_options o)
{
	return open_either(st, o, true);
}

static inline struct repair *open_unread(struct study *st, struct repair_options o)
{
	return open_either(st, o, false);
}

// The lines of a file of times are the board's.
static inline void give_times(struct study *st, const char *text)
{
	struct error err = {0};
	struct latency *l = NULL;
	if (latency_read(&l, study_graph(st), support_temp_file("times.csv", text, strlen(text)), &err) != STATUS_OK)
		fail_msg("%s", err.text);
	study_set_latency(st, l);
	latency_drop(&l);
}

#endif
