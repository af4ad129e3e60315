// Archives of .npy files. What they say of themselves is held against what the file can
// hold before anything is unpacked.
#include "qtui/base/npy.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zip.h>
#include "qtui/base/mem.h"
#include "qtui/base/str.h"

#define LARGE ((zip_uint64_t)16 << 20) // bytes that are worth a file

static enum status open_zip(zip_t **out, const char *path, struct error *err)
{
	int code = 0;
	zip_error_t e;
	*out = zip_open(path, ZIP_RDONLY, &code);
	if (*out)
		return STATUS_OK;
	zip_error_init_with_code(&e, code);
	error_set(err, code == ZIP_ER_NOZIP || code == ZIP_ER_INCONS ? STATUS_FORMAT : STATUS_IO, "%s: %s", path,
	    zip_error_strerror(&e));
	zip_error_fini(&e);
	return err->status;
}

// What is unpacked goes to memory, or to a file piece by piece.
struct unpacked {
	uint8_t *to; // NULL: a file
	int fd;
};

// The next bytes of a member; fewer than 1 at its end, or where it is damaged.
static zip_int64_t next_bytes(zip_file_t *f, const struct unpacked *u, zip_uint64_t done, zip_uint64_t left)
{
	uint8_t piece[65536];
	zip_int64_t n = u->to ? zip_fread(f, u->to + done, left) : zip_fread(f, piece, left < sizeof piece ? left : sizeof piece);
	if (!u->to && n > 0 && write(u->fd, piece, (size_t)n) != (ssize_t)n)
		return -1;
	return n;
}

// Reads one byte more than there should be: only at the end does libzip compare the checksum.
static bool read_member(zip_t *z, zip_uint64_t i, const struct unpacked *u, zip_uint64_t size)
{
	zip_file_t *f = zip_fopen_index(z, i, 0);
	zip_uint64_t done = 0;
	zip_int64_t n = 1;
	uint8_t beyond;
	if (!f)
		return false;
	while (done < size && (n = next_bytes(f, u, done, size - done)) > 0)
		done += (zip_uint64_t)n;
	if (n > 0 || size == 0)
		n = zip_fread(f, &beyond, 1);
	zip_fclose(f);
	return done == size && n == 0;
}

// In a file where it is large and there is room for one: an archive may hold the samples of many gigabytes, of which few
// are wanted at once. False: memory has to do.
static bool unpack_to_file(struct bytes *out, zip_t *z, const zip_stat_t *st)
{
	int fd = st->size >= LARGE ? file_nameless(st->size) : -1;
	if (fd < 0)
		return false;
	bool done = read_member(z, st->index, &(struct unpacked){.fd = fd}, st->size) && file_map_open(out, fd);
	close(fd);
	return done;
}

static enum status unpack(struct bytes *out, zip_t *z, const zip_stat_t *st, const char *name, struct error *err)
{
	*out = (struct bytes){0};
	if (unpack_to_file(out, z, st))
		return STATUS_OK;
	out->data = mem_try_array(st->size, 1);
	out->size = st->size;
	if (!out->data)
		return error_set(err, STATUS_NOMEM, "%s: no memory for %llu bytes", name, (unsigned long long)st->size);
	if (read_member(z, st->index, &(struct unpacked){.to = out->data}, st->size))
		return STATUS_OK;
	bytes_done(out);
	return error_set(err, STATUS_FORMAT, "%s: cut off, damaged or encrypted", name);
}

// `name` is how errors call the member: FILE(MEMBER). An array that is not as C has it owns its elements.
static enum status parse_member(struct npy *out, struct bytes *b, zip_t *z, const zip_stat_t *st, const char *name, struct error *err)
{
	enum status s = unpack(b, z, st, name, err);
	if (s)
		return s;
	s = npy_view(out, b->data, b->size, name, err);
	if (s == STATUS_OK)
		return s;
	if (s == STATUS_UNSUPPORTED) {
		*err = (struct error){0};
		s = npy_parse(out, b->data, b->size, name, err);
	}
	bytes_done(b);
	return s;
}

static enum status add_member(struct npz *out, zip_t *z, const zip_stat_t *st, const char *path, struct error *err)
{
	struct str name = {0};
	enum status s;
	str_addf(&name, "%s(%s)", path, st->name);
	s = parse_member(&out->array[out->n], &out->bytes[out->n], z, st, str_text(&name), err);
	str_done(&name);
	if (s == STATUS_OK) {
		out->name[out->n] = xstrdup(st->name);
		out->name[out->n++][strlen(st->name) - 4] = '\0';
	}
	if (s != STATUS_UNSUPPORTED)
		return s;
	out->unread = out->unread.status ? out->unread : *err;
	*err = (struct error){0};
	return STATUS_OK;
}

static bool member_stat(zip_t *z, zip_uint64_t i, zip_stat_t *st)
{
	const zip_uint64_t wanted = ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_INDEX;
	return zip_stat_index(z, i, 0, st) == 0 && (st->valid & wanted) == wanted;
}

#define EXPANSION_MAX 1032 // of a byte by deflate: nothing that the archive has unpacks to more

static size_t file_bytes(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && st.st_size > 0 ? (size_t)st.st_size : 0;
}

// A small archive can say anything of its members: what they say is summed before the first is unpacked. Those that go to
// files are asked for one by one.
static enum status check_sizes(zip_t *z, zip_uint64_t n, const char *path, struct error *err)
{
	size_t total = 0, held = 0, size = file_bytes(path);
	zip_stat_t st;
	for (zip_uint64_t i = 0; i < n; i++) {
		if (!member_stat(z, i, &st))
			return error_set(err, STATUS_FORMAT, "%s: the directory of the archive is damaged", path);
		if (__builtin_add_overflow(total, st.size, &total))
			return error_set(err, STATUS_FORMAT, "%s: the sizes in the archive are too large", path);
		held += st.size < LARGE ? st.size : 0;
	}
	if (total / EXPANSION_MAX > size)
		return error_set(err, STATUS_FORMAT, "%s: %zu bytes of archive cannot hold %zu bytes of arrays", path, size, total);
	if (!mem_may_take(held))
		return error_set(err, STATUS_NOMEM, "%s: no memory for %zu bytes", path, held);
	return STATUS_OK;
}

static enum status read_members(struct npz *out, zip_t *z, const char *path, struct error *err)
{
	zip_uint64_t n = (zip_uint64_t)zip_get_num_entries(z, 0);
	zip_stat_t st;
	if (check_sizes(z, n, path, err))
		return err->status;
	out->name = xcalloc(n, sizeof *out->name);
	out->array = xcalloc(n, sizeof *out->array);
	out->bytes = xcalloc(n, sizeof *out->bytes);
	for (zip_uint64_t i = 0; i < n; i++) {
		if (!member_stat(z, i, &st) || !str_has_suffix(st.name, ".npy"))
			continue;
		if (add_member(out, z, &st, path, err))
			return err->status;
	}
	return STATUS_OK;
}

enum status npz_read(struct npz *out, const char *path, struct error *err)
{
	zip_t *z;
	enum status s;
	*out = (struct npz){0};
	if (open_zip(&z, path, err))
		return err->status;
	s = read_members(out, z, path, err);
	zip_discard(z);
	if (s)
		npz_done(out);
	return s;
}

void npz_done(struct npz *z)
{
	for (size_t i = 0; i < z->n; i++) {
		free(z->name[i]);
		if (z->bytes[i].data)
			bytes_done(&z->bytes[i]);
		else
			npy_done(&z->array[i]);
	}
	free(z->name);
	free(z->array);
	free(z->bytes);
	*z = (struct npz){0};
}
