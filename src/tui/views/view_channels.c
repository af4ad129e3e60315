// Channels of the tensor that the detail is about: a plot of all, and a list with the worst first.
#include "qtui/tui/view_channels.h"

#include <math.h>
#include <stdio.h>

#include "qtui/base/str.h"
#include "qtui/tui/action.h"
#include "qtui/tui/detail.h"
#include "qtui/tui/format.h"
#include "qtui/tui/grade.h"
#include "qtui/tui/rows.h"

enum { HEADING = 2, MARKS = 4, FLAG = 12, FLAGS = 20, LOW = 10, MIDDLE = 16 };

struct channels *view_channels_of(const struct ui *ui)
{
	const struct site *site = ui_site(ui);
	struct channels *c = ui->snap->channels;
	return site && c && c->slot == site->slot ? c : NULL;
}

int view_channels_count(const struct ui *ui)
{
	return ui->channels.n;
}

// The channel under the cursor; -1: none.
static int view_channels_cursor(const struct ui *ui)
{
	int row = ui->scroll[VIEW_CHANNELS].cursor;
	return row < ui->channels.n ? ui->channels.row[row] : -1;
}

// "outlier, clipped"
static void flags_text(char *out, size_t size, const struct channel *c)
{
	size_t used = 0;
	out[0] = '\0';
	for (int bit = 0; bit < CHANNEL_FLAGS && used < size; bit++)
		if (c->flags >> bit & 1)
			used += (size_t)snprintf(out + used, size - used, "%s%s", used ? ", " : "", channel_flag_name(bit));
}

void view_channels_text(char *out, size_t size, const struct ui *ui, int row)
{
	char flags[64];
	flags_text(flags, sizeof flags, &ui->channels.of->at[ui->channels.row[row]]);
	snprintf(out, size, "%d %s", ui->channels.row[row], flags);
}

// ---- what stands above the list

static struct channel_plot plot_of(int height)
{
	int each = (height - 13) / 6;
	if (height < LOW)
		return (struct channel_plot){.value = 1};
	if (height < MIDDLE)
		return (struct channel_plot){.value = 2, .axis = true};
	each = each < 2 ? 2 : each > 8 ? 8 : each;
	return (struct channel_plot){.range = each, .value = each, .labels = true, .axis = true};
}

static struct channel_plot plot_in(const struct ui *ui)
{
	return plot_of(ui->layout.panel[PANEL_MAIN].h - 1);
}

int view_channels_head(const struct ui *ui)
{
	struct channel_plot plot = plot_in(ui);
	return ui->channels.n ? HEADING + plot.labels + channel_plot_height(&plot) + 1 : HEADING;
}

// "[output] weight  /model.0/conv/Conv": h and l choose.
static void draw_tensor(struct canvas *c, const struct ui *ui, struct rect r, const struct site *site)
{
	int x = r.x + detail_choice(c, r, ui->snap, site) + 1;
	char name[1024];
	abbrev_cut(name, sizeof name, &ui->layers.names, ui_node(ui), r.x + r.w - x);
	canvas_text(c, x, r.y, r.x + r.w - x, ROLE_TEXT, name);
}

static void draw_summary(struct canvas *c, struct rect r, const struct channels *ch, const struct shape *shape)
{
	char dims[128], along[160] = "", text[512], spread[64];
	size_t used;
	detail_shape(dims, sizeof dims, shape);
	if (ch->axis >= 0)
		snprintf(along, sizeof along, " on axis %d of %s", ch->axis, dims);
	used = (size_t)snprintf(text, sizeof text, "%d channel%s%s", ch->n, plural(ch->n), along);
	if (ch->samples < ch->of)
		used += (size_t)snprintf(text + used, sizeof text - used, "  %d of %d samples", ch->samples, ch->of);
	for (int bit = 0; bit < CHANNEL_FLAGS; bit++)
		if (ch->count[bit])
			used += (size_t)snprintf(text + used, sizeof text - used, "  %d %s", ch->count[bit], channel_flag_name(bit));
	snprintf(spread, sizeof spread, "  %.1f bits unused on average", ch->spread);
	if (ch->n > 1 && text_width(text) + text_width(spread) <= r.w)
		snprintf(text + used, sizeof text - used, "%s", spread);
	canvas_text(c, r.x, r.y, r.w, ch->samples < ch->of ? ROLE_PENDING : ROLE_TEXT, text);
}

// "worst of 32 samples, dB  139.jpg 12.3  285.jpg 12.9": as many as there is room for.
static void draw_samples(struct canvas *c, struct rect r, const struct channels *ch)
{
	int x = r.x + canvas_textf(c, r.x, r.y, r.w, ROLE_DIM, ch->n_samples ? "worst of %d sample%s, dB" : "the same for all samples",
	                  ch->n_samples, plural(ch->n_samples));
	char snr[FIGURE], text[160];
	for (int i = 0; i < ch->n_samples; i++) {
		snprintf(text, sizeof text, "  %.120s %s", ch->sample[i].name, format_db(snr, ch->sample[i].snr_db));
		if (x + text_width(text) > r.x + r.w)
			break;
		x += canvas_text(c, x, r.y, r.x + r.w - x, snr_role(ch->sample[i].snr_db), text);
	}
}

// ---- the list

// What is conspicuous should be read whole, where a channel may be it in several ways too.
static int flags_want(const struct channels *ch)
{
	int kinds = 0;
	for (int bit = 0; bit < CHANNEL_FLAGS; bit++)
		kinds += ch && ch->count[bit] > 0;
	return kinds > 1 ? FLAGS : FLAG;
}

