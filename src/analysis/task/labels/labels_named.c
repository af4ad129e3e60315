// Labels in a file for each sample, with classes that have names and no numbers.
#include <stdlib.h>
#include <string.h>
#include "labels.h"
#include "qtui/base/file.h"
#include "qtui/base/hash.h"
#include "qtui/base/mem.h"

int labels_class_named(const struct named_file *f, const char *name)
{
	int class = namemap_get(f->classes, name);
	if (class >= 0 || f->l->n_classes == LABELS_CLASSES_MAX)
		return class;
	class = labels_add_class(f->l, f->l->n_classes, name);
	namemap_put(f->classes, name, class);
	return class;
}

struct named {
	const char *name;
	int class;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct named *)a)->name, ((const struct named *)b)->name);
}

void labels_sort_classes(struct labels *l)
{
	struct named *sorted = xcalloc((size_t)l->n_classes + 1, sizeof *sorted);
	int *to = xcalloc((size_t)l->n_classes + 1, sizeof *to);
	for (int i = 0; i < l->n_classes; i++)
		sorted[i] = (struct named){l->name[i], i};
	qsort(sorted, (size_t)l->n_classes, sizeof *sorted, by_name);
	for (int i = 0; i < l->n_classes; i++) {
		to[sorted[i].class] = i;
		l->name[i] = (char *)sorted[i].name;
	}
	for (int i = 0; i < l->n_samples; i++) {
		if (l->kind == LABELS_CLASSES && l->label[i].known)
			l->label[i].class = to[l->label[i].class];
		for (int k = 0; k < l->label[i].n; k++)
			l->label[i].truth[k].class = to[l->label[i].truth[k].class];
	}
	free(sorted);
	free(to);
}

enum status labels_read_named(
    struct labels *l, const char *dir, const char *ending, const struct labels_samples *s, named_reader *read, struct error *err)
{
	struct named_file f = {.l = l, .s = s, .classes = namemap_new()};
	enum status st = STATUS_OK;
	l->kind = LABELS_BOXES;
	l->numbered = true;
	l->source = xstrdup(dir);
	for (f.sample = 0; f.sample < s->n && st == STATUS_OK; f.sample++) {
		char *path = s->file[f.sample] ? labels_beside(dir, s->file[f.sample], ending) : NULL;
		if (path && file_exists(path)) {
			f.path = path;
			l->label[f.sample].known = true;
			st = read(&f, err);
		}
		free(path);
	}
	namemap_free(&f.classes);
	labels_sort_classes(l);
	return st;
}
