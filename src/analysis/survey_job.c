// A survey in the background.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "qtui/analysis/survey.h"
#include "study_impl.h"

struct survey_job {
	struct study *study;
	struct snapshot *snap;
	struct survey_options opt;
	char *eval, *labels, *decoder; // copies: wishes may change meanwhile
	struct survey *survey;
	struct error error;            // both are the thread's until it is over
	atomic_bool cancel, over;
	atomic_int done;
	pthread_t thread;
};

static void *work(void *arg)
{
	struct survey_job *j = arg;
	(void)!survey_new(&j->survey, j->study, j->snap, &j->opt, &j->error);
	atomic_store(&j->over, true);
	study_wake(j->study);
	return NULL;
}

static void drop(struct survey_job *j)
{
	survey_drop(&j->survey);
	snapshot_drop(&j->snap);
	free(j->eval);
	free(j->labels);
	free(j->decoder);
	free(j);
}

static void set_options(struct survey_job *j, const struct task_wish *w)
{
	enum task_kind kind;
	j->eval = xstrdup(w->data);
	j->labels = xstrdup(w->labels);
	j->decoder = xstrdup(w->decoder);
	j->opt = (struct survey_options){.eval = j->eval, .task = {.kind = -1, .labels = j->labels, .decoder = j->decoder, .iou = w->iou},
	    .calib = study_dataset(j->study), .cancel = &j->cancel, .done = &j->done};
	if (w->kind && task_kind_parse(&kind, w->kind))
		j->opt.task.kind = (int)kind;
}

enum status survey_job_start(struct survey_job **out, struct study *st, struct error *err)
{
	struct survey_job *j = xcalloc(1, sizeof *j);
	j->study = st;
	j->snap = study_latest(st);
	set_options(j, study_task_wish(st));
	enum status status = snapshot_complete(j->snap) ? STATUS_OK : error_set(err, STATUS_REFUSED, "the analysis has not run to its end: wait for the run");
	if (status == STATUS_OK && pthread_create(&j->thread, NULL, work, j) != 0)
		status = error_set(err, STATUS_NOMEM, "no thread to be had");
	if (status == STATUS_OK)
		*out = j;
	else
		drop(j);
	return status;
}

void survey_job_cancel(struct survey_job *j)
{
	atomic_store(&j->cancel, true);
}

bool survey_job_running(struct survey_job *j)
{
	return !atomic_load(&j->over);
}

double survey_job_progress(struct survey_job *j)
{
	return fmin(1, (double)atomic_load(&j->done) / SURVEY_STEPS);
}

enum status survey_job_end(struct survey_job *j, struct error *err)
{
	*err = j->error;
	if (j->survey)
		study_set_survey(j->study, j->survey);
	j->survey = NULL;
	return err->status;
}

void survey_job_free(struct survey_job **jp)
{
	struct survey_job *j = *jp;
	*jp = NULL;
	if (!j)
		return;
	survey_job_cancel(j);
	pthread_join(j->thread, NULL);
	drop(j);
}
