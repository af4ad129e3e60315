// Names of classes: in the metadata that Ultralytics writes ({0: 'person', 1: 'bicycle'} or ['person', 'bicycle']).
#ifndef QTUI_ANALYSIS_TASK_LABELS_NAMES_H
#define QTUI_ANALYSIS_TASK_LABELS_NAMES_H

#include "qtui/engine/graph.h"

struct names {
	char **at; // [n] NULL where a number has no name
	int n;     // 0: none known
};
void names_parse(struct names *out, const char *text); // text NULL or not understood: n is 0
void names_of_model(struct names *out, const struct graph *g);
// What a model with so many classes that does not name them is likely to call them: COCO's 80, Pascal VOC's 20.
void names_known(struct names *out, int n); // n 0: none
void names_done(struct names *names);
bool names_alike(const char *a, const char *b); // but for capitals, blanks, hyphens and underscores: "dining table", "DiningTable"

#endif
