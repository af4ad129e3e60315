// The ranking of blame: what each quantized tensor (or the constants of a node) does to the outputs alone,
// what would be gained in float and at 16 bit, what that costs, and what is gained for the cost.
// While :fix works its steps stand here.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "qtui/base/mem.h"
#include "qtui/base/str.h"
#include "qtui/tui/action.h"
#include "qtui/tui/draw.h"
#include "qtui/tui/format.h"
#include "qtui/tui/repair.h"
#include "qtui/tui/rows.h"

enum { LEFT = 2, WIDTH = 8, HEAD = 4, NAME = 30, NAME_LEAST = 18, NARROW = 60, ROOMY = 12 };
enum { DAMAGE = 4 }; // digits of a damage, and of what is gained of it

// What a row shows and what rows are ordered by, the best first.
static double alone(const struct blame *b)
{
	return b->alone;
}

static double score_loss(const struct blame *b)
{
	return b->score_loss;
}

static double in_float(const struct blame *b)
{
	return b->in_float.damage;
}

static double score_in_float(const struct blame *b)
{
	return b->in_float.score;
}

static double in_wide(const struct blame *b)
{
	return b->in_wide.damage;
}

static double score_in_wide(const struct blame *b)
{
	return b->in_wide.score;
}

static double snr_in_wide(const struct blame *b)
{
	return b->in_wide.snr_db;
}

static double price(const struct blame *b)
{
	return 100 * (isnan(b->cost) ? b->wide : b->cost);
}

static const struct blame_column {
	const char *head, *task; // task: the metric's name stands before it
	const char *order;       // how the list is called when it is ordered by it; NULL: it is not
	double (*value)(const struct blame *b);
	int digits, rank;        // the highest rank goes first when there is no room; 0 stays
	bool sign;
} columns[] = {
	{"alone", NULL, "damage alone", alone, DAMAGE, 1, false},
	{"float", NULL, NULL, in_float, DAMAGE, 5, true},
	{"16 bit", NULL, "gain at 16 bit", in_wide, DAMAGE, 3, true},
	{"SNR dB", NULL, NULL, snr_in_wide, 1, 7, true},
	{"lost", "lost", NULL, score_loss, 3, 6, false},
	{"float", "float", NULL, score_in_float, 3, 4, true},
	{"16 bit", "16 bit", NULL, score_in_wide, 3, 0, true},
	{"MACs %", NULL, NULL, price, 2, 2, false}, // "time %" where times are known
	{"per %", NULL, "gain per cost", blame_worth, DAMAGE, 0, false},
};
enum { COLUMNS = sizeof columns / sizeof *columns };

static const struct blames *blames_of(const struct ui *ui)
{
	return ui->repair.job && ui->repair.work != REPAIR_BLAME ? NULL : ui->snap->blames;
}

bool view_blame_ranks(const struct ui *ui)
{
	return ui->view == VIEW_BLAME && blames_of(ui);
}

int view_blame_count(const struct ui *ui)
{
	const struct blames *b = blames_of(ui);
	return b ? b->n : ui->repair.tried;
}

// Weights and activations apart, on a line of their own where there is room.
static bool has_halves(const struct ui *ui, const struct blames *b)
{
	return !isnan(b->weights.damage) && !isnan(b->activations.damage) && ui->layout.panel[PANEL_MAIN].h >= ROOMY;
}

int view_blame_head(const struct ui *ui)
{
	const struct blames *b = blames_of(ui);
	return b ? HEAD + has_halves(ui, b) : view_fix_head(ui);
}

// ---- the order: the cursor's row is a place in it

static int compare(const struct blames *b, const struct blame_column *by, int i, int k)
{
	double x = by->value(&b->at[i]), y = by->value(&b->at[k]);
	if (isnan(x) != isnan(y))
		return isnan(x) - isnan(y);
	return x != y ? (x < y) - (x > y) : i - k;
}

// Few rows, nearly in order.
static int *order_of(const struct ui *ui, const struct blames *b)
{
	const struct blame_column *by = &columns[ui->repair.order];
	int *order = xcalloc((size_t)b->n + 1, sizeof *order);
	for (int i = 0; i < b->n; i++) {
		int at = i;
		for (; at > 0 && compare(b, by, i, order[at - 1]) < 0; at--)
			order[at] = order[at - 1];
		order[at] = i;
	}
	return order;
}

