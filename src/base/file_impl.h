// What reading whole files (file.c), mapping (file_map.c) and writing them (file_write.c, file_stale.c) share.
#ifndef QTUI_BASE_FILE_IMPL_H
#define QTUI_BASE_FILE_IMPL_H

#include <sys/stat.h>
#include "qtui/base/file.h"

// Opens what has bytes to read; the caller closes *fd.
MUST_CHECK enum status file_open_input(int *fd, struct stat *st, const char *path, struct error *err);
// All that an open file holds, on the heap.
MUST_CHECK enum status file_read_open(
    struct bytes *out, int fd, const struct stat *st, size_t limit, const char *path, struct error *err);
// Remembers all that was read from a pipe, for whoever reads the same one again;
// it can be read then without being opened.
void file_pipe_keep(int fd, const struct bytes *b);
bool file_pipe_again(struct bytes *out, const char *path); // on the heap; false: `path` is no pipe that was read
struct file_stamp file_stamp_of(const struct stat *st);
// The lock of a temporary file, which goes with the process; false: another has it, or the file system knows no locks.
bool file_lock(int fd);
void file_remove_stale(const char *dir); // temporary files of runs that were killed; once for each directory

#endif
