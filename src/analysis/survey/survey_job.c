// A survey in the background.
#include <stdlib.h>
#include "../study/background_impl.h"
#include "qtui/analysis/survey.h"

struct survey_job {
	struct background background;
	struct study *study;
	struct snapshot *snap;
	struct survey_options opt;
	char *eval, *labels, *decoder; // copies: wishes may change meanwhile
	struct survey *survey;         // the thread's until it is over
};

static enum status work(void *arg, struct error *err)
{
	struct survey_job *j = arg;
	return survey_new(&j->survey, j->study, j->snap, &j->opt, err);
}

void survey_job_free(struct survey_job **jp)
{
	struct survey_job *j = *jp;
	*jp = NULL;
	if (!j)
		return;
	background_join(&j->background);
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
	    .calib = study_dataset(j->study), .cancel = &j->background.cancel, .done = &j->background.done};
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
	if (status == STATUS_OK)
		status = background_start(&j->background, st, SURVEY_STEPS, work, j, err);
	if (status == STATUS_OK)
		*out = j;
	else
		survey_job_free(&j);
	return status;
}

struct background *survey_job_background(struct survey_job *j)
{
	return &j->background;
}

enum status survey_job_end(struct survey_job *j, struct error *err)
{
	if (j->survey)
		study_set_survey(j->study, j->survey);
	j->survey = NULL;
	return background_end(&j->background, err);
}