static const struct blame *row_of(const struct ui *ui, const struct blames *b, int row)
{
	int *order = order_of(ui, b), at = row < b->n ? order[row] : -1;
	free(order);
	return at >= 0 ? &b->at[at] : NULL;
}

static void name_of(char *out, size_t size, const struct ui *ui, const struct blame *b)
{
	struct str name = {0};
	blame_name(&name, b, ui->snap->g);
	snprintf(out, size, "%s", str_text(&name));
	str_done(&name);
}

void view_blame_text(char *out, size_t size, const struct ui *ui, int row)
{
	const struct blames *b = blames_of(ui);
	if (b)
		name_of(out, size, ui, row_of(ui, b, row));
	else
		snprintf(out, size, "%s", repair_job_step(ui->repair.job, row).reason);
}

// ---- drawing

// Of a ranking that was cut short, or goes on, some columns know nothing.
static bool is_known(const struct blames *b, const struct blame_column *col)
{
	for (int i = 0; i < b->n; i++)
		if (!isnan(col->value(&b->at[i])))
			return true;
	return false;
}

// Which columns there is room for, and where names begin.
static int fit(const struct blames *b, int width, bool shown[COLUMNS])
{
	int n = 0, rank = 0, name = width < NARROW ? NAME_LEAST : NAME;
	for (int i = 0; i < COLUMNS; i++) {
		shown[i] = i == 0 || is_known(b, &columns[i]);
		n += shown[i];
		rank = columns[i].rank > rank ? columns[i].rank : rank;
	}
	for (; rank > 0 && LEFT + n * WIDTH + name > width; rank--)
		for (int i = 0; i < COLUMNS; i++)
			if (shown[i] && columns[i].rank == rank) {
				shown[i] = false;
				n--;
			}
	return LEFT + n * WIDTH + 2;
}

// Of a good state all rows would be zeros: where the digits leave nothing of a damage, "2.1e-5".
static void write_damage(char text[FIGURE + 1], double v, bool sign)
{
	bool plus = sign && v >= BLAME_LEAST;
	text[0] = '+';
	if (fabs(v) >= BLAME_LEAST && fabs(v) < 10 * pow(10, -DAMAGE))
		format_small(text + plus, v);
	else
		snprintf(text + plus, FIGURE, "%.*f", DAMAGE, fabs(v) < BLAME_LEAST ? 0 : v);
}

static void draw_number(struct canvas *c, int x, int y, const struct blame_column *col, double v)
{
	char text[FIGURE + 1] = "–";
	bool zero = fabs(v) < 0.5 * pow(10, -col->digits);
	if (col->digits == DAMAGE && !isnan(v))
		write_damage(text, v, col->sign);
	else if (!isnan(v))
		snprintf(text, sizeof text, col->sign && !zero ? "%+.*f" : "%.*f", col->digits, zero ? 0 : v);
	canvas_right(c, x, y, WIDTH - 1, isnan(v) ? ROLE_DIM : ROLE_TEXT, text);
}

// Where there is no room for all of it, what goes first is that it is constants, or where a run ends: Enter goes to where it begins.
static void draw_name(struct canvas *c, const struct ui *ui, int x, int y, int width, const struct blame *b)
{
	char name[UI_TEXT];
	name_of(name, sizeof name, ui, b);
	if (text_width(name) <= width) {
		draw_found(c, ui, x, y, width, ROLE_TEXT, CUT_RIGHT, name);
		return;
	}
	int used = b->run ? canvas_textf(c, x, y, width, ROLE_TEXT, "%d parts from ", b->parts) : 0;
	draw_node_name(c, ui, x + used, y, width - used, ROLE_TEXT, b->node);
}

static void draw_row(struct canvas *c, const struct ui *ui, struct rect r, const struct blame *b, const bool *shown, int name_x)
{
	int x = r.x + LEFT;
	for (int i = 0; i < COLUMNS; i++)
		if (shown[i]) {
			draw_number(c, x, r.y, &columns[i], columns[i].value(b));
			x += WIDTH;
		}
	draw_name(c, ui, r.x + name_x, r.y, r.w - name_x - 1, b);
}

