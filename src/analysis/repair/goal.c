// Where a repair may stop: conditions as the user writes them.
#include <ctype.h>
#include <math.h>
#include <string.h>
#include "qtui/base/str.h"
#include "repair_impl.h"

const struct repair_goal repair_goal_default = {.max_drop = NAN, .min_snr = NAN, .max_cost = NAN, .max_wide = 0.15};

static const struct condition {
	const char *name;
	char sign;
	size_t field;
	double low, high; // of numbers that make sense
} condition[] = {
    {"map_drop", '<', offsetof(struct repair_goal, max_drop), 0, 1},
    {"top1_drop", '<', offsetof(struct repair_goal, max_drop), 0, 1},
    {"drop", '<', offsetof(struct repair_goal, max_drop), 0, 1},
    {"snr", '>', offsetof(struct repair_goal, min_snr), -200, 200},
    {"cost", '<', offsetof(struct repair_goal, max_cost), 1, 1000},
    {"wide", '<', offsetof(struct repair_goal, max_wide), 0, 1},
};

enum status repair_goal_parse(struct repair_goal *g, const char *text, struct error *err)
{
	size_t name = strcspn(text, "<>");
	for (size_t i = 0; i < sizeof condition / sizeof *condition; i++) {
		const struct condition *c = &condition[i];
		double value;
		if (strlen(c->name) != name || strncmp(text, c->name, name) != 0 || text[name] != c->sign)
			continue;
		if (!str_to_double(text + name + 1, &value) || !(value >= c->low && value <= c->high))
			return error_set(err, STATUS_USAGE, "%s: %s takes a number from %g to %g", text, c->name, c->low, c->high);
		*(double *)(void *)((char *)g + c->field) = value;
		return STATUS_OK;
	}
	return error_set(err, STATUS_USAGE, "%s: map_drop<0.005, top1_drop<0.01, snr>25, cost<1.1 or wide<0.15", text);
}

bool repair_goal_asked(const struct repair_goal *g)
{
	return !isnan(g->max_drop) || !isnan(g->min_snr);
}

// Met when something is asked for and all of it is reached.
bool repair_goal_met(const struct repair *r)
{
	const struct repair_goal *g = &r->opt.goal;
	if (!isnan(g->max_drop) && !(r->float_score - r->figures.score < g->max_drop))
		return false;
	return repair_goal_asked(g) && (isnan(g->min_snr) || r->figures.snr_db > g->min_snr);
}
