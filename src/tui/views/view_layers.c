#include "qtui/tui/view_layers.h"

#include <math.h>
#include <stdio.h>

#include "qtui/analysis/cost.h"
#include "qtui/base/str.h"
#include "qtui/tui/draw.h"
#include "qtui/tui/format.h"
#include "qtui/tui/grade.h"
#include "qtui/tui/rows.h"

enum { MARKS = 4 }; // columns for cursor, mark and severity
// Columns that longer names should keep: beside the figures that tell most, and beside all others.
enum { TELLING = 4, NAME = 35, AMPLE = 44 };

int view_layers_count(const struct ui *ui)
{
	return ui->layers.n;
}

void view_layers_text(char *out, size_t size, const struct ui *ui, int row)
{
	snprintf(out, size, "%s", ui->snap->g->node[ui->layers.order[row]].name);
}

void view_layers_sort(struct ui *ui, enum column c)
{
	struct layers *l = &ui->layers;
	l->turned = c == l->sort && !l->turned;
	l->sort = c;
	layers_refresh(l, ui->snap);
}

// What a column shows is known; that of changes has the list of layers itself.
static bool is_known(const struct ui *ui, enum column c)
{
	return c == COLUMN_CHANGE ? ui->layers.compared : columns_known(c, ui->snap);
}

// Which columns there is room for, the most telling first; returns what is left for the name.
static int fit_columns(const struct ui *ui, int width, bool shown[COLUMN_COUNT])
{
	int left = width - MARKS - 2;
	for (int i = 0; i < COLUMN_COUNT; i++) {
		const struct column_row *row = columns_row((enum column)i);
		shown[i] = row->rank == 0 || i == (int)ui->layers.sort;
		left -= shown[i] && row->width ? row->width + 1 : 0;
	}
	for (int rank = 1; rank <= COLUMN_COUNT; rank++) {
		int room = rank <= TELLING ? NAME : AMPLE, wanted = ui->layers.widest < room ? ui->layers.widest : room;
		for (int i = 0; i < COLUMN_COUNT; i++) {
			const struct column_row *row = columns_row((enum column)i);
			if (row->rank != rank || shown[i] || !is_known(ui, (enum column)i))
				continue;
			if (left - row->width - 1 < wanted)
				return left;
			shown[i] = true;
			left -= row->width + 1;
		}
	}
	return left;
}

int view_layers_width(const struct ui *ui)
{
	int width = MARKS + 2 + ui->layers.widest;
	for (int i = 0; i < COLUMN_COUNT; i++)
		if (columns_row((enum column)i)->width && is_known(ui, (enum column)i))
			width += columns_row((enum column)i)->width + 1;
	return width;
}

static int column_width(enum column c, int name_width)
{
	int w = columns_row(c)->width;
	return w ? w : name_width;
}

enum column view_layers_column_at(const struct ui *ui, int x)
{
	const struct rect *r = &ui->layout.panel[PANEL_MAIN];
	bool shown[COLUMN_COUNT];
	int name = fit_columns(ui, r->w, shown), at = r->x + MARKS;
	for (int i = 0; i < COLUMN_COUNT; i++) {
		if (!shown[i])
			continue;
		if (x >= at && x <= at + column_width((enum column)i, name))
			return (enum column)i;
		at += column_width((enum column)i, name) + 1;
	}
	return COLUMN_NONE;
}

static bool is_text(enum column c)
{
	return columns_row(c)->text != NULL || c == COLUMN_PREC;
}

static void draw_heads(struct canvas *c, const struct ui *ui, struct rect r, const bool *shown, int name)
{
	int x = r.x + MARKS;
	for (int i = 0; i < COLUMN_COUNT; i++) {
		int w = column_width((enum column)i, name);
		bool sorted = i == (int)ui->layers.sort;
		enum role role = sorted ? ROLE_HEAD_SORT : ROLE_HEAD;
		bool rising = (columns_row((enum column)i)->worst > 0) != ui->layers.turned;
		if (!shown[i])
			continue;
		x += i == COLUMN_NAME; // room for the arrow of a sorted neighbour
		if (is_text((enum column)i))
			canvas_text(c, x, r.y, w, role, columns_row((enum column)i)->head);
		else
			canvas_right(c, x, r.y, w, role, columns_row((enum column)i)->head);
		if (sorted)
			canvas_text(c, is_text((enum column)i) ? x + text_width(columns_row((enum column)i)->head) : x + w, r.y, 1, role,
			    rising ? "▴" : "▾");
		x += w + 1;
	}
}

