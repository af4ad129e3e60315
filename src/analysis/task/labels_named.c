// Classes of labels that have names and no numbers: their numbers are those of the names in order.
#include <stdlib.h>
#include <string.h>
#include "labels.h"
#include "qtui/base/hash.h"
#include "qtui/base/mem.h"

int labels_class_named(struct labels *l, struct namemap *classes, const char *name)
{
	int class = namemap_get(classes, name);
	if (class >= 0 || l->n_classes == LABELS_CLASSES_MAX)
		return class;
	class = labels_add_class(l, l->n_classes, name);
	namemap_put(classes, name, class);
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
	for (int i = 0; i < l->n_samples; i++)
		for (int k = 0; k < l->label[i].n; k++)
			l->label[i].truth[k].class = to[l->label[i].truth[k].class];
	free(sorted);
	free(to);
}
