// One array of a file as a tensor.
#include <limits.h>
#include <string.h>
#include "../ops/element.h"
#include "arrays.h"
#include "qtui/engine/data.h"

static int find(const struct arrays *a, const char *name)
{
	for (int i = 0; name && i < arrays_count(a); i++)
		if (strcmp(arrays_name(a, i), name) == 0)
			return i;
	return arrays_count(a) == 1 ? 0 : -1;
}

enum status arrays_read(struct tensor *out, const struct arrays *a, int i, enum dtype type, const char *path, struct error *err)
{
	*out = (struct tensor){.type = type, .shape = arrays_shape(a, i)};
	enum status st = tensor_alloc(out, NULL, err);
	if (st == STATUS_OK)
		st = arrays_copy(out, a, i, 0, path, err);
	if (st != STATUS_OK)
		tensor_drop(out);
	return st;
}

int arrays_stacked(const struct arrays *a, int i)
{
	struct shape s = arrays_shape(a, i);
	return s.rank == 0 ? 0 : s.dim[0] < INT_MAX ? (int)s.dim[0] : INT_MAX;
}

enum status arrays_read_row(
    struct tensor *out, const struct arrays *a, int i, int row, enum dtype type, const char *path, struct error *err)
{
	struct shape s = arrays_shape(a, i);
	*out = (struct tensor){.type = type};
	if (row < 0 || row >= arrays_stacked(a, i))
		return error_set(err, STATUS_NOTFOUND, "%s has %d rows: there is no row %d", path, arrays_stacked(a, i), row);
	out->shape = shape_of(s.rank - 1, s.dim + 1);
	enum status st = tensor_alloc(out, NULL, err);
	if (st == STATUS_OK)
		st = arrays_copy(out, a, i, row, path, err);
	if (st != STATUS_OK)
		tensor_drop(out);
	return st;
}

enum status array_read(struct tensor *out, const char *path, const char *name, enum dtype type, struct error *err)
{
	struct arrays *a = NULL;
	enum status st = arrays_open(&a, path, type, err);
	if (st != STATUS_OK)
		return st;
	int i = find(a, name);
	*out = (struct tensor){.type = type};
	if (i >= 0) {
		st = arrays_read(out, a, i, type, path, err);
	} else if (arrays_unread(a)) {
		*err = *arrays_unread(a);
		st = err->status;
	} else {
		st = error_set(err, STATUS_NOTFOUND, "%s: has no array named %s; its first is %s", path,
		    name ? name : "(none given)", arrays_name(a, 0));
	}
	arrays_free(&a);
	return st;
}

int array_value(int64_t *value, const char *path, const char *name, enum dtype type)
{
	struct tensor t;
	struct error ignored; // reading the input will tell
	if (array_read(&t, path, name, type, &ignored) != STATUS_OK)
		return 0;
	bool one = tensor_count(&t) == 1;
	if (one)
		*value = element_int(&t, 0);
	tensor_drop(&t);
	return one;
}
