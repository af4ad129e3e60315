// Runs, newest first, and below them the history of edits: the steps in force, then those that can be redone.
#include <math.h>
#include <stdio.h>

#include "qtui/tui/format.h"
#include "qtui/tui/ui.h"

static int steps(const struct ui *ui, int *current)
{
	*current = 0;
	return ui->study ? study_steps(ui->study, current) : 0;
}

// Rows: runs, then a heading and a row a step when there are any.
int view_runs_count(const struct ui *ui)
{
	int current, n = steps(ui, &current);

	return ui->snap->n_runs + (n ? n + 1 : 0);
}

static const struct run_note *run_at(const struct ui *ui, int row)
{
	return row < ui->snap->n_runs ? &ui->snap->run[ui->snap->n_runs - 1 - row] : NULL;
}

static int step_at(const struct ui *ui, int row)
{
	return row - ui->snap->n_runs - 1;
}

void view_runs_text(char *out, size_t size, const struct ui *ui, int row)
{
	const struct run_note *run = run_at(ui, row);

	if (run)
		snprintf(out, size, "%s", run->title);
	else
		snprintf(out, size, "%s", step_at(ui, row) >= 0 ? study_step(ui->study, step_at(ui, row)) : "");
}

enum { X_NUMBER = 2, X_SNR = 7, X_CHANGE = 17, X_TIME = 25, X_COMPUTED = 35, X_TITLE = 51, TASK = 34, NARROW = 72, WIDE = 100 };

// Where the columns that not every width has room for begin; 0: not shown.
struct places {
	int time, computed, task, title;
};

static bool has_task(const struct ui *ui)
{
	for (int i = 0; i < ui->snap->n_runs; i++)
		if (!isnan(ui->snap->run[i].task_quant))
			return true;
	return false;
}

// The task's metric, when any run knows it, counts more than what the run cost.
static struct places columns_of(const struct ui *ui, int width)
{
	bool task = has_task(ui);

	if (task && width >= WIDE)
		return (struct places){X_TIME, X_COMPUTED, X_TITLE, X_TITLE + TASK};
	if (task && width >= X_TIME + TASK)
		return (struct places){0, 0, X_TIME, X_TIME + TASK};
	if (width >= NARROW)
		return (struct places){X_TIME, X_COMPUTED, 0, X_TITLE};
	return (struct places){X_TIME, 0, 0, X_COMPUTED};
}

// "AP .371 → .318  +.012 ±.004": the float network, this run, and what it brought against the run before.
static void draw_task(struct canvas *c, const struct run_note *run, int x, int y)
{
	char before[FIGURE], now[FIGURE], gain[FIGURE], spread[FIGURE];
	const struct task_interval *i = &run->task_change;
	bool chance = i->low <= 0 && i->high >= 0;

	x += canvas_textf(c, x, y, TASK - 2, ROLE_STRONG, "%s %s → %s", run->task_name, format_score(before, run->task_float),
	    format_score(now, run->task_quant)) + 2;
	if (run->has_task_change)
		canvas_textf(c, x, y, TASK - 2, chance ? ROLE_DIM : i->difference > 0 ? ROLE_BETTER : ROLE_WORSE, "%s%s ±%s",
		    chance ? "≈ " : "", format_gain(gain, i->difference), format_score(spread, (i->high - i->low) / 2));
}

static void draw_run(struct canvas *c, const struct ui *ui, struct rect r, int row)
{
	const struct run_note *run = run_at(ui, row), *before = run_at(ui, row + 1);
	double change = before ? run->out_snr_db - before->out_snr_db : NAN;
	enum role better = change >= 0.05 ? ROLE_BETTER : change <= -0.05 ? ROLE_WORSE : ROLE_DIM;
	struct places at = columns_of(ui, r.w);
	char text[FIGURE], computed[2 * FIGURE];

	snprintf(computed, sizeof computed, "%d of %d", run->computed, run->total);
	canvas_right(c, r.x + X_NUMBER, r.y, 3, ROLE_DIM, format_int(text, run->number));
	canvas_right(c, r.x + X_SNR, r.y, 8, severity_role(severity_of(run->out_snr_db)), format_db(text, run->out_snr_db));
	canvas_right(c, r.x + X_CHANGE, r.y, 6, better, format_change(text, change));
	if (at.time)
		canvas_right(c, r.x + at.time, r.y, 8, ROLE_TEXT, format_seconds(text, run->seconds));
	if (at.computed)
		canvas_right(c, r.x + at.computed, r.y, 14, ROLE_DIM, computed);
	if (at.task && !isnan(run->task_quant))
		draw_task(c, run, r.x + at.task, r.y);
	if (r.w - at.title > 1)
		draw_found(c, ui, r.x + at.title, r.y, r.w - at.title - 1, ROLE_TEXT, CUT_MIDDLE, run->title);
}

static void draw_step(struct canvas *c, const struct ui *ui, struct rect r, int step)
{
	int current, n = steps(ui, &current);
	enum role role = step < current ? ROLE_TEXT : ROLE_DIM;

	if (step < 0) {
		canvas_textf(c, r.x + 2, r.y, r.w - 3, ROLE_HEAD, "steps, oldest first: %d in force%s", current,
		    current < n ? ", the dimmed ones can be redone with Ctrl-r" : "; u takes the last one back");
		return;
	}
	canvas_textf(c, r.x + X_NUMBER, r.y, 4, ROLE_DIM, "%3d", step + 1);
	draw_found(c, ui, r.x + X_SNR, r.y, r.w - X_SNR - 1, role, CUT_MIDDLE, study_step(ui->study, step));
}

static void draw_heads(struct canvas *c, const struct ui *ui, struct rect r)
{
	struct places at = columns_of(ui, r.w);

	canvas_right(c, r.x + X_NUMBER, r.y, 3, ROLE_HEAD, "run");
	canvas_right(c, r.x + X_SNR, r.y, 8, ROLE_HEAD, "worst dB");
	canvas_right(c, r.x + X_CHANGE, r.y, 6, ROLE_HEAD, "Δ dB");
	if (at.time)
		canvas_right(c, r.x + at.time, r.y, 8, ROLE_HEAD, "time");
	if (at.computed)
		canvas_right(c, r.x + at.computed, r.y, 14, ROLE_HEAD, "computed");
	if (at.task)
		canvas_text(c, r.x + at.task, r.y, TASK, ROLE_HEAD, "task, float → now, gained");
	canvas_text(c, r.x + at.title, r.y, 12, ROLE_HEAD, "what was run");
}

void view_runs_draw(struct canvas *c, const struct ui *ui, struct rect r)
{
	const struct scroll *s = ui_cursor(ui);
	int n = view_runs_count(ui);

	draw_heads(c, ui, r);
	for (int i = 0; i < r.h - 1 && s->top + i < n; i++) {
		struct rect line = {r.x, r.y + 1 + i, r.w, 1};
		if (run_at(ui, s->top + i))
			draw_run(c, ui, line, s->top + i);
		else
			draw_step(c, ui, line, step_at(ui, s->top + i));
		if (s->top + i == s->cursor)
			draw_cursor(c, line, true);
	}
	if (n == 0)
		draw_no_run(c, ui, (struct rect){r.x + 2, r.y + 2, r.w - 3, r.h - 2});
}
