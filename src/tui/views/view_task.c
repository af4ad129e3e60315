// The task: what quantization costs in mAP, top-1, mIoU or PSNR, in all, by class, by sample; and the sample under the cursor.
#include "qtui/tui/view_task.h"

#include <math.h>
#include <stdio.h>

#include "qtui/tui/draw.h"
#include "qtui/tui/format.h"
#include "qtui/tui/rows.h"

enum { SUMMARY = 6, TALL = 18, WIDE = 100, LIST = 58 };
enum { X_CHANGE = 2, X_FLOAT = 10, X_QUANT = 17, X_OBJECTS = 24, X_NAME = 26, OBJECTS = 7 };

static bool is_tall(const struct ui *ui)
{
	return ui->layout.panel[PANEL_MAIN].h - 1 >= TALL;
}

static const char calibrated[] = "on the calibration samples themselves; :eval measures others";

// Float, quantized and change; where networks are held against each other, the one has no figures of its own.
static int figure_rows(const struct task_report *t)
{
	bool any = !t;
	for (int i = 0; t && i < t->n_figures; i++)
		any |= !isnan(t->figure[i].value[TASK_FLOAT]);
	return any ? 3 : 1;
}

// Of how labels and outputs are read, which is said nowhere else: as many as it needs, up to three where these are left.
static int source_rows(const struct ui *ui)
{
	enum { MOST = 3 };
	const struct rect *p = &ui->layout.panel[PANEL_MAIN];
	const char *note = ui->snap->task ? ui->snap->task->note : "";
	int width = p->w - 3, room = p->h - TALL, front = ui->snap->task && ui->snap->task_calibrated ? text_width(calibrated) + 2 : 0;
	if (front + text_width(note) <= width)
		return 1;
	int rows = front > 0;
	for (int n; *note && rows < MOST && rows < room; note += n + (note[n] == ' '), rows++)
		if ((n = text_line(note, width)) < 1)
			break;
	return rows > 1 ? rows : 1;
}

static int summary_rows(const struct ui *ui)
{
	return is_tall(ui) ? SUMMARY - 4 + figure_rows(ui->snap->task) + source_rows(ui) : 1;
}

int view_task_head(const struct ui *ui)
{
	const struct rect *p = &ui->layout.panel[PANEL_MAIN];
	if (ui->task.open)
		return p->h - 1 - view_look_rows(ui, (struct rect){p->x, p->y + 1, p->w, p->h - 1});
	return summary_rows(ui) + 1;
}

int view_task_count(const struct ui *ui)
{
	return ui->task.open ? view_look_count(ui) : ui->task.n;
}

static void class_text(char *out, size_t size, const struct task_class *c)
{
	if (c->name)
		snprintf(out, size, "%s", c->name);
	else
		snprintf(out, size, "class %d", c->id);
}

void view_task_text(char *out, size_t size, const struct ui *ui, int row)
{
	const struct task_list *l = &ui->task;
	if (l->open)
		view_look_text(out, size, ui, row);
	else if (l->page == TASK_PAGE_SAMPLES)
		snprintf(out, size, "%s", l->report->sample[l->row[row]].name);
	else
		class_text(out, size, &l->report->class[l->row[row]]);
}

// ---- in one line

static bool is_chance(const struct task_report *r)
{
	return r->has_interval && task_may_be_chance(&r->interval);
}

void view_task_brief(char *out, size_t size, const struct task_report *r)
{
	char before[FIGURE], after[FIGURE];
	const struct task_figure *f = &r->figure[0];
	const double *v = f->value;
	if (r->kind == TASK_AGREE)
		snprintf(out, size, "%s %s", task_word(f->name), format_unit(after, v[TASK_QUANT]));
	else
		snprintf(out, size, "%s %s → %s", task_word(f->name), format_figure(before, f->name, v[TASK_FLOAT]),
		    format_figure(after, f->name, v[TASK_QUANT]));
}

