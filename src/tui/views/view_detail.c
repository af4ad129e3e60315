// The detail of one tensor of the selected node: its quantizer, its figures, its distribution.
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "qtui/analysis/logits.h"
#include "qtui/engine/op.h"
#include "qtui/tui/detail.h"
#include "qtui/tui/edit.h"
#include "qtui/tui/format.h"
#include "qtui/tui/grade.h"

enum { TWO_COLUMNS = 76, TALL = 28, OTHERS = 24, OTHERS_TRIED = OTHERS + 5 }; // lines that stand beside the bars of the histogram

static PRINTF(4, 5) void put(struct page *p, const char *label, enum role role, const char *fmt, ...)
{
	char text[1024];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	canvas_text(p->c, p->x, p->y, DETAIL_LABEL - 1, ROLE_DIM, label);
	canvas_cut(p->c, p->x + DETAIL_LABEL, p->y++, p->w - DETAIL_LABEL, role, CUT_RIGHT, text);
}

static void put_name(struct page *p, const char *label, const char *name)
{
	canvas_text(p->c, p->x, p->y, DETAIL_LABEL - 1, ROLE_DIM, label);
	canvas_cut(p->c, p->x + DETAIL_LABEL, p->y++, p->w - DETAIL_LABEL, ROLE_TEXT, CUT_LEFT, name);
}

void detail_shape(char *out, size_t size, const struct shape *s)
{
	size_t used = 0;
	snprintf(out, size, "%s", s->rank < 0 ? "shape known when it runs" : "scalar");
	for (int i = 0; i < s->rank && used < size; i++)
		used += (size_t)snprintf(out + used, size - used, "%s%lld", i ? "×" : "", (long long)s->dim[i]);
}

static void put_operator(struct page *p, int node)
{
	const struct snapshot *s = p->ui->snap;
	const struct node *n = &s->g->node[node];
	char dims[128] = "", macs[FIGURE], fused[128] = "";
	size_t used = 0;
	for (int i = 0; i < s->n_rows && used < sizeof fused; i++)
		if (s->row[i].fused_into >= 0 && around_owner(s, i) == node)
			used += (size_t)snprintf(fused + used, sizeof fused - used, " + %s", s->g->node[i].op->name);
	put(p, "operator", ROLE_TEXT, "%s%s", n->op->name, fused);
	if (n->n_out > 0 && n->out[0] >= 0)
		detail_shape(dims, sizeof dims, &s->g->value[n->out[0]].shape);
	if (s->row[node].macs > 0)
		put(p, "output", ROLE_TEXT, "%s   %s MAC", dims, format_count(macs, (double)s->row[node].macs));
	else
		put(p, "output", ROLE_TEXT, "%s", dims);
}

static void put_reason(struct page *p, const char *reason)
{
	canvas_text(p->c, p->x, p->y, DETAIL_LABEL - 1, ROLE_DIM, "refused");
	p->y += canvas_paragraph(p->c, (struct rect){p->x + DETAIL_LABEL, p->y, p->w - DETAIL_LABEL, 4}, ROLE_REFUSED, reason);
}

static void put_precision(struct page *p, const struct node_row *row)
{
	const char *why = row->requested >= 0 ? "edited by you"
	    : row->quantizable ? "as the target chooses" : "the target leaves it so";
	if (row->pending && row->requested >= 0 && row->requested != (int)row->precision)
		put(p, "precision", ROLE_EDITED, "%s → %s, being computed", precision_name(row->precision),
		    precision_name((enum precision)row->requested));
	else
		put(p, "precision", precision_role(row->precision), "%s, %s", precision_name(row->precision), why);
	if (row->refused)
		put_reason(p, row->refused);
}

static void put_written_out(struct page *p, int node)
{
	const struct plan *plan = snapshot_plan(p->ui->snap);
	const struct written_out *whole = plan ? plan_written_out(plan, node) : NULL;
	if (whole)
		put(p, "runs as", ROLE_TEXT, "one %s", whole->op_type);
}

// The one that the user gave a part of what runs as one operator.
static void put_calibrator(struct page *p, int node)
{
	const struct snapshot *s = p->ui->snap;
	for (int i = 0; i < s->n_rows; i++)
		if (s->row[i].calibrator >= 0 && around_owner(s, i) == node)
			put(p, "ranges", ROLE_EDITED, "by %s: yours", calib_name((enum calib_method)s->row[i].calibrator));
}

int detail_output_number(const struct graph *g, int value)
{
	if (g->value[value].producer < 0)
		return 0;
	const struct node *node = &g->node[g->value[value].producer];
	int at = 0;
	while (node->out[at] != value)
		at++;
	return node->n_out > 1 ? at + 1 : 0;
}

