// One sample: its picture with boxes and keypoints over it, and a list of what was missed, what appeared, what moved; of masks,
// of a segmentation and of pictures the pixels that changed, with a list of classes or figures.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "qtui/tui/format.h"
#include "qtui/tui/picture.h"
#include "qtui/tui/rows.h"
#include "qtui/tui/view_task.h"

enum { TITLE = 2, SIDE = 76, WIDE = 90, CHANGES = 44, CHANGES_NARROW = 36, LEAST_PICTURE = 6, PREVIEW_CHANGES = 6 };
enum { X_KIND = 2, X_RIGHT = 11, X_NAME = 13, SCORES = 14, OVERLAP = 9 };

int view_task_sample(const struct ui *ui)
{
	const struct task_list *l = &ui->task;
	int row = ui->scroll[VIEW_TASK].cursor;
	if (ui->view != VIEW_TASK || l->page != TASK_PAGE_SAMPLES || !l->report || row >= l->n)
		return -1;
	return l->report->sample[l->row[row]].sample;
}

// The look that belongs to the cursor; NULL while it is on its way.
static const struct task_look *look(const struct ui *ui)
{
	const struct task_look *l = ui->snap->look;
	return l && l->sample == view_task_sample(ui) ? l : NULL;
}

// Without labels, but with boxes of both networks: these.
static enum task_shows shows(const struct task_look *l)
{
	return l->kind == TASK_AGREE && l->class_name ? SHOWS_OBJECTS : task_shows(l->kind);
}

static bool has_labels(const struct task_look *l)
{
	return l->kind != TASK_AGREE;
}

static const struct task_overlay *overlay_of(const struct ui *ui, const struct task_look *l)
{
	return task_overlay(shows(l), has_labels(l), ui->task.overlay);
}

static bool has_poses(const struct task_look *l)
{
	return l->points && !l->rotated;
}

int view_look_count(const struct ui *ui)
{
	const struct task_look *l = look(ui);
	return !l ? 0 : shows(l) == SHOWS_REGIONS ? l->n_regions : shows(l) == SHOWS_FIGURES ? l->n_figures : l->n_changes;
}

void view_look_text(char *out, size_t size, const struct ui *ui, int row)
{
	const struct task_look *l = look(ui);
	if (shows(l) == SHOWS_REGIONS)
		snprintf(out, size, "%s", l->region[row].name);
	else if (shows(l) == SHOWS_FIGURES)
		snprintf(out, size, "%s", task_word(l->figure[row].name));
	else
		snprintf(out, size, "%s %s", task_change_name(l->change[row].kind), l->change[row].name);
}

// ---- the list

static void draw_change(struct canvas *c, struct rect r, const struct task_change *ch, const char *likeness, bool judged)
{
	static const enum role role[CHANGE_KINDS] = {
	    [CHANGE_MISSED] = ROLE_WORSE, [CHANGE_APPEARED] = ROLE_EDITED, [CHANGE_MOVED] = ROLE_TEXT};
	char score[TASK_VARIANTS][FIGURE], over[FIGURE];
	bool wide = r.w >= 40;
	int right = r.x + r.w - 1 - (wide ? OVERLAP : 0);
	for (int v = 0; v < TASK_VARIANTS; v++)
		format_score2(score[v], ch->box[v].score > 0 ? (double)ch->box[v].score : NAN);
	canvas_text(c, r.x + X_KIND, r.y, X_RIGHT - X_KIND - 1, role[ch->kind], task_change_name(ch->kind));
	if (judged)
		canvas_text(c, r.x + X_RIGHT, r.y, 1, ch->right ? ROLE_BETTER : ROLE_WORSE, ch->right ? "✓" : "×");
	canvas_cut(c, r.x + X_NAME, r.y, right - SCORES - r.x - X_NAME, ROLE_TEXT, CUT_RIGHT, ch->name);
	canvas_right(c, right - SCORES, r.y, 5, ROLE_TEXT, score[TASK_FLOAT]);
	canvas_text(c, right - SCORES + 6, r.y, 1, ROLE_DIM, "→");
	canvas_right(c, right - SCORES + 7, r.y, 5, ROLE_TEXT, score[TASK_QUANT]);
	if (wide && ch->iou > 0)
		canvas_textf(c, right, r.y, OVERLAP, ROLE_DIM, "%s %s", likeness, format_score2(over, ch->iou));
}

