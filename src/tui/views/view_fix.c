// What :fix does, in the blame view: where it stands against where it began, and the remedies as they are tried.
#include <math.h>
#include <stdio.h>

#include "qtui/analysis/cost.h"
#include "qtui/tui/draw.h"
#include "qtui/tui/format.h"
#include "qtui/tui/repair.h"

enum { LEFT = 2, NUMBER = 8, VERDICT = 7, SENTENCE = 2, ROOMY = 16, BROAD = 130 };

// Columns stand where there is something to show: the task's only where it is measured.
static int columns_end(const struct ui *ui)
{
	return LEFT + (ui->repair.task ? 4 : 3) * NUMBER;
}

static bool has_sentence(const struct ui *ui)
{
	return ui->h >= ROOMY;
}

// Lines of the sentence that says what was bought: two on screens too narrow for it.
static int summary_lines(const struct ui *ui)
{
	return has_sentence(ui) && ui->w < BROAD ? 2 : 1;
}

int view_fix_head(const struct ui *ui)
{
	return 2 + summary_lines(ui) + (has_sentence(ui) ? SENTENCE : 0);
}

static int draw_number(struct canvas *c, int x, int y, int digits, double v)
{
	char text[FIGURE] = "–";
	if (!isnan(v))
		snprintf(text, sizeof text, "%.*f", digits, fabs(v) < 0.5 * pow(10, -digits) ? 0 : v); // never -0.0000
	canvas_right(c, x, y, NUMBER - 1, isnan(v) ? ROLE_DIM : ROLE_TEXT, text);
	return x + NUMBER;
}

// In a board's time where there is one, else as a share of the MACs.
static int draw_cost(struct canvas *c, int x, int y, const struct repair_figures *f)
{
	char time[COST_TIME];
	if (isnan(f->us))
		return draw_number(c, x, y, 2, 100 * f->wide);
	canvas_right(c, x, y, NUMBER - 1, ROLE_TEXT, cost_time(time, f->us));
	return x + NUMBER;
}

void view_fix_step(struct canvas *c, const struct ui *ui, struct rect r, int row)
{
	const struct repair_step s = repair_job_step(ui->repair.job, row);
	char score[FIGURE];
	int x = r.x + LEFT;
	if (ui->repair.task) {
		canvas_right(c, x, r.y, NUMBER - 1, isnan(s.after.score) ? ROLE_DIM : ROLE_TEXT,
		    format_figure(score, ui->repair.task, s.after.score));
		x += NUMBER;
	}
	x = draw_number(c, x, r.y, 4, s.after.damage);
	x = draw_number(c, x, r.y, 4, s.before.damage - s.after.damage);
	x = draw_cost(c, x, r.y, &s.after);
	canvas_text(c, x + 1, r.y, VERDICT, s.kept ? ROLE_BETTER : ROLE_DIM, s.kept ? "kept" : "undone");
	draw_found(c, ui, x + VERDICT + 1, r.y, r.x + r.w - x - VERDICT - 2, s.kept ? ROLE_TEXT : ROLE_DIM, CUT_RIGHT, s.reason);
}

// "mAP .290 → .341 (float .361: 72 % of the loss is regained)"
static size_t score_text(char *out, size_t size, const struct ui_repair *r)
{
	double lost = r->float_score - r->begin.score, regained = r->now.score - r->begin.score;
	char was[FIGURE], now[FIGURE], most[FIGURE];
	int n = snprintf(out, size, "%s %s → %s", task_word(r->task), format_figure(was, r->task, r->begin.score),
	    format_figure(now, r->task, r->now.score));
	if (!isnan(r->float_score) && n > 0 && (size_t)n < size)
		n += snprintf(out + n, size - (size_t)n, " (float %s", format_figure(most, r->task, r->float_score));
	if (!isnan(r->float_score) && n > 0 && (size_t)n < size)
		n += lost > 0.0005 ? snprintf(out + n, size - (size_t)n, ": %.0f %% of the loss regained)",
		    fabs(regained / lost) < 0.005 ? 0 : 100 * regained / lost) :
		    snprintf(out + n, size - (size_t)n, ")");
	return n > 0 && (size_t)n < size ? (size_t)n : size - 1;
}

