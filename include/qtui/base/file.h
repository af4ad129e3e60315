// Files: whole reads with a limit, atomic writes, sorted directory listings, SHA-256. What a function fills or returns
// belongs to the caller, who frees it with the function named beside it, or with free where it says "heap".
#ifndef QTUI_BASE_FILE_H
#define QTUI_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "qtui/base/error.h"

struct bytes {
	uint8_t *data; // NUL-terminated beyond `size`; owner calls bytes_done
	size_t size;
	struct mapping *map; // of file_map; NULL: they are on the heap
};
// Reads all of a file. One of more than `limit` bytes is STATUS_UNSUPPORTED (SIZE_MAX: no limit). What came out of a
// pipe is kept, so that it can be read by its name again.
MUST_CHECK enum status file_read(struct bytes *out, const char *path, size_t limit, struct error *err);
// The same for text, without the byte order mark that some programs put in front of UTF-8. UTF-16 is STATUS_FORMAT.
MUST_CHECK enum status file_read_text(struct bytes *out, const char *path, size_t limit, struct error *err);
size_t bytes_mark(const struct bytes *b); // how many bytes that mark takes in front of a file that is mapped; 0: there is none
// Maps a large file read-only, and reads a small one or a pipe. If another program shortens a mapped file meanwhile,
// the lost part reads as zeros: ask bytes_torn or bytes_intact after reading.
MUST_CHECK enum status file_map(struct bytes *out, const char *path, struct error *err);
// An open file without a name for `size` bytes, in TMPDIR, /var/tmp or /tmp, the first that has twice as much room; it is gone
// when it is closed and no map has it. -1: there is none.
int file_nameless(size_t size);
MUST_CHECK bool file_map_open(struct bytes *out, int fd); // all of an open file of one byte and more, which may be closed then
bool bytes_torn(const struct bytes *b); // has a part of the file been lost?
// STATUS_IO when a part of the file has been lost, or it was written to since it was mapped.
MUST_CHECK enum status bytes_intact(const struct bytes *b, const char *path, struct error *err);
// For handlers of SIGBUS that are installed beside that of file_map: does the address belong to a mapped file? Then it
// is readable now, and the faulting instruction can be run again.
bool file_map_fault(const void *address);
void bytes_done(struct bytes *b);
// Lets the system drop the part [data, data + size) of a mapped file from memory; it is read from the file again when
// needed. Bytes on the heap stay.
void bytes_forget(const struct bytes *b, const void *data, size_t size);
// Writes to a temporary file beside `path`, syncs and renames: the old content or the new, never a part. "-" is stdout.
// The mode of an existing file and a symbolic link to it stay; devices and pipes are written to directly.
MUST_CHECK enum status file_write(const char *path, const void *data, size_t size, struct error *err);
// The same for several pieces, written one after another.
struct file_part {
	const void *data;
	size_t size;
	const void *(*make)(const void *arg); // not NULL: gives the bytes when their turn comes; they are valid until its next call
	const void *arg;                      // of `make`
};
MUST_CHECK enum status file_write_parts(const char *path, const struct file_part *part, int n, struct error *err);
// Could file_write write this path, as far as can be told beforehand? Asked before long work whose result goes there.
MUST_CHECK enum status file_may_write(const char *path, struct error *err);
// Protects an input: from now on file_write refuses to write over this file, under any of its names. Devices and
// directories are not protected.
void file_keep(const char *path);
MUST_CHECK enum status file_spare(const char *path, struct error *err); // STATUS_REFUSED for a file that is kept
bool file_is_same(const char *a, const char *b); // the same file under two names; where there is none yet, the same path
// Which file it is and when it was written; all zero: there is none. Equal stamps mean equal content.
struct file_stamp {
	unsigned long long device, inode, size, seconds, nanoseconds;
};
struct file_stamp file_stamp(const char *path);
bool file_has_stamp(const char *path, const struct file_stamp *s);
bool file_is_changed(const char *path, const struct file_stamp *s); // is there, with another stamp: what is gone has not changed
// Waits until no other run holds the directory of a file, and holds it: between looking at the file and writing it
// nobody else does, who asks likewise. For file_release; -1: there are no locks there, or a run that was stopped has
// held it for ten seconds.
int file_hold(const char *path);
void file_release(int held);
bool file_exists(const char *path);
bool file_is_dir(const char *path);
bool file_is_regular(const char *path); // no directory, pipe or device
MUST_CHECK enum status file_mkdirs(const char *path, struct error *err);

struct file_list {
	char **name; // base names in bytewise order; owner calls file_list_done
	size_t n;
};
// The files of a directory, and its subdirectories; without those whose names begin with a dot.
MUST_CHECK enum status file_list_dir(struct file_list *out, const char *dir, struct error *err);
MUST_CHECK enum status file_list_subdirs(struct file_list *out, const char *dir, struct error *err);
void file_list_done(struct file_list *l);

char *file_at_home(const char *path);               // heap: with $HOME in the place of a "~" at its beginning, as in a shell
char *file_join(const char *dir, const char *name); // heap
const char *file_base(const char *path);            // points into path
char *file_dir(const char *path);                   // heap, "." when there is none
char *file_follow(const char *path);                // heap: the file that it leads to through links, there or not
char *file_safe_name(const char *text);             // heap: everything outside [A-Za-z0-9._-] as '_'

// SHA-256 of bytes that come in parts; fastest where all but the last are multiples of 64.
struct sha256;
struct sha256 *sha256_begin(void);
void sha256_add(struct sha256 *s, const void *data, size_t size);
void sha256_end(struct sha256 **s, char out[65]); // frees it; lower-case hexadecimal, 64 characters and NUL

#endif
