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

static struct edits *make(int n_nodes, int n_values)
{
	struct edits *e = xcalloc(1, sizeof *e);
	e->n_nodes = n_nodes;
	e->n_values = n_values;
	e->precision = xmalloc((size_t)n_nodes + 1);
	memset(e->precision, -1, (size_t)n_nodes + 1);
	e->calibrator = xmalloc((size_t)n_nodes + 1);
	memset(e->calibrator, -1, (size_t)n_nodes + 1);
	e->scale = xcalloc((size_t)n_values + 1, sizeof *e->scale);
	e->zero = xmalloc(((size_t)n_values + 1) * sizeof *e->zero);
	for (int i = 0; i < n_values; i++)
		e->zero[i] = ZERO_FOLLOWS;
	return e;
}

struct edits *edits_new(const struct graph *g)
{
	return make(g->n_nodes, g->n_values);
}

struct edits *edits_copy(const struct edits *e)
{
	struct edits *c = make(e->n_nodes, e->n_values);
	memcpy(c->precision, e->precision, (size_t)e->n_nodes);
	memcpy(c->calibrator, e->calibrator, (size_t)e->n_nodes);
	memcpy(c->scale, e->scale, (size_t)e->n_values * sizeof *e->scale);
	memcpy(c->zero, e->zero, (size_t)e->n_values * sizeof *e->zero);
	c->tuning = tuning_take(e->tuning);
	return c;
}

void edits_free(struct edits **e)
{
	if (!*e)
		return;
	free((*e)->precision);
	free((*e)->calibrator);
	free((*e)->scale);
	free((*e)->zero);
	tuning_drop(&(*e)->tuning);
	free(*e);
	*e = NULL;
}

void edits_give_scale(struct edits *e, int value, double scale, int32_t zero)
{
	e->scale[value] = (float)scale; // as it is computed with: what is typed and what a file holds are the same edit then
	e->zero[value] = scale != 0 ? zero : ZERO_FOLLOWS;
}

void edits_forget_scales(struct edits *e, const struct node *n)
{
	for (int i = 0; i < n->n_out; i++)
		if (n->out[i] >= 0)
			edits_give_scale(e, n->out[i], 0, ZERO_FOLLOWS);
}

bool edits_equal(const struct edits *a, const struct edits *b)
{
	return a->n_nodes == b->n_nodes && a->n_values == b->n_values &&
	    memcmp(a->precision, b->precision, (size_t)a->n_nodes) == 0 &&
	    memcmp(a->calibrator, b->calibrator, (size_t)a->n_nodes) == 0 &&
	    memcmp(a->scale, b->scale, (size_t)a->n_values * sizeof *a->scale) == 0 &&
	    memcmp(a->zero, b->zero, (size_t)a->n_values * sizeof *a->zero) == 0 &&
	    key_equal(tuning_key(a->tuning), tuning_key(b->tuning));
}

// First outputs as an array over the nodes, as the keys in sessions have always had them; then what goes by its own name.
static struct key add_scales(struct key k, const struct edits *e, const struct graph *g)
{
	double *first = xcalloc((size_t)g->n_nodes + 1, sizeof *first);
	int n, *made = graph_scalable(g, &n);
	for (int i = 0; i < n; i++)
		if (!graph_goes_by_own_name(g, made[i]))
			first[g->value[made[i]].producer] = e->scale[made[i]];
	k = key_add(k, first, (size_t)g->n_nodes * sizeof *first);
	for (int i = 0; i < n; i++)
		if (graph_goes_by_own_name(g, made[i]) && e->scale[made[i]] != 0)
			k = key_add(key_add_int(k, made[i]), &e->scale[made[i]], sizeof *e->scale);
	for (int i = 0; i < n; i++)
		if (e->zero[made[i]] != ZERO_FOLLOWS)
			k = key_add_int(key_add_int(key_add_text(k, "zero"), made[i]), e->zero[made[i]]);
	free(first);
	free(made);
	return k;
}

// Where there are none, keys are those of sessions from before there could be.
static struct key add_calibrators(struct key k, const struct edits *e)
{
	for (int i = 0; i < e->n_nodes; i++)
		if (e->calibrator[i] >= 0)
			k = key_add_int(key_add_int(key_add_text(k, "calibrator"), i), e->calibrator[i]);
	return k;
}

struct key edits_key(const struct edits *e, const struct graph *g)
{
	struct key k = key_add_int((struct key){0}, e->n_nodes);
	k = add_calibrators(add_scales(key_add(k, e->precision, (size_t)e->n_nodes), e, g), e);
	return tuning_count(e->tuning) ? key_add_key(k, tuning_key(e->tuning)) : k;
}
