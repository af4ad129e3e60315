// Another calibrator for all tensors that have no scale of their own by now:
// the one with the least damage, where it saves much.
#include "repair_impl.h"

static const double BETTER = 0.05; // of the damage: all scales change, and those that were found beside the old ones may not fit any more

enum status remedy_calibration(struct fixing *f, struct error *err)
{
	struct repair *r = f->r;
	enum calib_method best = r->now.method;
	double least = r->figures.damage * (1 - BETTER);
	for (enum calib_method m = 0; m < CALIB_COUNT; m++) {
		struct repair_figures now;
		struct trial t = {.edits = r->now.edits, .method = m};
		if (m == r->now.method || !fix_may_go_on(f))
			continue;
		repair_tell(r, (double)m / CALIB_COUNT, "calibration %s", calib_name(m));
		enum status st = repair_estimate(r, &t, &now, err);
		if (st != STATUS_OK)
			return st;
		if (now.damage < least) {
			least = now.damage;
			best = m;
		}
	}
	if (best == r->now.method)
		return STATUS_OK;
	struct candidate c = {.kind = REPAIR_CALIBRATION, .trial = trial_copy(&r->now), .expected = r->figures.damage - least};
	c.trial.method = best;
	candidate_say(r, &c, repair_text(r, "calibration %s", calib_name(best)));
	c.reason = repair_text(r, "the calibrator %s leaves less damage than %s over all tensors.", calib_name(best), calib_name(r->now.method));
	return fix_try(f, &c, NULL, err);
}
