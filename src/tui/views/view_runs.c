// Runs, newest first, and below them the history of edits: the steps in force, then those that can be redone.
#include <math.h>
#include <stdio.h>

#include "qtui/base/str.h"
#include "qtui/tui/action.h"
#include "qtui/tui/command.h"
#include "qtui/tui/draw.h"
#include "qtui/tui/format.h"
#include "qtui/tui/grade.h"
#include "qtui/tui/rows.h"
#include "qtui/tui/text.h"
#include "qtui/tui/ui.h"

static int steps(const struct ui *ui, int *current)
{
	*current = 0;
	return ui->study ? study_steps(ui->study, current) : 0;
}

// The rows are those of the newest runs first, a heading and the runs of earlier sittings where there are any,
// a heading and the steps where there are any.
enum kind { ROW_RUN, ROW_EARLIER, ROW_STEPS, ROW_STEP };
struct row {
	enum kind kind;
	int at; // of the runs as the snapshot has them, of the steps
};

static int n_earlier(const struct snapshot *s)
{
	int n = 0;
	while (n < s->n_runs && s->run[n].earlier)
		n++;
	return n;
}

static struct row find_row(const struct ui *ui, int row)
{
	int earlier = n_earlier(ui->snap), runs = ui->snap->n_runs, own = runs - earlier;
	if (row < own)
		return (struct row){ROW_RUN, runs - 1 - row};
	if (earlier && row == own)
		return (struct row){ROW_EARLIER, 0};
	row -= earlier > 0;
	if (row < runs)
		return (struct row){ROW_RUN, runs - 1 - row};
	return row == runs ? (struct row){ROW_STEPS, 0} : (struct row){ROW_STEP, row - runs - 1};
}

int view_runs_count(const struct ui *ui)
{
	int current, n = steps(ui, &current);
	return ui->snap->n_runs + (n_earlier(ui->snap) > 0) + (n ? n + 1 : 0);
}

void view_runs_text(char *out, size_t size, const struct ui *ui, int row)
{
	struct row r = find_row(ui, row);
	snprintf(out, size, "%s", r.kind == ROW_RUN ? ui->snap->run[r.at].title : r.kind == ROW_STEP ? study_step(ui->study, r.at) : "");
}

int view_runs_at(const struct ui *ui)
{
	int at = ui->scroll[VIEW_RUNS].cursor;
	struct row r = find_row(ui, at);
	return ui->view == VIEW_RUNS && at < view_runs_count(ui) && r.kind == ROW_RUN ? ui->snap->run[r.at].number : 0;
}

// A command with the number of the run at the cursor.
static void command_on_run(struct ui *ui, enum status (*command)(struct ui *, char *, struct error *))
{
	char number[16];
	struct error err;
	snprintf(number, sizeof number, "%d", view_runs_at(ui));
	if (ui->study && command(ui, number, &err))
		ui_fail(ui, &err);
}

void act_run_compare(struct ui *ui)
{
	command_on_run(ui, command_diff);
}

void act_run_take(struct ui *ui)
{
	command_on_run(ui, command_variant);
}

#define TASK_HEAD "task, float → now, gained"
enum { X_NUMBER = 2, X_SNR = 7, X_CHANGE = 17, X_MEAN = 25, MEAN = 9, X_TIME = 25, X_COMPUTED = 35, X_TITLE = 51, TASK = 64, TITLE = 12, GAP = 2,
    NARROW = 72, WIDE = 100, WIDER = 114, WIDEST = 124 };

// Where the columns that not every width has room for begin; 0: not shown.
struct places {
	int change, mean, time, computed, task, title;
};

// "mAP .371 → .318": the float network, this run.
static void task_text(char out[TASK], const struct run_note *run)
{
	char before[FIGURE], now[FIGURE];
	snprintf(out, TASK, "%s %s → %s", task_head(run->task_name), format_figure(before, run->task_name, run->task_float),
	    format_figure(now, run->task_name, run->task_quant));
}