static void draw_heads(struct canvas *c, const struct ui *ui, const struct blames *b, struct rect r, const bool *shown, int name_x)
{
	int x = r.x + LEFT;
	for (int i = 0; i < COLUMNS; i++) {
		enum role role = i == ui->repair.order ? ROLE_HEAD_SORT : ROLE_HEAD;
		if (!shown[i])
			continue;
		if (columns[i].task)
			canvas_right(c, x, r.y - 1, WIDTH - 1, role, task_head(b->task));
		canvas_right(c, x, r.y, WIDTH - 1, role, columns[i].value == price && blames_are_timed(b) ? "time %" : columns[i].head);
		if (i == ui->repair.order)
			canvas_text(c, x + WIDTH - 1, r.y, 1, role, "▾");
		x += WIDTH;
	}
	canvas_text(c, r.x + name_x, r.y, r.w - name_x - 1, ROLE_HEAD, "node");
}

static const char *state_of(const struct ui *ui, const struct blames *b)
{
	if (beside_busy(ui, BESIDE_REPAIR))
		return ui->repair.text;
	if (ui->snap->blames_old)
		return "of before the last edit: :blame measures anew";
	if (b->total <= BLAME_LEAST)
		return "no damage on these samples: no part is to blame; more samples may tell";
	return b->complete ? "Enter goes to a node, s orders, :blame goes on" : "not split to the end: :blame goes on";
}

enum { SCALE_FROM = 80 }; // columns from which the heading says what damage is measured by

static void draw_heading(struct canvas *c, const struct ui *ui, const struct blames *b, struct rect r)
{
	struct str halves = {0};
	char total[FIGURE + 1];
	canvas_text(c, r.x + LEFT, r.y, r.w - LEFT - 1, ui->snap->blames_old ? ROLE_PENDING : ROLE_DIM, state_of(ui, b));
	write_damage(total, b->total, false);
	bool narrow = r.w < SCALE_FROM; // what its ends are is in the help
	canvas_textf(c, r.x + LEFT, r.y + 1, r.w - LEFT - 1, ROLE_TEXT, "damage %s with all quantized%s, by %s", total,
	    narrow ? "" : " (0 float, 1 nothing left)", columns[ui->repair.order].order);
	blames_halves(&halves, b);
	if (has_halves(ui, b))
		canvas_textf(c, r.x + LEFT, r.y + 2, r.w - LEFT - 1, ROLE_TEXT, "alone: %s", str_text(&halves));
	str_done(&halves);
}

static void draw_list(struct canvas *c, const struct ui *ui, const struct blames *b, struct rect r)
{
	bool shown[COLUMNS];
	int name_x = fit(b, r.w, shown), *order = order_of(ui, b), head = view_blame_head(ui);
	draw_heading(c, ui, b, r);
	draw_heads(c, ui, b, (struct rect){r.x, r.y + head - 1, r.w, 1}, shown, name_x);
	for (struct rows at = rows_of_view(c, ui, r); rows_next(&at);)
		draw_row(c, ui, at.line, &b->at[order[at.row]], shown, name_x);
	free(order);
}

static void draw_steps(struct canvas *c, const struct ui *ui, struct rect r)
{
	view_fix_heading(c, ui, r);
	for (struct rows at = rows_of_view(c, ui, r); rows_next(&at);)
		view_fix_step(c, ui, at.line, at.row);
}

void view_blame_draw(struct canvas *c, const struct ui *ui, struct rect r)
{
	const struct blames *b = blames_of(ui);
	if (b)
		draw_list(c, ui, b, r);
	else if (ui->repair.job && ui->repair.work == REPAIR_BLAME)
		canvas_text(c, r.x + LEFT, r.y, r.w - 3, ROLE_DIM, ui->repair.text);
	else if (ui->repair.job)
		draw_steps(c, ui, r);
	else
		canvas_paragraph(
		    c, (struct rect){r.x + LEFT, r.y, r.w - 3, r.h}, ROLE_DIM, "Nothing is known yet: :blame 30s ranks, :fix mends.");
}

// ---- keys

void act_view_blame(struct ui *ui)
{
	ui_show(ui, VIEW_BLAME);
}

void act_blame_go(struct ui *ui)
{
	const struct blames *b = blames_of(ui);
	const struct blame *one = b ? row_of(ui, b, ui_cursor(ui)->cursor) : NULL;
	struct error err = {0};
	if (!one)
		ui_note(ui, "there is no node to go to: :blame 30s ranks them");
	else if (!ui_go(ui, one->node, &err))
		ui_fail(ui, &err);
}

void act_blame_sort(struct ui *ui)
{
	const struct blames *b = blames_of(ui);
	int *order = &ui->repair.order;
	do
		*order = (*order + 1) % COLUMNS;
	while (*order && (!columns[*order].order || (b && !is_known(b, &columns[*order]))));
	ui_scroll(ui)->cursor = 0;
}
