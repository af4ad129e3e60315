// Files that are written whole or not at all, and never over one that is read.
#include "file_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "qtui/base/mem.h"
#include "qtui/base/str.h"

#define MAX_LINKS 40 // as many as the system follows

static struct kept {
	dev_t device;
	ino_t inode;
} *kept;
static size_t n_kept;
static pthread_mutex_t keeping = PTHREAD_MUTEX_INITIALIZER;

void file_keep(const char *path)
{
	struct stat st;
	if (stat(path, &st) != 0 || !S_ISREG(st.st_mode))
		return;
	pthread_mutex_lock(&keeping);
	kept = xrealloc(kept, (n_kept + 1) * sizeof *kept);
	kept[n_kept++] = (struct kept){st.st_dev, st.st_ino};
	pthread_mutex_unlock(&keeping);
}

enum status file_spare(const char *path, struct error *err)
{
	struct stat st;
	bool there = stat(path, &st) == 0, is_kept = false;
	pthread_mutex_lock(&keeping);
	for (size_t i = 0; there && i < n_kept; i++)
		is_kept = is_kept || (kept[i].device == st.st_dev && kept[i].inode == st.st_ino);
	pthread_mutex_unlock(&keeping);
	return is_kept ? error_set(err, STATUS_REFUSED, "%s is read here and is not written over: give another name", path)
	               : STATUS_OK;
}

