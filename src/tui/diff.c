#include "qtui/tui/diff.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "qtui/base/mem.h"
#include "qtui/tui/columns.h"

static double snr_of(const struct snapshot *s, int node)
{
	const struct site *x = snapshot_output(s, node);

	return x ? figures_snr(&x->graphwise) : NAN;
}

static double scale_of(const struct snapshot *s, int node)
{
	const struct site *x = snapshot_output(s, node);

	return x && x->n_scale > 0 ? x->scale[0] : 0;
}

// Exact against exact is no difference; exact against a figure is the greatest there is.
static double gain_of(double a, double b)
{
	if (isnan(a) || isnan(b) || (isinf(a) && isinf(b)))
		return isnan(a) || isnan(b) ? NAN : 0;
	return b - a;
}

static bool compare_node(struct diff_row *r, const struct diff *d, int node)
{
	*r = (struct diff_row){.node = node, .a_db = snr_of(d->a, node), .b_db = snr_of(d->b, node)};
	r->gain = gain_of(r->a_db, r->b_db);
	r->decided = d->a->row[node].precision != d->b->row[node].precision || scale_of(d->a, node) != scale_of(d->b, node);
	return r->decided || fabs(r->gain) >= 0.05;
}

static int by_gain(const void *x, const void *y)
{
	const struct diff_row *a = x, *b = y;
	double p = isnan(a->gain) ? 0 : fabs(a->gain), q = isnan(b->gain) ? 0 : fabs(b->gain);

	return p != q ? (p < q) - (p > q) : (a->node > b->node) - (a->node < b->node);
}

void diff_set(struct diff *d, struct snapshot *a, const char *name_a, struct snapshot *b, const char *name_b)
{
	diff_done(d);
	d->a = a;
	d->b = b;
	snprintf(d->name_a, sizeof d->name_a, "%s", name_a);
	snprintf(d->name_b, sizeof d->name_b, "%s", name_b);
	d->row = xcalloc((size_t)a->n_rows + 1, sizeof *d->row);
	for (int node = 0; node < a->n_rows; node++)
		if (a->row[node].fused_into < 0 && compare_node(&d->row[d->n], d, node))
			d->n++;
	qsort(d->row, (size_t)d->n, sizeof *d->row, by_gain);
}

void diff_done(struct diff *d)
{
	snapshot_drop(&d->a);
	snapshot_drop(&d->b);
	free(d->row);
	*d = (struct diff){0};
}
