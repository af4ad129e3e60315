#include "qtui/tui/files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "qtui/base/file.h"
#include "qtui/base/log.h"
#include "qtui/base/mem.h"
#include "qtui/base/str.h"
#include "qtui/interop/export.h"
#include "qtui/interop/import.h"
#include "qtui/tui/command.h"
#include "qtui/tui/edit.h"
#include "qtui/tui/repair.h"

void file_forget(struct ui *ui)
{
	struct ui_file *f = &ui->file;

	session_job_free(&f->job);
	export_free(&f->exporting);
	import_free(&f->importing);
	for (int i = 0; i < 2; i++)
		free(f->name[i]);
	*f = (struct ui_file){0};
}

// ---- what it came to

static enum status written(struct ui *ui, struct error *err)
{
	struct ui_file *f = &ui->file;

	(void)err;
	free(ui->session_path);
	ui->session_path = f->name[0];
	f->name[0] = NULL;
	ui->session_stamp = file_stamp(ui->session_path);
	ui->unsaved = ui->edits != f->edits; // what came while it was written is not in it
	ui->quit_warned = false;
	ui_note(ui, "session written to %s", ui->session_path);
	return STATUS_OK;
}

static enum status opened(struct ui *ui, struct error *err)
{
	struct ui_file *f = &ui->file;
	struct session *s = session_job_take(f->job, 0);

	if (session_apply(s, ui->study, err)) {
		session_free(&s);
		return err->status;
	}
	session_free(&ui->opened); // its unknown members give way to those of the new one
	ui->session = ui->opened = s;
	repair_take_kept(ui);
	if (f->name[0]) {
		free(ui->session_path);
		ui->session_path = f->name[0];
		f->name[0] = NULL;
		ui->session_stamp = s->stamp;
	}
	edit_done(ui);
	ui_note(ui, "opened %s: %d edit%s", s->path, ui->snap->n_edits, plural(ui->snap->n_edits));
	return STATUS_OK;
}

// A file's side takes the run that it ended with.
static enum status find_side(struct diff_side *out, struct ui *ui, int i, struct error *err)
{
	const struct ui_file *f = &ui->file;
	struct session *s = f->is_file[i] ? session_job_take(f->job, i && f->is_file[0]) : NULL;
	enum status st;

	*out = (struct diff_side){0};
	snprintf(out->name, sizeof out->name, "%s", s ? file_base(f->name[i]) : f->name[i]);
	st = s ? session_last_run(&out->figures, &out->edited, s, ui->study, err) : study_figures(&out->figures, ui->study, f->name[i], err);
	session_free(&s);
	return st;
}

static enum status compared(struct ui *ui, struct error *err)
{
	struct diff_side a, b;

	if (find_side(&a, ui, 0, err))
		return err->status;
	if (find_side(&b, ui, 1, err)) {
		run_record_done(&a.figures);
		return err->status;
	}
	diff_set(&ui->diff, &a, &b);
	ui->scroll[VIEW_DIFF] = (struct scroll){0};
	ui_show(ui, VIEW_DIFF);
	ui_note(ui, "%d node%s differ%s", ui->diff.n, plural(ui->diff.n), ui->diff.n == 1 ? "s" : "");
	return STATUS_OK;
}

// Each line to the log; how many there are.
static int log_lines(const char *what, const char *text)
{
	int n = 0;

	for (const char *end; (end = strchr(text, '\n')); text = end + 1, n++)
		log_warn("%s: %.*s", what, (int)(end - text), text);
	return n;
}

static enum status exported(struct ui *ui, struct error *err)
{
	int lost = log_lines("export", export_loss(ui->file.exporting));

	(void)err;
	ui_note(ui, lost ? "%s written; the log has %d decision%s that it cannot say" : "%s written", ui->file.name[0], lost, plural(lost));
	return STATUS_OK;
}

static enum status imported(struct ui *ui, struct error *err)
{
	struct import_report r;
	enum status st = import_end(&r, ui->file.importing, ui->study, err);

	log_lines("import", str_text(&r.notes));
	if (!st) {
		edit_done(ui);
		ui_note(ui, "%s: %d widths, %d scales%s%s", r.format, r.precisions, r.scales, r.method ? ", calibration" : "",
		    r.n_notes ? "; what is not taken over is in the log" : "");
	}
	import_report_done(&r);
	return st;
}

static enum status finish(struct ui *ui, struct error *err)
{
	static enum status (*const end[])(struct ui *, struct error *) = {[FILE_WRITE] = written, [FILE_OPEN] = opened, [FILE_DIFF] = compared,
		[FILE_EXPORT] = exported, [FILE_IMPORT] = imported};

	ui->beside[BESIDE_FILE].job = NULL;
	if (!session_job_end(ui->file.job, err))
		end[ui->file.work](ui, err);
	file_forget(ui);
	return err->status;
}

void file_ended(struct ui *ui)
{
	struct error err = {0};

	if (finish(ui, &err))
		ui_fail(ui, &err);
}

