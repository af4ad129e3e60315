// External data: confined to the model's directory, links resolved. A model that is itself a link,
// as in Hugging Face's cache, has two directories: that of the link, and that of the file.
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "external.h"
#include "qtui/base/file.h"
#include "qtui/base/mem.h"

struct external {
	char *location, *path;
	struct bytes bytes;
};
struct externals {
	char *dir[2]; // of the model by its name, and of the file that its name leads to by links
	struct external *file;
	size_t n, cap;
	const struct bytes *model;
};

struct externals *externals_new(const char *model_path, const struct bytes *model)
{
	struct externals *e = xcalloc(1, sizeof *e);
	char *real = realpath(model_path, NULL);
	e->dir[0] = file_dir(model_path);
	e->dir[1] = file_dir(real ? real : model_path);
	free(real);
	e->model = model;
	return e;
}

void externals_free(struct externals **ep)
{
	struct externals *e = *ep;
	*ep = NULL;
	if (!e)
		return;
	for (size_t i = 0; i < e->n; i++) {
		free(e->file[i].location);
		free(e->file[i].path);
		bytes_done(&e->file[i].bytes);
	}
	free(e->file);
	free(e->dir[0]);
	free(e->dir[1]);
	free(e);
}

// Whether `path` with all links resolved lies below `dir`.
static bool is_below(const char *dir, const char *path)
{
	char *real_dir = realpath(dir, NULL), *real = realpath(path, NULL);
	size_t n = real_dir ? strlen(real_dir) : 0;
	bool below =
	    real_dir && real && !strncmp(real, real_dir, n) && (real[n] == '/' || (n && real_dir[n - 1] == '/'));
	free(real_dir);
	free(real);
	return below;
}

// A pipe would be waited for.
static bool is_file(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

// Where the file is: beside the model's name, else beside the file that this leads to; heap.
static char *find_path(const struct externals *e, const char *location)
{
	char *path = file_join(e->dir[0], location), *other = file_join(e->dir[1], location);
	bool use_other = !file_exists(path) && file_exists(other);
	free(use_other ? path : other);
	return use_other ? other : path;
}

static enum status open_file(struct externals *e, const char *location, struct error *err)
{
	char *path = find_path(e, location);
	struct external x = {0};
	enum status s;
	if (location[0] == '/' || !location[0])
		s = error_set(
		    err, STATUS_FORMAT, "external data '%s' must be a path below the model's directory", location);
	else if (!file_exists(path))
		s = error_set(err, STATUS_NOTFOUND, "external data '%s' is not there: put it beside the model", path);
	else if (!is_file(path) || !(is_below(e->dir[0], path) || is_below(e->dir[1], path)))
		s = error_set(
		    err, STATUS_FORMAT, "external data '%s' must be a file below the model's directory", location);
	else
		s = file_map(&x.bytes, path, err);
	if (s) {
		free(path);
		return s;
	}
	x.location = xstrdup(location);
	x.path = path;
	file_keep(path);
	e->file = xgrow(e->file, &e->cap, e->n + 1, sizeof x);
	e->file[e->n++] = x;
	return STATUS_OK;
}

static const struct external *find(const struct externals *e, const char *location)
{
	for (size_t i = 0; i < e->n; i++)
		if (!strcmp(e->file[i].location, location))
			return &e->file[i];
	return NULL;
}

enum status externals_get(
    const uint8_t **out, struct externals *e, const char *location, uint64_t offset, uint64_t size, struct error *err)
{
	const struct external *x = find(e, location);
	if (!x) {
		enum status s = open_file(e, location, err);
		if (s)
			return s;
		x = find(e, location);
	}
	if (offset > x->bytes.size || size > x->bytes.size - offset)
		return error_set(err, STATUS_FORMAT,
		    "external data '%s' has %zu bytes, but %llu at offset %llu are asked for", location, x->bytes.size,
		    (unsigned long long)size, (unsigned long long)offset);
	*out = x->bytes.data + offset;
	return STATUS_OK;
}

enum status externals_intact(const struct externals *e, struct error *err)
{
	for (size_t i = 0; e && i < e->n; i++)
		if (bytes_intact(&e->file[i].bytes, e->file[i].path, err))
			return err->status;
	return STATUS_OK;
}

void externals_forget(const struct externals *e, const void *data, size_t size)
{
	bytes_forget(e->model, data, size);
	for (size_t i = 0; i < e->n; i++)
		bytes_forget(&e->file[i].bytes, data, size);
}
