#include "qtui/tui/diff.h"

#include <math.h>
#include <stdlib.h>

#include "qtui/base/mem.h"
#include "qtui/tui/grade.h"

// Exact against exact is no difference; exact against a figure is the greatest there is.
static double gain_of(double a, double b)
{
	if (isnan(a) || isnan(b) || (isinf(a) && isinf(b)))
		return isnan(a) || isnan(b) ? NAN : 0;
	return b - a;
}

static bool compare_output(struct diff_row *r, const struct run_nodes *a, const struct run_nodes *b, int at)
{
	*r = (struct diff_row){.at = at, .a_db = a->snr_db[at], .b_db = b->snr_db[at]};
	r->gain = gain_of(r->a_db, r->b_db);
	r->decided = a->precision[at] != b->precision[at] || a->scale[at] != b->scale[at];
	return r->decided || gain_sign(r->gain) != 0;
}

static int by_gain(const void *x, const void *y)
{
	const struct diff_row *a = x, *b = y;
	double p = isnan(a->gain) ? 0 : fabs(a->gain), q = isnan(b->gain) ? 0 : fabs(b->gain);
	return p != q ? (p < q) - (p > q) : (a->at > b->at) - (a->at < b->at);
}

static void list_outputs(struct diff *d, const struct graph *g, const struct run_nodes *a, const struct run_nodes *b)
{
	int n, *further = run_further(g, &n);
	d->row = xcalloc((size_t)a->n + 1, sizeof *d->row);
	for (int i = 0; i < g->n_nodes + n; i++) {
		if (a->precision[i] < 0 || b->precision[i] < 0 || !compare_output(&d->row[d->n], a, b, i))
			continue;
		struct diff_row *r = &d->row[d->n++];
		r->value = i < g->n_nodes ? graph_output(g, i) : further[i - g->n_nodes];
		r->node = i < g->n_nodes ? i : g->value[r->value].producer;
		r->name = i < g->n_nodes ? g->node[i].name : g->value[r->value].name;
	}
	free(further);
	qsort(d->row, (size_t)d->n, sizeof *d->row, by_gain);
}

void diff_set(struct diff *d, const struct graph *g, const struct diff_side *a, const struct diff_side *b)
{
	diff_done(d);
	*d = (struct diff){.made = true, .a = *a, .b = *b};
	if (d->a.figures.nodes && d->b.figures.nodes)
		list_outputs(d, g, d->a.figures.nodes, d->b.figures.nodes);
}

void diff_done(struct diff *d)
{
	run_record_done(&d->a.figures);
	run_record_done(&d->b.figures);
	free(d->row);
	*d = (struct diff){0};
}

const char *diff_reserve(const struct diff *d)
{
	const struct run_record *a = &d->a.figures, *b = &d->b.figures;
	if (!d->made)
		return NULL;
	if (!a->nodes && !b->nodes)
		return "Neither keeps figures by node: run their states again to compare more.";
	if (!a->nodes)
		return "A keeps no figures by node: run its state again to compare more.";
	if (!b->nodes)
		return "B keeps no figures by node: run its state again to compare more.";
	if (!key_equal(a->note.samples, b->note.samples))
		return "Other samples, or prepared otherwise: run one again on the other's.";
	if (d->a.edited || d->b.edited)
		return d->a.edited ? "A was edited since it was run: this is its last run."
		                   : "B was edited since it was run: this is its last run.";
	return NULL;
}
