// Whether a session's samples are still those that it was written for.
#include <string.h>
#include "qtui/analysis/preprocess.h"
#include "qtui/analysis/session.h"
#include "qtui/base/json.h"
#include "qtui/base/log.h"
#include "../study/study_impl.h"

// Whoever takes more of them, or prepares them otherwise, knows that they differ.
static bool takes_alike(const struct session *s, const struct study_options *opt)
{
	cJSON *then = preprocess_json(&s->data.pre), *now = preprocess_json(&opt->data.pre);
	bool alike = cJSON_Compare(then, now, true) && s->data.samples == opt->data.samples && !s->data.random && !opt->data.random;
	cJSON_Delete(then);
	cJSON_Delete(now);
	return alike;
}

void session_check_samples(const struct session *s, const struct study *st)
{
	char now[33];
	const struct study_options *opt = study_options(st);
	const char *then = json_text(cJSON_GetObjectItemCaseSensitive(s->root, "calibration"), "fingerprint", NULL);
	if (!then || !takes_alike(s, opt))
		return;
	key_text(all_samples_key(study_first_dataset(st)), now);
	if (strcmp(then, now) != 0)
		log_warn("%s: its figures are of other samples than are in %s now, and are measured anew", s->path, opt->calib);
}