// "output 2*": of several one, which has a scale by hand.
static void site_title(char *out, size_t size, const struct snapshot *s, const struct site *site)
{
	static const char *const title[] = {[SITE_OUTPUT] = "output", [SITE_INPUT] = "input", [SITE_WEIGHT] = "weight", [SITE_FLOAT] = "output"};
	const struct node *node = &s->g->node[site->node];
	bool bias = site->kind == SITE_WEIGHT && node->n_in > 2 && node->in[2] == site->value;
	int number = site_is_made(site) ? detail_output_number(s->g, site->value) : 0;
	if (number)
		snprintf(out, size, "output %d%s", number, site->locked ? "*" : "");
	else
		snprintf(out, size, "%s", bias ? "bias" : title[site->kind]);
}

int detail_choice(struct canvas *c, struct rect r, const struct snapshot *s, const struct site *chosen)
{
	const struct node_row *row = &s->row[chosen->node];
	int x = r.x;
	for (int i = 0; i < row->n_sites; i++) {
		const struct site *site = &s->site[row->first_site + i];
		char title[24];
		site_title(title, sizeof title, s, site);
		x += canvas_textf(c, x, r.y, r.x + r.w - x, site == chosen ? ROLE_HEAD_SORT : ROLE_DIM, site == chosen ? "[%s]" : " %s ", title);
	}
	return x - r.x;
}

// h and l choose.
static void put_choice(struct page *p, const struct node_row *row, const struct site *chosen)
{
	int x = p->x + DETAIL_LABEL;
	canvas_text(p->c, p->x, p->y, DETAIL_LABEL - 1, ROLE_DIM, "tensor");
	x += detail_choice(p->c, (struct rect){x, p->y, p->x + p->w - x, 1}, p->ui->snap, chosen);
	if (row->n_sites > 1 && p->x + p->w - x > 14)
		canvas_right(p->c, x, p->y, p->x + p->w - x, ROLE_DIM, "h l choose");
	p->y++;
}

static void scale_range(const struct site *s, float *lo, float *hi)
{
	*lo = *hi = s->scale[0];
	for (int i = 1; i < s->n_scale; i++) {
		*lo = s->scale[i] < *lo ? s->scale[i] : *lo;
		*hi = s->scale[i] > *hi ? s->scale[i] : *hi;
	}
}

static void put_scale(struct page *p, const struct site *s)
{
	char a[FIGURE], b[FIGURE], number[FIGURE + 4] = "", zero[32];
	float lo, hi;
	int e;
	if (s->n_scale < 1)
		return;
	scale_range(s, &lo, &hi);
	snprintf(zero, sizeof zero, "   zero point %d", s->zero[0]);
	if (s->n_scale > 1)
		put(p, "scale", ROLE_TEXT, "%s to %s, one for each of %d channels", format_scale(a, lo), format_scale(b, hi), s->n_scale);
	else if (scale_exponent(lo, &e)) {
		snprintf(number, sizeof number, " = %s", format_value(b, lo));
		bool fits = text_width(format_scale(a, lo)) + text_width(number) + text_width(zero) <= p->w - DETAIL_LABEL;
		put(p, "scale", ROLE_STRONG, "%s%s%s", a, fits ? number : "", zero);
	} else
		put(p, "scale", ROLE_STRONG, "%s%s", format_value(a, lo), zero);
}

static void put_state(struct page *p, const struct site *s)
{
	const char *other = s->follows >= 0 ? p->ui->snap->g->value[s->follows].name : NULL;
	if (s->locked) {
		put(p, "", ROLE_EDITED, "yours: calibration leaves it alone");
		return;
	}
	if (other)
		put_name(p, s->state == SLOT_PASSIVE ? "follows" : "shared", other);
}

// Of logits their own figures say little: what counts is what the Sigmoid makes of them.
static void put_behind(struct page *p, const char *label, enum role role, const struct site *s, double scale)
{
	double behind = logits_predict(p->ui->snap, s, scale);
	char db[FIGURE];
	if (!isnan(behind))
		put(p, label, role, "≈ %s dB for the scores", format_db(db, behind));
}

// What a grid can say: [low, high] of the values that have codes.
bool detail_grid(const struct site *s, double scale, int32_t zero, double *low, double *high)
{
	if (!s->bits || s->n_scale != 1 || !(scale > 0))
		return false;
	zero = zero == ZERO_FOLLOWS ? s->zero[0] : zero;
	*low = ((double)s->qmin - zero) * scale;
	*high = ((double)s->qmax - zero) * scale;
	return true;
}

static void put_grid(struct page *p, const struct site *s)
{
	char range[RANGE_TEXT], used[FIGURE];
	double scale = s->n_scale ? (double)s->scale[0] : 0, low, high;
	if (!detail_grid(s, scale, ZERO_FOLLOWS, &low, &high))
		return;
	put(p, "grid", ROLE_TEXT, "%s", range_text(range, low, high, " to "));
	put_behind(p, "logits", ROLE_TEXT, s, scale);
	if (s->used_levels >= 0)
		put(p, "codes", ROLE_TEXT, "%.0f of %lld in use, %s %%", s->used_levels * (double)(s->qmax - s->qmin + 1),
		    (long long)(s->qmax - s->qmin + 1), format_percent(used, 100 * s->used_levels));
}

