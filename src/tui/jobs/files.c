#include "qtui/tui/files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "qtui/analysis/preparing.h"
#include "qtui/base/file.h"
#include "qtui/base/log.h"
#include "qtui/base/mem.h"
#include "qtui/base/str.h"
#include "qtui/interop/export.h"
#include "qtui/interop/import.h"
#include "qtui/tui/command.h"
#include "qtui/tui/edit.h"
#include "qtui/tui/kept.h"
#include "qtui/tui/repair.h"

void file_forget(struct ui *ui)
{
	struct ui_file *f = &ui->file;
	background_free(&f->job);
	session_save_free(&f->save);
	export_free(&f->exporting);
	import_free(&f->importing);
	preparing_free(&f->preparing);
	for (int i = 0; i < 2; i++) {
		session_free(&f->read[i]);
		free(f->name[i]);
	}
	*f = (struct ui_file){0};
}

// ---- the work, in a thread of its own

static enum status spare_others(const char *path, struct error *err)
{
	struct session *old = NULL;
	enum status st = file_exists(path) ? session_read(&old, path, err) : STATUS_OK;
	session_free(&old);
	return st ? error_set(err, STATUS_REFUSED, "%.200s is there and is no session: give another name", path) : STATUS_OK;
}

static enum status write_session(void *file, struct error *err)
{
	struct ui_file *f = file;
	if (f->spare && spare_others(f->name[0], err))
		return err->status;
	return session_save_end(&f->save, f->name[0], err);
}

// The study knows the tuned weights from then on.
static enum status open_session(void *file, struct error *err)
{
	struct ui_file *f = file;
	if (session_read(&f->read[0], f->name[0], err))
		return err->status;
	session_find_targets(f->read[0]);
	if (session_read_tuned(f->read[0], f->study, err))
		return err->status;
	session_check_samples(f->read[0], f->study);
	return STATUS_OK;
}

static enum status read_sides(void *file, struct error *err)
{
	struct ui_file *f = file;
	for (int i = 0; i < 2; i++)
		if (f->is_file[i] && session_read(&f->read[i], f->name[i], err))
			return err->status;
	return STATUS_OK;
}

static enum status write_export(void *file, struct error *err)
{
	return export_end(((struct ui_file *)file)->exporting, err);
}

static enum status read_import(void *file, struct error *err)
{
	return import_read(((struct ui_file *)file)->importing, err);
}

static enum status open_samples(void *file, struct error *err)
{
	return preparing_open(((struct ui_file *)file)->preparing, err);
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
	ui->unsaved = ui->edits != f->edits; // edits made while the file was written are not in it
	ui->quit_warned = false;
	ui_note(ui, f->gone ? "%s was gone: session written to it again" : "session written to %s", ui->session_path);
	return STATUS_OK;
}

static enum status opened(struct ui *ui, struct error *err)
{
	struct ui_file *f = &ui->file;
	struct session *s = f->read[0];
	if (session_apply(s, ui->study, err))
		return err->status;
	f->read[0] = NULL;
	session_free(&ui->opened); // the members that this program does not know are now those of the new one
	ui->session = ui->opened = s;
	repair_take_kept(ui);
	if (!f->kept) {
		free(ui->session_path);
		ui->session_path = f->name[0];
		f->name[0] = NULL;
		ui->session_stamp = s->stamp;
	}
	edit_done(ui);
	ui_note(ui, "opened %s: %d edit%s", s->path, ui->snap->n_edits, plural(ui->snap->n_edits));
	log_info("%s", ui->note); // the news of a short run comes over the note at once
	return STATUS_OK;
}

