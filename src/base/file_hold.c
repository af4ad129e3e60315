// One writer at a time, for files that are written only if nobody else has written them: a lock on the directory, which
// is there before the file is and stays when the file is replaced.
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>
#include "qtui/base/file.h"

// Who holds it writes one file, which takes no time; one that was stopped meanwhile holds nobody up for ever.
enum { TRIES = 500, BETWEEN_NS = 20000000 };

int file_hold(const char *path)
{
	char *real = file_follow(path), *dir = file_dir(real);
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	free(dir);
	free(real);
	for (int i = 0; fd >= 0 && i < TRIES; i++) {
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			return fd;
		if (errno != EWOULDBLOCK && errno != EINTR)
			break; // a file system that knows no locks
		nanosleep(&(struct timespec){.tv_nsec = BETWEEN_NS}, NULL);
	}
	file_release(fd);
	return -1;
}

void file_release(int held)
{
	if (held >= 0)
		close(held);
}
