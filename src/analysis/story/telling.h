// Private to src/analysis: telling the story of a snapshot, figures put into sentences.
#ifndef QTUI_ANALYSIS_TELLING_H
#define QTUI_ANALYSIS_TELLING_H

#include "qtui/analysis/story.h"
#include "../study/study_impl.h"

struct telling {
	const struct snapshot *s;
	const struct findings *f;
	struct story *out;
	size_t cap;
	int chapter, node, finding; // that a line is about, as in story_line
	bool lost;                  // there is a loss to explain
	bool blind;                 // the float network itself does not see what the labels say
	double worst_db;            // of the outputs
	int chief;                  // the node that makes more than half of all noise; -1: none does, or it is not known
};
// Adds a line.
void tell(struct telling *t, enum story_part part, const char *fmt, ...) PRINTF(3, 4);
static inline const char *telling_name(const struct telling *t, int node)
{
	return t->s->g->node[node].name;
}

void tell_where(struct telling *t);
void tell_causes(struct telling *t); // with remedies and gains

#endif
