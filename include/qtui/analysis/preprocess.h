// How pictures are prepared (struct preprocess, engine/data.h): in the words of options and commands, as sessions
// keep it, and as a key.
#ifndef QTUI_ANALYSIS_PREPROCESS_H
#define QTUI_ANALYSIS_PREPROCESS_H

#include "qtui/engine/data.h"

#define RESIZE_SYNTAX "stretch, letterbox, corner, crop or crop:SHARE with a SHARE above 0 and up to 1"
// Sets p->resize and p->share from "letterbox" or "crop:0.875"; false where it is none of RESIZE_SYNTAX.
bool resize_parse(struct preprocess *p, const char *text);
char *resize_text(const struct preprocess *p); // what resize_parse reads again; heap
// Reads "127.5", one number for all channels, or "123.7,116.3,103.5", one for each of 3 or 4. `divides`: they are
// deviations and must be above 0. STATUS_USAGE for anything else.
MUST_CHECK enum status channels_parse(float out[4], const char *text, bool divides, struct error *err);

struct str;
// Appends what the user gave as options, a blank before each: " --mean 104,117,123 --color bgr".
void preprocess_add(struct str *out, const struct preprocess *p);
struct key preprocess_key(const struct preprocess *p);       // equal keys: equal pixels
struct cJSON *preprocess_json(const struct preprocess *p);   // what the user gave; the caller deletes it
// *out holds only what was given: members that are absent are as if the user had not given them.
MUST_CHECK enum status preprocess_parse(struct preprocess *out, const struct cJSON *j, struct error *err);

// How many samples there are and how pictures are prepared, as far as that is otherwise than the study was opened.
struct way {
	bool prepared;         // pictures as `pre` says
	struct preprocess pre;
	int samples;           // so many; 0: as many as then
};
// As members "preprocess" and "samples" of an object, and back: STATUS_FORMAT names the member.
void way_add(struct cJSON *o, const struct way *w);
MUST_CHECK enum status way_parse(struct way *out, const struct cJSON *o, struct error *err);

#endif
