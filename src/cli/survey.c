// What an analysis is told of the truth: labels and evaluation samples, and the survey that findings read.
#include <string.h>
#include "qtui/analysis/survey.h"
#include "qtui/base/str.h"
#include "verbs.h"

enum status read_task_options(struct task_options *t, const struct options *o, struct error *err)
{
	enum task_kind kind;
	*t = (struct task_options){.kind = -1, .labels = o->labels, .decoder = o->decoder};
	if (o->task) {
		if (!task_kind_parse(&kind, o->task))
			return error_set(err, STATUS_USAGE, "--task %s: detect, classify or agree", o->task);
		t->kind = (int)kind;
	}
	if (o->nms && strcmp(o->nms, "none") == 0)
		t->iou = -1;
	else if (o->nms && (!str_to_double(o->nms, &t->iou) || t->iou <= 0 || t->iou > 1))
		return error_set(err, STATUS_USAGE, "--nms %s: a number above 0 and up to 1, or none", o->nms);
	return STATUS_OK;
}

struct surveying {
	struct survey_options opt;
	const struct study *study;
	const struct snapshot *snapshot;
	struct survey *survey;
	atomic_bool cancel;
	atomic_int done;
};

static enum status survey(void *arg, struct error *err)
{
	struct surveying *s = arg;
	return survey_new(&s->survey, s->study, s->snapshot, &s->opt, err);
}

enum status survey_study(struct study *st, const struct snapshot *snap, const struct options *o, struct error *err)
{
	struct surveying s = {.study = st, .snapshot = snap, .opt = {.eval = o->eval}};
	if (!o->labels && !o->eval)
		return STATUS_OK;
	s.opt.cancel = &s.cancel;
	s.opt.done = &s.done;
	enum status status = read_task_options(&s.opt.task, o, err);
	if (status == STATUS_OK)
		status = run_watched(survey, &s, "survey", &s.done, SURVEY_STEPS, &s.cancel, o->quiet, err);
	if (status == STATUS_OK)
		study_set_survey(st, s.survey);
	return status;
}