static void draw_region(struct canvas *c, struct rect r, const struct task_region *g)
{
	char before[FIGURE], after[FIGURE];
	double change = (isnan(g->iou[TASK_QUANT]) ? 0 : g->iou[TASK_QUANT]) - (isnan(g->iou[TASK_FLOAT]) ? 0 : g->iou[TASK_FLOAT]);
	enum role role = fabs(change) < .005 ? ROLE_TEXT : change > 0 ? ROLE_BETTER : ROLE_WORSE;
	int right = r.x + r.w - 1;
	canvas_text(c, r.x + X_KIND, r.y, 1, g->labelled ? ROLE_BETTER : ROLE_WORSE, g->labelled ? "✓" : "×");
	canvas_cut(c, r.x + X_KIND + 2, r.y, right - SCORES - r.x - X_KIND - 2, ROLE_TEXT, CUT_RIGHT, g->name);
	canvas_right(c, right - SCORES, r.y, 5, ROLE_TEXT, format_score2(before, g->iou[TASK_FLOAT]));
	canvas_text(c, right - SCORES + 6, r.y, 1, ROLE_DIM, "→");
	canvas_right(c, right - SCORES + 7, r.y, 5, role, format_score2(after, g->iou[TASK_QUANT]));
}

static void draw_figure(struct canvas *c, struct rect r, const struct task_figure *f)
{
	char before[FIGURE], after[FIGURE], gain[FIGURE];
	if (isnan(f->value[TASK_FLOAT])) {
		canvas_textf(c, r.x + X_KIND, r.y, r.w - X_KIND, ROLE_TEXT, "%-10s %s", task_word(f->name),
		    format_figure(after, f->name, f->value[TASK_QUANT]));
		return;
	}
	canvas_textf(c, r.x + X_KIND, r.y, r.w - X_KIND, ROLE_TEXT, "%-10s %s → %s  %s", task_word(f->name),
	    format_figure(before, f->name, f->value[TASK_FLOAT]), format_figure(after, f->name, f->value[TASK_QUANT]),
	    format_figure_gain(gain, f->name, f->value[TASK_QUANT] - f->value[TASK_FLOAT]));
}

static void draw_verdict(struct canvas *c, struct rect r, const struct task_look *l)
{
	static const char *const label[TASK_VARIANTS] = {[TASK_FLOAT] = "float", [TASK_QUANT] = "quantized"};
	char text[FIGURE];
	canvas_textf(c, r.x + X_KIND, r.y, r.w - X_KIND, ROLE_TEXT, "truth      %s", l->class);
	for (int v = 0; v < TASK_VARIANTS && l->known; v++) {
		bool right = l->kind == TASK_TEXT ? l->sure[v] == 1 : l->said[v] && !strcmp(l->said[v], l->class);
		bool judged = l->kind != TASK_REGRESS; // numbers are hardly ever those to the last digit
		canvas_textf(c, r.x + X_KIND, r.y + 1 + v, r.w - X_KIND, !judged ? ROLE_TEXT : right ? ROLE_BETTER : ROLE_WORSE, "%-10s %s%s  %s%s%s",
		    label[v], !judged ? "" : right ? "✓ " : "× ", l->said[v], format_score2(text, l->sure[v]), l->nearest[v] ? "  " : "",
		    l->nearest[v] ? l->nearest[v] : "");
	}
}

static void count_changes(const struct task_look *l, int n[CHANGE_KINDS])
{
	memset(n, 0, CHANGE_KINDS * sizeof *n);
	for (int i = 0; i < l->n_changes; i++)
		n[l->change[i].kind]++;
}

