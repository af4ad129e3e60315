// Reading: whole files, listings and names. Maps are in file_map.c, writing in file_write.c.
#include "file_impl.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "qtui/base/mem.h"
#include "qtui/base/order.h"
#include "qtui/base/str.h"

// A device may have no end (/dev/zero). A terminal is not waited for either.
static enum status refuse_kind(const struct stat *st, const char *path, struct error *err)
{
	if (S_ISREG(st->st_mode) || S_ISFIFO(st->st_mode) || S_ISSOCK(st->st_mode))
		return STATUS_OK;
	if (!S_ISDIR(st->st_mode))
		return error_set(err, STATUS_FORMAT, "%s: a device, not a file", path);
	errno = EISDIR;
	return error_errno(err, path);
}

enum status file_open_input(int *fd, struct stat *st, const char *path, struct error *err)
{
	enum status s;
	*fd = open(path, O_RDONLY | O_CLOEXEC);
	if (*fd < 0)
		return error_errno(err, path);
	s = fstat(*fd, st) == 0 ? refuse_kind(st, path, err) : error_errno(err, path);
	if (s != STATUS_OK)
		close(*fd);
	return s;
}

static enum status too_large(const char *path, size_t limit, struct error *err)
{
	return error_set(err, STATUS_UNSUPPORTED, "%s: larger than %zu bytes, the most that is read", path, limit);
}

// Room for one more byte than is asked, which is the NUL's.
static enum status make_room(struct bytes *b, size_t *cap, size_t want, const char *path, struct error *err)
{
	void *p;
	if (want < *cap)
		return STATUS_OK;
	p = mem_try_resize(b->data, want + 1);
	if (!p)
		return error_set(err, STATUS_NOMEM, "%s: no memory for %zu bytes", path, want);
	b->data = p;
	*cap = want + 1;
	return STATUS_OK;
}

