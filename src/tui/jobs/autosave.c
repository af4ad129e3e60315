#include "qtui/tui/autosave.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "qtui/analysis/session_writer.h"
#include "qtui/base/file.h"
#include "qtui/base/json.h"
#include "qtui/base/log.h"
#include "qtui/base/mem.h"
#include "qtui/base/str.h"
#include "qtui/tui/command.h"
#include "qtui/tui/guard.h"
#include "qtui/tui/kept.h"

static void time_of(char *out, size_t size, const char *path)
{
	struct stat st;
	struct tm tm;
	if (stat(path, &st) || !localtime_r(&st.st_mtime, &tm) || !strftime(out, size, "%Y-%m-%d %H:%M", &tm))
		snprintf(out, size, "an earlier run");
}

static void let_offer_go(struct ui *ui)
{
	if (ui->offered_lock >= 0)
		close(ui->offered_lock);
	ui->offered_lock = -1;
}

static const char *model_of(const struct ui *ui)
{
	return ui->snap->g->path;
}

// What a later start would offer: nothing where all was undone.
static bool has_work(const struct session *s)
{
	return s->current > 0 || cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(s->root, "variants")) > 0;
}

static bool file_has_work(const char *path)
{
	struct session *s = NULL;
	struct error err;
	bool has = session_read(&s, path, &err) != STATUS_OK || has_work(s); // what cannot be read is not thrown away
	session_free(&s);
	return has;
}

static void tell_offered(struct ui *ui, int steps, int older)
{
	char when[64];
	time_of(when, sizeof when, ui->offered);
	if (older)
		ui_note(ui, "A session of %s with %d step%s was not saved: :open brings it back; the log names %d older", when, steps,
		    plural(steps), older);
	else
		ui_note(ui, "A session of %s with %d step%s was not saved: :open brings it back", when, steps, plural(steps));
	log_warn("a session of %s with %d step%s was not saved: :open %s brings it back", when, steps, plural(steps), ui->offered);
}

// False: nothing that anybody would want is in it, or a run that lives has it.
static bool take_offer(struct ui *ui, const char *path, int *steps)
{
	struct session *s = NULL;
	struct error err;
	if (!kept_hold(&ui->offered_lock, model_of(ui), path))
		return false;
	if (session_read(&s, path, &err))
		log_warn("%s", err.text);
	else if (has_work(s))
		ui->offered = xstrdup(path);
	*steps = s ? s->current : 0;
	session_free(&s);
	if (!ui->offered)
		let_offer_go(ui);
	return ui->offered != NULL;
}

// Edits that other runs have left: the newest are offered, the others named.
static void offer(struct ui *ui)
{
	struct kept list[KEPT_MAX];
	int n = kept_find(list, model_of(ui), ui->autosave_path), at = 0, steps = 0, older = 0;
	while (at < n && !take_offer(ui, list[at].path, &steps))
		at++;
	for (int i = at + 1; i < n; i++) {
		char when[64];
		if (!file_has_work(list[i].path))
			continue;
		time_of(when, sizeof when, list[i].path);
		log_warn("a session of %s was not saved either: :open %s brings it back", when, list[i].path);
		older++;
	}
	if (ui->offered)
		tell_offered(ui, steps, older);
	kept_done(list, n);
}

// Every number has a session: the next edit costs the oldest.
static void tell_full(struct ui *ui)
{
	char when[64];
	time_of(when, sizeof when, ui->autosave_path);
	ui_note(ui, "%d sessions were not saved, and no more are kept: an edit replaces that of %s; the log names all", KEPT_NUMBERS, when);
	log_warn("%d sessions were not saved, and no more are kept: an edit replaces that of %s, unless :open %s and :write save it",
	    KEPT_NUMBERS, when, ui->autosave_path);
}

// Prepares what a crash would say of the edits: the handler can neither ask nor format.
static void warn_of_crash(const struct ui *ui)
{
	struct str message = {0};
	if (ui->autosave_fails)
		str_add(&message, "; the last edits could not be autosaved");
	else
		str_addf(&message, "; edits are kept in %s", ui->autosave_path);
	guard_crash(NULL, str_text(&message));
	str_done(&message);
}

// The session that was asked for is one that a run has left: nobody has saved it yet, and :write does not go there.
static void begin_from_kept(struct ui *ui)
{
	free(ui->session_path);
	ui->session_path = NULL;
	ui->session_stamp = (struct file_stamp){0};
	ui->autosave_due = ui->unsaved = true;
}

void autosave_begin(struct ui *ui)
{
	char *dir, *first = session_autosave_path(model_of(ui));
	struct error err;
	bool full;
	dir = file_dir(first);
	free(first);
	if (file_mkdirs(dir, &err))
		log_warn("%s", err.text);
	free(dir);
	full = kept_take(&ui->autosave_path, &ui->autosave_lock, model_of(ui));
	ui->offered_lock = -1;
	ui->autosave = session_writer_new(ui->autosave_path);
	if (!ui->session)
		offer(ui);
	else if (kept_is_one(model_of(ui), ui->session->path))
		begin_from_kept(ui);
	if (full)
		tell_full(ui);
	warn_of_crash(ui);
}