// The side of a comparison; of a session's file, its last run.
static enum status find_side(struct diff_side *out, struct ui *ui, int i, struct error *err)
{
	const struct ui_file *f = &ui->file;
	const struct session *s = f->read[i];
	*out = (struct diff_side){0};
	snprintf(out->name, sizeof out->name, "%s", s ? file_base(f->name[i]) : f->name[i]);
	return s ? session_last_run(&out->figures, &out->edited, s, ui->study, err) : study_figures(&out->figures, ui->study, f->name[i], err);
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
	diff_set(&ui->diff, ui->snap->g, &a, &b);
	ui->scroll[VIEW_DIFF] = (struct scroll){0};
	ui_show(ui, VIEW_DIFF);
	ui_note(ui, "%d tensor%s differ%s", ui->diff.n, plural(ui->diff.n), ui->diff.n == 1 ? "s" : "");
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
	ui_note(ui, lost ? "%s written; the log (5) has %d remark%s on it" : "%s written", ui->file.name[0], lost, plural(lost));
	return STATUS_OK;
}

static enum status imported(struct ui *ui, struct error *err)
{
	struct import_report r;
	enum status st = import_end(&r, ui->file.importing, ui->study, err);
	log_lines("import", str_text(&r.notes));
	if (!st) {
		char taken[UI_TEXT];
		snprintf(taken, sizeof taken, "%s: %d width%s, %d scale%s%s%s", r.format, r.precisions, plural(r.precisions), r.scales,
		    plural(r.scales), r.weights ? ", weights" : "",
		    r.method || r.calibrators ? ", calibration" : "");
		log_info("import: %s", taken);
		edit_done(ui);
		if (r.advice.len)
			ui_note(ui, "%s", str_text(&r.advice));
		else
			ui_note(ui, "%s%s", taken, r.n_notes ? "; what is not taken over is in the log" : "");
	}
	import_report_done(&r);
	return st;
}

static enum status prepared(struct ui *ui, struct error *err)
{
	if (preparing_end(ui->file.preparing, ui->study, err) == STATUS_OK)
		edit_taken(ui, err);
	return err->status;
}

static const struct {
	const char *doing; // for the top line
	background_fn *work;
	enum status (*ended)(struct ui *ui, struct error *err); // where the work went well
} works[] = {
	[FILE_WRITE] = {"writing", write_session, written},
	[FILE_OPEN] = {"reading", open_session, opened},
	[FILE_DIFF] = {"reading", read_sides, compared},
	[FILE_EXPORT] = {"writing", write_export, exported},
	[FILE_IMPORT] = {"reading", read_import, imported},
	[FILE_SAMPLES] = {"looking at", open_samples, prepared},
};

static enum status finish(struct ui *ui, struct error *err)
{
	ui->beside[BESIDE_FILE].job = NULL;
	if (!background_wait(ui->file.job, err))
		works[ui->file.work].ended(ui, err);
	file_forget(ui);
	return err->status;
}

void file_ended(struct ui *ui)
{
	bool kept = ui->file.work == FILE_WRITE && ui->autosave && !ui->autosave_fails;
	struct error err = {0}, told = {0};
	if (!finish(ui, &err))
		return;
	error_set(&told, err.status, "%.440s%s", err.text, kept ? "; the autosave has the edits" : "");
	ui_fail(ui, &told);
}

bool file_settle(struct ui *ui)
{
	if (!beside_busy(ui, BESIDE_FILE) || (ui->file.work != FILE_WRITE && ui->file.work != FILE_EXPORT))
		return true;
	file_ended(ui);
	return ui->note_role != ROLE_ERROR;
}

// ---- the commands

// Everything is there for the work. A script goes on when it is over.
static enum status begin(struct ui *ui, struct error *err)
{
	struct ui_file *f = &ui->file;
	const char *doing = works[f->work].doing;
	*err = (struct error){0};
	f->study = ui->study;
	if (background_new(&f->job, ui->study, works[f->work].work, f, err)) {
		file_forget(ui);
		return err->status;
	}
	beside_begin(ui, BESIDE_FILE, f->job, doing);
	if (ui->scripted)
		return finish(ui, err);
	ui_note(ui, "%s %s", doing, f->name[0]);
	return STATUS_OK;
}

// NAME.qtui.json beside the model.
static char *session_default(const struct ui *ui)
{
	struct str s = {0};
	str_addf(&s, "%s.qtui.json", ui->snap->g->path);
	return str_detach(&s);
}

