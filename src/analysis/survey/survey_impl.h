// Private to src/analysis: a survey on its way.
#ifndef QTUI_ANALYSIS_SURVEY_IMPL_H
#define QTUI_ANALYSIS_SURVEY_IMPL_H

#include "qtui/analysis/survey.h"

// How many parts there are is not known beforehand: each takes a share of what is left.
struct survey_progress {
	double from, to;  // of the part that runs
	int steps;        // in it
	atomic_int done;
};
struct survey_work {
	const struct study *study;
	const struct graph *g;
	const char *eval;              // path of the evaluation samples
	const struct dataset *calib;
	const struct survey_options *opt;
	int samples;
	struct engine_options engine;
	struct survey_progress *progress;
};
void survey_part(const struct survey_work *w, double share, int steps); // begins, once the one before is over
void survey_step(void *work);                                           // of the part, from any thread; `work` is a struct survey_work
// Agreement of the n samples sample[] with what the network's first BatchNormalization saw in training: value[] of each by its
// number in the data set, NAN where not known. Only where the file has such statistics.
MUST_CHECK enum status survey_statistics(double *value, const int *sample, int n, const struct survey_work *w, struct engine *e,
    struct error *err);
// Fills out->preparation. STATUS_OK with nothing known where there are no labels or no pictures.
MUST_CHECK enum status survey_prepare(struct survey *out, const struct survey_work *w, struct error *err);

#endif
