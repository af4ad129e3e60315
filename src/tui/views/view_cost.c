// Cost: the share of the multiply-accumulates done at each width, bytes and conversions,
// and which operators do the work.
#include <stdio.h>
#include <string.h>

#include "qtui/analysis/cost.h"
#include "qtui/analysis/traffic.h"
#include "qtui/engine/op.h"
#include "qtui/tui/format.h"
#include "qtui/tui/grade.h"
#include "qtui/tui/plot.h"
#include "qtui/tui/rows.h"
#include "qtui/tui/ui.h"

enum { OPS = 128 }; // rows of operators at most
enum { TIME_PHRASE = PREC_COUNT + 1, TIMES = TIME_PHRASE + 2 }; // lines of the times, where there are some
// and of the rest, above the operators
enum { ROW_WEIGHTS = PREC_COUNT + 2, ROW_ACTIVATIONS, ROW_CONVERSIONS, ROW_HEADS = ROW_CONVERSIONS + 2, SUMMARY };

struct op_cost {
	const char *op;
	int nodes;
	double macs, time; // nodes without MACs count by number in `by`
	int by[PREC_COUNT];
};
struct cost {
	int n;
	double total, at[PREC_COUNT];
	struct traffic traffic;
	bool has_traffic, has_times;
	struct cost_sum times;
	double narrow;     // time of everything at 8 bit
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
	if (a->time != b->time)
		return a->time > b->time;
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
	c->has_times = s->costs && s->costs->latency;
	if (c->has_times) {
		c->times = costs_sum(s);
		c->narrow = s->costs->narrow;
	}
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
		op->time += c->has_times ? s->costs->node[i].at[row->precision] : 0;
	}
	sort_costs(c);
}

// Lines above the operators.
static int summary_rows(const struct snapshot *s)
{
	return SUMMARY + (s->costs && s->costs->latency ? TIMES : 0);
}

int view_cost_count(const struct ui *ui)
{
	struct cost c;
	cost_build(&c, ui->snap);
	return summary_rows(ui->snap) + c.n;
}

void view_cost_text(char *out, size_t size, const struct ui *ui, int row)
{
	struct cost c;
	int op = row - summary_rows(ui->snap);
	cost_build(&c, ui->snap);
	snprintf(out, size, "%s", op >= 0 ? c.op[op].op : "");
}

static void draw_share(struct canvas *c, struct rect r, int p, double share, const char *amount)
{
	char percent[FIGURE];
	int bar = r.w - 36 < 60 ? r.w - 36 : 60;
	canvas_text(c, r.x + 2, r.y, 6, precision_role((enum precision)p), precision_name((enum precision)p));
	canvas_right(c, r.x + 9, r.y, 6, ROLE_STRONG, format_percent(percent, 100 * share));
	canvas_text(c, r.x + 16, r.y, 1, ROLE_DIM, "%");
	canvas_right(c, r.x + 18, r.y, 10, ROLE_TEXT, amount);
	plot_gauge(c, r.x + 30, r.y, bar, share, precision_role((enum precision)p));
}

static void draw_macs(struct canvas *c, struct rect r, const struct cost *cost, int p)
{
	char macs[FIGURE], amount[FIGURE + 4];
	snprintf(amount, sizeof amount, "%s MAC", format_count(macs, cost->at[p]));
	draw_share(c, r, p, cost->total > 0 ? cost->at[p] / cost->total : 0, amount);
}

static void draw_times(struct canvas *c, struct rect r, const struct cost *cost, int row)
{
	char phrase[COST_PHRASE], all[FIGURE], narrow[FIGURE], amount[FIGURE];
	if (row == 0)
		canvas_textf(c, r.x + 2, r.y, r.w - 3, ROLE_HEAD, "time on the board by width of the output: %s; all at 8 bit %s",
		    cost_time(all, cost->times.all), cost_time(narrow, cost->narrow));
	else if (row == TIME_PHRASE)
		canvas_text(c, r.x + 2, r.y, r.w - 3, ROLE_DIM, costs_phrase(phrase, &cost->times));
	else if (row < TIME_PHRASE)
		draw_share(c, r, row - 1, cost->times.all > 0 ? cost->times.at[row - 1] / cost->times.all : 0,
		    cost_time(amount, cost->times.at[row - 1]));
}

// The columns behind the operator's name.
enum op_column { OP_NODES, OP_MACS, OP_SHARE, OP_TIME, OP_TIME_SHARE, OP_WIDTHS, OP_COLUMNS = OP_WIDTHS + PREC_COUNT };
static const struct {
	const char *head;
	int width;
} op_column[OP_COLUMNS] = {
	{"nodes", 5}, {"MACs", 7}, {"%", 6}, {"time", 8}, {"%", 6}, {NULL, 7}, {NULL, 6}, {NULL, 6},
};