// Which columns there is room for.
static void fit(const struct channel_list *l, int width, bool shown[CHANNEL_COLUMNS])
{
	int left = width - MARKS - flags_want(l->of);
	for (int i = 0; i < CHANNEL_COLUMNS; i++) {
		const struct channel_column_row *col = channel_column((enum channel_column)i);
		shown[i] = col->rank == 0 || i == (int)l->sort;
		left -= shown[i] ? col->width + 1 : 0;
	}
	for (int rank = 1, more = 1; more; rank++) {
		more = 0;
		for (int i = 0; i < CHANNEL_COLUMNS; i++) {
			const struct channel_column_row *col = channel_column((enum channel_column)i);
			more |= col->rank > rank;
			if (shown[i] || col->rank != rank)
				continue;
			left -= col->width + 1;
			if (left < 0)
				return;
			shown[i] = true;
		}
	}
}

int view_channels_column_at(const struct ui *ui, int x)
{
	const struct rect *r = &ui->layout.panel[PANEL_MAIN];
	bool shown[CHANNEL_COLUMNS];
	int at = r->x + MARKS;
	fit(&ui->channels, r->w, shown);
	for (int i = 0; i < CHANNEL_COLUMNS; i++) {
		int width = shown[i] ? channel_column((enum channel_column)i)->width + 1 : 0;
		if (x >= at && x < at + width)
			return i;
		at += width;
	}
	return -1;
}

static void draw_heads(struct canvas *c, const struct channel_list *l, struct rect r, const bool *shown)
{
	int x = r.x + MARKS;
	for (int i = 0; i < CHANNEL_COLUMNS; i++) {
		const struct channel_column_row *col = channel_column((enum channel_column)i);
		bool sorted = i == (int)l->sort;
		if (!shown[i])
			continue;
		canvas_right(c, x, r.y, col->width, sorted ? ROLE_HEAD_SORT : ROLE_HEAD, col->head);
		x += col->width;
		if (sorted)
			canvas_text(c, x, r.y, 1, ROLE_HEAD_SORT, (col->worst > 0) != l->turned ? "▴" : "▾");
		x++;
	}
	canvas_text(c, x + 1, r.y, r.x + r.w - x - 1, ROLE_HEAD, "conspicuous");
}

static void draw_row(struct canvas *c, const struct ui *ui, struct rect r, int channel, const bool *shown)
{
	const struct channels *ch = ui->channels.of;
	enum severity severity = severity_of(channel_column(CHANNEL_COLUMN_SNR)->value(ch, channel));
	bool old = !key_equal(ch->decision, ui->snap->decision) || ch->samples < ch->of;
	char text[96];
	int x = r.x + MARKS;
	canvas_text(c, r.x + 2, r.y, 1, severity_role(severity), severity_glyph(severity));
	for (int i = 0; i < CHANNEL_COLUMNS; i++) {
		const struct channel_column_row *col = channel_column((enum channel_column)i);
		double v = col->value(ch, channel);
		if (!shown[i])
			continue;
		canvas_right(c, x, r.y, col->width, isnan(v) ? ROLE_DIM : old ? ROLE_PENDING : col->role ? col->role(v) : ROLE_TEXT,
		    col->format(text, v));
		x += col->width + 1;
	}
	flags_text(text, sizeof text, &ch->at[channel]);
	canvas_text(c, x + 1, r.y, r.x + r.w - x - 1, ch->at[channel].flags & CHANNEL_DEAD ? ROLE_DIM : ROLE_STRONG, text);
}

static void draw_list(struct canvas *c, const struct ui *ui, struct rect r)
{
	bool shown[CHANNEL_COLUMNS];
	fit(&ui->channels, r.w, shown);
	draw_heads(c, &ui->channels, r, shown);
	for (struct rows at = rows_of_view(c, ui, r); rows_next(&at);)
		draw_row(c, ui, at.line, ui->channels.row[at.row], shown);
}

// ---- all of it

static const char *reason(const struct ui *ui)
{
	const struct channels *c = view_channels_of(ui);
	if (!ui_site(ui))
		return "No quantizer acts at this node.";
	if (c && c->problem[0])
		return c->problem;
	if (!snapshot_complete(ui->snap) || ui->snap->dirty)
		return "Channels are gathered when the run is over.";
	if (ui->study && !study_gathering(ui->study))
		return "Gathering the channels was stopped: r goes on.";
	return "The channels are being gathered.";
}

void view_channels_draw(struct canvas *c, const struct ui *ui, struct rect r)
{
	const struct site *site = ui_site(ui);
	struct channel_plot plot = plot_in(ui);
	struct rect line = {r.x + 1, r.y, r.w - 2, 1}, rest = {r.x, r.y + view_channels_head(ui) - 1, r.w, r.h - view_channels_head(ui) + 1};
	if (site)
		draw_tensor(c, ui, line, site);
	line.y++;
	if (!site || !ui->channels.n) {
		canvas_paragraph(c, (struct rect){line.x, line.y, line.w, r.h - 1}, ROLE_DIM, reason(ui));
		return;
	}
	draw_summary(c, line, ui->channels.of, &ui->snap->g->value[site->value].shape);
	line.y++;
	if (plot.labels)
		draw_samples(c, (struct rect){line.x, line.y++, line.w, 1}, ui->channels.of);
	channel_plot_draw(c, line, &plot, &ui->channels, site, view_channels_cursor(ui));
	draw_list(c, ui, rest);
}