// "8", "16*" (edited), "8→16*" (edited, not computed yet), "8!" (refused)
static void draw_precision(struct canvas *c, const struct node_row *row, int x, int y)
{
	enum precision requested = (enum precision)row->requested;
	bool edited = row->edited;
	bool coming = row->pending && row->requested >= 0 && row->requested != (int)row->precision && !row->refused;
	x += canvas_text(c, x, y, 2, precision_role(row->precision), precision_short(row->precision));
	if (coming)
		x += canvas_textf(c, x, y, 3, precision_role(requested), "→%s", precision_short(requested));
	if (row->refused)
		canvas_text(c, x, y, 1, ROLE_REFUSED, "!");
	else if (edited)
		canvas_text(c, x, y, 1, ROLE_EDITED, "*");
}

// Blame is measured by command: after an edit it is that of an earlier state.
static bool is_old(enum column column, const struct snapshot *s)
{
	return (column == COLUMN_BLAME || column == COLUMN_HARM) && s->blames_old;
}

static bool is_estimate(enum column column, const struct snapshot *s, int node)
{
	enum cost_source from = column == COLUMN_TIME && s->costs ? s->costs->node[node].source[s->row[node].precision] : COST_MEASURED;
	return from != COST_MEASURED && from != COST_NOTHING;
}

static enum role value_role(const struct column_row *col, const struct node_row *row, double v, bool old)
{
	if (isnan(v))
		return ROLE_DIM;
	if (row->pending || old)
		return ROLE_PENDING;
	return col->role ? col->role(v) : ROLE_TEXT;
}

static void draw_value(struct canvas *c, const struct ui *ui, enum column column, int node, int x, int y, int w)
{
	const struct column_row *col = columns_row(column);
	const struct node_row *row = &ui->snap->row[node];
	char text[FIGURE + 1];
	double v;
	if (column == COLUMN_PREC) {
		draw_precision(c, row, x, y);
	} else if (column == COLUMN_NAME) {
		draw_node_name(c, ui, x, y, w, row->precision == PREC_FLOAT ? ROLE_DIM : ROLE_TEXT, node);
	} else if (col->text) {
		canvas_text(c, x, y, w, ROLE_DIM, col->text(ui->snap, node));
	} else {
		v = col->value(ui->snap, node);
		col->format(text + 1, v);
		text[0] = '~';
		canvas_right(
		    c, x, y, w, value_role(col, row, v, is_old(column, ui->snap)),
		    !isnan(v) && is_estimate(column, ui->snap, node) ? text : text + 1);
	}
}

static void draw_row(struct canvas *c, const struct ui *ui, struct rect r, int row, const bool *shown, int name)
{
	int node = ui->layers.order[row], x = r.x + MARKS;
	enum severity severity = severity_of(columns_row(COLUMN_SNR)->value(ui->snap, node));
	if (ui->layers.marked[node])
		canvas_text(c, r.x + 1, r.y, 1, ROLE_EDITED, "✓");
	canvas_text(c, r.x + 2, r.y, 1, severity_role(severity), severity_glyph(severity));
	for (int i = 0; i < COLUMN_COUNT; i++) {
		if (!shown[i])
			continue;
		x += i == COLUMN_NAME;
		draw_value(c, ui, (enum column)i, node, x, r.y, column_width((enum column)i, name));
		x += column_width((enum column)i, name) + 1;
	}
	if (layers_in_visual(&ui->layers, row))
		canvas_ground(c, r, ROLE_VISUAL);
	else if (ui->layers.marked[node])
		canvas_ground(c, r, ROLE_MARKED);
}

static void draw_empty(struct canvas *c, const struct ui *ui, struct rect r)
{
	struct str text = {0};
	if (ui->layers.filter)
		str_addf(&text, "No node matches %s; Esc shows all.", ui->layers.filter_text);
	else
		str_add(&text, "The model has no nodes.");
	canvas_paragraph(c, (struct rect){r.x + 2, r.y + 2, r.w - 3, r.h - 2}, ROLE_DIM, str_text(&text));
	str_done(&text);
}

void view_layers_draw(struct canvas *c, const struct ui *ui, struct rect r)
{
	bool shown[COLUMN_COUNT];
	int name = fit_columns(ui, r.w, shown);
	draw_heads(c, ui, r, shown, name);
	for (struct rows at = rows_of_view(c, ui, r); rows_next(&at);)
		draw_row(c, ui, at.line, at.row, shown, name);
	if (ui->layers.n == 0)
		draw_empty(c, ui, r);
}