// "012.jpg  .823 → .000  4 missed  1 appeared  2 moved"
static void draw_title(struct canvas *c, struct rect r, const struct task_look *l)
{
	char before[FIGURE], after[FIGURE];
	const char *figure = task_figure_name(l->kind);
	int n[CHANGE_KINDS], x = r.x;
	count_changes(l, n);
	x += canvas_cut(c, x, r.y, r.w / 2, ROLE_STRONG, CUT_LEFT, l->name) + 2;
	if (!l->known) {
		canvas_text(c, x, r.y, r.x + r.w - x, ROLE_DIM, "not measured yet");
		return;
	}
	x += l->kind == TASK_AGREE
	         ? 0
	         : canvas_textf(c, x, r.y, r.x + r.w - x, ROLE_TEXT, "%s → %s", format_figure(before, figure, l->value[TASK_FLOAT]),
	               format_figure(after, figure, l->value[TASK_QUANT])) +
	               2;
	for (int k = 0; k < CHANGE_KINDS; k++)
		if (n[k])
			x += canvas_textf(c, x, r.y, r.x + r.w - x, ROLE_DIM, "%d %s", n[k], task_change_name((enum task_change_kind)k)) + 2;
}

// ---- the picture

// A truth has the score 1, which says nothing.
static void label_of(char *out, size_t size, const char *name, double score)
{
	char text[FIGURE];
	snprintf(out, size, "%.16s%s%s", name, score < 1 ? " " : "", score < 1 ? format_score2(text, score) : "");
}

static void draw_boxes_of(struct canvas *c, const struct picture *p, const struct task_look *l, const struct task_box *b, int n,
    enum pen_kind kind, bool blocks)
{
	char label[32];
	for (int i = 0; i < n; i++) {
		label_of(label, sizeof label, l->class_name[b[i].class], (double)b[i].score);
		picture_box(c, p, l, &b[i], kind, label, blocks);
	}
}

static void draw_change_boxes(struct canvas *c, const struct picture *p, const struct task_look *l, const struct task_change *ch, bool blocks)
{
	static const enum pen_kind pen[TASK_VARIANTS] = {[TASK_FLOAT] = PEN_FLOAT, [TASK_QUANT] = PEN_QUANT};
	char label[32];
	for (int v = 0; v < TASK_VARIANTS; v++) {
		if ((double)ch->box[v].score < l->least)
			continue;
		label_of(label, sizeof label, ch->name, (double)ch->box[v].score);
		picture_box(c, p, l, &ch->box[v], pen[v], label, blocks);
	}
}

static void draw_boxes(struct canvas *c, const struct ui *ui, const struct picture *p, const struct task_look *l)
{
	int which = overlay_of(ui, l)->what;
	int one = ui->task.open ? ui->task.changes.cursor : -1;
	if (which == OVERLAY_NONE)
		return;
	draw_boxes_of(c, p, l, l->truth, l->n_truths, PEN_TRUTH, ui->blocks);
	if (which == OVERLAY_ALL) {
		draw_boxes_of(c, p, l, l->box[TASK_FLOAT], l->n_boxes[TASK_FLOAT], PEN_FLOAT, ui->blocks);
		draw_boxes_of(c, p, l, l->box[TASK_QUANT], l->n_boxes[TASK_QUANT], PEN_QUANT, ui->blocks);
	}
	for (int i = l->n_changes - 1; which == OVERLAY_CHANGED && i >= 0; i--)
		if (one < 0 || i == one)
			draw_change_boxes(c, p, l, &l->change[i], ui->blocks);
}

static const uint8_t *pixels_of(const struct task_look *l, int which)
{
	if (shows(l) != SHOWS_FIGURES || which == OVERLAY_TRUTH || !l->made[TASK_QUANT])
		return l->rgb;
	return l->made[which == OVERLAY_FLOAT ? TASK_FLOAT : TASK_QUANT];
}