void view_task_headline(char *out, size_t size, const struct task_report *r)
{
	char brief[64], change[FIGURE], spread[SPREAD] = "";
	const char *name = r->figure[0].name;
	const double *v = r->figure[0].value;
	size_t n;
	view_task_brief(brief, sizeof brief, r);
	if (r->has_interval)
		format_spread(spread, name, &r->interval);
	if (r->kind == TASK_AGREE)
		n = (size_t)snprintf(out, size, "%s", brief);
	else if (r->has_interval && task_is_same(&r->interval))
		n = (size_t)snprintf(out, size, "%s (the same on every sample)", brief);
	else
		n = (size_t)snprintf(out, size, "%s (%s%s%s)", brief, format_figure_gain(change, name, v[TASK_QUANT] - v[TASK_FLOAT]),
		    spread, is_chance(r) ? ", may be chance" : "");
	if (r->samples[TASK_QUANT] < r->total && n < size)
		snprintf(out + n, size - n, " n %d/%d", r->samples[TASK_QUANT], r->total);
}

// ---- summary

// What rounds to nothing is none.
static enum role change_role(const char *figure, double change)
{
	double seen = 0.5 * pow(10, -task_decimals(figure, 3));
	return !(fabs(change) >= seen) ? ROLE_DIM : (change > 0) != task_is_error(figure) ? ROLE_BETTER : ROLE_WORSE;
}

// As much of it as there is room for, in whole words: the headline says its half width already.
static void draw_interval(struct canvas *c, const struct task_report *r, int x, int y, int width)
{
	char low[FIGURE], high[FIGURE], text[3][96];
	if (!r->has_interval || task_is_same(&r->interval))
		return;
	snprintf(text[1], sizeof text[1], "95 %% interval %s to %s", format_figure_gain(low, r->figure[0].name, r->interval.low),
	    format_figure_gain(high, r->figure[0].name, r->interval.high));
	snprintf(text[0], sizeof text[0], "%.64s%s", text[1], is_chance(r) ? ": no change is proved" : "");
	snprintf(text[2], sizeof text[2], "%s", is_chance(r) ? "no change is proved" : "");
	for (int i = 0; i < 3; i++)
		if (text_width(text[i]) <= width) {
			canvas_text(c, x, y, width, ROLE_DIM, text[i]);
			return;
		}
}

static void draw_top(struct canvas *c, const struct ui *ui, struct rect r)
{
	const struct task_report *t = ui->snap->task;
	char text[160];
	int x;
	view_task_headline(text, sizeof text, t);
	x = r.x + 2 + canvas_text(c, r.x + 2, r.y, r.w - 3, ui->snap->task_old ? ROLE_PENDING : ROLE_STRONG, text) + 3;
	if (ui->snap->task_old)
		canvas_text(c, x, r.y, r.x + r.w - x - 1, ROLE_PENDING, "before the last edit");
	else
		draw_interval(c, t, x, r.y, r.x + r.w - x - 1);
}

static void draw_source(struct canvas *c, const struct ui *ui, struct rect r)
{
	const char *note = ui->snap->task->note;
	int x = r.x + 2, y = r.y, last = r.y + r.h - 1;
	if (ui->snap->task_calibrated)
		x += canvas_text(c, x, y, r.w - 3, ROLE_WORSE, calibrated) + 2;
	if (x > r.x + 2 && y < last) {
		x = r.x + 2;
		y++;
	}
	for (int n; y < last && (n = text_line(note, r.w - 3)) > 0; y++, note += n + (note[n] == ' '))
		canvas_textf(c, x, y, r.w - 3, ROLE_DIM, "%.*s", n, note);
	canvas_cut(c, x, y, r.x + r.w - x - 1, ROLE_DIM, CUT_RIGHT, note);
}

