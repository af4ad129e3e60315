// What an analysis is told of the truth: labels and evaluation samples, and the survey that findings read.
#include "qtui/analysis/report.h"
#include "qtui/analysis/survey.h"
#include "verbs.h"

struct surveying {
	struct survey_options opt;
	const struct study *study;
	struct snapshot *snapshot;
	struct survey *survey;
	atomic_bool cancel;
	atomic_int done;
};

enum { PERCENT = 100 };

static void tell(void *arg, double progress)
{
	struct surveying *s = arg;
	atomic_store(&s->done, (int)(PERCENT * progress));
}

static enum status survey(void *arg, struct error *err)
{
	struct surveying *s = arg;
	return survey_new(&s->survey, s->study, s->snapshot, &s->opt, err);
}

static bool shows_findings(const struct options *o)
{
	return o->findings || o->json || (o->report && report_has_findings(o->report));
}

// A survey takes longer than the analysis. Whoever names labels asks for it, where findings are shown; those that were
// found beside the samples judge a preparation that nobody stated, or that leaves the float network blind.
// What the file says of its training costs next to nothing.
static bool is_doubtful(const struct study *st, const struct snapshot *s)
{
	const struct task_report *t = s->task;
	if (survey_has_statistics(study_graph(st)))
		return true;
	return t && t->kind != TASK_AGREE && (dataset_preprocess(study_dataset(st))->warn || task_is_blind(t));
}

enum status survey_study(struct study *st, const struct options *o, struct error *err)
{
	struct surveying s = {.study = st, .opt = {.eval = o->eval}};
	if (!shows_findings(o))
		return STATUS_OK;
	s.snapshot = study_snapshot(st);
	if (!o->labels && !o->eval && !(o->findings && is_doubtful(st, s.snapshot))) {
		snapshot_drop(&s.snapshot);
		return STATUS_OK;
	}
	s.opt.cancel = &s.cancel;
	s.opt.tell = tell;
	s.opt.arg = &s;
	s.opt.task = task_wish_options(&o->study.task);
	const struct watch work = {survey, &s, "survey", &s.done, PERCENT, &s.cancel, .quiet = o->quiet};
	enum status status = run_watched(&work, err);
	snapshot_drop(&s.snapshot);
	if (status != STATUS_OK)
		return status;
	study_set_survey(st, s.survey);
	return study_wait(st, err);
}