bool file_settle(struct ui *ui)
{
	if (!beside_busy(ui, BESIDE_FILE) || (ui->file.work != FILE_WRITE && ui->file.work != FILE_EXPORT))
		return true;
	file_ended(ui);
	return ui->note_role != ROLE_ERROR;
}

// ---- the commands

// The job has been started. A script goes on when it is over.
static enum status begun(struct ui *ui, const char *doing, struct error *err)
{
	*err = (struct error){0};
	beside_begin(ui, BESIDE_FILE, session_job_background(ui->file.job), doing);
	if (ui->scripted)
		return finish(ui, err);
	ui_note(ui, "%s %s", doing, ui->file.name[0] ? ui->file.name[0] : ui->offered);
	return STATUS_OK;
}

// NAME.qtui.json beside the model.
static char *session_default(const struct ui *ui)
{
	struct str s = {0};

	str_addf(&s, "%s.qtui.json", ui->snap->g->path);
	return str_detach(&s);
}

// Without a name nobody has said that the work of another run, of yesterday's or of one beside this, may go.
static enum status spare_another_run(const struct ui *ui, const char *path, struct error *err)
{
	if (file_has_stamp(path, &ui->session_stamp))
		return STATUS_OK;
	return error_set(err, STATUS_REFUSED, "%s is of another run: :open %s takes that one, :write FILE writes this one", path, path);
}

enum status command_write(struct ui *ui, char *args, struct error *err)
{
	char *path;

	if (beside_check(ui, BESIDE_FILE, err))
		return err->status;
	path = *args ? xstrdup(args) : ui->session_path ? xstrdup(ui->session_path) : session_default(ui);
	ui->file = (struct ui_file){.work = FILE_WRITE, .name = {path}, .edits = ui->edits};
	if ((!*args && spare_another_run(ui, path, err)) || session_job_write(&ui->file.job, ui->study, path, ui->session, *args != '\0', err)) {
		file_forget(ui);
		return err->status;
	}
	return begun(ui, "writing", err);
}

enum status command_open(struct ui *ui, char *args, struct error *err)
{
	const char *path = *args ? args : ui->offered;

	if (!path)
		return error_set(err, STATUS_USAGE, "no session is offered: :open FILE names one");
	if (beside_check(ui, BESIDE_FILE, err) || session_job_read(&ui->file.job, ui->study, &path, 1, true, err))
		return err->status;
	ui->file.work = FILE_OPEN;
	ui->file.name[0] = *args ? xstrdup(args) : NULL;
	return begun(ui, "reading", err);
}

// What is neither a variant nor a run may be a session's file; what is written as one is, were it only to say that it is not there.
static bool is_session(const struct ui *ui, const char *name)
{
	struct run_record known;
	struct error ignored;

	if (study_figures(&known, ui->study, name, &ignored))
		return file_exists(name) || strchr(name, '/') || str_has_suffix(name, ".json");
	run_record_done(&known);
	return false;
}

enum status command_diff(struct ui *ui, char *args, struct error *err)
{
	char *second = args + strcspn(args, " ");
	const char *name[2] = {args, NULL}, *file[2];
	int n = 0;

	if (beside_check(ui, BESIDE_FILE, err))
		return err->status;
	if (*second)
		*second++ = '\0';
	second += strspn(second, " ");
	name[1] = *second ? second : "now";
	ui->file = (struct ui_file){.work = FILE_DIFF};
	for (int i = 0; i < 2; i++) {
		ui->file.name[i] = xstrdup(name[i]);
		ui->file.is_file[i] = is_session(ui, name[i]);
		if (ui->file.is_file[i])
			file[n++] = name[i];
	}
	if (n == 0) {
		*err = (struct error){0};
		compared(ui, err);
	} else if (!session_job_read(&ui->file.job, ui->study, file, n, false, err)) {
		return begun(ui, "reading", err);
	}
	file_forget(ui);
	return err->status;
}

enum status command_export(struct ui *ui, char *args, struct error *err)
{
	char *path = args + strcspn(args, " ");

	if (beside_check(ui, BESIDE_FILE, err))
		return err->status;
	if (*path)
		*path++ = '\0';
	path += strspn(path, " ");
	ui->file = (struct ui_file){.work = FILE_EXPORT, .name = {*path ? xstrdup(path) : export_path(args, ui->study)}};
	if (export_begin(&ui->file.exporting, args, ui->file.name[0], ui->study, ui->snap, err) ||
	    session_job_other(&ui->file.job, ui->study, export_end, ui->file.exporting, err)) {
		file_forget(ui);
		return err->status;
	}
	return begun(ui, "writing", err);
}

enum status command_import(struct ui *ui, char *args, struct error *err)
{
	if (beside_check(ui, BESIDE_FILE, err))
		return err->status;
	ui->file = (struct ui_file){.work = FILE_IMPORT, .name = {xstrdup(args)}};
	if (import_begin(&ui->file.importing, ui->study, ui->snap, args, err) ||
	    session_job_other(&ui->file.job, ui->study, import_read, ui->file.importing, err)) {
		file_forget(ui);
		return err->status;
	}
	return begun(ui, "reading", err);
}