static void put_range(struct page *p, const struct site *s)
{
	char range[RANGE_TEXT];
	if (s->range.n > 0)
		put(p, "float", ROLE_HIST_FLOAT, "%s", range_text(range, (double)s->range.min, (double)s->range.max, " to "));
	if (s->graphwise.known && s->bits)
		put(p, "quantized", ROLE_HIST_QUANT, "%s", range_text(range, (double)s->graphwise.min, (double)s->graphwise.max, " to "));
}

static void put_quantizer(struct page *p, const struct site *s)
{
	if (!s->bits || s->state == SLOT_FLOAT) {
		put(p, "", ROLE_DIM, "not quantized");
	} else {
		put(p, "quantizer", ROLE_TEXT, "%d bit, %s%s", s->bits, s->qmin < 0 ? "signed" : "unsigned",
		    s->n_scale > 1 ? ", per channel" : ", per tensor");
		put_scale(p, s);
		put_state(p, s);
		put_grid(p, s);
	}
	put_range(p, s);
}

static bool is_tried(const struct ui *ui, const struct site *s)
{
	return ui->trial.active && s == trial_site(ui);
}

// The scale that is being tried, against the one in force.
static void put_trial(struct page *p, const struct site *s)
{
	const struct trial *t = &p->ui->trial;
	char scale[FIGURE], snr[FIGURE], clipped[FIGURE], range[RANGE_TEXT];
	double low, high;
	if (!is_tried(p->ui, s))
		return;
	p->y++;
	put(p, "trying", ROLE_EDITED, "scale %s", format_scale(scale, t->scale));
	if (detail_grid(s, t->scale, t->zero, &low, &high))
		put(p, "", ROLE_EDITED, "grid %s", range_text(range, low, high, " to "));
	if (t->predicted.known)
		put(p, "", ROLE_EDITED, "≈ %s dB alone, ≈ %s %% clipped", format_db(snr, t->predicted.snr_db),
		    format_percent(clipped, 100 * t->predicted.clipped));
	put_behind(p, "", ROLE_EDITED, s, t->scale);
}

static void put_tensor(struct page *p, const struct node_row *row, const struct site *site)
{
	put_choice(p, row, site);
	put_name(p, "", p->ui->snap->g->value[site->value].name);
	put_quantizer(p, site);
	put_trial(p, site);
}

// What a scale would do is seen in the distribution: while one is tried, that comes first.
static void put_effect(struct page *p, const struct site *site)
{
	bool tried = is_tried(p->ui, site);
	if (tried)
		detail_histogram(p, site, OTHERS_TRIED);
	detail_figures(p, site);
	if (!tried)
		detail_histogram(p, site, OTHERS);
}

static void put_below(struct page *p, const struct node_row *row, const struct site *site)
{
	put_tensor(p, row, site);
	put_effect(p, site);
}

// A wide and low window: the quantizer at the left, what it does to the tensor at the right.
static void put_side_by_side(struct page *p, const struct node_row *row, const struct site *site)
{
	struct page left = *p, right = *p;
	left.w = p->w / 2 - 2;
	right.w = p->w - p->w / 2;
	right.x = p->x + p->w / 2;
	right.y--;
	put_tensor(&left, row, site);
	put_effect(&right, site);
	p->y = left.y > right.y ? left.y : right.y;
}

static void put_page(struct page *p)
{
	const struct ui *ui = p->ui;
	int node = ui_node(ui);
	const struct site *site = ui_site(ui);
	if (node < 0) {
		put(p, "", ROLE_DIM, "no node is selected");
		return;
	}
	put_operator(p, node);
	put_precision(p, &ui->snap->row[node]);
	put_written_out(p, node);
	put_calibrator(p, node);
	if (!site)
		return;
	p->y++;
	if (p->w >= TWO_COLUMNS && p->height < TALL)
		put_side_by_side(p, &ui->snap->row[node], site);
	else
		put_below(p, &ui->snap->row[node], site);
}

// No wider than a histogram has bins for, two in a column.
static struct page page_of(struct canvas *c, const struct ui *ui, int width, int height)
{
	int w = width - 2 < STATS_BINS / 2 ? width - 2 : STATS_BINS / 2;
	return (struct page){.c = c, .ui = ui, .w = w, .height = height};
}

void view_detail_draw(struct canvas *c, const struct ui *ui, struct rect r)
{
	struct page p = page_of(c, ui, r.w, r.h);
	p.x = r.x + 1;
	p.y = r.y - ui->detail_top;
	struct rect old = canvas_clip(c, r);
	put_page(&p);
	canvas_unclip(c, old);
}

int view_detail_height(const struct ui *ui, int width, int height)
{
	struct canvas c;
	struct page p = page_of(&c, ui, width, height);
	canvas_init(&c, 1, 1, &ui->theme, ui->ascii);
	put_page(&p);
	canvas_done(&c);
	return p.y;
}
