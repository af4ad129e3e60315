// The task view: what its keys and commands do, and asking for the sample under the cursor.
#include <string.h>

#include "qtui/base/file.h"
#include "qtui/tui/action.h"
#include "qtui/tui/command.h"
#include "qtui/tui/view_task.h"

void act_view_task(struct ui *ui)
{
	ui_show(ui, VIEW_TASK);
}

static void open_class(struct ui *ui)
{
	if (task_list_open_class(&ui->task, ui->scroll[VIEW_TASK].cursor))
		ui->scroll[VIEW_TASK] = (struct scroll){0, 0};
	else
		ui_note(ui, "which samples have this class is known when the run is over");
}

void act_task_open(struct ui *ui)
{
	if (view_task_sample(ui) >= 0) {
		ui->task.open = true;
		ui->task.changes = (struct scroll){0, 0};
	} else if (ui->task.report && ui->task.n) {
		open_class(ui);
	} else {
		ui_note(ui, ui->snap->task ? "there is nothing to open here" : "no task is measured: :eval measures one");
	}
}

void act_class_close(struct ui *ui)
{
	task_list_close_class(&ui->task, &ui->scroll[VIEW_TASK]);
}

void act_picture_close(struct ui *ui)
{
	ui->task.open = false;
}

void act_task_page(struct ui *ui)
{
	if (ui->task.page == TASK_PAGE_SAMPLES && ui->snap->task && !ui->snap->task->n_classes) {
		ui_note(ui, "this task has no classes");
		return;
	}
	ui->task.open = false;
	if (ui->task.of_class) {
		act_class_close(ui);
		return;
	}
	ui->task.page = (enum task_page)((ui->task.page + 1) % TASK_PAGES);
	ui->scroll[VIEW_TASK] = (struct scroll){0, 0};
}

void act_task_sort(struct ui *ui)
{
	struct task_list *l = &ui->task;
	l->order[l->page] = task_list_next_order(l);
	ui_note(ui, "%s: %s", l->page == TASK_PAGE_SAMPLES ? "samples" : "classes", task_order_name(l->order[l->page]));
}

void act_task_boxes(struct ui *ui)
{
	const struct task_report *t = ui->snap->task;
	if (!t || !task_has_overlays(t)) {
		ui_note(ui, t ? "nothing lies over these pictures" : "no task is measured");
		return;
	}
	enum task_shows shows = task_list_shows(t);
	ui->task.overlay++;
	ui_note(ui, "%s: %s", shows == SHOWS_FIGURES ? "the picture" : "over the picture",
	    task_overlay(shows, t->kind != TASK_AGREE, ui->task.overlay)->name);
}

static void step(struct ui *ui, int by)
{
	scroll_move(&ui->scroll[VIEW_TASK], by, ui->task.n);
	ui->task.changes = (struct scroll){0, 0};
}

void act_task_prev(struct ui *ui)
{
	step(ui, -1);
}

void act_task_next(struct ui *ui)
{
	step(ui, 1);
}

void ui_ask_sample(struct ui *ui)
{
	int sample = view_task_sample(ui);
	struct task_list *l = &ui->task;
	const struct snapshot *s = ui->snap;
	if (!ui->study || sample < 0 || s->task_old)
		return;
	if (l->asked == sample + 1 && key_equal(l->asked_of, s->task_network))
		return;
	l->asked = sample + 1;
	l->asked_of = s->task_network;
	study_look(ui->study, sample);
}

// ---- commands

static enum status wish(struct ui *ui, const struct task_wish *w)
{
	study_set_task(ui->study, w);
	study_run(ui->study);
	ui->notes_run = false;
	ui->autosave_due = true;
	ui->task.asked = 0;
	return STATUS_OK;
}

// A name that is mistyped leaves the task that is measured as it is.
static enum status need_file(const char *path, struct error *err)
{
	return file_exists(path) ? STATUS_OK : error_set(err, STATUS_NOTFOUND, "%s: there is no such file or directory", path);
}

// What a session names is started by the user alone.
static enum status need_program(const struct task_wish *w, struct error *err)
{
	return !w->rests ? STATUS_OK : error_set(err, STATUS_REFUSED, "the session's program is started by :%s COMMAND; :eval none gives it up",
	    w->scorer ? "scorer" : "boxes");
}

enum status command_eval(struct ui *ui, char *args, struct error *err)
{
	struct task_wish w = *study_task_wish(ui->study);
	const char *own = study_options(ui->study)->calib;
	if (!strcmp(args, "none")) {
		ui_note(ui, "the task is measured no more");
		return wish(ui, &(struct task_wish){.none = true});
	}
	if (!strcmp(args, "agree")) {
		ui_note(ui, "comparing what the two networks give");
		return wish(ui, &(struct task_wish){.data = w.data, .kind = task_kind_name(TASK_AGREE), .decoder = w.decoder, .iou = w.iou});
	}
	if (!*args && !own)
		return error_set(err, STATUS_USAGE, "random samples have no labels: :eval DIR names others");
	if (need_program(&w, err) || (*args && need_file(args, err)))
		return err->status;
	w.data = *args ? args : own;
	w.none = false;
	ui_note(ui, "measuring on %s", w.data);
	return wish(ui, &w);
}

enum status command_labels(struct ui *ui, char *args, struct error *err)
{
	struct task_wish w = *study_task_wish(ui->study);
	if (need_file(args, err))
		return err->status;
	w.labels = args;
	w.kind = w.kind && strcmp(w.kind, task_kind_name(TASK_AGREE)) == 0 ? NULL : w.kind; // which needs no labels
	w.rests = w.rests && !w.scorer;
	w.scorer = NULL;
	if (need_program(&w, err))
		return err->status;
	w.none = false;
	ui_note(ui, "labels %s", args);
	return wish(ui, &w);
}

enum status command_scorer(struct ui *ui, char *args, struct error *err)
{
	struct task_wish w = {.data = study_task_wish(ui->study)->data, .scorer = args};
	if (!*args)
		return command_usage("scorer", err);
	ui_note(ui, "scored by %s", args);
	return wish(ui, &w);
}

enum status command_boxes(struct ui *ui, char *args, struct error *err)
{
	const struct task_wish *now = study_task_wish(ui->study);
	struct task_wish w = {.data = now->data, .labels = now->labels, .boxes_by = args, .iou = now->iou};
	if (!*args)
		return command_usage("boxes", err);
	ui_note(ui, "boxes by %s", args);
	return wish(ui, &w);
}

// Of a name that is none the run says which there are.
enum status command_decoder(struct ui *ui, char *args, struct error *err)
{
	struct task_wish w = *study_task_wish(ui->study);
	if (!*args)
		return command_usage("decoder", err);
	if (need_program(&w, err))
		return err->status;
	w.decoder = strcmp(args, "auto") ? args : NULL;
	w.none = false;
	ui_note(ui, "decoder %s", args);
	return wish(ui, &w);
}

enum status command_pictures(struct ui *ui, char *args, struct error *err)
{
	if (strcmp(args, "pixels") && strcmp(args, "blocks"))
		return command_usage("pictures", err);
	ui->only_blocks = !strcmp(args, "blocks");
	if (!ui->only_blocks && !ui->cell_w)
		ui_note(ui, "pictures in pixels, if the terminal says that it can");
	return STATUS_OK;
}
