// The ranking of blame: what each quantized tensor (or the constants of a node) does to the outputs alone, what would be gained
// without it, and what it costs to widen it.
#include <math.h>
#include <stdio.h>

#include "qtui/tui/action.h"
#include "qtui/tui/format.h"
#include "qtui/tui/repair.h"

enum { X_ALONE = 2, X_GAIN = 10, X_COST = 18, X_WORTH = 26, X_NAME = 35, HEAD = 3 };

static const struct blames *blames_of(const struct ui *ui)
{
	return ui->repair.job ? repair_job_blames(ui->repair.job) : NULL;
}

int view_blame_count(const struct ui *ui)
{
	const struct blames *b = blames_of(ui);

	return b ? b->n : ui->repair.tried;
}

int view_blame_head(const struct ui *ui)
{
	return blames_of(ui) ? HEAD : view_fix_head(ui);
}

static void name_of(char *out, size_t size, const struct ui *ui, const struct blame *b)
{
	const struct graph *g = ui->snap->g;

	if (b->run)
		snprintf(out, size, "%d parts, %s to %s", b->parts, g->node[b->node].name, g->node[b->last_node].name);
	else
		snprintf(out, size, "%s%s", b->value < 0 ? "constants of " : "", g->node[b->node].name);
}

void view_blame_text(char *out, size_t size, const struct ui *ui, int row)
{
	const struct blames *b = blames_of(ui);

	if (b)
		name_of(out, size, ui, &b->at[row]);
	else
		snprintf(out, size, "%s", repair_job_step(ui->repair.job, row).reason);
}

static void draw_number(struct canvas *c, int x, int y, int digits, double v)
{
	char text[FIGURE] = "–";

	if (!isnan(v))
		snprintf(text, sizeof text, "%.*f", digits, v);
	canvas_right(c, x, y, 7, isnan(v) ? ROLE_DIM : ROLE_TEXT, text);
}

static void draw_row(struct canvas *c, const struct ui *ui, struct rect r, const struct blame *b)
{
	char name[UI_TEXT];

	name_of(name, sizeof name, ui, b);
	draw_number(c, r.x + X_ALONE, r.y, 4, b->alone);
	draw_number(c, r.x + X_GAIN, r.y, 4, b->gain);
	draw_number(c, r.x + X_COST, r.y, 2, 100 * b->wide);
	draw_number(c, r.x + X_WORTH, r.y, 4, b->wide > 0 ? b->alone / (100 * b->wide) : NAN);
	draw_found(c, ui, r.x + X_NAME, r.y, r.w - X_NAME - 1, ROLE_TEXT, CUT_LEFT, name);
}

static void draw_head(struct canvas *c, const struct ui *ui, struct rect r, const struct blames *b)
{
	canvas_text(c, r.x + X_ALONE, r.y, r.w - 3, ROLE_DIM, ui->repair.text);
	canvas_textf(c, r.x + X_ALONE, r.y + 1, r.w - 3, ROLE_TEXT, "damage %.4f with everything quantized (0: the float network, 1: nothing left)%s",
	    b->total, b->complete ? "" : "; not split to the end");
	canvas_right(c, r.x + X_ALONE, r.y + 2, 7, ROLE_HEAD, "alone");
	canvas_right(c, r.x + X_GAIN, r.y + 2, 7, ROLE_HEAD, "without");
	canvas_right(c, r.x + X_COST, r.y + 2, 7, ROLE_HEAD, "MACs %");
	canvas_right(c, r.x + X_WORTH, r.y + 2, 7, ROLE_HEAD, "per %");
	canvas_text(c, r.x + X_NAME, r.y + 2, r.w - X_NAME - 1, ROLE_HEAD, "node");
}

void view_blame_draw(struct canvas *c, const struct ui *ui, struct rect r)
{
	const struct blames *b = blames_of(ui);
	const struct scroll *s = ui_cursor(ui);

	if (!ui->repair.job) {
		canvas_text(c, r.x + X_ALONE, r.y, r.w - 3, ROLE_DIM, "Nothing is known yet: :blame 30s ranks, :fix mends.");
		return;
	}
	int head = view_blame_head(ui);
	if (b)
		draw_head(c, ui, r, b);
	else
		view_fix_heading(c, ui, r);
	for (int i = 0; i < r.h - head && s->top + i < view_blame_count(ui); i++) {
		struct rect line = {r.x, r.y + head + i, r.w, 1};
		if (b)
			draw_row(c, ui, line, &b->at[s->top + i]);
		else
			view_fix_step(c, ui, line, s->top + i);
		if (s->top + i == s->cursor)
			draw_cursor(c, line, true);
	}
}

void act_view_blame(struct ui *ui)
{
	ui_show(ui, VIEW_BLAME);
}

void act_blame_go(struct ui *ui)
{
	const struct blames *b = blames_of(ui);
	struct error err = {0};
	int row = ui_cursor(ui)->cursor;

	if (b && row < b->n && !ui_go(ui, b->at[row].node, &err))
		ui_fail(ui, &err);
}
