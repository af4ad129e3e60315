// The plot over the list of channels: how far each reaches, and how bad it
// is by the column that the list is ordered by.
#include <math.h>
#include <stdio.h>

#include "qtui/tui/detail.h"
#include "qtui/tui/format.h"
#include "qtui/tui/plot.h"
#include "qtui/tui/view_channels.h"

enum { DOTS_MAX = 2048, SPAN_LEAST = 8, ROWS = 4 /* of dots in a line */, GAPPED = 3 };

// Channels first..first+n-1 over columns of dots: `each` for a channel, the last of them blank where there are GAPPED;
// or, where `each` is 0, several channels a column.
struct window {
	int first, n, each, dots;
};

static int span_of(int channels, int zoom)
{
	int n = channels >> zoom;
	return n > SPAN_LEAST ? n : channels < SPAN_LEAST ? channels : SPAN_LEAST;
}

int channel_plot_zoom(int channels, int zoom)
{
	while (zoom > 0 && span_of(channels, zoom) == span_of(channels, zoom - 1))
		zoom--;
	return zoom > 0 ? zoom : 0;
}

// The window moves by half its width, and stands still as long as the cursor is in its middle half.
static struct window window_of(const struct channel_list *l, int channel, int dots)
{
	struct window w = {.n = l->zoom ? span_of(l->n, l->zoom) : l->n};
	int half = w.n > 1 ? w.n / 2 : 1;
	w.first = channel < 0 ? 0 : channel / half * half - half / 2;
	w.first = w.first > l->n - w.n ? l->n - w.n : w.first;
	w.first = w.first < 0 ? 0 : w.first;
	w.each = dots / w.n;
	w.dots = w.each ? w.n * w.each : dots;
	return w;
}

// The channels that a column of dots stands for: from the result, at most *end; none for a gap.
static int channels_at(const struct window *w, int dot, int *end)
{
	if (!w->each) {
		*end = w->first + (int)((int64_t)(dot + 1) * w->n / w->dots);
		return w->first + (int)((int64_t)dot * w->n / w->dots);
	}
	*end = w->first + dot / w->each + 1;
	return w->each >= GAPPED && dot % w->each == w->each - 1 ? *end : *end - 1;
}

static int dot_of(const struct window *w, int channel)
{
	if (!w->each)
		return (int)(((int64_t)(channel - w->first + 1) * w->dots - 1) / w->n);
	return (channel - w->first) * w->each + (w->each - 1) / 2;
}

static int cells_of(const struct canvas *c, int dots)
{
	return c->ascii ? dots : (dots + 1) / 2;
}

struct ends {
	double low, high;
};

static void reach_to(struct ends *e, double v)
{
	if (!isfinite(v))
		return;
	e->low = fmin(e->low, v);
	e->high = fmax(e->high, v);
}

// Of all channels, so that the plot keeps its scale while it is moved.
static struct ends range_of(const struct channels *c)
{
	struct ends e = {0, 0};
	for (int i = 0; i < c->n; i++)
		if (c->at[i].min <= c->at[i].max) {
			reach_to(&e, (double)c->at[i].min);
			reach_to(&e, (double)c->at[i].max);
		}
	return e;
}

static int height_of(const struct ends *e, double v, int rows)
{
	double span = e->high - e->low, t = span > 0 ? (v - e->low) / span : 0;
	return (int)(fmin(fmax(t, 0), 1) * (rows - 1) + 0.5);
}

// From the smallest to the largest value of the channels that a column of dots stands for.
static void draw_range(struct canvas *c, struct rect r, const struct channels *ch, const struct window *w, const struct ends *e)
{
	int from[DOTS_MAX] = {0}, to[DOTS_MAX] = {0};
	for (int d = 0; d < w->dots; d++) {
		struct ends bar = {INFINITY, -INFINITY};
		int end;
		for (int i = channels_at(w, d, &end); i < end; i++)
			if (ch->at[i].min <= ch->at[i].max) {
				reach_to(&bar, (double)ch->at[i].min);
				reach_to(&bar, (double)ch->at[i].max);
			}
		if (bar.low > bar.high)
			continue;
		from[d] = height_of(e, bar.low, ROWS * r.h);
		to[d] = height_of(e, bar.high, ROWS * r.h) + 1;
	}
	plot_spans(c, r, from, to, ROLE_HIST_FLOAT);
}

// The ends of a grid that all channels share, where nothing else is drawn.
static void draw_limits(struct canvas *c, struct rect r, const struct site *site, const struct ends *e)
{
	double limit[2];
	if (!detail_grid(site, site->n_scale == 1 ? (double)site->scale[0] : 0, ZERO_FOLLOWS, &limit[0], &limit[1]))
		return;
	for (int k = 0; k < 2; k++) {
		int y = r.y + r.h - 1 - height_of(e, limit[k], ROWS * r.h) / ROWS;
		bool inside = limit[k] >= e->low && limit[k] <= e->high;
		for (int x = r.x; inside && x < r.x + r.w; x++)
			if (canvas_blank(c, (struct rect){x, y, 1, 1}))
				canvas_put(c, x, y, U'╌', ROLE_HIST_LIMIT);
	}
}