// A failure is shown as an error until a key is pressed, and in the top line as long as it lasts.
static void tell_news(struct ui *ui)
{
	struct error err, why;
	if (!session_writer_news(ui->autosave, &err))
		return;
	ui->autosave_fails = err.status != STATUS_OK;
	warn_of_crash(ui);
	if (ui->autosave_fails) {
		error_set(&why, err.status, "edits are not autosaved, :write FILE keeps them elsewhere: %.300s", err.text);
		ui_fail(ui, &why);
	} else {
		log_info("edits are autosaved again: %s", ui->autosave_path);
		ui_note(ui, "edits are autosaved again");
	}
}

void autosave_write(struct ui *ui)
{
	if (ui->autosave)
		tell_news(ui);
	if (!ui->autosave_due || !ui->autosave)
		return;
	ui->autosave_due = false;
	if (!ui->autosaved && file_exists(ui->autosave_path))
		session_remove(ui->autosave_path); // it was told; its tuned weights would stay
	session_writer_put(ui->autosave, session_save_begin(ui->study, ui->session));
	ui->autosaved = true;
}

int autosave_fd(const struct ui *ui)
{
	return ui->autosave ? session_writer_fd(ui->autosave) : -1;
}

bool autosave_may_quit(struct ui *ui)
{
	struct error err;
	if (!file_settle(ui))
		return false;
	if (!ui->unsaved || !ui->autosave || ui->quit_warned)
		return true;
	autosave_write(ui); // keys may come faster than frames
	if (!session_writer_lost(ui->autosave))
		return true;
	ui->quit_warned = true;
	tell_news(ui); // now: later its message would replace the warning below
	error_set(&err, STATUS_REFUSED, "edits would be lost, since %s cannot be written: :write FILE, or quit again", ui->autosave_path);
	ui_fail(ui, &err);
	return false;
}

// Makes the file, ours alone, where nothing stands under that name: not even a link that leads nowhere, which somebody
// else may have laid in the directory for temporary files.
static bool claim(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

// The run is being killed and its edits cannot be autosaved:
// they go to the first refuge that takes them. False: none did.
static bool take_refuge(struct ui *ui)
{
	bool kept = false;
	for (int n = 0; n < KEPT_REFUGES * KEPT_NUMBERS && !kept; n++) {
		char *path = kept_refuge(model_of(ui), n);
		struct error err;
		bool claimed = claim(path);
		kept = claimed && !session_write(ui->study, path, ui->session, &err);
		if (claimed && !kept)
			unlink(path);
		if (kept)
			fprintf(stderr, "qtui: edits are kept in %s; the next start offers them\n", path);
		free(path);
	}
	return kept;
}

// What was opened is saved, or lies in this run's own file: the next start would offer it twice.
static void leave_opened(struct ui *ui)
{
	const char *path = ui->session ? ui->session->path : NULL;
	let_offer_go(ui);
	if (path && !file_is_same(path, ui->autosave_path) && kept_is_one(model_of(ui), path))
		kept_remove(model_of(ui), path);
}

// Of this run's own file: everything in it is written elsewhere, or was undone.
static bool is_void(const struct ui *ui, bool written)
{
	return ui->autosaved && (!ui->unsaved || (written && !file_has_work(ui->autosave_path)));
}

void autosave_end(struct ui *ui, bool killed)
{
	struct error err = {0};
	bool written, kept, none;
	autosave_write(ui);
	if (!ui->autosave)
		return;
	written = !session_writer_free(&ui->autosave, &err);
	kept = written || !ui->unsaved || (killed && take_refuge(ui));
	none = is_void(ui, written);
	if (!kept)
		fprintf(stderr, "qtui: edits are lost: %s\n", err.text);
	else if (none)
		session_remove(ui->autosave_path);
	else if (written && ui->unsaved && !killed)
		fprintf(stderr, "unsaved edits are kept; the next start offers them, or: --session %s\n", ui->autosave_path);
	if (kept && !(none && ui->unsaved)) // what was opened and undone stays on offer
		leave_opened(ui);
	let_offer_go(ui);
	if (ui->autosave_lock >= 0)
		close(ui->autosave_lock);
}

enum status command_forget(struct ui *ui, char *args, struct error *err)
{
	char when[64];
	(void)args;
	if (!ui->offered)
		return error_set(err, STATUS_USAGE, "no session is offered");
	time_of(when, sizeof when, ui->offered);
	let_offer_go(ui);
	kept_remove(model_of(ui), ui->offered);
	free(ui->offered);
	ui->offered = NULL;
	ui_note(ui, "the session of %s is forgotten", when);
	return STATUS_OK;
}
