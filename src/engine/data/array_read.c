// One array of a file as a tensor.
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
