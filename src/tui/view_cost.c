// Cost: the share of the multiply-accumulates done at each width, bytes and conversions, and which operators do the work.
#include <stdio.h>
#include <string.h>

#include "qtui/analysis/traffic.h"
#include "qtui/engine/op.h"
#include "qtui/tui/format.h"
#include "qtui/tui/plot.h"
#include "qtui/tui/ui.h"

enum { OPS = 128 }; // rows of operators at most
enum { ROW_WEIGHTS = PREC_COUNT + 2, ROW_ACTIVATIONS, ROW_CONVERSIONS, ROW_HEADS = ROW_CONVERSIONS + 2, SUMMARY }; // lines above them

struct op_cost {
	const char *op;
	int nodes;
	double macs, at[PREC_COUNT]; // nodes without MACs count by number in `by`
	int by[PREC_COUNT];
};
struct cost {
	int n;
	double total, at[PREC_COUNT];
	struct traffic traffic;
	bool has_traffic;
	struct op_cost op[OPS];
};

static struct op_cost *cost_of(struct cost *c, const char *op)
{
	for (int i = 0; i < c->n; i++)
		if (!strcmp(c->op[i].op, op))
			return &c->op[i];
	if (c->n == OPS)
		return &c->op[OPS - 1];
	c->op[c->n] = (struct op_cost){.op = op};
	return &c->op[c->n++];
}

static bool costs_more(const struct op_cost *a, const struct op_cost *b)
{
	return a->macs > b->macs || (a->macs == b->macs && a->nodes > b->nodes);
}

static void sort_costs(struct cost *c)
{
	for (int i = 1; i < c->n; i++) {
		struct op_cost one = c->op[i];
		int k = i;
		for (; k > 0 && costs_more(&one, &c->op[k - 1]); k--)
			c->op[k] = c->op[k - 1];
		c->op[k] = one;
	}
}

static void cost_build(struct cost *c, const struct snapshot *s)
{
	*c = (struct cost){0};
	c->has_traffic = traffic_of(&c->traffic, s);
	for (int i = 0; i < PREC_COUNT; i++) {
		c->at[i] = (double)s->macs[i];
		c->total += c->at[i];
	}
	for (int i = 0; i < s->n_rows; i++) {
		const struct node_row *row = &s->row[i];
		struct op_cost *op = cost_of(c, s->g->node[i].op->name);
		op->nodes++;
		op->by[row->precision]++;
		op->macs += (double)row->macs;
		op->at[row->precision] += (double)row->macs;
	}
	sort_costs(c);
}

static int count_rows(const struct snapshot *s)
{
	struct cost c;

	cost_build(&c, s);
	return c.n;
}

int view_cost_count(const struct ui *ui)
{
	return SUMMARY + count_rows(ui->snap);
}

void view_cost_text(char *out, size_t size, const struct ui *ui, int row)
{
	struct cost c;

	cost_build(&c, ui->snap);
	snprintf(out, size, "%s", row >= SUMMARY ? c.op[row - SUMMARY].op : "");
}

static enum role precision_role(int p)
{
	static const enum role role[PREC_COUNT] = {ROLE_INT8, ROLE_INT16, ROLE_FLOAT};

	return role[p];
}

static void draw_share(struct canvas *c, struct rect r, const struct cost *cost, int p)
{
	double share = cost->total > 0 ? cost->at[p] / cost->total : 0;
	char percent[FIGURE], macs[FIGURE];
	int bar = r.w - 36 < 60 ? r.w - 36 : 60;

	canvas_text(c, r.x + 2, r.y, 6, precision_role(p), precision_name((enum precision)p));
	canvas_right(c, r.x + 9, r.y, 6, ROLE_STRONG, format_percent(percent, 100 * share));
	canvas_text(c, r.x + 16, r.y, 1, ROLE_DIM, "%");
	canvas_right(c, r.x + 18, r.y, 6, ROLE_TEXT, format_count(macs, cost->at[p]));
	canvas_text(c, r.x + 25, r.y, 4, ROLE_DIM, "MAC");
	plot_gauge(c, r.x + 30, r.y, bar, share, precision_role(p));
}