// What it brought against the run before: "+.012 ±.004", "≈ +.002 ±.004" where that may be chance.
static enum role gain_text(char out[TASK], const struct run_note *run)
{
	char gain[FIGURE], spread[SPREAD];
	const struct task_interval *i = &run->task_change;
	bool chance = task_may_be_chance(i);
	out[0] = '\0';
	if (!run->has_task_change)
		return ROLE_DIM;
	if (task_is_same(i))
		snprintf(out, TASK, "as before"); // on every sample
	else
		snprintf(out, TASK, "%s%s%s", chance ? "≈ " : "", format_figure_gain(gain, run->task_name, i->difference),
		    format_spread(spread, run->task_name, i));
	return chance ? ROLE_DIM : i->difference > 0 ? ROLE_BETTER : ROLE_WORSE;
}

// Columns that these take, and a gap; 0: no run knows a task.
static int task_columns(const struct ui *ui)
{
	int most = 0;
	for (int i = 0; i < ui->snap->n_runs; i++) {
		char task[TASK], gain[TASK];
		if (isnan(ui->snap->run[i].task_quant))
			continue;
		task_text(task, &ui->snap->run[i]);
		gain_text(gain, &ui->snap->run[i]);
		int width = text_width(task) + GAP + (*gain ? text_width(gain) + GAP : 0);
		most = width > most ? width : most;
	}
	int head = text_width(TASK_HEAD) + GAP;
	return most && most < head ? head : most;
}

// The task's metric, when any run knows it, counts more than what the run cost and what it changed in decibels.
static struct places columns_of(const struct ui *ui, int width)
{
	int task = task_columns(ui);
	if (task && width >= WIDEST)
		return (struct places){X_CHANGE, X_MEAN, X_TIME + MEAN, X_COMPUTED + MEAN, X_TITLE + MEAN, X_TITLE + MEAN + task};
	if (task && width >= WIDER)
		return (struct places){X_CHANGE, 0, X_TIME, X_COMPUTED, X_TITLE, X_TITLE + task};
	if (task && width >= WIDE)
		return (struct places){X_CHANGE, 0, X_TIME, 0, X_COMPUTED, X_COMPUTED + task};
	if (task && width >= X_CHANGE + task)
		return (struct places){0, 0, 0, 0, X_CHANGE, width >= X_CHANGE + task + TITLE ? X_CHANGE + task : width};
	if (width >= WIDE)
		return (struct places){X_CHANGE, X_MEAN, X_TIME + MEAN, X_COMPUTED + MEAN, 0, X_TITLE + MEAN};
	if (width >= NARROW)
		return (struct places){X_CHANGE, 0, X_TIME, X_COMPUTED, 0, X_TITLE};
	return width >= X_COMPUTED + TITLE ? (struct places){X_CHANGE, 0, X_TIME, 0, 0, X_COMPUTED} :
	                                     (struct places){.change = X_CHANGE, .title = X_TIME};
}

static void draw_task(struct canvas *c, const struct run_note *run, int x, int y)
{
	char task[TASK], gain[TASK];
	enum role role = gain_text(gain, run);
	task_text(task, run);
	x += canvas_text(c, x, y, TASK, ROLE_STRONG, task) + GAP;
	canvas_text(c, x, y, TASK, role, gain);
}

// What a run cost; of one of an earlier sitting, when it was.
static void draw_cost(struct canvas *c, const struct run_note *run, struct places at, struct rect r)
{
	char text[FIGURE], computed[2 * FIGURE];
	if (run->earlier && at.computed) {
		canvas_right(c, r.x + at.time, r.y, at.computed + 14 - at.time, ROLE_DIM, format_date(text, run->when));
		return;
	}
	snprintf(computed, sizeof computed, run->computed ? "%d of %d" : "nothing", run->computed, run->total);
	if (at.time)
		canvas_right(c, r.x + at.time, r.y, 8, run->earlier ? ROLE_DIM : ROLE_TEXT, format_seconds(text, run->seconds));
	if (at.computed)
		canvas_right(c, r.x + at.computed, r.y, 14, ROLE_DIM, computed);
}

// What it gained against the run before, on the same samples.
static double change_of(const struct snapshot *s, int run)
{
	const struct run_note *n = &s->run[run];
	return run > 0 && key_equal(n->samples, n[-1].samples) ? n->out_snr_db - n[-1].out_snr_db : NAN;
}

