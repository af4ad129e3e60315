// A survey in the background.
#include <stdlib.h>
#include "../study/background_impl.h"
#include "../study/study_task.h"
#include "qtui/analysis/survey.h"

enum { PERCENT = 100 };

struct survey_job {
	struct background background;
	struct study *study;
	struct snapshot *snap;
	struct survey_options opt;
	struct task_wish wish; // a copy: that of the study may change meanwhile
	struct survey *survey;         // the thread's until it is over
};

static void tell(void *background, double progress)
{
	background_tell(background, progress);
}

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
	task_wish_done(&j->wish);
	free(j);
}

enum status survey_job_start(struct survey_job **out, struct study *st, struct error *err)
{
	struct survey_job *j = xcalloc(1, sizeof *j);
	j->study = st;
	j->snap = study_latest(st);
	j->wish = task_wish_copy(study_task_wish(st));
	j->opt = (struct survey_options){.eval = j->wish.data, .task = task_wish_options(&j->wish), .calib = study_dataset(st),
	    .cancel = &j->background.cancel, .tell = tell, .arg = &j->background};
	enum status status = snapshot_complete(j->snap) ? STATUS_OK : error_set(err, STATUS_REFUSED,
	    "the analysis has not run to its end: wait for the run");
	if (status == STATUS_OK)
		status = background_start(&j->background, st, PERCENT, work, j, err);
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