static void draw_op(struct canvas *c, struct rect r, const struct op_cost *op, double total)
{
	char text[FIGURE];
	int x = r.x + 42;

	canvas_text(c, r.x + 2, r.y, 18, ROLE_TEXT, op->op);
	canvas_right(c, r.x + 20, r.y, 5, ROLE_TEXT, format_int(text, op->nodes));
	canvas_right(c, r.x + 26, r.y, 7, op->macs > 0 ? ROLE_TEXT : ROLE_DIM, op->macs > 0 ? format_count(text, op->macs) : "–");
	canvas_right(c, r.x + 34, r.y, 6, ROLE_TEXT, op->macs > 0 && total > 0 ? format_percent(text, 100 * op->macs / total) : "");
	for (int p = 0; p < PREC_COUNT; p++, x += 8)
		canvas_right(c, x, r.y, 6, op->by[p] ? precision_role(p) : ROLE_DIM, op->by[p] ? format_int(text, op->by[p]) : "–");
}

static void draw_heads(struct canvas *c, struct rect r)
{
	static const char *const width[PREC_COUNT] = {"int8", "int16", "float"};

	canvas_text(c, r.x + 2, r.y, 18, ROLE_HEAD, "operator");
	canvas_right(c, r.x + 20, r.y, 5, ROLE_HEAD, "nodes");
	canvas_right(c, r.x + 26, r.y, 7, ROLE_HEAD, "MACs");
	canvas_right(c, r.x + 34, r.y, 6, ROLE_HEAD, "%");
	for (int p = 0; p < PREC_COUNT; p++)
		canvas_right(c, r.x + 42 + 8 * p, r.y, 6, ROLE_HEAD, width[p]);
}

// "2.0 MB", "0 B"
static const char *bytes_text(char out[FIGURE + 2], double bytes)
{
	char count[FIGURE];

	snprintf(out, FIGURE + 2, "%s%sB", format_count(count, bytes), bytes < 999.5 ? " " : "");
	return out;
}

static void draw_bytes(struct canvas *c, struct rect r, const char *what, double bytes, double as_float)
{
	char text[FIGURE + 2], was[FIGURE + 2];

	canvas_text(c, r.x + 2, r.y, 15, ROLE_HEAD, what);
	canvas_right(c, r.x + 16, r.y, 8, ROLE_TEXT, bytes_text(text, bytes));
	canvas_textf(c, r.x + 26, r.y, r.w - 27, ROLE_DIM, "of %s in float", bytes_text(was, as_float));
}

static void draw_traffic(struct canvas *c, struct rect r, const struct traffic *t, int row)
{
	char text[TRAFFIC_PHRASE];

	if (row == ROW_WEIGHTS)
		draw_bytes(c, r, "weights", t->weights, t->weights_float);
	else if (row == ROW_ACTIVATIONS)
		draw_bytes(c, r, "written", t->activations, t->activations_float);
	else {
		canvas_text(c, r.x + 2, r.y, 15, ROLE_HEAD, "conversions");
		canvas_cut(c, r.x + 16, r.y, r.w - 17, t->conversions ? ROLE_TEXT : ROLE_DIM, CUT_RIGHT, traffic_phrase(text, t));
	}
}

static void draw_line(struct canvas *c, struct rect r, const struct cost *cost, int row)
{
	if (row == 0)
		canvas_text(c, r.x + 2, r.y, r.w - 3, ROLE_HEAD, "multiply-accumulates by width of the output");
	else if (row <= PREC_COUNT)
		draw_share(c, r, cost, row - 1);
	else if (row >= ROW_WEIGHTS && row <= ROW_CONVERSIONS && cost->has_traffic)
		draw_traffic(c, r, &cost->traffic, row);
	else if (row == ROW_HEADS)
		draw_heads(c, r);
	else if (row >= SUMMARY)
		draw_op(c, r, &cost->op[row - SUMMARY], cost->total);
}

void view_cost_draw(struct canvas *c, const struct ui *ui, struct rect r)
{
	const struct scroll *s = ui_cursor(ui);
	struct cost cost;

	cost_build(&cost, ui->snap);
	for (int i = 0; i < r.h && s->top + i < SUMMARY + cost.n; i++)
		draw_line(c, (struct rect){r.x, r.y + i, r.w, 1}, &cost, s->top + i);
	draw_cursor(c, (struct rect){r.x, r.y + s->cursor - s->top, r.w, 1}, true);
}