static void draw_figures(struct canvas *c, const struct ui *ui, struct rect r)
{
	enum { LABEL = 11, WIDTH = 8 };
	static const char *const label[] = {"float", "quantized", "change"};
	const struct task_report *t = ui->snap->task;
	enum role role = ui->snap->task_old ? ROLE_PENDING : ROLE_TEXT;
	char text[FIGURE];
	int x = r.x + 2 + LABEL, rows = figure_rows(t), from = rows == 1 ? TASK_QUANT : TASK_FLOAT;
	for (int i = 0; i < rows; i++)
		canvas_text(c, r.x + 2, r.y + 1 + i, LABEL, ROLE_DIM, label[from + i]);
	for (int i = 0; i < t->n_figures && x + WIDTH < r.x + r.w; i++, x += WIDTH) {
		const char *name = t->figure[i].name;
		const double *v = t->figure[i].value, change = v[TASK_QUANT] - v[TASK_FLOAT];
		canvas_right(c, x, r.y, WIDTH - 1, ROLE_HEAD, task_head(name));
		for (int k = from; k < TASK_VARIANTS; k++)
			canvas_right(c, x, r.y + 1 + k - from, WIDTH - 1, role, format_figure(text, name, v[k]));
		if (rows == 3)
			canvas_right(c, x, r.y + 3, WIDTH - 1, change_role(name, change), format_figure_gain(text, name, change));
	}
}

// ---- lists

static void draw_heads(struct canvas *c, const struct ui *ui, struct rect r)
{
	const struct task_list *l = &ui->task;
	bool classes = l->page == TASK_PAGE_CLASSES;
	const struct task_class *of = task_list_class(l);
	char text[160], name[96] = "";
	canvas_right(c, r.x + X_CHANGE, r.y, 7, ROLE_HEAD, "change");
	canvas_right(c, r.x + X_FLOAT, r.y, 6, ROLE_HEAD, "float");
	canvas_right(c, r.x + X_QUANT, r.y, 6, ROLE_HEAD, "quant");
	if (classes)
		canvas_right(c, r.x + X_OBJECTS, r.y, OBJECTS, ROLE_HEAD, l->report->kind == TASK_SEGMENT ? "samples" : "objects");
	if (of)
		class_text(name, sizeof name, of);
	snprintf(text, sizeof text, "%s%s%s, %s", classes ? "class" : "sample", of ? " of " : "", name, task_order_name(l->order[l->page]));
	canvas_text(c, r.x + X_NAME + (classes ? OBJECTS : 0), r.y, r.w - X_NAME - 1, ROLE_HEAD, text);
}

// What float and quantized network make of the sample; returns the columns that it takes.
static int draw_verdicts(struct canvas *c, const struct task_sample *s, int x, int y)
{
	enum { EACH = 2 };
	if (s->verdict[TASK_FLOAT] == TASK_NO_VERDICT)
		return 0;
	for (int v = 0; v < TASK_VARIANTS; v++)
		canvas_text(c, x + EACH * v, y, 1, s->verdict[v] == TASK_RIGHT ? ROLE_BETTER : ROLE_WORSE, s->verdict[v] == TASK_RIGHT ? "✓" : "×");
	return TASK_VARIANTS * EACH;
}

static void draw_row(struct canvas *c, const struct ui *ui, struct rect r, int row)
{
	const struct task_list *l = &ui->task;
	bool classes = l->page == TASK_PAGE_CLASSES;
	const double *v = classes ? l->report->class[l->row[row]].value : l->report->sample[l->row[row]].value;
	double change = v[TASK_QUANT] - (l->report->kind == TASK_AGREE ? 1 : v[TASK_FLOAT]);
	int x = r.x + X_NAME + (classes ? OBJECTS : 0);
	enum role role = ui->snap->task_old ? ROLE_PENDING : ROLE_TEXT;
	char text[FIGURE], name[512];
	const char *figure = l->report->figure[0].name;
	canvas_right(c, r.x + X_CHANGE, r.y, 7, change_role(figure, change), format_figure_gain(text, figure, change));
	canvas_right(c, r.x + X_FLOAT, r.y, 6, role, format_figure(text, figure, v[TASK_FLOAT]));
	canvas_right(c, r.x + X_QUANT, r.y, 6, role, format_figure(text, figure, v[TASK_QUANT]));
	if (classes)
		canvas_right(c, r.x + X_OBJECTS, r.y, OBJECTS, ROLE_DIM, format_int(text, l->report->class[l->row[row]].objects));
	else
		x += draw_verdicts(c, &l->report->sample[l->row[row]], x, r.y);
	view_task_text(name, sizeof name, ui, row);
	draw_found(c, ui, x, r.y, r.x + r.w - x - 1, ROLE_TEXT, CUT_LEFT, name);
}

