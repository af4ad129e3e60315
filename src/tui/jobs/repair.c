// The commands :blame, :fix and :tune, and what comes of them.
#include "qtui/tui/repair.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "qtui/analysis/frontier.h"
#include "qtui/base/log.h"
#include "qtui/base/str.h"
#include "qtui/tui/command.h"
#include "qtui/tui/edit.h"

static const char *repair_work_name(enum repair_work w)
{
	static const char *const name[] = {[REPAIR_FIX] = "fix", [REPAIR_BLAME] = "blame", [REPAIR_TUNE] = "tune"};
	return name[w];
}

static enum status parse(struct repair_options *o, char *args, enum repair_work work, struct error *err)
{
	char *rest = NULL;
	for (char *word = strtok_r(args, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		if (str_to_seconds(word, &o->seconds))
			continue;
		if (work != REPAIR_FIX)
			return error_set(err, STATUS_USAGE, "\"%.40s\" is no time: :%s 30s, 2m or 1h", word, repair_work_name(work));
		if (repair_goal_parse(&o->goal, word, err))
			return err->status;
	}
	return STATUS_OK;
}

static enum status start(struct ui *ui, char *args, enum repair_work work, struct error *err)
{
	struct repair_options o = {.goal = repair_goal_default};
	if (parse(&o, args, work, err) || beside_check(ui, BESIDE_REPAIR, err))
		return err->status;
	repair_job_free(&ui->repair.job);
	ui->repair = (struct ui_repair){.work = work, .float_score = NAN, .order = ui->repair.order, .frontier = ui->repair.frontier};
	if (repair_job_start(&ui->repair.job, ui->study, &o, work, err))
		return err->status;
	beside_begin(ui, BESIDE_REPAIR, repair_job_background(ui->repair.job), repair_work_name(work));
	ui->repair.task = repair_job_task(ui->repair.job);
	ui_show(ui, VIEW_BLAME);
	return STATUS_OK;
}

enum status command_blame(struct ui *ui, char *args, struct error *err)
{
	return start(ui, args, REPAIR_BLAME, err);
}

enum status command_fix(struct ui *ui, char *args, struct error *err)
{
	return start(ui, args, REPAIR_FIX, err);
}

// "auto": the model's own weights; a name: weights that are known; else new ones are made, in the time that is given.
enum status command_tune(struct ui *ui, char *args, struct error *err)
{
	double seconds;
	if (!*args || str_to_seconds(args, &seconds))
		return start(ui, args, REPAIR_TUNE, err);
	if (study_tune(ui->study, args, err))
		return err->status;
	edit_taken(ui, err);
	return STATUS_OK;
}

// A kept step becomes one of the history.
static void apply(struct ui *ui, const struct repair_step *s)
{
	struct error err = {0};
	struct str text = {0};
	for (int i = 0; i < s->n_commands; i++)
		study_add_command(&text, s->command[i]);
	if (study_command(ui->study, str_text(&text), &err) != STATUS_OK)
		ui_fail(ui, &err);
	str_done(&text);
}

static void take_step(struct ui *ui, const struct repair_step *s)
{
	ui->repair.begin = ui->repair.tried ? ui->repair.begin : s->before;
	ui->repair.now = s->kept ? s->after : s->before;
	log_info("%s: damage %.4f to %.4f, %s: %s", repair_work_name(ui->repair.work), s->before.damage, s->after.damage,
	    s->kept ? "kept" : "does not pay", s->reason);
	if (s->kept)
		apply(ui, s);
	ui->repair.kept += s->kept;
}

const char *repair_undo_hint(const struct ui *ui)
{
	if (ui->repair.overtaken || !ui->repair.kept) // then u means the edit that came between
		return "";
	return ui->repair.kept > 1 ? ", u undoes one after the other" : ", u undoes";
}

void repair_edited(struct ui *ui)
{
	if (!beside_busy(ui, BESIDE_REPAIR) || ui->repair.work == REPAIR_BLAME)
		return;
	ui->repair.overtaken = true;
	background_cancel(repair_job_background(ui->repair.job));
}

void repair_ended(struct ui *ui)
{
	struct error err = {0};
	const char *why = "";
	bool failed;
	ui->repair.float_score = repair_job_float_score(ui->repair.job);
	failed = repair_job_end(ui->repair.job, &err, &why) != STATUS_OK;
	if (ui->repair.overtaken && !failed)
		why = "stopped, as the network was edited meanwhile";
	if (failed)
		ui_fail(ui, &err);
	snprintf(ui->repair.text, sizeof ui->repair.text, "%s", why);
	ui->autosave_due |= ui->unsaved; // the session keeps what was measured
	if (ui->repair.kept)
		edit_done(ui);
	if (ui->repair.tried) {
		char bought[UI_TEXT];
		view_fix_summary(bought, sizeof bought, ui);
		log_info(
		    "%s: %d of %d remedies kept, %s: %s", repair_work_name(ui->repair.work), ui->repair.kept, ui->repair.tried, why, bought);
		ui_note(ui, "%s: %d of %d kept, %s: %s. P shows what accuracy costs%s", repair_work_name(ui->repair.work), ui->repair.kept,
		    ui->repair.tried, why, bought, repair_undo_hint(ui));
	} else if (!failed && why[0]) {
		ui_note(ui, "%s: %s", repair_work_name(ui->repair.work), why);
	}
}

// What a blame knows by now goes to the study, whose snapshots show it.
static void take_blames(struct ui *ui)
{
	struct blames *b = repair_job_blames(ui->repair.job);
	if (b && b != ui->repair.taken)
		study_set_blames(ui->study, b);
	ui->repair.taken = b; // only compared: the job holds it, or has a newer one
	blames_drop(&b);
}

void repair_take_kept(struct ui *ui)
{
	struct frontier *old = ui->repair.frontier;
	ui->repair.frontier = frontier_take(study_frontier(ui->study));
	frontier_drop(&old);
}

// :blame alone tries no states: then the list of the repair before it stays.
static void take_frontier(struct ui *ui)
{
	struct frontier *f = repair_job_frontier(ui->repair.job);
	if (!f)
		return;
	study_set_frontier(ui->study, f);
	frontier_drop(&f);
	repair_take_kept(ui);
}

void repair_news(struct ui *ui)
{
	repair_job_text(ui->repair.job, ui->repair.text, sizeof ui->repair.text);
	take_blames(ui);
	take_frontier(ui);
	for (; !ui->repair.overtaken && ui->repair.tried < repair_job_steps(ui->repair.job); ui->repair.tried++) {
		struct repair_step s = repair_job_step(ui->repair.job, ui->repair.tried);
		take_step(ui, &s);
	}
}
