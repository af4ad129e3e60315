// The commands that prepare samples, study_preprocess and study_samples, in parts. Samples that were not asked for before
// are opened, and every file of them is looked at: a screen has that done in another thread.
#ifndef QTUI_ANALYSIS_PREPARING_H
#define QTUI_ANALYSIS_PREPARING_H

#include <stdbool.h>
#include "qtui/base/error.h"

struct study;
struct preparing; // what a command asks for; its owner frees it
MUST_CHECK enum status preparing_pictures(struct preparing **out, const struct study *s, char **word, int n, struct error *err);
MUST_CHECK enum status preparing_samples(struct preparing **out, const struct study *s, const char *count, struct error *err);
bool preparing_opens(const struct preparing *p); // false: the study has had these samples before
// In any thread, while the study lives.
MUST_CHECK enum status preparing_open(struct preparing *p, struct error *err);
// In the study's thread, behind preparing_open: the step. STATUS_OK with err->text: nothing changed, and why.
MUST_CHECK enum status preparing_end(struct preparing *p, struct study *s, struct error *err);
void preparing_free(struct preparing **p);

#endif
