// What reading whole files (file.c) and mapping them (file_map.c) share.
#ifndef QTUI_BASE_FILE_IMPL_H
#define QTUI_BASE_FILE_IMPL_H

#include <sys/stat.h>
#include "qtui/base/file.h"

// Opens what has bytes to read; the caller closes *fd.
MUST_CHECK enum status file_open_input(int *fd, struct stat *st, const char *path, struct error *err);
// All that an open file holds, on the heap.
MUST_CHECK enum status file_read_open(
    struct bytes *out, int fd, const struct stat *st, size_t limit, const char *path, struct error *err);
struct file_stamp file_stamp_of(const struct stat *st);

#endif
