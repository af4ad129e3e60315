// A survey of the data. A run of the analysis looks at one set of samples that is prepared in one way; a survey runs
// the float network on the evaluation samples too, prepared as now and in other ways, and so finds out whether the
// preparation is that of the training, and whether the calibration samples cover the ranges of the evaluation
// samples. Findings read it. It does not depend on edits.
#ifndef QTUI_ANALYSIS_SURVEY_H
#define QTUI_ANALYSIS_SURVEY_H

#include "qtui/analysis/background.h"
#include "qtui/analysis/study.h"
#include "qtui/analysis/task.h"

struct survey_options {
	const char *eval;         // evaluation samples; NULL: those of the study
	struct task_options task; // labels; none found: preparation is not judged
	int samples;              // at most; 0: 128
	const struct dataset *calib; // the calibration samples; NULL: those of the study, which only its own thread may ask for
	const atomic_bool *cancel; // may be NULL
	void (*tell)(void *arg, double progress); // 0..1, after every sample, from several threads; may be NULL
	void *arg;
};
// How well the preparation of the pictures suits the network. With labels: the agreement with them, sample by sample,
// as the probability of the right class or the AP of the image. Without labels (kind TASK_AGREE): the agreement of the
// first layer's channels with the means and deviations that they had in training, where the file has these.
struct survey_preparation {
	char option[192];         // the preparation that agrees better, as options of the command line; "": none does
	double now, otherwise;    // mean agreement over `samples` of the present and of that preparation; where there are enough
	                          // samples, on others than those on which it was chosen
	double t;                 // of the last property changed: mean difference over its standard error
	int samples, ways;        // samples; preparations that were compared
	bool known;
	enum task_kind kind;
};
struct survey_input {         // of the first input, over all elements of all samples looked at
	double mean, deviation;
};
struct survey { // reference-counted; nothing in it is written again
	atomic_int refs;
	struct key prepared;             // preprocess_key of the pictures when it was made
	struct survey_preparation preparation;
	double seconds;                  // that it took
	int calib_samples, eval_samples; // eval_samples 0: there are no evaluation samples of their own
	struct survey_input calib, eval;
	int n_values;
	struct hist **hist;       // [n_values] of the float tensor on the evaluation samples; NULL: not looked at
};
// Does the model say which means and deviations its first layer had in training, so that the preparation can be judged
// without labels?
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
// For a job that runs no more: gives its survey to the study (study_set_survey), or returns its error.
MUST_CHECK enum status survey_job_end(struct survey_job *j, struct error *err);
void survey_job_free(struct survey_job **j); // cancels and waits

#endif
