// What differs between two variants or runs, node by node, and what it bought at the outputs.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "qtui/base/str.h"
#include "qtui/tui/draw.h"
#include "qtui/tui/format.h"
#include "qtui/tui/grade.h"
#include "qtui/tui/rows.h"
#include "qtui/tui/ui.h"

enum { X_A = 2, X_B = 10, X_GAIN = 18, X_PRECISION = 26, X_SCALE = 43, X_NAME = 62, W_DB = 7, MEDIUM = 60, WIDE = 90 };

int view_diff_count(const struct ui *ui)
{
	return ui->diff.n;
}

void view_diff_text(char *out, size_t size, const struct ui *ui, int row)
{
	snprintf(out, size, "%s", ui->diff.row[row].name);
}

// "A 4 of 2026-11-22 14:03: 2 edits, ..." when it is of an earlier sitting;
// "A base: 0 edits, worst output 9.1 dB, mAP .371 → .318, esp32p4 kl"
static void draw_side(struct canvas *c, struct rect r, int y, const char *letter, const struct diff_side *side)
{
	char db[FIGURE], was[FIGURE], now[FIGURE], task[96] = "", when[64] = "";
	const struct run_note *n = &side->figures.note;
	if (!isnan(n->task_quant))
		snprintf(task, sizeof task, ", %s %s → %s", task_word(n->task_name), format_figure(was, n->task_name, n->task_float),
		    format_figure(now, n->task_name, n->task_quant));
	if (n->earlier)
		snprintf(when, sizeof when, " of %s", format_date(db, n->when));
	canvas_textf(c, r.x + X_A, y, r.w - 3, ROLE_TEXT, "%s  %s%s: %d edit%s, worst output %s%s, %s %s", letter, side->name, when,
	    n->n_edits, plural(n->n_edits), isnan(n->out_snr_db) ? "not known" : format_decibels(db, n->out_snr_db), task, n->target,
	    calib_name(n->method));
}

static const char *both(char *out, size_t size, const char *a, const char *b)
{
	if (strcmp(a, b))
		snprintf(out, size, "%s → %s", a, b);
	else
		snprintf(out, size, "%s", a);
	return out;
}

static const char *scale_or_dash(char *out, float scale)
{
	return scale > 0 ? format_scale(out, scale) : "-";
}

// Precision and scale; where there is no room for both, the one that was decided otherwise.
static void draw_decision(struct canvas *c, const struct diff *d, struct rect r, int at)
{
	const struct run_nodes *a = d->a.figures.nodes, *b = d->b.figures.nodes;
	enum precision before = (enum precision)a->precision[at], after = (enum precision)b->precision[at];
	char a_text[FIGURE], b_text[FIGURE], text[2 * FIGURE + 8];
	const char *was = scale_or_dash(a_text, a->scale[at]), *is = scale_or_dash(b_text, b->scale[at]);
	if (r.w >= WIDE || before != after)
		canvas_text(c, r.x + X_PRECISION, r.y, X_SCALE - X_PRECISION - 1, ROLE_TEXT,
		    both(text, sizeof text, precision_name(before), precision_name(after)));
	if (r.w >= WIDE || (before == after && strcmp(was, is)))
		canvas_text(
		    c, r.x + (r.w >= WIDE ? X_SCALE : X_PRECISION), r.y, X_NAME - X_SCALE - 1, ROLE_TEXT, both(text, sizeof text, was, is));
}

static int name_at(int width)
{
	return width >= WIDE ? X_NAME : width >= MEDIUM ? X_SCALE : X_PRECISION;
}

static void draw_node(struct canvas *c, const struct ui *ui, struct rect r, int row)
{
	const struct diff_row *x = &ui->diff.row[row];
	int x_name = r.x + name_at(r.w), w = r.x + r.w - x_name - 1;
	enum role role = x->decided ? ROLE_STRONG : ROLE_TEXT;
	char text[FIGURE];
	canvas_right(c, r.x + X_A, r.y, W_DB, snr_role(x->a_db), format_db(text, x->a_db));
	canvas_right(c, r.x + X_B, r.y, W_DB, snr_role(x->b_db), format_db(text, x->b_db));
	canvas_right(c, r.x + X_GAIN, r.y, W_DB - 1, gain_role(x->gain), format_change(text, x->gain));
	if (r.w >= MEDIUM)
		draw_decision(c, &ui->diff, r, x->at);
	if (x->name == ui->snap->g->node[x->node].name)
		draw_node_name(c, ui, x_name, r.y, w, role, x->node);
	else
		draw_found(c, ui, x_name, r.y, w, role, CUT_LEFT, x->name);
}

static void draw_heads(struct canvas *c, struct rect r, int y)
{
	canvas_right(c, r.x + X_A, y, W_DB, ROLE_HEAD, "A dB");
	canvas_right(c, r.x + X_B, y, W_DB, ROLE_HEAD, "B dB");
	canvas_right(c, r.x + X_GAIN, y, W_DB - 1, ROLE_HEAD, "Δ dB");
	if (r.w >= MEDIUM)
		canvas_text(c, r.x + X_PRECISION, y, 16, ROLE_HEAD, r.w >= WIDE ? "precision" : "decided");
	if (r.w >= WIDE)
		canvas_text(c, r.x + X_SCALE, y, 16, ROLE_HEAD, "scale");
	canvas_text(c, r.x + name_at(r.w), y, 10, ROLE_HEAD, "node");
}

int view_diff_head(const struct ui *ui)
{
	return diff_reserve(&ui->diff) ? 4 : 3;
}

void view_diff_draw(struct canvas *c, const struct ui *ui, struct rect r)
{
	const struct diff *d = &ui->diff;
	const char *reserve = diff_reserve(d);
	int head = view_diff_head(ui);
	if (!d->made) {
		canvas_text(c, r.x + 2, r.y, r.w - 3, ROLE_DIM,
		    ":diff A B compares two variants (:variant NAME), runs (their numbers in 3) or sessions.");
		return;
	}
	draw_side(c, r, r.y, "A", &d->a);
	draw_side(c, r, r.y + 1, "B", &d->b);
	if (reserve)
		canvas_text(c, r.x + 2, r.y + 2, r.w - 3, ROLE_SNR_BAD, reserve);
	draw_heads(c, r, r.y + head - 1);
	for (struct rows at = rows_of_view(c, ui, r); rows_next(&at);)
		draw_node(c, ui, at.line, at.row);
	if (d->n == 0 && d->a.figures.nodes && d->b.figures.nodes)
		canvas_text(c, r.x + 2, r.y + head + 1, r.w - 3, ROLE_DIM, "They do not differ.");
}
