// A look at a dataset before the model is loaded: the shapes of its arrays.
#include <stdlib.h>
#include <string.h>
#include "arrays.h"
#include "listing.h"
#include "qtui/base/file.h"
#include "qtui/base/str.h"
#include "qtui/engine/data.h"

static void add(struct data_shapes *out, struct shape shape, const char *name, const char *file)
{
	if (shape.rank < 0)
		return;
	out->at = xgrow(out->at, &out->cap, out->n + 1, sizeof *out->at);
	out->at[out->n++] = (struct data_shape){.shape = shape, .name = xstrdup(name), .file = xstrdup(file)};
}

static enum status open_arrays(struct arrays **a, const char *path, struct error *err)
{
	*a = NULL;
	return arrays_is_name(path) && !str_has_suffix(path, ".bin") ? arrays_open(a, path, DT_F32, err) : STATUS_OK;
}

static enum status peek_file(struct data_shapes *out, const char *path, struct error *err)
{
	struct arrays *a;
	enum status s = open_arrays(&a, path, err);
	for (int i = 0; a && i < arrays_count(a); i++)
		add(out, arrays_shape(a, i), arrays_name(a, i), path);
	arrays_free(&a);
	return s;
}

// The first file of a subdirectory, whose name may be that of an input.
static enum status peek_part(struct data_shapes *out, const char *dir, const char *path, struct error *err)
{
	struct arrays *a;
	enum status s = open_arrays(&a, path, err);
	if (a && arrays_count(a) == 1)
		add(out, arrays_shape(a, 0), file_base(dir), path);
	arrays_free(&a);
	return s;
}

// Files of one directory lie together.
static enum status peek_parts(struct data_shapes *out, const struct listing *files, struct error *err)
{
	char *last = NULL;
	enum status s = STATUS_OK;
	for (size_t i = 0; i < files->n_files && !s; i++) {
		char *dir = file_dir(files->path[i]);
		if (!last || strcmp(dir, last))
			s = peek_part(out, dir, files->path[i], err);
		free(last);
		last = dir;
	}
	free(last);
	return s;
}

// Names of subdirectories come first: what none of them names is the first file,
// of classes or of no input in particular.
enum status dataset_peek_shapes(struct data_shapes *out, const char *path, struct error *err)
{
	const struct graph none = {0};
	struct listing files = {0};
	enum status s = listing_read(&files, path, &none, err);
	bool is_dir = file_is_dir(path);
	*out = (struct data_shapes){0};
	if (s == STATUS_NOTFOUND && is_dir) {
		listing_done(&files);
		return STATUS_OK;
	}
	if (!s && is_dir)
		s = peek_parts(out, &files, err);
	if (!s)
		s = peek_file(out, files.path[0], err);
	listing_done(&files);
	return s;
}

void data_shapes_done(struct data_shapes *s)
{
	for (size_t i = 0; i < s->n; i++) {
		free(s->at[i].name);
		free(s->at[i].file);
	}
	free(s->at);
	*s = (struct data_shapes){0};
}
