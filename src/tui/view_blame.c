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

// A remedy of :fix: what it came to, and why it was tried.
static void draw_step(struct canvas *c, const struct ui *ui, struct rect r, int row)
{
	const struct repair_step s = repair_job_step(ui->repair.job, row);

	draw_number(c, r.x + X_ALONE, r.y, 4, s.after.damage);
	draw_number(c, r.x + X_GAIN, r.y, 4, s.before.damage - s.after.damage);
	draw_number(c, r.x + X_COST, r.y, 2, 100 * s.after.wide);
	canvas_text(c, r.x + X_WORTH + 1, r.y, 7, s.kept ? ROLE_BETTER : ROLE_DIM, s.kept ? "kept" : "undone");
	draw_found(c, ui, r.x + X_NAME, r.y, r.w - X_NAME - 1, s.kept ? ROLE_TEXT : ROLE_DIM, CUT_RIGHT, s.reason);
}

static void draw_step_head(struct canvas *c, struct rect r)
{
	canvas_right(c, r.x + X_ALONE, r.y, 7, ROLE_HEAD, "damage");
	canvas_right(c, r.x + X_GAIN, r.y, 7, ROLE_HEAD, "saved");
	canvas_right(c, r.x + X_COST, r.y, 7, ROLE_HEAD, "MACs %");
	canvas_text(c, r.x + X_NAME, r.y, r.w - X_NAME - 1, ROLE_HEAD, "remedy");
}

static void draw_head(struct canvas *c, const struct ui *ui, struct rect r, const struct blames *b)
{
	canvas_text(c, r.x + X_ALONE, r.y, r.w - 3, ROLE_DIM, ui->repair.text);
	if (!b) {
		draw_step_head(c, (struct rect){r.x, r.y + 2, r.w, 1});
		return;
	}
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
	draw_head(c, ui, r, b);
	for (int i = 0; i < r.h - HEAD && s->top + i < view_blame_count(ui); i++) {
		struct rect line = {r.x, r.y + HEAD + i, r.w, 1};
		if (b)
			draw_row(c, ui, line, &b->at[s->top + i]);
		else
			draw_step(c, ui, line, s->top + i);
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