bool file_is_same(const char *a, const char *b)
{
	struct stat x, y;
	if (stat(a, &x) != 0 || stat(b, &y) != 0)
		return strcmp(a, b) == 0;
	return x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static bool write_all(int fd, const struct file_part *part)
{
	const char *p = part->make ? part->make(part->arg) : part->data;
	size_t left = part->size;
	while (left > 0) {
		ssize_t n = write(fd, p, left);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return false;
		p += n;
		left -= (size_t)n;
	}
	return true;
}

static bool write_parts(int fd, const struct file_part *part, int n)
{
	for (int i = 0; i < n; i++)
		if (!write_all(fd, &part[i]))
			return false;
	return true;
}

// A dot file, which no listing shows, named after the process:
// what a crash left is in nobody's way, and the next run knows it.
static int open_temporary(char **name, const char *path)
{
	static atomic_uint counter;
	char *dir = file_dir(path);
	struct str s = {0};
	int fd;
	file_remove_stale(dir);
	do {
		str_clear(&s);
		str_addf(&s, "%s/.qtui-%ld-%u.tmp", dir, (long)getpid(), atomic_fetch_add(&counter, 1));
		fd = open(str_text(&s), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	} while (fd < 0 && errno == EEXIST);
	if (fd >= 0)
		file_lock(fd);
	free(dir);
	*name = str_detach(&s);
	return fd;
}

// After the rename only a crash of the machine can lose it; a directory that cannot be synced is no reason to complain.
static void sync_dir(const char *path)
{
	char *dir = file_dir(path);
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0) {
		fsync(fd);
		close(fd);
	}
	free(dir);
}

// What ends a program waits until the file stands under its name: a temporary one would be left behind.
// Threads that only compute have these signals blocked in any case.
static void hold_signals(sigset_t *before)
{
	static const int ends[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
	sigset_t held;
	sigemptyset(&held);
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
		sigaddset(&held, ends[i]);
	pthread_sigmask(SIG_BLOCK, &held, before);
}

// A file that cannot be made: its directory may be the one that is not there.
static enum status refuse_place(const char *path, struct error *err)
{
	int why = errno;
	char *dir = file_dir(path);
	bool nowhere = why == ENOENT && !file_is_dir(dir);
	if (nowhere)
		error_set(err, STATUS_IO, "%s: there is no directory %s", path, dir);
	free(dir);
	errno = why;
	return nowhere ? err->status : error_errno(err, path);
}

// `old` is the file that is there, or NULL.
static enum status replace_now(
    const char *path, const struct stat *old, const struct file_part *part, int n, struct error *err)
{
	char *name;
	int fd = open_temporary(&name, path);
	bool ok = fd >= 0;
	ok = ok && (!old || fchmod(fd, old->st_mode & 0777) == 0);
	ok = ok && write_parts(fd, part, n) && fsync(fd) == 0;
	if (!ok)
		refuse_place(path, err);
	if (fd >= 0 && close(fd) != 0 && ok)
		ok = error_errno(err, path) == STATUS_OK;
	if (ok && rename(name, path) != 0)
		ok = error_errno(err, path) == STATUS_OK;
	if (ok)
		sync_dir(path);
	else if (fd >= 0)
		unlink(name);
	free(name);
	return ok ? STATUS_OK : err->status;
}

static enum status replace(
    const char *path, const struct stat *old, const struct file_part *part, int n, struct error *err)
{
	sigset_t before;
	hold_signals(&before);
	enum status s = replace_now(path, old, part, n, err);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return s;
}

static enum status write_device(const char *path, const struct file_part *part, int n, struct error *err)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool ok = fd >= 0 && write_parts(fd, part, n);
	if (!ok)
		error_errno(err, path);
	if (fd >= 0 && close(fd) != 0 && ok)
		return error_errno(err, path);
	return ok ? STATUS_OK : err->status;
}

// Replacing a file needs leave to write the directory only; one that is write-protected is left alone all the same.
static enum status write_existing(
    const char *path, const struct stat *st, const struct file_part *part, int n, struct error *err)
{
	if (S_ISDIR(st->st_mode)) {
		errno = EISDIR;
		return error_errno(err, path);
	}
	if (!S_ISREG(st->st_mode))
		return write_device(path, part, n, err);
	if (access(path, W_OK) != 0)
		return error_errno(err, path);
	return file_spare(path, err) == STATUS_OK ? replace(path, st, part, n, err) : err->status;
}

static enum status write_stdout(const struct file_part *part, int n, struct error *err)
{
	if (fflush(stdout) != 0 || !write_parts(STDOUT_FILENO, part, n))
		return error_errno(err, "standard output");
	return STATUS_OK;
}

char *file_follow(const char *path)
{
	char target[PATH_MAX];
	char *at = xstrdup(path);
	for (int depth = 0; depth < MAX_LINKS; depth++) {
		ssize_t n = readlink(at, target, sizeof target - 1);
		if (n < 0)
			break;
		target[n] = '\0';
		char *dir = file_dir(at);
		free(at);
		at = file_join(dir, target);
		free(dir);
	}
	return at;
}

// A file is made, or replaced, in its directory; `there`: it is a file already.
static enum status may_replace(const char *path, bool there, struct error *err)
{
	char *dir = file_dir(path);
	enum status s = STATUS_OK;
	if (!file_is_dir(dir))
		s = error_set(err, STATUS_IO, "%s: there is no directory %s", path, dir);
	else if (there && access(path, W_OK) != 0)
		s = error_errno(err, path);
	else if (access(dir, W_OK | X_OK) != 0)
		s = error_set(err, STATUS_IO, "%s: no file can be made in %s: %s", path, dir, strerror(errno));
	free(dir);
	return s == STATUS_OK && there ? file_spare(path, err) : s;
}

enum status file_may_write(const char *path, struct error *err)
{
	struct stat st;
	enum status s;
	char *real;
	if (strcmp(path, "-") == 0)
		return STATUS_OK;
	if (file_is_dir(path))
		return error_set(err, STATUS_IO, "%s is a directory: name a file in it", path);
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
		return access(path, W_OK) == 0 ? STATUS_OK : error_errno(err, path);
	real = file_follow(path);
	s = may_replace(real, file_exists(real), err);
	free(real);
	return s;
}

enum status file_write_parts(const char *path, const struct file_part *part, int n, struct error *err)
{
	struct stat st;
	char *real;
	enum status s;
	if (strcmp(path, "-") == 0)
		return write_stdout(part, n, err);
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) // /dev/stdout may lead to a pipe, which has no name of its own
		return write_existing(path, &st, part, n, err);
	real = file_follow(path);
	if (stat(real, &st) == 0)
		s = write_existing(real, &st, part, n, err);
	else
		s = replace(real, NULL, part, n, err);
	free(real);
	return s;
}

enum status file_write(const char *path, const void *data, size_t size, struct error *err)
{
	return file_write_parts(path, &(struct file_part){.data = data, .size = size}, 1, err);
}

static bool make_dir(const char *path)
{
	return mkdir(path, 0777) == 0 || ((errno == EEXIST || errno == EISDIR) && file_is_dir(path));
}

enum status file_mkdirs(const char *path, struct error *err)
{
	char *copy = xstrdup(path);
	char *slash = copy;
	bool ok = true;
	while (ok && (slash = strchr(slash + (*slash != '\0'), '/'))) {
		*slash = '\0';
		ok = make_dir(copy);
		*slash = '/';
	}
	ok = ok && make_dir(copy);
	free(copy);
	if (!ok && errno == EEXIST)
		errno = ENOTDIR; // what is there is something else
	return ok ? STATUS_OK : error_errno(err, path);
}
