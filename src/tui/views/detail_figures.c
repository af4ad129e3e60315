// The lower half of the detail: figures now, alone and before, and the distribution with the grid's ends.
#include <math.h>
#include <stdio.h>

#include "qtui/tui/detail.h"
#include "qtui/tui/edit.h"
#include "qtui/tui/figures.h"
#include "qtui/tui/format.h"
#include "qtui/tui/grade.h"
#include "qtui/tui/plot.h"

enum { LEAST_OF_FOUR = 8, MOST = 12 }; // columns of a figure, beside others without touching: in less room what was before is left out
enum { BARS_LEAST = 2, BARS_MOST = 16 }; // lines of each histogram

enum change_kind { CHANGE_MINUS, CHANGE_RATIO };
struct figure_row {
	const char *label;
	char *(*format)(char *out, double v);
	double (*value)(const struct figures *f);
	enum change_kind change;
	int better; // +1: more is better
};

static const struct figure_row figure_rows[] = {
	{"SNR dB", format_db, figures_snr, CHANGE_MINUS, +1}, {"N/S", format_small, figures_nsr, CHANGE_RATIO, -1},
	{"cosine", format_unit, figures_cosine, CHANGE_MINUS, +1}, {"MSE", format_small, figures_mse, CHANGE_RATIO, -1},
	{"max error", format_small, figures_max_error, CHANGE_RATIO, -1}, {"clipped %", format_percent, figures_clipped, CHANGE_MINUS, -1},
};

// Empty when the change is too small to be seen in the figures.
static void change_text(char out[FIGURE], const struct figure_row *row, double now, double before)
{
	int digits = row->format == format_unit ? 4 : row->format == format_percent ? 2 : 1;
	out[0] = '\0';
	if (!isfinite(now) || !isfinite(before))
		return;
	if (row->change == CHANGE_MINUS && fabs(now - before) >= 0.5 * pow(10, -digits))
		snprintf(out, FIGURE, "%+.*f", digits, now - before);
	else if (row->change == CHANGE_RATIO && before > 0 && fabs(now / before - 1) >= 0.005 && now / before < 99.5)
		snprintf(out, FIGURE, "×%.2f", now / before);
}

// Where the figures stand: now, alone, before (if there is room) and the change, each `w` columns wide.
struct places {
	int w, before, change; // before: 0: left out
};

static struct places places_of(int room)
{
	int n = room / 4 >= LEAST_OF_FOUR ? 4 : 3, w = room / n < MOST ? room / n : MOST;
	return (struct places){w, n == 4 ? 2 * w : 0, (n - 1) * w};
}

static void put_figure(struct page *p, const struct site *s, const struct figure_row *row, struct places at)
{
	int w = at.w;
	bool old = p->ui->snap->row[s->node].pending;
	double now = row->value(&s->graphwise), before = row->value(&s->before), alone = row->value(&s->layerwise);
	enum role role = isnan(now) ? ROLE_DIM : old ? ROLE_PENDING : row == figure_rows ? snr_role(now) : ROLE_TEXT;
	char text[FIGURE];
	int x = p->x + DETAIL_LABEL;
	canvas_text(p->c, p->x, p->y, DETAIL_LABEL, ROLE_DIM, row->label);
	canvas_right(p->c, x, p->y, w, role, row->format(text, now));
	if (row->value != figures_clipped)
		canvas_right(p->c, x + w, p->y, w, isnan(alone) ? ROLE_DIM : ROLE_TEXT, row->format(text, alone));
	if (s->before.known) {
		if (at.before)
			canvas_right(p->c, x + at.before, p->y, w, ROLE_DIM, row->format(text, before));
		change_text(text, row, now, before);
		canvas_right(p->c, x + at.change, p->y, w, (now - before) * row->better > 0 ? ROLE_BETTER : ROLE_WORSE, text);
	}
	p->y++;
}

void detail_figures(struct page *p, const struct site *s)
{
	struct places at = places_of(p->w - DETAIL_LABEL);
	int w = at.w, x = p->x + DETAIL_LABEL;
	if (!s->graphwise.known && !s->layerwise.known)
		return;
	p->y++;
	if (s->kind != SITE_WEIGHT && s->graphwise.known && s->graphwise.known < p->ui->snap->samples) // a weight is the same for all
		canvas_textf(p->c, p->x, p->y, DETAIL_LABEL, ROLE_PENDING, "%d of %d", s->graphwise.known, p->ui->snap->samples);
	canvas_right(p->c, x, p->y, w, ROLE_HEAD, "now");
	canvas_right(p->c, x + w, p->y, w, ROLE_HEAD, "alone");
	if (s->before.known) {
		if (at.before)
			canvas_right(p->c, x + at.before, p->y, w, ROLE_HEAD, "before");
		canvas_right(p->c, x + at.change, p->y, w, ROLE_HEAD, "change");
	}
	p->y++;
	for (size_t i = 0; i < sizeof figure_rows / sizeof *figure_rows; i++)
		if (s->kind != SITE_FLOAT || figure_rows[i].value != figures_clipped) // nothing clips a float
			put_figure(p, s, &figure_rows[i], at);
}