static struct ends badness_of(const struct channels *c, enum channel_column by)
{
	struct ends e = {INFINITY, -INFINITY};
	for (int i = 0; i < c->n; i++)
		reach_to(&e, channel_badness(c, by, i));
	return e;
}

// The worst of the channels that a column of dots stands for; what is known has a dot at least.
static void draw_badness(struct canvas *c, struct rect r, const struct channels *ch, enum channel_column by, const struct window *w,
    const struct ends *e)
{
	int from[DOTS_MAX] = {0}, to[DOTS_MAX] = {0};
	for (int d = 0; d < w->dots; d++) {
		double worst = NAN;
		int end;
		for (int i = channels_at(w, d, &end); i < end; i++)
			worst = fmax(worst, channel_badness(ch, by, i));
		to[d] = isnan(worst) ? 0 : 1 + height_of(e, worst, ROWS * r.h);
	}
	plot_spans(c, r, from, to, ROLE_HIST_QUANT);
}

// Drawn only where the cells are still blank, with one beside it.
static void draw_number(struct canvas *c, int x, int y, int number, bool right)
{
	char text[16];
	snprintf(text, sizeof text, "%d", number);
	x -= right ? text_width(text) : 0;
	if (canvas_blank(c, (struct rect){x - 1, y, text_width(text) + 2, 1}))
		canvas_text(c, x, y, 16, ROLE_DIM, text);
}

// The channel of the row below its columns, and the first and the last.
static void draw_axis(struct canvas *c, struct rect r, const struct window *w, int channel)
{
	int at = r.x + dot_of(w, channel) / (c->ascii ? 1 : 2);
	if (channel >= w->first && channel < w->first + w->n)
		canvas_textf(c, at, r.y, r.x + r.w - at, ROLE_STRONG, "▴ %d", channel);
	draw_number(c, r.x, r.y, w->first, false);
	draw_number(c, r.x + cells_of(c, w->dots), r.y, w->first + w->n - 1, true);
}

static void label_range(struct canvas *c, struct rect r, const struct site *site, const struct ends *e)
{
	char a[FIGURE], b[FIGURE], low[FIGURE], high[FIGURE];
	double from, to;
	r.x += canvas_textf(c, r.x, r.y, r.w, ROLE_HIST_FLOAT, "float range %s to %s", format_small(a, e->low), format_small(b, e->high));
	if (detail_grid(site, site->n_scale == 1 ? (double)site->scale[0] : 0, ZERO_FOLLOWS, &from, &to))
		canvas_textf(c, r.x + 2, r.y, r.w - 34, ROLE_HIST_LIMIT, "╌ grid %s to %s", format_small(low, from), format_small(high, to));
}

static void label_value(struct canvas *c, struct rect r, const struct channels *ch, enum channel_column by)
{
	const struct channel_column_row *col = channel_column(by);
	int worst = -1, best = -1;
	char a[FIGURE], b[FIGURE];
	for (int i = 0; i < ch->n; i++) {
		double v = channel_badness(ch, by, i);
		worst = !isnan(v) && (worst < 0 || v > channel_badness(ch, by, worst)) ? i : worst;
		best = !isnan(v) && (best < 0 || v < channel_badness(ch, by, best)) ? i : best;
	}
	if (worst < 0)
		canvas_textf(c, r.x, r.y, r.w, ROLE_DIM, "%s: not known", col->head);
	else
		canvas_textf(c, r.x, r.y, r.w, ROLE_HIST_QUANT, "%s: worst %s (top), best %s", col->head, col->format(a, col->value(ch, worst)),
		    col->format(b, col->value(ch, best)));
}

int channel_plot_height(const struct channel_plot *p)
{
	return p->range + p->value + (p->labels ? (p->range > 0) + (p->value > 0) : 0) + p->axis;
}

void channel_plot_draw(struct canvas *c, struct rect r, const struct channel_plot *p, const struct channel_list *l, const struct site *site,
    int channel)
{
	int dots = plot_bins(c, r.w) < DOTS_MAX ? plot_bins(c, r.w) : DOTS_MAX;
	enum channel_column by = l->sort == CHANNEL_COLUMN_INDEX ? CHANNEL_COLUMN_SNR : l->sort;
	struct window w = window_of(l, channel, dots);
	struct ends range = range_of(l->of), bad = badness_of(l->of, by);
	r.w = dots == DOTS_MAX ? DOTS_MAX / 2 : r.w;
	if (p->labels && p->range)
		label_range(c, (struct rect){r.x, r.y++, r.w, 1}, site, &range);
	if (p->range) {
		draw_range(c, (struct rect){r.x, r.y, r.w, p->range}, l->of, &w, &range);
		draw_limits(c, (struct rect){r.x, r.y, cells_of(c, w.dots), p->range}, site, &range);
	}
	r.y += p->range;
	if (p->labels)
		label_value(c, (struct rect){r.x, r.y++, r.w, 1}, l->of, by);
	draw_badness(c, (struct rect){r.x, r.y, r.w, p->value}, l->of, by, &w, &bad);
	if (p->axis)
		draw_axis(c, (struct rect){r.x, r.y + p->value, r.w, 1}, &w, channel);
}
