#include "qtui/tui/kept.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "qtui/analysis/session.h"
#include "qtui/base/file.h"
#include "qtui/base/mem.h"
#include "qtui/base/str.h"

static bool is_in_refuge(int k)
{
	return k % KEPT_NAMES >= KEPT_NUMBERS;
}

// Runs on one model have a file each: model.json, model-2.json, ...
static char *numbered(const char *first, int i)
{
	struct str path = {0};
	if (i == 0)
		str_add(&path, first);
	else
		str_addf(&path, "%.*s-%d.json", (int)(strlen(first) - strlen(".json")), first, i + 1);
	return str_detach(&path);
}

// Takes the first file of the state directory.
static char *in_refuge(char *first, const char *model, int n)
{
	const char *tmp = getenv("TMPDIR");
	char *dir = file_dir(model), *name;
	struct str path = {0};
	str_addf(&path, "%s/%s", n < KEPT_NUMBERS ? dir : tmp && *tmp ? tmp : "/tmp", file_base(first));
	name = numbered(str_text(&path), n % KEPT_NUMBERS);
	str_done(&path);
	free(first);
	free(dir);
	return name;
}

char *kept_refuge(const char *model, int n)
{
	return in_refuge(session_autosave_path(model), model, n);
}

// The k-th file of all that there may be, those of the state directory first; behind all of them those in full.
static char *candidate(const char *model, int k)
{
	char *first = k < KEPT_NAMES ? session_autosave_path(model) : session_autosave_path_in_full(model), *path;
	if (is_in_refuge(k))
		return in_refuge(first, model, k % KEPT_NAMES - KEPT_NUMBERS);
	path = numbered(first, k % KEPT_NAMES);
	free(first);
	return path;
}

// How many there may be: those in full are others only where the model's name is long.
static int candidates(const char *model)
{
	char *path = session_autosave_path(model), *full = session_autosave_path_in_full(model);
	bool same = strcmp(path, full) == 0;
	free(path);
	free(full);
	return same ? KEPT_NAMES : KEPT_MAX;
}

// Which of them it is; -1: none.
static int index_of(const char *model, const char *path)
{
	int found = -1;
	for (int k = 0, n = candidates(model); k < n && found < 0; k++) {
		char *one = candidate(model, k);
		if (file_is_same(one, path))
			found = k;
		free(one);
	}
	return found;
}

bool kept_is_one(const char *model, const char *path)
{
	return index_of(model, path) >= 0;
}

// False: a living run has the file. The system releases the lock when the run ends, even in a crash. The lock has a file
// of its own, which is never removed: two runs could else hold locks on two files of that name.
static bool lock_file(int *fd, const char *path)
{
	struct str name = {0};
	str_addf(&name, "%s.lock", path);
	*fd = open(str_text(&name), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	str_done(&name);
	if (*fd < 0 || flock(*fd, LOCK_EX | LOCK_NB) == 0)
		return true;
	bool held = errno == EWOULDBLOCK;
	close(*fd);
	*fd = -1;
	return !held;
}

static void unlock(int fd)
{
	if (fd >= 0)
		close(fd);
}

// In a refuge nobody lives: only a run that is being killed writes there, and no file of ours but the session shall lie there.
static bool hold(int *lock, const char *path, int k)
{
	*lock = -1;
	return is_in_refuge(k) || lock_file(lock, path);
}

bool kept_hold(int *lock, const char *model, const char *path)
{
	return hold(lock, path, index_of(model, path));
}

void kept_remove(const char *model, const char *path)
{
	int lock;
	if (!kept_hold(&lock, model, path))
		return;
	session_remove(path);
	unlock(lock);
}

static bool is_older(const struct kept *a, const struct kept *b)
{
	return a->seconds != b->seconds ? a->seconds < b->seconds : a->nanoseconds < b->nanoseconds;
}

static int newest_first(const void *a, const void *b)
{
	return is_older(a, b) - is_older(b, a);
}

// A file in the directory for temporary files may be anybody's. Takes the path.
static bool look_at(struct kept *out, char *path)
{
	struct stat st;
	bool mine = lstat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid();
	if (mine)
		*out = (struct kept){path, st.st_mtim.tv_sec, st.st_mtim.tv_nsec};
	else
		free(path);
	return mine;
}

int kept_find(struct kept out[KEPT_MAX], const char *model, const char *own)
{
	int n = 0;
	for (int k = 0, most = candidates(model); k < most; k++) {
		int lock;
		if (!look_at(&out[n], candidate(model, k)))
			continue;
		if (strcmp(out[n].path, own) != 0 && hold(&lock, out[n].path, k)) {
			unlock(lock);
			n++;
		} else {
			free(out[n].path);
		}
	}
	qsort(out, (size_t)n, sizeof *out, newest_first);
	return n;
}

void kept_done(struct kept *list, int n)
{
	for (int i = 0; i < n; i++)
		free(list[i].path);
}

static bool take_free(char **path, int *lock, const char *model)
{
	for (int k = 0; k < KEPT_NUMBERS; k++) {
		*path = candidate(model, k);
		if (lock_file(lock, *path)) {
			if (!file_exists(*path))
				return true;
			unlock(*lock);
		}
		free(*path);
	}
	return false;
}

static bool take_oldest(char **path, int *lock, const char *model)
{
	struct kept list[KEPT_MAX];
	bool taken = false;
	int n = kept_find(list, model, "");
	for (int i = n - 1; i >= 0 && !taken; i--)
		if (index_of(model, list[i].path) < KEPT_NUMBERS && lock_file(lock, list[i].path)) {
			*path = xstrdup(list[i].path);
			taken = true;
		}
	kept_done(list, n);
	return taken;
}

bool kept_take(char **path, int *lock, const char *model)
{
	if (take_free(path, lock, model))
		return false;
	if (take_oldest(path, lock, model))
		return true;
	*path = candidate(model, 0); // more runs live than there are numbers
	*lock = -1;
	return false;
}