// Where each column begins; 0: it has no room. A number is there as a whole or not at all.
static void place_columns(int at[OP_COLUMNS], const struct cost *cost, int width)
{
	enum { NAME = 2 + 18 };
	static const enum op_column dear[] = {OP_SHARE, OP_MACS, OP_TIME_SHARE, OP_NODES, OP_TIME}; // which goes first
	int total = NAME, x = NAME;
	for (int i = 0; i < OP_COLUMNS; i++) {
		at[i] = cost->has_times || (i != OP_TIME && i != OP_TIME_SHARE);
		total += at[i] ? op_column[i].width + 1 : 0;
	}
	for (size_t k = 0; k < sizeof dear / sizeof *dear && total > width; k++) {
		total -= at[dear[k]] ? op_column[dear[k]].width + 1 : 0;
		at[dear[k]] = 0;
	}
	x -= total > width ? total - width : 0; // a long name is cut then
	for (int i = 0; i < OP_COLUMNS; i++)
		if (at[i]) {
			at[i] = x;
			x += op_column[i].width + 1;
		}
}

static void draw_figure(struct canvas *c, struct rect r, const int at[OP_COLUMNS], enum op_column i, enum role role, const char *text)
{
	if (at[i])
		canvas_right(c, r.x + at[i], r.y, op_column[i].width, role, text);
}

static int first_of(const int at[OP_COLUMNS])
{
	for (int i = 0; i < OP_COLUMNS; i++)
		if (at[i])
			return at[i];
	return 0;
}

static void draw_op(struct canvas *c, struct rect r, const struct op_cost *op, const struct cost *cost)
{
	bool works = op->macs > 0, takes = op->time > 0;
	int at[OP_COLUMNS];
	char text[FIGURE];
	place_columns(at, cost, r.w);
	canvas_text(c, r.x + 2, r.y, first_of(at) - 2, ROLE_TEXT, op->op);
	draw_figure(c, r, at, OP_NODES, ROLE_TEXT, format_int(text, op->nodes));
	draw_figure(c, r, at, OP_MACS, works ? ROLE_TEXT : ROLE_DIM, works ? format_count(text, op->macs) : "–");
	draw_figure(c, r, at, OP_SHARE, ROLE_TEXT, works && cost->total > 0 ? format_percent(text, 100 * op->macs / cost->total) : "");
	draw_figure(c, r, at, OP_TIME, takes ? ROLE_TEXT : ROLE_DIM, takes ? cost_time(text, op->time) : "–");
	draw_figure(c, r, at, OP_TIME_SHARE, ROLE_TEXT, takes ? format_percent(text, 100 * op->time / cost->times.all) : "");
	for (int p = 0; p < PREC_COUNT; p++)
		draw_figure(c, r, at, (enum op_column)(OP_WIDTHS + p), op->by[p] ? precision_role((enum precision)p) : ROLE_DIM,
		    op->by[p] ? format_int(text, op->by[p]) : "–");
}

static void draw_heads(struct canvas *c, struct rect r, const struct cost *cost)
{
	int at[OP_COLUMNS];
	place_columns(at, cost, r.w);
	canvas_text(c, r.x + 2, r.y, first_of(at) - 2, ROLE_HEAD, "operator");
	for (int i = 0; i < OP_COLUMNS; i++)
		draw_figure(c, r, at, (enum op_column)i, ROLE_HEAD,
		    op_column[i].head ? op_column[i].head : precision_name((enum precision)(i - OP_WIDTHS)));
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
		draw_macs(c, r, cost, row - 1);
	else if (row >= ROW_WEIGHTS && row <= ROW_CONVERSIONS && cost->has_traffic)
		draw_traffic(c, r, &cost->traffic, row);
	else if (row == ROW_HEADS)
		draw_heads(c, r, cost);
	else if (row >= SUMMARY)
		draw_op(c, r, &cost->op[row - SUMMARY], cost);
}

void view_cost_draw(struct canvas *c, const struct ui *ui, struct rect r)
{
	struct cost cost;
	cost_build(&cost, ui->snap);
	int times = cost.has_times ? TIMES : 0;
	for (struct rows at = rows_of_view(c, ui, r); rows_next(&at);)
		if (at.row < times)
			draw_times(c, at.line, &cost, at.row);
		else
			draw_line(c, at.line, &cost, at.row - times);
}
