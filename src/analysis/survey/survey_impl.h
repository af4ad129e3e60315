// Private to src/analysis: a survey on its way.
#ifndef QTUI_ANALYSIS_SURVEY_IMPL_H
#define QTUI_ANALYSIS_SURVEY_IMPL_H

#include "qtui/analysis/survey.h"

struct survey_work {
	const struct study *study;
	const struct graph *g;
	const char *eval;              // path of the evaluation samples
	const struct dataset *calib;
	const struct survey_options *opt;
	int samples;
	struct engine_options engine;
};
void survey_step(const struct survey_work *w); // a part of the work is done
// Agreement of the samples from..to-1 with what the network's first BatchNormalization saw in training: value[to], NAN where not known.
// Only where the file has such statistics.
MUST_CHECK enum status survey_statistics(double *value, int from, int to, const struct survey_work *w, struct engine *e, struct error *err);
// Fills out->preparation. STATUS_OK with nothing known where there are no labels or no pictures.
MUST_CHECK enum status survey_prepare(struct survey *out, const struct survey_work *w, struct error *err);

#endif
