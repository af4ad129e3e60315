// Tensors as NPY files that are named after them.
#include <stdlib.h>
#include <string.h>
#include "qtui/base/file.h"
#include "qtui/base/log.h"
#include "qtui/base/str.h"
#include "qtui/engine/data.h"

// With `number` behind it unless that is 0. A name has at most 255 bytes:
// of a longer one the end stays, which tells more than the beginning.
static char *file_name(const char *tensor, int number)
{
	enum { MOST = 240 };
	char *safe = file_safe_name(tensor);
	size_t len = strlen(safe);
	struct str name = {0};
	str_add(&name, safe + (len > MOST ? len - MOST : 0));
	if (number)
		str_addf(&name, ".%d", number);
	str_add(&name, ".npy");
	free(safe);
	return str_detach(&name);
}

static bool is_taken(char *const *name, int n, const char *wanted)
{
	for (int i = 0; i < n; i++)
		if (name[i] && strcmp(name[i], wanted) == 0)
			return true;
	return false;
}

// Names that differ only in what a file's name has not (a/b, a:b) are numbered, which is told:
// none takes the place of another.
static char *own_name(char *const *name, int n, const char *tensor)
{
	char *wanted = file_name(tensor, 0);
	for (int number = 2; is_taken(name, n, wanted); number++) {
		free(wanted);
		wanted = file_name(tensor, number);
		if (!is_taken(name, n, wanted))
			log_warn("%s is written to %s: another tensor has its name", tensor, wanted);
	}
	return wanted;
}

static enum status write_tensor(const char *dir, const char *name, int float_bytes, const struct tensor *t, struct error *err)
{
	char *path = file_join(dir, name);
	enum status st = array_write(t, float_bytes, path, err);
	free(path);
	return st;
}

enum status tensors_write(
    const char *dir, const struct graph *g, bool floats, const int *value, const struct tensor *t, int n, struct error *err)
{
	char **name = xcalloc((size_t)n + 1, sizeof *name);
	enum status st = STATUS_OK;
	for (int i = 0; st == STATUS_OK && i < n; i++) {
		if (!t[i].data)
			continue;
		const struct value *v = &g->value[value[i]];
		name[i] = own_name(name, i, v->name);
		st = write_tensor(dir, name[i], floats ? 0 : v->float_bytes, &t[i], err);
	}
	for (int i = 0; i < n; i++)
		free(name[i]);
	free(name);
	return st;
}
