// Whether what was read makes a target: what must be given, and numbers that only together make sense.
#include "target_impl.h"

static enum status check_width(const struct target *t, int i, const char *name, struct error *err)
{
	static const char *const label[] = {"int8", "int16"};
	const struct width *w = &t->width[i];
	if (!w->present || t->kind != TARGET_LINEAR)
		return STATUS_OK;
	if (w->activation < 4 || w->weight < 4 || w->bias < 8)
		return error_set(err, STATUS_FORMAT,
		    "target %s: precision \"%s\" needs \"activation\" and \"weight\" of 4 to 16 and \"bias\" of 8 to 62 bits",
		    name, label[i]);
	if (w->kl_bins < 1 << (w->activation - 1) || w->kl_bins % (1 << (w->activation - 1)) != 0)
		return error_set(err, STATUS_FORMAT, "target %s: \"kl_bins\" of \"%s\" must be a multiple of %d", name, label[i],
		    1 << (w->activation - 1));
	return STATUS_OK;
}

enum status target_validate(const struct target *t, const char *name, struct error *err)
{
	if (!t->name || !t->title)
		return error_set(err, STATUS_FORMAT, "target %s: \"name\" and \"title\" must be given", name);
	if (t->kind == TARGET_LINEAR && !t->width[0].present)
		return error_set(err, STATUS_FORMAT, "target %s: \"precisions\" must describe \"int8\"", name);
	if (t->calibration.percentile <= 0.5 || t->calibration.percentile > 1)
		return error_set(err, STATUS_FORMAT, "target %s: \"percentile\" must be above 0.5 and at most 1", name);
	if (t->bias.headroom != 0 && t->bias.headroom < 1)
		return error_set(err, STATUS_FORMAT, "target %s: \"headroom\" must be at least 1", name);
	enum status st = check_width(t, 0, name, err);
	return st ? st : check_width(t, 1, name, err);
}
