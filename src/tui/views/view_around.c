#include <math.h>
#include <stdio.h>

#include "qtui/engine/op.h"
#include "qtui/tui/format.h"
#include "qtui/tui/grade.h"
#include "qtui/tui/rows.h"
#include "qtui/tui/ui.h"

enum { WIDE = 64 }; // columns from which the operator is shown too

static void draw_tensor(struct canvas *c, const struct ui *ui, struct rect r, int x, const struct around_line *l)
{
	const struct value *v = &ui->snap->g->value[l->value];
	char text[1024];
	snprintf(text, sizeof text, "%s %s", l->depth < 0 ? "input" : "output", v->name);
	canvas_cut(c, x, r.y, r.x + r.w - x - 1, ROLE_DIM, CUT_MIDDLE, text);
}

static void draw_node(struct canvas *c, const struct ui *ui, struct rect r, int x, const struct around_line *l)
{
	const struct node_row *row = &ui->snap->row[l->node];
	double snr = columns_row(COLUMN_SNR)->value(ui->snap, l->node);
	enum severity severity = severity_of(snr);
	int right = r.w >= WIDE ? 21 : 11;
	char text[FIGURE], name[1024];
	canvas_text(c, x, r.y, 1, severity_role(severity), severity == SEVERITY_NONE ? "–" : severity_glyph(severity));
	abbrev_cut(name, sizeof name, &ui->layers.names, l->node, r.x + r.w - x - 3 - right);
	canvas_text(c, x + 2, r.y, r.x + r.w - x - 3 - right, l->depth ? ROLE_TEXT : ROLE_STRONG, name);
	if (r.w >= WIDE)
		canvas_text(c, r.x + r.w - 20, r.y, 9, ROLE_DIM, ui->snap->g->node[l->node].op->name);
	x = r.x + r.w - 10;
	canvas_text(c, x, r.y, 2, precision_role(row->precision), precision_short(row->precision));
	canvas_right(c, x + 3, r.y, 6, isnan(snr) ? ROLE_DIM : row->pending ? ROLE_PENDING : severity_role(severity),
	    format_db(text, snr));
}

void view_around_draw(struct canvas *c, const struct ui *ui, struct rect r)
{
	struct scroll s = ui->around;
	struct around a;
	around_build(&a, ui->snap, ui_node(ui), r.h);
	if (ui->focus != PANEL_AROUND)
		s.cursor = -1;
	for (struct rows at = rows_in(c, r, s, a.n, true); rows_next(&at);) {
		const struct around_line *l = &a.line[at.row];
		int x = r.x + 2;
		if (l->depth == 0)
			canvas_text(c, x, at.line.y, 1, ROLE_STRONG, "◆");
		else
			canvas_text(c, x, at.line.y, r.w - 3, ROLE_RULE, l->rail);
		x += l->depth == 0 ? 2 : text_width(l->rail);
		if (l->more)
			canvas_textf(c, x, at.line.y, r.x + r.w - x - 1, ROLE_DIM, l->more < AROUND_MOST ? "and %d more" : "and %d or more", l->more);
		else if (l->node >= 0)
			draw_node(c, ui, at.line, x, l);
		else
			draw_tensor(c, ui, at.line, x, l);
	}
}
