#include "qtui/tui/columns.h"

#include <math.h>
#include <string.h>

#include "qtui/analysis/cost.h"
#include "qtui/base/str.h"
#include "qtui/engine/op.h"
#include "qtui/tui/figures.h"
#include "qtui/tui/format.h"
#include "qtui/tui/grade.h"

// Of the tensor that a node makes; NAN when not known.
static double of_output(const struct snapshot *s, int node, double (*figure)(const struct figures *f))
{
	const struct site *site = snapshot_made(s, node);
	return site ? figure(&site->graphwise) : NAN;
}

static double value_order(const struct snapshot *s, int node)
{
	(void)s;
	return node;
}

static double value_prec(const struct snapshot *s, int node)
{
	return s->row[node].precision;
}

static double value_snr(const struct snapshot *s, int node)
{
	return of_output(s, node, figures_snr);
}

static double value_nsr(const struct snapshot *s, int node)
{
	return of_output(s, node, figures_nsr);
}

static double value_change(const struct snapshot *s, int node)
{
	const struct site *site = snapshot_made(s, node);
	return site ? figures_snr(&site->graphwise) - figures_snr(&site->before) : NAN;
}

static double value_layerwise(const struct snapshot *s, int node)
{
	const struct site *site = snapshot_made(s, node);
	return site ? figures_snr(&site->layerwise) : NAN;
}

static double value_cosine(const struct snapshot *s, int node)
{
	return of_output(s, node, figures_cosine);
}

static double value_clipped(const struct snapshot *s, int node)
{
	const struct site *site = snapshot_output(s, node);
	return site ? figures_clipped(&site->graphwise) : NAN;
}

static double value_scale(const struct snapshot *s, int node)
{
	const struct site *site = snapshot_output(s, node);
	return site && site->bits && site->n_scale == 1 ? (double)site->scale[0] : NAN;
}

static double value_min(const struct snapshot *s, int node)
{
	const struct site *site = snapshot_made(s, node);
	return site && site->range.n ? (double)site->range.min : NAN;
}

static double value_max(const struct snapshot *s, int node)
{
	const struct site *site = snapshot_made(s, node);
	return site && site->range.n ? (double)site->range.max : NAN;
}

static double value_macs(const struct snapshot *s, int node)
{
	return s->row[node].macs ? (double)s->row[node].macs : NAN;
}

static double value_time(const struct snapshot *s, int node)
{
	const struct node_cost *c = s->costs && s->costs->latency ? &s->costs->node[node] : NULL;
	return c && c->source[s->row[node].precision] != COST_NOTHING ? c->at[s->row[node].precision] : NAN;
}

static double value_mse(const struct snapshot *s, int node)
{
	return of_output(s, node, figures_mse);
}

static double value_max_error(const struct snapshot *s, int node)
{
	return of_output(s, node, figures_max_error);
}

static double value_used(const struct snapshot *s, int node)
{
	const struct site *site = snapshot_output(s, node);
	return site && site->used_levels >= 0 ? 100 * site->used_levels : NAN;
}

// Of the parts that a row stands for the one that does most; NULL: not known.
static const struct blame *blame_of(const struct snapshot *s, int node)
{
	int i = s->blames && node < s->blames->n_nodes ? s->blames->of_node[node] : -1;
	return i >= 0 ? &s->blames->at[i] : NULL;
}

static double value_blame(const struct snapshot *s, int node)
{
	const struct blame *b = blame_of(s, node);
	return b ? blames_gain(s->blames, &b->in_wide) : NAN;
}

static double value_harm(const struct snapshot *s, int node)
{
	const struct blame *b = blame_of(s, node);
	return b ? b->alone : NAN;
}

static const char *text_op(const struct snapshot *s, int node)
{
	return s->g->node[node].op->name;
}

static const char *text_name(const struct snapshot *s, int node)
{
	return s->g->node[node].name;
}

static enum role role_blame(double v)
{
	double seen = 0.00005; // what does not round to nothing in the four digits of format_blame
	return v >= seen ? ROLE_BETTER : v <= -seen ? ROLE_WORSE : ROLE_DIM;
}

static const struct column_row rows[COLUMN_COUNT] = {
#define COLUMN(id, name, head, width, rank, worst, value, text, format, role, help)                                    \
	[COLUMN_##id] = {name, head, width, rank, worst, value, text, format, role, help},
#include "qtui/tui/columns.def"
#undef COLUMN
};

const struct column_row *columns_row(enum column c)
{
	return &rows[c];
}

bool columns_known(enum column c, const struct snapshot *s)
{
	if (c == COLUMN_TIME)
		return s->costs && s->costs->latency;
	return (c != COLUMN_BLAME && c != COLUMN_HARM) || s->blames;
}

enum status columns_find(enum column *out, const char *name, struct error *err)
{
	struct nearest near = {.name = name};
	for (int i = 0; i < COLUMN_COUNT; i++) {
		if (!strcmp(name, rows[i].name)) {
			*out = (enum column)i;
			return STATUS_OK;
		}
		nearest_try(&near, rows[i].name);
	}
	if (near.best)
		return error_set(err, STATUS_NOTFOUND, "no column \"%.40s\", did you mean \"%s\"?", name, near.best);
	return error_set(err, STATUS_NOTFOUND, "no column \"%.40s\": :help columns lists them", name);
}

static int compare_text(const char *a, const char *b)
{
	int d = strcmp(a, b);
	return (d > 0) - (d < 0);
}

int columns_compare(const struct snapshot *s, enum column c, bool turned, int a, int b)
{
	const struct column_row *row = &rows[c];
	double x, y;
	int d;
	if (row->value) {
		x = row->value(s, a);
		y = row->value(s, b);
		if (isnan(x) != isnan(y))
			return isnan(x) - isnan(y);
		d = (x > y) - (x < y);
	} else {
		d = compare_text(row->text(s, a), row->text(s, b));
	}
	d *= row->worst * (turned ? -1 : 1);
	return d ? d : a - b;
}
