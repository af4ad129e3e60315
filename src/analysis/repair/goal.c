// Where a repair may stop: conditions as the user writes them.
#include <math.h>
#include <string.h>
#include "qtui/analysis/condition.h"
#include "repair_impl.h"

const struct repair_goal repair_goal_default = {
    .drop = DROPS_NONE, .max_drop = NAN, .min_snr = NAN, .max_cost = NAN, .max_wide = NAN, .max_time = NAN};
static const double MORE = 0.15; // work, where nothing is said of it

enum status repair_goal_parse(struct repair_goal *g, const char *text, struct error *err)
{
	static const struct condition condition[] = {
#define DROP(id, name, figure, high) DROP_CONDITION(struct repair_goal, drop, id, name, high)
#include "qtui/analysis/drops.def"
#undef DROP
	    {"snr", '>', offsetof(struct repair_goal, min_snr), -200, 200},
	    {"cost", '<', offsetof(struct repair_goal, max_cost), 1, 1000},
	    {"wide", '<', offsetof(struct repair_goal, max_wide), 0, 1},
	    {"time", '<', offsetof(struct repair_goal, max_time), 0, 1e9},
	};
	return conditions_parse(g, condition, sizeof condition / sizeof *condition,
	    "map_drop<0.005, top1_drop<0.01, psnr_drop<0.1, snr>25, cost<1.1, wide<0.15 or time<12", text, err);
}

enum status repair_goal_task(struct repair_goal *g, const char *figure, struct error *err)
{
	g->max_drop = NAN;
	for (int i = 0; i < DROPS; i++) {
		const struct drop_row *row = drop_row((enum drop)i);
		double most = g->drop.most[i];
		if (isnan(most))
			continue;
		if (!figure)
			return error_set(err, STATUS_REFUSED, "%s<%g: no task is measured", row->name, most);
		if (row->figure && strcmp(row->figure, figure) != 0)
			return error_set(err, STATUS_REFUSED, "%s<%g: what is measured is %s", row->name, most, figure);
		g->max_drop = fmin(g->max_drop, most); // the number, where the other is NAN
	}
	return STATUS_OK;
}

enum status repair_goal_limits(struct repair_goal *g, bool timed, struct error *err)
{
	if (!timed && !isnan(g->max_time))
		return error_set(err, STATUS_REFUSED, "time<%g: no times are known; --latency FILE, or :latency FILE, gives them", g->max_time);
	if (!timed && isnan(g->max_wide))
		g->max_wide = MORE;
	else if (isnan(g->max_wide) && isnan(g->max_cost) && isnan(g->max_time))
		g->max_cost = 1 + MORE;
	return STATUS_OK;
}

bool repair_goal_asked(const struct repair_goal *g)
{
	return !isnan(g->max_drop) || !isnan(g->min_snr);
}

// Met when something is asked for and all of it is reached.
bool repair_goal_met_by(const struct repair *r, const struct repair_figures *f)
{
	const struct repair_goal *g = &r->opt.goal;
	if (!isnan(g->max_drop) && !(r->float_score - f->score < g->max_drop))
		return false;
	return repair_goal_asked(g) && (isnan(g->min_snr) || f->snr_db > g->min_snr);
}

bool repair_goal_met(const struct repair *r)
{
	struct repair_figures now = r->figures;
	if (!isnan(r->run_snr_db)) // of all samples; the repair's figures are of some of them
		now.snr_db = r->run_snr_db;
	return repair_goal_met_by(r, &now);
}
