// What the numbers of masks mean: the names beside them say so, else the masks themselves.
#include <stdlib.h>
#include "labels.h"
#include "qtui/base/log.h"
#include "qtui/base/mem.h"
#include "qtui/engine/data.h"

enum { VOID_8 = 255, VOID_16 = 65535 }; // pixels that belong to no class
enum { LOOKED_AT = 32 };                // masks, spread over all

// Numbers of the masks that were looked at; 255 and 65535 apart.
struct numbers {
	int most;
	bool has_void, only_two; // nothing but 0 and 255
};

static void look_at(struct numbers *n, const struct mask *m)
{
	for (size_t i = 0; i < (size_t)m->w * (size_t)m->h; i++) {
		int v = m->number[i];
		bool none = v == VOID_8 || v == VOID_16;
		n->has_void |= none;
		n->only_two &= v == 0 || v == VOID_8;
		n->most = !none && v > n->most ? v : n->most;
	}
}

// Every n / LOOKED_AT'th of n.
static bool is_looked_at(int i, int n)
{
	return n <= LOOKED_AT || (int64_t)i * LOOKED_AT / n != ((int64_t)i - 1) * LOOKED_AT / n || i == 0;
}

static enum status look_at_masks(struct numbers *n, const struct labels *l, struct error *err)
{
	enum status st = STATUS_OK;
	*n = (struct numbers){.only_two = true};
	for (int i = 0, known = 0; i < l->n_samples && st == STATUS_OK; i++) {
		struct mask m;
		if (!l->label[i].known || !is_looked_at(known++, l->n_known))
			continue;
		st = mask_read(&m, l->label[i].file, err);
		if (st == STATUS_OK)
			look_at(n, &m);
		mask_done(&m);
	}
	n->only_two &= n->has_void;
	return st;
}

// Without names a number is the class. Two exceptions: masks of one object (0 and 255), and numbers up to that of the
// classes, of which 0 is none (ADE20K).
static void number_by_masks(struct labels *l, const struct numbers *n, int classes)
{
	bool two = n->only_two && classes <= 2, from_1 = !two && classes > 1 && n->most == classes;
	classes = classes ? classes : n->most + 1;
	l->n_numbers = two ? VOID_8 + 1 : classes + from_1;
	l->class_of = xcalloc((size_t)l->n_numbers, sizeof *l->class_of);
	for (int i = 0; i < l->n_numbers; i++)
		l->class_of[i] = two ? (i == 0 ? 0 : i == VOID_8 ? 1 : LABELS_UNKNOWN) : i - from_1;
	for (int c = 0; c < (two && classes < 2 ? 2 : classes); c++)
		labels_add_class(l, c + from_1, NULL);
	l->how = two ? "255 is the object" : from_1 ? "numbered from 1" : "numbered from 0";
}

enum status labels_number_masks(struct labels *l, const struct names *names, int classes, struct error *err)
{
	struct numbers n;
	if (!l->class_of) {
		enum status st = look_at_masks(&n, l, err);
		if (st == STATUS_OK && classes && n.most > classes)
			st = error_set(err, STATUS_FORMAT,
			    "%s: a pixel of a mask has the number %d, and the model has %d classes: name the numbers "
			    "in classes.txt there, one a line, - for no class",
			    l->source, n.most, classes);
		if (st == STATUS_OK)
			number_by_masks(l, &n, classes);
		return st;
	}
	if (classes && l->n_classes > classes)
		return error_set(err, STATUS_FORMAT, "%s: classes.txt names %d classes, the model has %d: a line that is none of them is -",
		    l->source, l->n_classes, classes);
	if (!l->n_classes)
		return error_set(err, STATUS_FORMAT, "%s: classes.txt names no class", l->source);
	enum status st = labels_number(l, names, err);
	l->how = l->how ? l->how : "in order of classes.txt";
	if (st == STATUS_OK && classes && l->n_classes < classes)
		log_warn("%s: classes.txt names %d class%s, and the model has %d: taken for its first", l->source, l->n_classes,
		    l->n_classes == 1 ? "" : "es", classes);
	return st;
}

int labels_class_of_number(const struct labels *l, int number)
{
	if (number < l->n_numbers)
		return l->class_of[number];
	return number == VOID_8 || number == VOID_16 ? LABELS_NO_CLASS : LABELS_UNKNOWN;
}