// :write without a name may not replace what another run wrote there, yesterday or beside this one.
static enum status spare_another_run(const struct ui *ui, const char *path, struct error *err)
{
	if (!file_is_changed(path, &ui->session_stamp))
		return STATUS_OK;
	if (file_is_dir(path))
		return error_set(err, STATUS_REFUSED, "%s is a directory: :write FILE writes the session elsewhere", path);
	return error_set(err, STATUS_REFUSED, "%s is of another run: :open %s takes that one, :write FILE writes this one", path, path);
}

enum status command_write(struct ui *ui, char *args, struct error *err)
{
	char *path;
	if (beside_check(ui, BESIDE_FILE, err))
		return err->status;
	path = *args ? xstrdup(args) : ui->session_path ? xstrdup(ui->session_path) : session_default(ui);
	ui->file = (struct ui_file){.work = FILE_WRITE, .name = {path}, .spare = *args, .edits = ui->edits};
	if (!*args && spare_another_run(ui, path, err)) {
		file_forget(ui);
		return err->status;
	}
	ui->file.save = session_save_begin(ui->study, ui->session);
	if (!*args) {
		ui->file.gone = ui->session_path && !file_exists(path);
		session_save_over(ui->file.save, &ui->session_stamp);
	}
	return begin(ui, err);
}

enum status command_open(struct ui *ui, char *args, struct error *err)
{
	const char *path = *args ? args : ui->offered;
	if (!path)
		return error_set(err, STATUS_USAGE, "no session is offered: :open FILE names one");
	if (beside_check(ui, BESIDE_FILE, err))
		return err->status;
	ui->file = (struct ui_file){.work = FILE_OPEN, .name = {xstrdup(path)}, .kept = kept_is_one(ui->snap->g->path, path)};
	return begin(ui, err);
}

// What names neither a variant nor a run is a session's file if there is one, or if it is written like one:
// then the error is that the file is missing.
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
	const char *name[2] = {args, NULL};
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
	}
	if (ui->file.is_file[0] || ui->file.is_file[1])
		return begin(ui, err);
	*err = (struct error){0};
	compared(ui, err);
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
	if (export_begin(&ui->file.exporting, args, ui->file.name[0], ui->study, ui->snap, err)) {
		file_forget(ui);
		return err->status;
	}
	return begin(ui, err);
}

enum status command_import(struct ui *ui, char *args, struct error *err)
{
	if (beside_check(ui, BESIDE_FILE, err))
		return err->status;
	ui->file = (struct ui_file){.work = FILE_IMPORT, .name = {xstrdup(args)}};
	if (import_begin(&ui->file.importing, ui->study, ui->snap, args, err)) {
		file_forget(ui);
		return err->status;
	}
	return begin(ui, err);
}

// Takes `p` over.
static enum status prepare(struct ui *ui, struct preparing *p, struct error *err)
{
	ui->file = (struct ui_file){.work = FILE_SAMPLES, .name = {xstrdup("the samples")}, .preparing = p};
	if (preparing_opens(p))
		return begin(ui, err);
	*err = (struct error){0};
	(void)prepared(ui, err);
	file_forget(ui);
	return err->status;
}

enum status command_preprocess(struct ui *ui, char *args, struct error *err)
{
	enum { WORDS = 9 };
	struct preparing *p = NULL;
	char *word[WORDS], *rest = NULL;
	int n = 0;
	for (char *w = strtok_r(args, " ", &rest); w && n < WORDS; w = strtok_r(NULL, " ", &rest))
		word[n++] = w;
	if (beside_check(ui, BESIDE_FILE, err) || preparing_pictures(&p, ui->study, word, n, err))
		return err->status;
	return prepare(ui, p, err);
}

enum status command_samples(struct ui *ui, char *args, struct error *err)
{
	struct preparing *p = NULL;
	if (beside_check(ui, BESIDE_FILE, err) || preparing_samples(&p, ui->study, args, err))
		return err->status;
	return prepare(ui, p, err);
}
