#include "qtui/tui/autosave.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "qtui/analysis/session_writer.h"
#include "qtui/base/file.h"
#include "qtui/base/log.h"
#include "qtui/base/mem.h"
#include "qtui/base/str.h"
#include "qtui/tui/guard.h"

static void time_of(char *out, size_t size, const char *path)
{
	struct stat st;
	struct tm tm;
	if (stat(path, &st) || !localtime_r(&st.st_mtime, &tm) || !strftime(out, size, "%Y-%m-%d %H:%M", &tm))
		snprintf(out, size, "an earlier run");
}

// Runs on one model have a file each: model.json, model-2.json, ...
enum { AT_ONCE = 16 };

static char *numbered(const char *first, int i)
{
	struct str path = {0};
	if (i == 1)
		str_add(&path, first);
	else
		str_addf(&path, "%.*s-%d.json", (int)(strlen(first) - strlen(".json")), first, i);
	return str_detach(&path);
}

// Locks a session's file for this run; -1: another run has it. The system releases the lock
// when the run ends, even in a crash. The lock has a file of its own, which is never removed:
// two runs could else hold locks on two files of that name.
static int lock_of(const char *path)
{
	struct str name = {0};
	int fd;
	str_addf(&name, "%s.lock", path);
	fd = open(str_text(&name), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	str_done(&name);
	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

// The first file that no living run has. Where locks cannot be made, the first.
static void take_path(struct ui *ui, const char *first)
{
	char *dir = file_dir(first);
	struct error err;
	ui->autosave_lock = -1;
	if (file_mkdirs(dir, &err))
		log_warn("%s", err.text);
	free(dir);
	for (int i = 1; i <= AT_ONCE && ui->autosave_lock < 0; i++) {
		free(ui->autosave_path);
		ui->autosave_path = numbered(first, i);
		ui->autosave_lock = lock_of(ui->autosave_path);
	}
	if (ui->autosave_lock < 0) {
		free(ui->autosave_path);
		ui->autosave_path = xstrdup(first);
	}
}

// Where there is no file under this run's number, it takes over the first one that an ended run left under another.
static void adopt(const struct ui *ui, const char *first)
{
	for (int i = 1; i <= AT_ONCE && !file_exists(ui->autosave_path); i++) {
		char *path = numbered(first, i);
		int lock = file_exists(path) ? lock_of(path) : -1;
		struct error err;
		if (lock >= 0 && session_move(path, ui->autosave_path, &err))
			log_warn("%s cannot be taken over: :open %s brings its edits back", path, path);
		if (lock >= 0)
			close(lock);
		free(path);
	}
}

// Where edits go that a run which was killed could not autosave: beside the model, or where temporary files go. Heap.
static char *refuge(const struct ui *ui, const char *first, int place, int i)
{
	const char *tmp = getenv("TMPDIR");
	char *model = file_dir(ui->snap->g->path), *name;
	struct str path = {0};
	str_addf(&path, "%s/%s", place == 0 ? model : tmp && *tmp ? tmp : "/tmp", file_base(first));
	name = numbered(str_text(&path), i);
	str_done(&path);
	free(model);
	return name;
}
enum { REFUGES = 2 };

// A file in the directory for temporary files may be anybody's.
static bool is_mine(const char *path)
{
	struct stat st;
	return lstat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid();
}

// The session that is offered; heap. NULL: none.
static char *find_left(const struct ui *ui, const char *first)
{
	char *found = file_exists(ui->autosave_path) ? xstrdup(ui->autosave_path) : NULL;
	for (int k = 0; k < REFUGES * AT_ONCE && !found; k++) {
		found = refuge(ui, first, k / AT_ONCE, k % AT_ONCE + 1);
		if (!is_mine(found)) {
			free(found);
			found = NULL;
		}
	}
	return found;
}

// Edits that another run has left: offered, unless a session was asked for.
static void offer(struct ui *ui, const char *first)
{
	char *path = find_left(ui, first);
	struct session *s = NULL;
	struct error err;
	char when[64];
	if (path && session_read(&s, path, &err)) {
		log_warn("%s", err.text);
	} else if (path && s->current > 0) {
		time_of(when, sizeof when, path);
		ui->offered = xstrdup(path);
		ui_note(ui, "A session of %s with %d step%s was not saved: :open brings it back", when, s->current,
		    plural(s->current));
		log_warn("a session of %s with %d step%s was not saved: :open %s brings it back", when, s->current, plural(s->current),
		    ui->offered);
	}
	session_free(&s);
	free(path);
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

void autosave_begin(struct ui *ui)
{
	char *first = session_autosave_path(ui->snap->g->path);
	if (!first)
		return;
	take_path(ui, first);
	ui->autosave = session_writer_new(ui->autosave_path);
	if (!ui->session) {
		adopt(ui, first);
		offer(ui, first);
	}
	free(first);
	warn_of_crash(ui);
}

// The first save of this run must not write over what is still on offer.
static void keep_offered(struct ui *ui)
{
	struct str kept = {0};
	struct error err;
	str_addf(&kept, "%s~", ui->autosave_path);
	if (session_move(ui->autosave_path, str_text(&kept), &err)) {
		log_warn("what was offered is not kept: %s", err.text);
	} else {
		free(ui->offered);
		ui->offered = str_detach(&kept);
	}
	str_done(&kept);
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
	if (ui->offered && !strcmp(ui->offered, ui->autosave_path))
		keep_offered(ui);
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
	char *first = session_autosave_path(ui->snap->g->path);
	bool kept = false;
	for (int k = 0; k < REFUGES * AT_ONCE && !kept; k++) {
		char *path = refuge(ui, first, k / AT_ONCE, k % AT_ONCE + 1);
		struct error err;
		bool claimed = claim(path);
		kept = claimed && !session_write(ui->study, path, ui->session, &err);
		if (claimed && !kept)
			unlink(path);
		if (kept)
			fprintf(stderr, "qtui: edits are kept in %s; the next start offers them\n", path);
		free(path);
	}
	free(first);
	return kept;
}

// Removes the refuge that the edits came from once they are saved elsewhere: the next run would offer them again.
static void leave_refuge(const struct ui *ui)
{
	if (ui->offered && ui->opened && !strcmp(ui->opened->path, ui->offered) && !str_has_prefix(ui->offered, ui->autosave_path))
		session_remove(ui->offered);
}

void autosave_end(struct ui *ui, bool killed)
{
	struct error err = {0};
	bool kept;
	autosave_write(ui);
	if (!ui->autosave)
		return;
	kept = !session_writer_free(&ui->autosave, &err) || !ui->unsaved || (killed && take_refuge(ui));
	if (!kept)
		fprintf(stderr, "qtui: edits are lost: %s\n", err.text);
	else if (ui->autosaved && !ui->unsaved)
		session_remove(ui->autosave_path);
	else if (err.status == STATUS_OK && ui->unsaved && !killed)
		fprintf(stderr, "unsaved edits are kept; the next start offers them, or: --session %s\n", ui->autosave_path);
	if (kept)
		leave_refuge(ui);
	if (ui->autosave_lock >= 0)
		close(ui->autosave_lock);
}