void view_fix_summary(char *out, size_t size, const struct ui *ui)
{
	const struct ui_repair *r = &ui->repair;
	char was[COST_TIME], now[COST_TIME];
	size_t used = 0;
	if (r->task && !isnan(r->begin.score)) {
		used = score_text(out, size, r);
		used += (size_t)snprintf(out + used, size - used, ", ");
	}
	if (used < size)
		used += (size_t)snprintf(out + used, size - used, "damage %.4f → %.4f, ", r->begin.damage, r->now.damage);
	if (used < size && isnan(r->now.us) && r->begin.wide == 0 && r->now.wide == 0)
		snprintf(out + used, size - used, "none of the MACs above 8 bit");
	else if (used < size && isnan(r->now.us))
		snprintf(out + used, size - used, "%.1f → %.1f %% of the MACs above 8 bit", 100 * r->begin.wide, 100 * r->now.wide);
	else if (used < size)
		snprintf(out + used, size - used, "%s → %s on the board", cost_time(was, r->begin.us), cost_time(now, r->now.us));
}

// The whole reason of the step under the cursor.
static void draw_sentence(struct canvas *c, const struct ui *ui, struct rect r)
{
	int row = ui_cursor(ui)->cursor;
	if (row < ui->repair.tried)
		canvas_paragraph(c, r, ROLE_DIM, repair_job_step(ui->repair.job, row).reason);
}

static void draw_heads(struct canvas *c, const struct ui *ui, struct rect r)
{
	int x = r.x + LEFT;
	if (ui->repair.task) {
		canvas_right(c, x, r.y, NUMBER - 1, ROLE_HEAD, task_head(ui->repair.task));
		x += NUMBER;
	}
	canvas_right(c, x, r.y, NUMBER - 1, ROLE_HEAD, "damage");
	canvas_right(c, x + NUMBER, r.y, NUMBER - 1, ROLE_HEAD, "saved");
	canvas_right(c, x + 2 * NUMBER, r.y, NUMBER - 1, ROLE_HEAD, isnan(ui->repair.now.us) ? "MACs %" : "time");
	canvas_text(c, r.x + columns_end(ui) + VERDICT + 1, r.y, r.w, ROLE_HEAD, "remedy");
}

// What is under way; of a repair that is over why it ended, and where its outcome is seen.
static void draw_state(struct canvas *c, const struct ui *ui, struct rect r)
{
	bool over = !beside_busy(ui, BESIDE_REPAIR) && ui->repair.text[0];
	canvas_textf(c, r.x, r.y, r.w, ROLE_DIM, "%s%s%s", ui->repair.text, over ? "; P shows what accuracy costs, 3 all steps" : "",
	    over ? repair_undo_hint(ui) : "");
}

void view_fix_heading(struct canvas *c, const struct ui *ui, struct rect r)
{
	char text[UI_TEXT];
	draw_state(c, ui, (struct rect){r.x + LEFT, r.y, r.w - LEFT - 1, 1});
	if (ui->repair.tried) {
		view_fix_summary(text, sizeof text, ui);
		canvas_paragraph(c, (struct rect){r.x + LEFT, r.y + 1, r.w - LEFT - 1, summary_lines(ui)}, ROLE_TEXT, text);
	}
	if (has_sentence(ui))
		draw_sentence(c, ui, (struct rect){r.x + LEFT, r.y + 1 + summary_lines(ui), r.w - LEFT - 1, SENTENCE});
	draw_heads(c, ui, (struct rect){r.x, r.y + view_fix_head(ui) - 1, r.w, 1});
}
