#include "qtui/tui/channel_list.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "qtui/base/mem.h"
#include "qtui/tui/columns.h"
#include "qtui/tui/format.h"
#include "qtui/tui/grade.h"

// ---- columns

static double value_index(const struct channels *c, int i)
{
	(void)c;
	return i;
}

// A channel without a signal has none to lose: it is not the worst.
static bool is_dead(const struct channels *c, int i)
{
	return c->at[i].flags & CHANNEL_DEAD;
}

static double value_snr(const struct channels *c, int i)
{
	const struct metrics *m = &c->at[i].now;
	return m->exact ? INFINITY : is_dead(c, i) ? NAN : m->snr_db;
}

static double value_alone(const struct channels *c, int i)
{
	return is_dead(c, i) && !isinf(c->at[i].alone_db) ? NAN : c->at[i].alone_db;
}

static double value_share(const struct channels *c, int i)
{
	return 100 * c->at[i].share;
}

static double value_shift(const struct channels *c, int i)
{
	return c->at[i].shift;
}

static double value_clipped(const struct channels *c, int i)
{
	return 100 * c->at[i].now.clipped;
}

static double value_min(const struct channels *c, int i)
{
	return (double)c->at[i].min;
}

static double value_max(const struct channels *c, int i)
{
	return (double)c->at[i].max;
}

static double value_qmin(const struct channels *c, int i)
{
	return (double)c->at[i].qmin;
}

static double value_qmax(const struct channels *c, int i)
{
	return (double)c->at[i].qmax;
}

static double value_unused(const struct channels *c, int i)
{
	return c->at[i].unused_bits;
}

static double value_used(const struct channels *c, int i)
{
	return 100 * c->at[i].used;
}

static double value_scale(const struct channels *c, int i)
{
	return c->at[i].scale > 0 ? (double)c->at[i].scale : NAN;
}

static double value_mse(const struct channels *c, int i)
{
	return c->at[i].now.mse;
}

static double value_max_error(const struct channels *c, int i)
{
	return c->at[i].now.max_error;
}

static char *format_bits(char *out, double v)
{
	if (isnan(v))
		return format_rate(out, v);
	snprintf(out, FIGURE, isinf(v) ? "all" : "%.1f", v);
	return out;
}

static const struct channel_column_row rows[CHANNEL_COLUMNS] = {
#define CHANNEL_COLUMN(id, head, width, rank, worst, value, format, role, help)                                        \
	[CHANNEL_COLUMN_##id] = {head, width, rank, worst, value, format, role, help},
#include "qtui/tui/channel_columns.def"
#undef CHANNEL_COLUMN
};

const struct channel_column_row *channel_column(enum channel_column c)
{
	return &rows[c];
}

double channel_badness(const struct channels *c, enum channel_column by, int channel)
{
	double v = rows[by].value(c, channel);
	return rows[by].worst > 0 ? -v : rows[by].worst == -2 ? fabs(v) : v;
}

// ---- rows

void channel_list_init(struct channel_list *l)
{
	*l = (struct channel_list){.sort = CHANNEL_COLUMN_SNR};
}

void channel_list_done(struct channel_list *l)
{
	channels_drop(&l->of);
	free(l->row);
	l->row = NULL;
	l->n = 0;
}

struct keyed {
	double by; // the larger the sooner; NAN last
	int at;
};

static int by_key(const void *a, const void *b)
{
	const struct keyed *x = a, *y = b;
	if (isnan(x->by) != isnan(y->by))
		return isnan(x->by) - isnan(y->by);
	if (x->by > y->by || x->by < y->by)
		return x->by > y->by ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

static void sort(struct channel_list *l, const struct channels *c)
{
	struct keyed *k;
	l->n = c ? c->n : 0;
	k = xcalloc((size_t)l->n + 1, sizeof *k);
	for (int i = 0; i < l->n; i++) {
		double bad = channel_badness(c, l->sort, i);
		k[i] = (struct keyed){l->turned ? -bad : bad, i};
	}
	qsort(k, (size_t)l->n, sizeof *k, by_key);
	l->row = xrealloc(l->row, ((size_t)l->n + 1) * sizeof *l->row);
	for (int i = 0; i < l->n; i++)
		l->row[i] = k[i].at;
	free(k);
}

void channel_list_refresh(struct channel_list *l, struct channels *c, struct scroll *s)
{
	bool same_tensor = c && l->of && c->slot == l->of->slot && c->n == l->of->n;
	bool same_order = l->sort == l->rows_sort && l->turned == l->rows_turned;
	int under = same_tensor && same_order && s->cursor > 0 && s->cursor < l->n ? l->row[s->cursor] : -1;
	if (c == l->of && same_order && l->row)
		return;
	sort(l, c);
	channels_take(c);
	channels_drop(&l->of);
	l->of = c;
	l->rows_sort = l->sort;
	l->rows_turned = l->turned;
	if (!same_tensor)
		l->zoom = 0;
	if (under < 0)
		*s = (struct scroll){0, 0};
	for (int i = 0; under >= 0 && i < l->n; i++)
		if (l->row[i] == under)
			s->cursor = i;
}