static void draw_list(struct canvas *c, const struct ui *ui, struct rect r)
{
	draw_heads(c, ui, r);
	for (struct rows at = rows_of_view(c, ui, r); rows_next(&at);)
		draw_row(c, ui, at.line, at.row);
}

// Why no task is there, or when it will be; where labels come from.
static void draw_nothing(struct canvas *c, const struct ui *ui, struct rect r)
{
	enum stage stage = ui->snap->stage;
	bool running = stage == STAGE_LOAD || stage == STAGE_CALIBRATE || stage == STAGE_MEASURE;
	struct rect line = {r.x + 2, r.y, r.w - 3, r.h};
	if (stage == STAGE_TASK) {
		canvas_paragraph(c, line, ROLE_DIM, "The first samples are on their way.");
		return;
	}
	const struct task_wish *w = ui->study ? study_task_wish(ui->study) : NULL;
	bool rests = w && w->rests;
	line.y += canvas_paragraph(c, line, ROLE_TEXT,
	    rests ? "The session's task is measured by a program, which a file does not start by itself:" :
	    running ? "The task is measured after the figures, where there are labels." :
	    stage == STAGE_CANCELLED ? "The run was stopped before the task: r goes on." : "No task is measured.");
	if (rests)
		canvas_textf(
		    c, line.x, line.y++, line.w, ROLE_TEXT, ":%s %s", w->scorer ? "scorer" : "boxes", w->scorer ? w->scorer : w->boxes_by);
	line.y += canvas_paragraph(c, line, ROLE_ERROR, ui->snap->task_problem) + 1;
	line.y += canvas_paragraph(c, line, ROLE_DIM,
	    "Labels beside the calibration samples (COCO JSON, text or XML files, CSV of classes, masks, pictures) are found by themselves. "
	    ":eval DIR measures on labelled samples elsewhere, :labels FILE names labels that lie apart. Without labels :eval compares the "
	    "two networks' outputs, with them :eval agree does. :decoder NAME says how a detector's outputs are read. Programs of your own: "
	    ":boxes reads the boxes of a detector where no decoder does, a :scorer needs no labels.");
	if (ui->snap->task_problem[0])
		canvas_paragraph(c, line, ROLE_DIM, ":eval none measures nothing.");
}

void view_task_draw(struct canvas *c, const struct ui *ui, struct rect r)
{
	int head = summary_rows(ui);
	struct rect list = {r.x, r.y + head, r.w, r.h - head};
	if (!ui->snap->task) {
		draw_nothing(c, ui, r);
		return;
	}
	if (ui->task.open) {
		view_look_draw(c, ui, r);
		return;
	}
	draw_top(c, ui, r);
	if (is_tall(ui)) {
		draw_source(c, ui, (struct rect){r.x, r.y + 1, r.w, source_rows(ui)});
		draw_figures(c, ui, (struct rect){r.x, r.y + 1 + source_rows(ui), r.w, 4});
	}
	if (r.w >= WIDE && ui->task.page == TASK_PAGE_SAMPLES) {
		list.w = LIST;
		canvas_stroke(c, list.x + LIST, list.y, list.h, ROLE_RULE);
		view_look_preview(c, ui, (struct rect){r.x + LIST + 2, list.y, r.w - LIST - 3, list.h});
	}
	draw_list(c, ui, list);
}
