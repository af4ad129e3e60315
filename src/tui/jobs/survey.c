// The command :survey.
#include "qtui/tui/survey.h"

#include "qtui/tui/command.h"
#include "qtui/tui/edit.h"

enum status command_survey(struct ui *ui, char *args, struct error *err)
{
	(void)args;
	if (beside_check(ui, BESIDE_SURVEY, err) || survey_job_start(&ui->survey, ui->study, err))
		return err->status;
	beside_begin(ui, BESIDE_SURVEY, survey_job_background(ui->survey), "survey");
	ui_note(ui, "survey: other ways to prepare the pictures, and the samples themselves; Ctrl-c stops it");
	return STATUS_OK;
}

// What it has found, in a sentence; where it is a finding, that has the rest.
static void tell(struct ui *ui)
{
	const struct survey *v = study_survey(ui->study);
	const struct survey_preparation *p = v ? &v->preparation : NULL;
	const char *judge = p && p->kind == TASK_AGREE ? "the training's statistics in the file" : task_judge(p ? p->kind : TASK_DETECT);
	if (!p)
		ui_note(ui, "survey: pictures are prepared otherwise by now; u goes back");
	else if (p->known && p->option[0])
		ui_note(ui, "survey: pictures agree better with %s by %s; F, then a", judge, p->option);
	else if (p->known)
		ui_note(ui, "survey: none of %d other ways to prepare pictures agrees better with %s", p->ways, judge);
	else
		ui_note(ui, "survey: no labels to judge the preparation by: :labels FILE or :eval DIR gives them");
}

void survey_ended(struct ui *ui)
{
	struct error err = {0};
	enum status st = survey_job_end(ui->survey, &err);
	survey_job_free(&ui->survey);
	if (st == STATUS_CANCELLED)
		ui_note(ui, "the survey was stopped");
	else if (st)
		ui_fail(ui, &err);
	else
		tell(ui);
}