static int axis_column(const struct hist *h, double v, int w)
{
	double span = (double)h->hi - (double)h->lo;
	return span > 0 ? (int)floor((v - (double)h->lo) / span * w) : -1;
}

static void axis_mark(struct page *p, const struct hist *h, double v, int rows, enum role role, uint32_t glyph)
{
	int at = axis_column(h, v, p->w);
	for (int y = 0; at >= 0 && at < p->w && y < rows; y++)
		canvas_put(p->c, p->x + at, p->y - rows + 1 + y, glyph, role);
}

// The axis with zero and the ends of the grid; the grid's ends run up through the bars.
static void put_axis(struct page *p, const struct site *s, const struct hist *h, int rows)
{
	bool trial = p->ui->trial.active && s == trial_site(p->ui);
	double scale = trial ? p->ui->trial.scale : s->n_scale ? (double)s->scale[0] : 0, low, high;
	char text[RANGE_END];
	canvas_line(p->c, p->x, p->y, p->w, ROLE_RULE);
	if (h->lo < 0 && h->hi > 0)
		axis_mark(p, h, 0, 1, ROLE_TEXT, U'┼');
	if (detail_grid(s, scale, trial ? p->ui->trial.zero : ZERO_FOLLOWS, &low, &high)) {
		axis_mark(p, h, low, rows + 1, ROLE_HIST_LIMIT, U'┆');
		axis_mark(p, h, high, rows + 1, ROLE_HIST_LIMIT, U'┆');
	}
	p->y++;
	canvas_text(p->c, p->x, p->y, 12, ROLE_DIM, range_end(text, (double)h->lo, (double)h->hi));
	canvas_right(p->c, p->x + p->w - 12, p->y, 12, ROLE_DIM, range_end(text, (double)h->hi, (double)h->lo));
	if (h->lo < 0 && h->hi > 0 && axis_column(h, 0, p->w) > 12 && axis_column(h, 0, p->w) < p->w - 12)
		canvas_text(p->c, p->x + axis_column(h, 0, p->w), p->y, 1, ROLE_DIM, "0");
	p->y++;
}

static uint64_t most(const uint64_t *bin, int n)
{
	uint64_t m = 0;
	for (int i = 0; i < n; i++)
		m = bin[i] > m ? bin[i] : m;
	return m;
}

// Where the bars leave room for it, the ends first; over them when they leave none.
static void put_bar_label(struct page *p, int y, enum role role, const char *text)
{
	int w = text_width(text), end = p->x + p->w - w, x = p->x;
	if (!canvas_blank(p->c, (struct rect){x, y, w, 1}))
		for (x = end; x > p->x && !canvas_blank(p->c, (struct rect){x - 1, y, w + 1, 1}); x--)
			;
	canvas_text(p->c, x, y, w, role, text);
}

void detail_histogram(struct page *p, const struct site *s, int other_lines)
{
	int n = plot_bins(p->c, p->w), rows = (p->height - other_lines) / 2, top;
	uint64_t f[STATS_BINS], q[STATS_BINS], full;
	char label[16];
	rows = rows < BARS_LEAST ? BARS_LEAST : rows > BARS_MOST ? BARS_MOST : rows;
	if (!s->hist_float)
		return;
	hist_shrink(s->hist_float, f, n);
	full = most(f, n);
	top = ++p->y;
	if (s->hist_quant) {
		hist_shrink(s->hist_quant, q, n);
		full = most(q, n) > full ? most(q, n) : full;
		plot_bars(p->c, (struct rect){p->x, top + rows, p->w, rows}, q, full, ROLE_HIST_QUANT);
	}
	plot_bars(p->c, (struct rect){p->x, top, p->w, rows}, f, full, ROLE_HIST_FLOAT);
	p->y += s->hist_quant ? 2 * rows : rows;
	put_axis(p, s, s->hist_float, p->y - top);
	put_bar_label(p, top, ROLE_HIST_FLOAT, "float");
	snprintf(label, sizeof label, "int%d", s->bits);
	if (s->hist_quant)
		put_bar_label(p, top + rows, ROLE_HIST_QUANT, s->kind == SITE_FLOAT ? "with noise" : label);
}
