// Files without names, for what is too large to be held in memory.
#define _GNU_SOURCE // mkostemp: another thread may start a program at any moment, which is not to have the file
#include <fcntl.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include "qtui/base/file.h"
#include "qtui/base/str.h"

// Half of the room stays for others.
static bool has_room(const char *dir, size_t size)
{
	struct statvfs v;
	return statvfs(dir, &v) == 0 && v.f_bavail / 2 >= size / v.f_frsize + 1;
}

static int open_in(const char *dir)
{
	struct str path = {0};
	str_addf(&path, "%s/qtui-XXXXXX", dir);
	int fd = mkostemp(path.text, O_CLOEXEC);
	if (fd >= 0)
		unlink(path.text);
	str_done(&path);
	return fd;
}

int file_nameless(size_t size)
{
	const char *const where[] = {getenv("TMPDIR"), "/var/tmp", "/tmp"};
	for (size_t i = 0; i < sizeof where / sizeof *where; i++) {
		int fd = where[i] && has_room(where[i], size) ? open_in(where[i]) : -1;
		if (fd >= 0)
			return fd;
	}
	return -1;
}
