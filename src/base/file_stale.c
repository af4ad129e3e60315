// Temporary files that a killed run has left beside what it wrote. A later run that writes to the directory
// removes them: those of our name and user whose process has gone, that nobody has touched for a while,
// and whose lock nobody holds, as a process on another machine or in another container would.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>
#include "file_impl.h"
#include "qtui/base/mem.h"

enum { LEAST_AGE = 60 }; // seconds

// The process that a temporary file is named after; 0: the name is not one of ours.
static long maker_of(const char *name)
{
	long pid = 0;
	unsigned number;
	char end[8];
	if (sscanf(name, ".qtui-%ld-%u%7s", &pid, &number, end) != 3 || strcmp(end, ".tmp") != 0 || pid <= 0 || pid > INT_MAX)
		return 0;
	return pid;
}

static bool is_stale(int dir, const char *name)
{
	long maker = maker_of(name);
	struct stat st;
	return maker && kill((pid_t)maker, 0) != 0 && errno == ESRCH && fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    S_ISREG(st.st_mode) && st.st_uid == geteuid() && time(NULL) - st.st_mtime > LEAST_AGE;
}

static void remove_one(int dir, const char *name)
{
	int fd = openat(dir, name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return;
	if (file_lock(fd))
		unlinkat(dir, name, 0);
	close(fd);
}

static void sweep(DIR *d)
{
	struct dirent *e;
	while ((e = readdir(d)))
		if (is_stale(dirfd(d), e->d_name))
			remove_one(dirfd(d), e->d_name);
}

// The first time that it is asked for: a directory may be large.
static bool is_new(const struct stat *st)
{
	static struct swept {
		dev_t device;
		ino_t inode;
	} *swept;
	static size_t n, cap;
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	bool found = false;
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < n; i++)
		found = found || (swept[i].device == st->st_dev && swept[i].inode == st->st_ino);
	if (!found) {
		swept = xgrow(swept, &cap, n + 1, sizeof *swept);
		swept[n++] = (struct swept){st->st_dev, st->st_ino};
	}
	pthread_mutex_unlock(&lock);
	return !found;
}

bool file_lock(int fd)
{
	return flock(fd, LOCK_EX | LOCK_NB) == 0;
}

void file_remove_stale(const char *dir)
{
	DIR *d = opendir(dir);
	struct stat st;
	if (!d)
		return;
	if (fstat(dirfd(d), &st) == 0 && is_new(&st))
		sweep(d);
	closedir(d);
}