static bool has_cells(const struct task_look *l, int which)
{
	return shows(l) == SHOWS_FIGURES ? which == OVERLAY_CHANGED : which != OVERLAY_NONE;
}

// Returns how many lines it takes.
static int draw_picture(struct canvas *c, const struct ui *ui, struct rect r, const struct task_look *l)
{
	int which = overlay_of(ui, l)->what;
	struct picture p = {.rgb = pixels_of(l, which), .w = l->w, .h = l->h, .cell_w = ui->cell_w, .cell_h = ui->cell_h};
	p.cells = has_cells(l, which) ? l : NULL;
	struct rect old;
	if (!p.rgb || r.w < 4 || r.h < 2) {
		canvas_text(c, r.x, r.y, r.w, ROLE_DIM, p.rgb ? "" : l->known ? "this sample has no picture" : "");
		return 1;
	}
	picture_fit(&p, r);
	old = canvas_clip(c, r);
	picture_draw(c, &p, ui->blocks);
	draw_boxes(c, ui, &p, l);
	picture_done(&p);
	canvas_unclip(c, old);
	return p.at.h;
}

// "l lost  g gained  w wrong otherwise"; both return where it ends.
static int draw_cell_legend(struct canvas *c, const struct ui *ui, struct rect r, int x)
{
	static const char *const class[CELL_KINDS] = {[CELL_LOST] = "lost", [CELL_GAINED] = "gained", [CELL_OTHER] = "wrong otherwise"};
	static const char *const level[CELL_KINDS] = {[CELL_LOST] = "1 dB worse", [CELL_GAINED] = "1 dB better"};
	static const char *const alone[CELL_KINDS] = {[CELL_LOST] = "differs"};
	enum task_shows what = shows(look(ui));
	bool labelled = has_labels(look(ui));
	const char *const *text = what != SHOWS_FIGURES ? class : labelled ? level : alone;
	int kinds = what == SHOWS_REGIONS ? CELL_KINDS : labelled ? CELL_OTHER : CELL_GAINED; // of one class a pixel is either
	for (int k = CELL_LOST; k < kinds; k++) {
		const char letter[] = {picture_cell_letter((enum task_cell)k), '\0'};
		x += canvas_textf(c, x, r.y, r.x + r.w - x, picture_cell_role((enum task_cell)k), "%s %s", ui->blocks ? "■" : letter, text[k]) +
		     2;
	}
	return x;
}

// "t─ truth  f╌ float  q═ quantized"; of poses "t─+ truth  f╌○ float  q═● quantized"
static int draw_box_legend(struct canvas *c, const struct ui *ui, struct rect r, int x)
{
	static const struct {
		const char *text, *pose;
		enum pen_kind pen;
	} item[] = {{"t─ truth", "t─+ truth", PEN_TRUTH}, {"f╌ float", "f╌○ float", PEN_FLOAT},
	    {"q═ quantized", "q═● quantized", PEN_QUANT}};
	bool poses = has_poses(look(ui));
	for (size_t i = !has_labels(look(ui)); i < sizeof item / sizeof *item; i++)
		x += canvas_text(c, x, r.y, r.x + r.w - x, picture_role(item[i].pen), poses ? item[i].pose : item[i].text) + 2;
	return x;
}

static void draw_legend(struct canvas *c, const struct ui *ui, struct rect r)
{
	int x = r.x;
	bool pixels = shows(look(ui)) != SHOWS_OBJECTS;
	if (!pixels)
		x = draw_box_legend(c, ui, r, x);
	if (pixels || look(ui)->kind == TASK_INSTANCE)
		x = draw_cell_legend(c, ui, r, x);
	canvas_textf(c, x, r.y, r.x + r.w - x, ROLE_DIM, "b: %s", overlay_of(ui, look(ui))->name);
}

// ---- places

struct places {
	struct rect picture, list; // h 0: there is no room
};

