// What differs between two variants or runs, node by node, and what it bought at the outputs.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "qtui/tui/format.h"
#include "qtui/tui/ui.h"

enum { X_A = 2, X_B = 10, X_GAIN = 18, X_PRECISION = 26, X_SCALE = 43, X_NAME = 62, W_DB = 7, NARROW = 90 };

int view_diff_count(const struct ui *ui)
{
	return ui->diff.n;
}

static const char *node_name(const struct ui *ui, int row)
{
	return ui->snap->g->node[ui->diff.row[row].node].name;
}

void view_diff_text(char *out, size_t size, const struct ui *ui, int row)
{
	snprintf(out, size, "%s", node_name(ui, row));
}

static double worst_output(const struct snapshot *s)
{
	double worst = NAN;

	for (int i = 0; i < s->n_outputs; i++)
		worst = fmin(worst, figures_snr(&s->output[i]));
	return worst;
}

static void draw_side(struct canvas *c, struct rect r, int y, const char *letter, const char *name, const struct snapshot *s)
{
	char db[FIGURE];
	double worst = worst_output(s);

	canvas_textf(c, r.x + X_A, y, r.w - 3, ROLE_TEXT, "%s  %s: %s %s, %d edit%s, worst output %s%s", letter, name, s->target,
	    calib_name(s->method), s->n_edits, s->n_edits == 1 ? "" : "s", isnan(worst) ? "not known" : format_db(db, worst),
	    isnan(worst) || isinf(worst) ? "" : " dB");
}

static const char *both(char *out, size_t size, const char *a, const char *b)
{
	if (strcmp(a, b))
		snprintf(out, size, "%s → %s", a, b);
	else
		snprintf(out, size, "%s", a);
	return out;
}

static const char *scale_text(char *out, const struct snapshot *s, int node)
{
	const struct site *x = snapshot_output(s, node);

	return x && x->n_scale > 0 ? format_scale(out, x->scale[0]) : "-";
}

static void draw_decision(struct canvas *c, const struct diff *d, struct rect r, int node)
{
	char a[FIGURE], b[FIGURE], text[2 * FIGURE + 8];

	canvas_text(c, r.x + X_PRECISION, r.y, X_SCALE - X_PRECISION - 1, ROLE_TEXT,
	    both(text, sizeof text, precision_name(d->a->row[node].precision), precision_name(d->b->row[node].precision)));
	canvas_text(c, r.x + X_SCALE, r.y, X_NAME - X_SCALE - 1, ROLE_TEXT,
	    both(text, sizeof text, scale_text(a, d->a, node), scale_text(b, d->b, node)));
}

static void draw_node(struct canvas *c, const struct ui *ui, struct rect r, int row)
{
	const struct diff_row *x = &ui->diff.row[row];
	enum role better = x->gain >= 0.05 ? ROLE_BETTER : x->gain <= -0.05 ? ROLE_WORSE : ROLE_DIM;
	int name = r.w < NARROW ? X_PRECISION : X_NAME;
	char text[FIGURE];

	canvas_right(c, r.x + X_A, r.y, W_DB, severity_role(severity_of(x->a_db)), format_db(text, x->a_db));
	canvas_right(c, r.x + X_B, r.y, W_DB, severity_role(severity_of(x->b_db)), format_db(text, x->b_db));
	canvas_right(c, r.x + X_GAIN, r.y, W_DB - 1, better, format_change(text, x->gain));
	if (r.w >= NARROW)
		draw_decision(c, &ui->diff, r, x->node);
	draw_found(c, ui, r.x + name, r.y, r.w - name - 1, x->decided ? ROLE_STRONG : ROLE_TEXT, CUT_LEFT, node_name(ui, row));
}

static void draw_heads(struct canvas *c, struct rect r, int y)
{
	canvas_right(c, r.x + X_A, y, W_DB, ROLE_HEAD, "A dB");
	canvas_right(c, r.x + X_B, y, W_DB, ROLE_HEAD, "B dB");
	canvas_right(c, r.x + X_GAIN, y, W_DB - 1, ROLE_HEAD, "Δ dB");
	if (r.w >= NARROW) {
		canvas_text(c, r.x + X_PRECISION, y, 16, ROLE_HEAD, "precision");
		canvas_text(c, r.x + X_SCALE, y, 16, ROLE_HEAD, "scale");
	}
	canvas_text(c, r.x + (r.w < NARROW ? X_PRECISION : X_NAME), y, 10, ROLE_HEAD, "node");
}

void view_diff_draw(struct canvas *c, const struct ui *ui, struct rect r)
{
	const struct scroll *s = ui_cursor(ui);
	const struct diff *d = &ui->diff;

	if (!d->a) {
		canvas_text(c, r.x + 2, r.y, r.w - 3, ROLE_DIM, ":diff A B compares two variants (:variant NAME) or runs.");
		return;
	}
	draw_side(c, r, r.y, "A", d->name_a, d->a);
	draw_side(c, r, r.y + 1, "B", d->name_b, d->b);
	draw_heads(c, r, r.y + 2);
	for (int i = 0; i < r.h - 3 && s->top + i < d->n; i++) {
		struct rect line = {r.x, r.y + 3 + i, r.w, 1};
		draw_node(c, ui, line, s->top + i);
		if (s->top + i == s->cursor)
			draw_cursor(c, line, true);
	}
	if (d->n == 0)
		canvas_text(c, r.x + 2, r.y + 4, r.w - 3, ROLE_DIM, "They do not differ.");
}
