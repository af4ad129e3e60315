// A survey of the data: what a run of the analysis cannot show, since it looks at one set of samples prepared in one way. The float
// network is run on the evaluation samples as they are prepared and otherwise, and on what it makes of them the ranges of the
// calibration are judged. Findings read it; nothing in it depends on edits.
#ifndef QTUI_ANALYSIS_SURVEY_H
#define QTUI_ANALYSIS_SURVEY_H

#include "qtui/analysis/background.h"
#include "qtui/analysis/study.h"
#include "qtui/analysis/task.h"

struct survey_options {
	const char *eval;         // evaluation samples; NULL: those of the study
	struct task_options task; // labels; none found: preparation is not judged
	int samples;              // at most; 0: 128
	const struct dataset *calib; // NULL: the study's now; for a thread of its own
	const atomic_bool *cancel; // may be NULL
	void (*tell)(void *arg, double progress); // 0..1, after every sample, from several threads; may be NULL
	void *arg;
};
// Agreement with the labels, sample by sample: the probability of the right class, or the AP of the image. Without labels (kind
// TASK_AGREE): of the first layer's channels with the means and deviations that they had in training, where the file has these.
struct survey_preparation {
	char option[192];         // what agrees better, as options of the command line; "": nothing does
	double now, otherwise;    // means over `samples`, on other samples than those on which it was chosen where there are enough
	double t;                 // of the last property changed: mean difference over its standard error
	int samples, ways;        // ways that were compared
	bool known;
	enum task_kind kind;
};
struct survey_input {         // of the first input, over all elements of all samples looked at
	double mean, deviation;
};
struct survey { // reference-counted; nothing in it is written again
	atomic_int refs;
	struct key prepared;             // how the pictures were when it was made
	struct survey_preparation preparation;
	int calib_samples, eval_samples; // eval_samples 0: there are no evaluation samples of their own
	struct survey_input calib, eval;
	int n_values;
	struct hist **hist;       // [n_values] of the float tensor on the evaluation samples; NULL: not looked at
};
// Whether the model's file says what its first layer saw in training, so that the preparation can be judged without labels.
bool survey_has_statistics(const struct graph *g);
// Blocks. Looks at the values that have a histogram in `s`. STATUS_CANCELLED when it was cancelled.
MUST_CHECK enum status survey_new(struct survey **out, const struct study *st, const struct snapshot *s,
    const struct survey_options *opt, struct error *err);
struct survey *survey_take(struct survey *s);
void survey_drop(struct survey **s);

// A survey in the background; evaluation samples and labels are those of the study's task.
struct survey_job;
MUST_CHECK enum status survey_job_start(struct survey_job **out, struct study *st, struct error *err);
struct background *survey_job_background(struct survey_job *j);
// Of one that runs no more: gives the survey to the study.
MUST_CHECK enum status survey_job_end(struct survey_job *j, struct error *err);
void survey_job_free(struct survey_job **j); // cancels and waits

#endif