static struct places place(const struct ui *ui, struct rect r)
{
	int n = view_look_count(ui), h = r.h - TITLE, rows = n < h / 3 ? n : h / 3;
	int side = r.w >= WIDE ? CHANGES : CHANGES_NARROW;
	if (r.w >= SIDE)
		return (struct places){{r.x + 1, r.y + TITLE, r.w - side - 2, h}, {r.x + r.w - side, r.y + TITLE, side, h}};
	rows = rows < 1 ? 1 : rows;
	if (h - rows < LEAST_PICTURE)
		return (struct places){.list = {r.x, r.y + 1, r.w, r.h - 1}};
	return (struct places){{r.x + 1, r.y + TITLE, r.w - 2, h - rows}, {r.x, r.y + r.h - rows, r.w, rows}};
}

int view_look_rows(const struct ui *ui, struct rect r)
{
	return place(ui, r).list.h;
}

static void draw_said(struct canvas *c, struct rect r, const struct task_look *l, struct scroll s)
{
	enum task_shows what = shows(l);
	if (what == SHOWS_VERDICT)
		draw_verdict(c, r, l);
	else if (what == SHOWS_REGIONS)
		for (struct rows at = rows_in(c, r, s, l->n_regions, true); rows_next(&at);)
			draw_region(c, at.line, &l->region[at.row]);
	else if (what == SHOWS_FIGURES)
		for (struct rows at = rows_in(c, r, s, l->n_figures, true); rows_next(&at);)
			draw_figure(c, at.line, &l->figure[at.row]);
	else if (what == SHOWS_NOTHING)
		return; // the title has its score, and nothing else is known of what the network found
	else if (l->known && l->n_changes == 0)
		canvas_paragraph(
		    c, (struct rect){r.x + X_KIND, r.y, r.w - X_KIND, r.h}, ROLE_DIM, "nothing that scores .25 or more has changed");
	else
		for (struct rows at = rows_in(c, r, s, l->n_changes, true); rows_next(&at);)
			draw_change(c, at.line, &l->change[at.row], has_poses(l) ? "OKS" : "IoU", has_labels(l));
}

static bool has_legend(const struct task_look *l)
{
	return shows(l) == SHOWS_FIGURES ? l->made[TASK_QUANT] != NULL : shows(l) < SHOWS_FIGURES;
}

void view_look_draw(struct canvas *c, const struct ui *ui, struct rect r)
{
	const struct task_look *l = look(ui);
	struct places p = place(ui, r);
	if (!l) {
		canvas_text(c, r.x + 2, r.y, r.w - 3, ROLE_DIM, "on its way");
		return;
	}
	draw_title(c, (struct rect){r.x + 2, r.y, r.w - 3, 1}, l);
	if (p.picture.h) {
		if (has_legend(l))
			draw_legend(c, ui, (struct rect){r.x + 2, r.y + 1, r.w - 3, 1});
		draw_picture(c, ui, p.picture, l);
	}
	draw_said(c, p.list, l, ui->task.changes);
}

void view_look_preview(struct canvas *c, const struct ui *ui, struct rect r)
{
	const struct task_look *l = look(ui);
	int rows, top, n = view_look_count(ui);
	if (!l)
		return;
	n = shows(l) == SHOWS_VERDICT ? 3 : n < 1 ? 1 : n;
	rows = n < PREVIEW_CHANGES ? n : PREVIEW_CHANGES;
	rows = rows < r.h / 3 ? rows : r.h / 3;
	draw_title(c, (struct rect){r.x, r.y, r.w, 1}, l);
	top = r.y + 1 + draw_picture(c, ui, (struct rect){r.x, r.y + 1, r.w, r.h - 1 - rows}, l);
	draw_said(c, (struct rect){r.x - X_KIND, top, r.w + X_KIND, r.y + r.h - top}, l, (struct scroll){.cursor = -1});
	if (has_legend(l) && pixels_of(l, OVERLAY_CHANGED) && top + n < r.y + r.h)
		draw_legend(c, ui, (struct rect){r.x, r.y + r.h - 1, r.w, 1});
}
