// Files: whole reads with a limit, atomic writes, sorted directory listings, SHA-256.
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
// A file of more than `limit` bytes is STATUS_UNSUPPORTED (SIZE_MAX: no limit). What a pipe gave is given again to who reads it again.
MUST_CHECK enum status file_read(struct bytes *out, const char *path, size_t limit, struct error *err);
// The same for text, without the mark of UTF-8 that some programs write first. UTF-16 is STATUS_FORMAT.
MUST_CHECK enum status file_read_text(struct bytes *out, const char *path, size_t limit, struct error *err);
// Maps a large file read-only and reads a small one or a pipe; same owner rule. What another program cuts off a
// mapped file reads as zeros, so that whoever has read asks bytes_torn, or bytes_intact.
MUST_CHECK enum status file_map(struct bytes *out, const char *path, struct error *err);
bool bytes_torn(const struct bytes *b);
MUST_CHECK enum status bytes_intact(const struct bytes *b, const char *path, struct error *err); // STATUS_IO: torn, or written to
// For handlers of SIGBUS that are installed beside that of file_map: whether the address is one of a map, which may be read now.
bool file_map_fault(const void *address);
void bytes_done(struct bytes *b);
// The part [data, data + size) of a mapped file leaves memory, and is read again if it is asked for; other bytes stay.
void bytes_forget(const struct bytes *b, const void *data, size_t size);
// Writes to a temporary file beside `path`, syncs and renames: the old content or the new, never a part. "-" is stdout.
// The mode of an existing file and a symbolic link to it stay; devices and pipes are written to directly.
MUST_CHECK enum status file_write(const char *path, const void *data, size_t size, struct error *err);
// The same for several pieces, one behind the other.
struct file_part {
	const void *data;
	size_t size;
};
MUST_CHECK enum status file_write_parts(const char *path, const struct file_part *part, int n, struct error *err);
// Whether it could, as far as can be told beforehand: long work should not end in a name that cannot be written.
MUST_CHECK enum status file_may_write(const char *path, struct error *err);
// From now on nothing here writes over this file, by whatever name: it is one that is read. Not meant for devices and directories, which
// it leaves alone.
void file_keep(const char *path);
MUST_CHECK enum status file_spare(const char *path, struct error *err); // STATUS_REFUSED for a file that is kept
bool file_is_same(const char *a, const char *b); // one file; of those that are not there yet, one path
// Which file it is and when it was written; all zero: there is none. Two that are equal are of the same content.
struct file_stamp {
	unsigned long long device, inode, size, seconds, nanoseconds;
};
struct file_stamp file_stamp(const char *path);
bool file_has_stamp(const char *path, const struct file_stamp *s);
bool file_exists(const char *path);
bool file_is_dir(const char *path);
bool file_is_regular(const char *path); // no directory, pipe or device
MUST_CHECK enum status file_mkdirs(const char *path, struct error *err);

struct file_list {
	char **name; // base names in bytewise order, without dot files and what is no file; owner calls file_list_done
	size_t n;
};
MUST_CHECK enum status file_list_dir(struct file_list *out, const char *dir, struct error *err);
MUST_CHECK enum status file_list_subdirs(struct file_list *out, const char *dir, struct error *err); // likewise
void file_list_done(struct file_list *l);

char *file_join(const char *dir, const char *name); // heap
const char *file_base(const char *path);            // points into path
char *file_dir(const char *path);                   // heap, "." when there is none
char *file_safe_name(const char *text);             // heap: everything outside [A-Za-z0-9._-] as '_'

// SHA-256 of bytes that come in parts; fastest where all but the last are multiples of 64.
struct sha256;
struct sha256 *sha256_begin(void);
void sha256_add(struct sha256 *s, const void *data, size_t size);
void sha256_end(struct sha256 **s, char out[65]); // frees it; lower-case hexadecimal, 64 characters and NUL

#endif