static void draw_run(struct canvas *c, const struct ui *ui, struct places at, struct rect r, int at_run)
{
	const struct run_note *run = &ui->snap->run[at_run];
	double change = change_of(ui->snap, at_run);
	char text[FIGURE];
	canvas_right(c, r.x + X_NUMBER, r.y, 3, ROLE_DIM, format_int(text, run->number));
	canvas_right(c, r.x + X_SNR, r.y, 8, run->earlier ? ROLE_DIM : snr_role(run->out_snr_db), format_db(text, run->out_snr_db));
	if (at.change)
		canvas_right(c, r.x + at.change, r.y, 6, run->earlier ? ROLE_DIM : gain_role(change), format_change(text, change));
	if (at.mean)
		canvas_right(c, r.x + at.mean, r.y, 7, run->earlier ? ROLE_DIM : ROLE_TEXT, format_db(text, run->mean_snr_db));
	draw_cost(c, run, at, r);
	if (at.task && !isnan(run->task_quant))
		draw_task(c, run, r.x + at.task, r.y);
	if (r.w - at.title > 1)
		draw_found(c, ui, r.x + at.title, r.y, r.w - at.title - 1, run->earlier ? ROLE_DIM : ROLE_TEXT, CUT_MIDDLE, run->title);
}

static void draw_earlier(struct canvas *c, struct rect r)
{
	canvas_text(c, r.x + 2, r.y, r.w - 3, ROLE_HEAD, "earlier sittings, figures as they were then; Enter compares one with now");
}

static void draw_steps(struct canvas *c, const struct ui *ui, struct rect r)
{
	int current, n = steps(ui, &current);
	canvas_textf(c, r.x + 2, r.y, r.w - 3, ROLE_HEAD, "steps, oldest first: %d in force%s", current,
	    current < n ? ", the dimmed ones can be redone with Ctrl-r" : "; u takes the last one back");
}

enum { STEP_ENDS = 30 }; // columns for what stands behind the first nodes: "and 20 more percentile"

static void draw_step(struct canvas *c, const struct ui *ui, struct rect r, int step)
{
	int current, room = r.w - X_SNR - 1;
	struct str text = {0};
	steps(ui, &current);
	study_add_step(&text, study_step(ui->study, step), room - STEP_ENDS);
	canvas_textf(c, r.x + X_NUMBER, r.y, 4, ROLE_DIM, "%3d", step + 1);
	draw_found(c, ui, r.x + X_SNR, r.y, room, step < current ? ROLE_TEXT : ROLE_DIM, CUT_MIDDLE, str_text(&text));
	str_done(&text);
}

static void draw_row(struct canvas *c, const struct ui *ui, struct places at, struct rect r, struct row row)
{
	switch (row.kind) {
	case ROW_RUN:
		draw_run(c, ui, at, r, row.at);
		break;
	case ROW_EARLIER:
		draw_earlier(c, r);
		break;
	case ROW_STEPS:
		draw_steps(c, ui, r);
		break;
	case ROW_STEP:
		draw_step(c, ui, r, row.at);
	}
}

static void draw_heads(struct canvas *c, struct places at, struct rect r)
{
	canvas_right(c, r.x + X_NUMBER, r.y, 3, ROLE_HEAD, "run");
	canvas_right(c, r.x + X_SNR, r.y, 8, ROLE_HEAD, "worst dB");
	if (at.change)
		canvas_right(c, r.x + at.change, r.y, 6, ROLE_HEAD, "Δ dB");
	if (at.mean)
		canvas_right(c, r.x + at.mean, r.y, 7, ROLE_HEAD, "mean dB");
	if (at.time)
		canvas_right(c, r.x + at.time, r.y, 8, ROLE_HEAD, "time");
	if (at.computed)
		canvas_right(c, r.x + at.computed, r.y, 14, ROLE_HEAD, "computed");
	if (at.task)
		canvas_text(c, r.x + at.task, r.y, TASK, ROLE_HEAD, TASK_HEAD);
	canvas_text(c, r.x + at.title, r.y, r.w - at.title, ROLE_HEAD, "what was run");
}

void view_runs_draw(struct canvas *c, const struct ui *ui, struct rect r)
{
	int n = view_runs_count(ui);
	struct places places = columns_of(ui, r.w);
	draw_heads(c, places, r);
	for (struct rows at = rows_of_view(c, ui, r); rows_next(&at);)
		draw_row(c, ui, places, at.line, find_row(ui, at.row));
	if (n == 0)
		draw_no_run(c, ui, (struct rect){r.x + 2, r.y + 2, r.w - 3, r.h - 2});
}
