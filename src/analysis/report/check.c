#include "qtui/analysis/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "qtui/base/str.h"
#include "../repair/repair_impl.h"

const struct check check_nothing = {NAN, NAN, DROPS_NONE, NAN, NAN, NAN};

enum status check_parse(struct check *c, const char *text, struct error *err)
{
	static const struct condition condition[] = {
	    {"snr", '>', offsetof(struct check, min_snr), -200, 200},
	    {"cos", '>', offsetof(struct check, min_cos), -1, 1},
#define DROP(id, name, figure, high) DROP_CONDITION(struct check, drop, id, name, high)
#include "qtui/analysis/drops.def"
#undef DROP
	    {"cost", '<', offsetof(struct check, max_cost), 1, 1000},
	    {"wide", '<', offsetof(struct check, max_wide), 0, 1},
	    {"time", '<', offsetof(struct check, max_time), 0, 1e9},
	};
	return conditions_parse(c, condition, sizeof condition / sizeof *condition,
	    "snr>20, cos>0.99, map_drop<0.005, top1_drop<0.01, psnr_drop<0.1, cost<1.1, wide<0.15 or time<12", text, err);
}

// ---- what the figures are

static double snr_of(const struct figures *f)
{
	return f->pooled.exact ? INFINITY : f->pooled.snr_db;
}

static double cosine_of(const struct figures *f)
{
	return f->pooled.exact ? 1 : f->pooled.cosine;
}

// Against the float network; that agrees with itself.
static double drop_of(const struct task_report *r)
{
	double before = r->kind == TASK_AGREE ? 1 : r->figure[0].value[TASK_FLOAT];
	return before - r->figure[0].value[TASK_QUANT];
}

static double share_of_macs(const struct snapshot *s, double (*weight)(enum precision p))
{
	double sum = 0, all = 0;
	for (int p = 0; p < PREC_COUNT; p++) {
		sum += (double)s->macs[p] * weight((enum precision)p);
		all += (double)s->macs[p];
	}
	return all > 0 ? sum / all : weight(PREC_INT8);
}

static double is_wide(enum precision p)
{
	return p != PREC_INT8;
}

// ---- conditions

static void say(struct str *out, const char *fmt, ...) PRINTF(2, 3);
static void say(struct str *out, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	str_add(out, out->len ? "; " : "");
	str_vaddf(out, fmt, ap);
	va_end(ap);
}

// Every point must be above the limit.
static void check_points(struct str *out, const struct snapshot *s, const char *name, const char *unit, double limit,
    double (*of)(const struct figures *f))
{
	int n, below = 0, known = 0, worst = -1;
	double least = INFINITY;
	if (isnan(limit))
		return;
	struct point *p = points_find(s->g, &n);
	for (int i = 0; i < n; i++) {
		const struct figures *f = point_figures(s, &p[i]);
		double v = f ? of(f) : NAN;
		known += f != NULL;
		if (!f || v > limit)
			continue;
		below++;
		if (worst < 0 || v < least)
			worst = p[i].value, least = v;
	}
	if (known == 0)
		say(out, "%s>%.6g: of no output a figure is known", name, limit);
	else if (below && isnan(least))
		say(out, "%s>%.6g: %s has none: its numbers are not finite, or all zero in float", name, limit, s->g->value[worst].name);
	else if (below)
		say(out, "%s>%.6g: %s has %.5g%s, %.3g too little", name, limit, s->g->value[worst].name, least, unit, limit - least);
	if (below > 1)
		str_addf(out, " (and %d more)", below - 1);
	free(p);
}

// A run without labels must not pass a gate that asks for mAP.
static void check_task(struct str *out, const struct snapshot *s, const struct drop_row *row, double limit)
{
	if (isnan(limit))
		return;
	if (!s->task || s->task_old || s->task->n_figures == 0) {
		say(out, "%s<%g: no task was measured: give --labels, --eval or --scorer", row->name, limit);
		return;
	}
	if (row->figure && strcmp(row->figure, s->task->figure[0].name) != 0) {
		say(out, "%s<%g: what was measured is %s", row->name, limit, s->task->figure[0].name);
		return;
	}
	double drop = drop_of(s->task);
	if (isnan(drop))
		say(out, "%s<%g: %s is not known of these samples", row->name, limit, task_word(s->task->figure[0].name));
	else if (!(drop < limit))
		say(out, "%s<%g: %s lost %.4f, %.4f too much", row->name, limit, task_word(s->task->figure[0].name), drop, drop - limit);
}

// Of a search's cost: in a board's times where they are known.
static double cost_of(const struct snapshot *s)
{
	return s->costs->latency && s->costs->narrow > 0 ? costs_sum(s).all / s->costs->narrow : share_of_macs(s, cost_weight);
}

static void check_share(struct str *out, const char *name, double limit, double share)
{
	if (share >= limit) // not of a limit that is NAN
		say(out, "%s<%g: it is %.4g", name, limit, share);
}

static void check_time(struct str *out, const struct snapshot *s, double limit)
{
	if (isnan(limit))
		return;
	if (s->costs->latency)
		check_share(out, "time", limit, costs_sum(s).all / 1000);
	else
		say(out, "time<%g: no times are known: give --latency", limit);
}

enum status check_snapshot(const struct check *c, const struct snapshot *s, struct error *err)
{
	struct str said = {0};
	enum status st = STATUS_OK;
	check_points(&said, s, "snr", " dB", c->min_snr, snr_of);
	check_points(&said, s, "cos", "", c->min_cos, cosine_of);
	for (int i = 0; i < DROPS; i++)
		check_task(&said, s, drop_row((enum drop)i), c->drop.most[i]);
	check_share(&said, "cost", c->max_cost, cost_of(s));
	check_share(&said, "wide", c->max_wide, share_of_macs(s, is_wide));
	check_time(&said, s, c->max_time);
	if (said.len)
		st = error_set(err, STATUS_FORMAT, "check failed: %s", str_text(&said));
	str_done(&said);
	return st;
}