// The size that the system tells is only a hint: pipes and /proc have none, and a file may grow.
static enum status read_all(struct bytes *b, int fd, size_t hint, size_t limit, const char *path, struct error *err)
{
	size_t cap = 0;
	ssize_t n;
	if (make_room(b, &cap, hint + 1, path, err))
		return err->status;
	for (;;) {
		n = read(fd, b->data + b->size, cap - 1 - b->size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		b->size += (size_t)n;
		if (b->size > limit)
			return too_large(path, limit, err);
		if (b->size == cap - 1 && make_room(b, &cap, 2 * cap + 4096, path, err))
			return err->status;
	}
	if (n < 0)
		return error_errno(err, path);
	b->data[b->size] = '\0';
	return STATUS_OK;
}

// What a repository holds in the place of a large file until that is fetched.
static enum status refuse_pointer(const struct bytes *b, const char *path, struct error *err)
{
	if (strncmp((const char *)b->data, "version https://git-lfs", 23) != 0)
		return STATUS_OK;
	return error_set(err, STATUS_FORMAT, "%s is a pointer of Git LFS: `git lfs pull` brings the file itself", path);
}

enum status file_read_open(
    struct bytes *out, int fd, const struct stat *st, size_t limit, const char *path, struct error *err)
{
	bool regular = S_ISREG(st->st_mode);
	size_t hint = regular && st->st_size > 0 ? (size_t)st->st_size : 0;
	*out = (struct bytes){0};
	if (!regular && limit > mem_available() / 2)
		limit = mem_available() / 2; // a pipe may never end
	if (hint > limit)
		return too_large(path, limit, err);
	if (read_all(out, fd, hint, limit, path, err) || refuse_pointer(out, path, err))
		bytes_done(out);
	else if (!regular)
		file_pipe_keep(fd, out);
	return out->data ? STATUS_OK : err->status;
}

enum status file_read(struct bytes *out, const char *path, size_t limit, struct error *err)
{
	struct stat st;
	enum status s;
	int fd;
	*out = (struct bytes){0};
	if (file_pipe_again(out, path)) {
		if (out->size <= limit)
			return STATUS_OK;
		bytes_done(out);
		return too_large(path, limit, err);
	}
	if (file_open_input(&fd, &st, path, err))
		return err->status;
	s = file_read_open(out, fd, &st, limit, path, err);
	close(fd);
	return s;
}

size_t bytes_mark(const struct bytes *b)
{
	return b->size >= 3 && memcmp(b->data, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

enum status file_read_text(struct bytes *out, const char *path, size_t limit, struct error *err)
{
	if (file_read(out, path, limit, err))
		return err->status;
	if (!strncmp((const char *)out->data, "\xff\xfe", 2) || !strncmp((const char *)out->data, "\xfe\xff", 2)) {
		bytes_done(out);
		return error_set(err, STATUS_FORMAT, "%s is in UTF-16: save it as UTF-8", path);
	}
	size_t mark = bytes_mark(out);
	if (mark) {
		out->size -= mark;
		memmove(out->data, out->data + mark, out->size + 1);
	}
	return STATUS_OK;
}

struct file_stamp file_stamp_of(const struct stat *st)
{
	return (struct file_stamp){(unsigned long long)st->st_dev, (unsigned long long)st->st_ino, (unsigned long long)st->st_size,
	    (unsigned long long)st->st_mtim.tv_sec, (unsigned long long)st->st_mtim.tv_nsec};
}

struct file_stamp file_stamp(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 ? file_stamp_of(&st) : (struct file_stamp){0};
}

bool file_has_stamp(const char *path, const struct file_stamp *s)
{
	struct file_stamp now = file_stamp(path);
	return memcmp(&now, s, sizeof now) == 0;
}

bool file_is_changed(const char *path, const struct file_stamp *s)
{
	return file_exists(path) && !file_has_stamp(path, s);
}

bool file_exists(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0;
}

bool file_is_dir(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

bool file_is_regular(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

// A name that leads nowhere is listed as a file, so that opening it tells the user. What the directory itself says is
// enough, but for links: to ask for each of a hundred thousand files takes its time on a network's disk.
static bool is_listed(int dir, const struct dirent *e, bool subdirs)
{
	struct stat st;
	if (e->d_name[0] == '.')
		return false;
	if (e->d_type != DT_LNK && e->d_type != DT_UNKNOWN)
		return e->d_type == (subdirs ? DT_DIR : DT_REG);
	if (fstatat(dir, e->d_name, &st, 0) != 0)
		return !subdirs;
	return subdirs ? S_ISDIR(st.st_mode) : S_ISREG(st.st_mode);
}

static enum status list(struct file_list *out, const char *dir, bool subdirs, struct error *err)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	size_t cap = 0;
	*out = (struct file_list){0};
	if (!d)
		return error_errno(err, dir);
	while ((errno = 0, e = readdir(d))) {
		if (!is_listed(dirfd(d), e, subdirs))
			continue;
		out->name = xgrow(out->name, &cap, out->n + 1, sizeof *out->name);
		out->name[out->n++] = xstrdup(e->d_name);
	}
	if (errno) {
		error_errno(err, dir);
		closedir(d);
		file_list_done(out);
		return err->status;
	}
	closedir(d);
	if (out->n)
		qsort(out->name, out->n, sizeof *out->name, order_texts);
	return STATUS_OK;
}

enum status file_list_dir(struct file_list *out, const char *dir, struct error *err)
{
	return list(out, dir, false, err);
}

enum status file_list_subdirs(struct file_list *out, const char *dir, struct error *err)
{
	return list(out, dir, true, err);
}

void file_list_done(struct file_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->name[i]);
	free(l->name);
	*l = (struct file_list){0};
}

char *file_join(const char *dir, const char *name)
{
	struct str s = {0};
	if (*dir && *name != '/') {
		str_add(&s, dir);
		if (!str_has_suffix(dir, "/"))
			str_add(&s, "/");
	}
	str_add(&s, name);
	return str_detach(&s);
}

char *file_at_home(const char *path)
{
	const char *home = path[0] == '~' && (!path[1] || path[1] == '/') ? getenv("HOME") : NULL;
	struct str s = {0};
	str_addf(&s, "%s%s", home ? home : "", home ? path + 1 : path);
	return str_detach(&s);
}

char *file_safe_name(const char *text)
{
	static const char safe[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"; // whatever the locale
	char *name = xstrdup(text);
	for (char *p = name + strspn(name, safe); *p; p += strspn(p, safe))
		*p = '_';
	return name;
}

const char *file_base(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

char *file_dir(const char *path)
{
	const char *slash = strrchr(path, '/');
	struct str s = {0};
	if (!slash)
		str_add(&s, ".");
	else
		str_addn(&s, path, slash == path ? 1 : (size_t)(slash - path));
	return str_detach(&s);
}
