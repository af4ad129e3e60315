// Edits: what the user asked for, as plain data, so that undo, redo and comparison are "build another plan".
#include <stdlib.h>
#include <string.h>
#include "qtui/base/mem.h"
#include "qtui/engine/plan.h"

static const char *const precision_text[PREC_COUNT] = {
	[PREC_INT8] = "int8", [PREC_INT16] = "int16", [PREC_FLOAT] = "float",
};

const char *precision_name(enum precision p)
{
	return precision_text[p];
}

bool precision_parse(enum precision *out, const char *name)
{
	for (int i = 0; i < PREC_COUNT; i++) {
		if (strcmp(precision_text[i], name) == 0) {
			*out = (enum precision)i;
			return true;
		}
	}
	return false;
}

struct edits *edits_new(int n_nodes)
{
	struct edits *e = xcalloc(1, sizeof *e);
	e->n_nodes = n_nodes;
	e->precision = xmalloc((size_t)n_nodes + 1);
	memset(e->precision, -1, (size_t)n_nodes + 1);
	e->scale = xcalloc((size_t)n_nodes + 1, sizeof *e->scale);
	return e;
}

struct edits *edits_copy(const struct edits *e)
{
	struct edits *c = edits_new(e->n_nodes);
	memcpy(c->precision, e->precision, (size_t)e->n_nodes);
	memcpy(c->scale, e->scale, (size_t)e->n_nodes * sizeof *e->scale);
	c->tuning = tuning_take(e->tuning);
	return c;
}

void edits_free(struct edits **e)
{
	if (!*e)
		return;
	free((*e)->precision);
	free((*e)->scale);
	tuning_drop(&(*e)->tuning);
	free(*e);
	*e = NULL;
}

bool edits_equal(const struct edits *a, const struct edits *b)
{
	size_t n = (size_t)a->n_nodes;
	return a->n_nodes == b->n_nodes && memcmp(a->precision, b->precision, n) == 0 &&
	    memcmp(a->scale, b->scale, n * sizeof *a->scale) == 0 && key_equal(tuning_key(a->tuning), tuning_key(b->tuning));
}

struct key edits_key(const struct edits *e)
{
	struct key k = key_add_int((struct key){0}, e->n_nodes);
	k = key_add(k, e->precision, (size_t)e->n_nodes);
	k = key_add(k, e->scale, (size_t)e->n_nodes * sizeof *e->scale);
	return tuning_count(e->tuning) ? key_add_key(k, tuning_key(e->tuning)) : k;
}
