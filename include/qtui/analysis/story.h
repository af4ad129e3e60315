// The story of a loss, in order: how much is lost, where it arises, why, what mends it, what that is expected to
// gain, and what to do next. Read off a finished snapshot, its findings and, where it has run, its blame; batch and
// screen tell the same. Immutable and reference-counted, as the snapshots are that it comes with.
#ifndef QTUI_ANALYSIS_STORY_H
#define QTUI_ANALYSIS_STORY_H

#include "qtui/analysis/findings.h"

enum story_part { STORY_LOSS, STORY_WHERE, STORY_CAUSE, STORY_REMEDY, STORY_GAIN, STORY_NEXT, STORY_PARTS };
const char *story_part_name(enum story_part p); // "loss"
struct story_line {
	enum story_part part;
	int chapter;   // of causes, their remedies and gains: 1, 2 ...; else 0
	char *text;    // a sentence or two
	int node;      // that it is about; -1: none
	int finding;   // whose remedy it is; -1: none
};
struct story {
	atomic_int refs;
	struct story_line *at;
	int n;
};
struct story *story_new(const struct snapshot *s, const struct findings *f);
struct story *story_take(struct story *s);
void story_drop(struct story **s);
struct cJSON *story_json(const struct story *s, const struct graph *g); // the array of a report; the caller deletes it

#endif
