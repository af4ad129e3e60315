// Tensors as NPY files that are named after them.
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "qtui/base/file.h"
#include "qtui/base/log.h"
#include "qtui/base/npy.h"
#include "qtui/base/str.h"
#include "verbs.h"

static struct npy as_npy(const struct tensor *t)
{
	static const char kind[] = {[DT_F32] = 'f', [DT_I8] = 'i', [DT_U8] = 'u', [DT_I16] = 'i', [DT_U16] = 'u', [DT_I32] = 'i',
	    [DT_U32] = 'u', [DT_I64] = 'i', [DT_U64] = 'u', [DT_BOOL] = 'b', [DT_I4] = 'i', [DT_U4] = 'u'};
	struct npy a = {.kind = kind[t->type], .item = (int)dtype_size(t->type), .rank = t->shape.rank, .data = t->data, .size = tensor_bytes(t)};
	for (int i = 0; i < t->shape.rank; i++)
		a.dim[i] = t->shape.dim[i];
	return a;
}

static char *file_name(const char *tensor)
{
	struct str name = {0};
	for (const char *p = tensor; *p; p++)
		str_addn(&name, isalnum((unsigned char)*p) || strchr("._-", *p) ? p : "_", 1);
	str_add(&name, ".npy");
	return str_detach(&name);
}

static bool is_taken(char *const *name, int n, const char *wanted)
{
	for (int i = 0; i < n; i++)
		if (name[i] && strcmp(name[i], wanted) == 0)
			return true;
	return false;
}

// Names that differ only in what a file's name has not (a/b, a:b) are numbered, which is told: none takes the place of another.
static char *own_name(char *const *name, int n, const char *tensor)
{
	char *wanted = file_name(tensor);
	for (int number = 2; is_taken(name, n, wanted); number++) {
		struct str other = {0};
		free(wanted);
		str_addf(&other, "%s.%d", tensor, number);
		wanted = file_name(str_text(&other));
		str_done(&other);
		if (!is_taken(name, n, wanted))
			log_warn("%s is written to %s: another tensor has its name", tensor, wanted);
	}
	return wanted;
}

static enum status write_tensor(const char *dir, const char *name, const struct tensor *t, struct error *err)
{
	char *path = file_join(dir, name);
	struct npy a = as_npy(t);
	enum status st = npy_write(&a, path, err);
	free(path);
	return st;
}

enum status write_tensors(const char *dir, const struct graph *g, const int *value, const struct tensor *t, int n, struct error *err)
{
	char **name = xcalloc((size_t)n + 1, sizeof *name);
	enum status st = STATUS_OK;
	for (int i = 0; st == STATUS_OK && i < n; i++) {
		if (!t[i].data)
			continue;
		name[i] = own_name(name, i, g->value[value[i]].name);
		st = write_tensor(dir, name[i], &t[i], err);
	}
	for (int i = 0; i < n; i++)
		free(name[i]);
	free(name);
	return st;
}
