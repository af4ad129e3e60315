// What the tests of studies begin with: a study opened, a run to its end.
// What goes wrong fails the test with the error's own text.
#ifndef TESTS_ANALYSIS_STUDIES_H
#define TESTS_ANALYSIS_STUDIES_H

#include "support.h"
#include "undo.h"
#include "qtui/analysis/study.h"

// The caller closes it.
static inline struct study *open_for_test(struct study_options o)
{
	struct error err = {0};
	struct study *st = NULL;
	if (study_open(&st, &o, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	return st;
}

static inline void wait_for_run(struct study *st)
{
	struct error err = {0};
	study_run(st);
	if (study_wait(st, &err) != STATUS_OK)
		fail_msg("%s", err.text);
}

// Of a node's first output.
static inline enum status scale_node(struct study *st, int node, double scale, struct error *err)
{
	return study_scales(st, &(struct scale_edit){graph_output(study_graph(st), node), scale, ZERO_FOLLOWS}, 1, err);
}

// The figures of a run; the caller drops them.
static inline struct snapshot *run_study(struct study *st)
{
	wait_for_run(st);
	return study_snapshot(st);
}

#endif
