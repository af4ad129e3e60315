// What accuracy costs: the states that :fix has looked at and that nothing beats, from the cheapest on;
// one key makes one's own of them.
#include <math.h>
#include <stdio.h>

#include "qtui/analysis/cost.h"
#include "qtui/analysis/frontier.h"
#include "qtui/analysis/task.h"
#include "qtui/tui/action.h"
#include "qtui/tui/draw.h"
#include "qtui/tui/edit.h"
#include "qtui/tui/format.h"
#include "qtui/tui/rows.h"

enum { LEFT = 2, HEAD = 3 };

static void steps_text(char *out, const struct ui *ui, const struct repair_state *s)
{
	(void)ui;
	if (s->steps == FRONTIER_EARLIER)
		snprintf(out, FIGURE, "–");
	else
		format_int(out, s->steps);
}

static void cost_text(char *out, const struct ui *ui, const struct repair_state *s)
{
	(void)ui;
	snprintf(out, FIGURE, "%.3f", s->figures.cost);
}

static void time_text(char *out, const struct ui *ui, const struct repair_state *s)
{
	(void)ui;
	cost_time(out, s->figures.us);
}

static void damage_text(char *out, const struct ui *ui, const struct repair_state *s)
{
	(void)ui;
	snprintf(out, FIGURE, "%s%.4f", s->as_run ? "" : "~", s->figures.damage);
}

static void snr_text(char *out, const struct ui *ui, const struct repair_state *s)
{
	(void)ui;
	format_db(out, s->figures.snr_db);
}

static void score_text(char *out, const struct ui *ui, const struct repair_state *s)
{
	format_figure(out, ui->repair.frontier->basis.task, s->figures.score);
}

static bool always(const struct ui *ui)
{
	(void)ui;
	return true;
}

static bool has_times(const struct ui *ui)
{
	return !isnan(ui->repair.frontier->at[0].figures.us);
}

static bool has_task(const struct ui *ui)
{
	return ui->repair.frontier->basis.task[0];
}

static const struct pareto_column {
	const char *head; // NULL: the task's
	int width;
	bool (*shown)(const struct ui *ui);
	void (*text)(char *out, const struct ui *ui, const struct repair_state *s);
} columns[] = {
	{"steps", 6, always, steps_text}, {"cost", 7, always, cost_text}, {"time", 9, has_times, time_text}, {"damage", 9, always, damage_text},
	{"SNR dB", 8, always, snr_text}, {NULL, 7, has_task, score_text},
};
enum { COLUMNS = sizeof columns / sizeof *columns };

int view_pareto_count(const struct ui *ui)
{
	return ui->repair.frontier ? ui->repair.frontier->n : 0;
}

void view_pareto_text(char *out, size_t size, const struct ui *ui, int row)
{
	char text[FRONTIER_CHANGES];
	snprintf(out, size, "%s", frontier_changes(text, ui->repair.frontier, row));
}

// ---- drawing

static const char *stale(const struct ui *ui)
{
	return ui->study ? frontier_stale(ui->repair.frontier, ui->study) : NULL;
}

static void draw_row(struct canvas *c, const struct ui *ui, struct rect r, int row, enum role role)
{
	const struct frontier *f = ui->repair.frontier;
	bool in_force = ui->study && frontier_is_in_force(f, row, ui->study);
	char text[FRONTIER_CHANGES];
	int x = r.x + LEFT;
	for (int i = 0; i < COLUMNS; i++)
		if (columns[i].shown(ui)) {
			columns[i].text(text, ui, &f->at[row]);
			canvas_right(c, x, r.y, columns[i].width - 1, role, text);
			x += columns[i].width;
		}
	if (in_force)
		x += canvas_text(c, x + 1, r.y, 10, ROLE_BETTER, "in force:") + 1;
	draw_found(c, ui, x + 1, r.y, r.x + r.w - x - 2, role, CUT_RIGHT, frontier_changes(text, f, row));
}

static bool any_in_force(const struct ui *ui)
{
	bool any = !ui->study;
	for (int i = 0; !any && i < view_pareto_count(ui); i++)
		any = frontier_is_in_force(ui->repair.frontier, i, ui->study);
	return any;
}

static void draw_heads(struct canvas *c, const struct ui *ui, struct rect r)
{
	const char *why = stale(ui);
	int x = r.x + LEFT;
	if (beside_busy(ui, BESIDE_REPAIR))
		canvas_text(c, x, r.y, r.w - LEFT - 1, ROLE_DIM, ui->repair.text);
	else if (why)
		canvas_textf(c, x, r.y, r.w - LEFT - 1, ROLE_WORSE, "figures are of %s: :fix measures anew", why);
	else
		canvas_text(c, x, r.y, r.w - LEFT - 1, ROLE_DIM, "states that nothing beats in cost and damage; a takes one, u gives it back");
	if (!beside_busy(ui, BESIDE_REPAIR) && !any_in_force(ui))
		canvas_text(c, x, r.y + 1, r.w - LEFT - 1, ROLE_DIM, "the state in force is none of these");
	for (int i = 0; i < COLUMNS; i++)
		if (columns[i].shown(ui)) {
			canvas_right(c, x, r.y + HEAD - 1, columns[i].width - 1, ROLE_HEAD,
			    columns[i].head ? columns[i].head : task_head(ui->repair.frontier->basis.task));
			x += columns[i].width;
		}
	canvas_text(c, x + 1, r.y + HEAD - 1, r.x + r.w - x - 2, ROLE_HEAD, "nodes and scales changed since it began");
}

void view_pareto_draw(struct canvas *c, const struct ui *ui, struct rect r)
{
	if (!ui->repair.frontier) {
		canvas_paragraph(c, (struct rect){r.x + LEFT, r.y, r.w - 3, r.h}, ROLE_DIM,
		    "Nothing is known yet: :fix tries remedies, then P shows what accuracy costs.");
		return;
	}
	enum role role = stale(ui) ? ROLE_DIM : ROLE_TEXT;
	draw_heads(c, ui, r);
	for (struct rows at = rows_of_view(c, ui, r); rows_next(&at);)
		draw_row(c, ui, at.line, at.row, role);
}

// ---- keys

void act_view_pareto(struct ui *ui)
{
	ui_show(ui, VIEW_PARETO);
}

void act_pareto_take(struct ui *ui)
{
	int row = ui_cursor(ui)->cursor;
	char text[FRONTIER_CHANGES];
	const char *why;
	struct error err = {0};
	if (row >= view_pareto_count(ui))
		ui_note(ui, "there is no state to take: :fix looks for them");
	else if (beside_busy(ui, BESIDE_REPAIR))
		ui_note(ui, "a repair is under way: Ctrl-c stops it");
	else if (frontier_is_in_force(ui->repair.frontier, row, ui->study))
		ui_note(ui, "this state is in force");
	else if (frontier_apply(ui->repair.frontier, row, ui->study, &err))
		ui_fail(ui, &err);
	else {
		why = stale(ui);
		edit_done(ui);
		ui_note(ui, "taken: %s; u undoes%s%s", frontier_changes(text, ui->repair.frontier, row), why ? ". Its figures are of " : "",
		    why ? why : "");
	}
}
