// Names of classes: in the metadata that Ultralytics writes ({0: 'person', 1: 'bicycle'} or ['person', 'bicycle']), or in files.
#ifndef QTUI_ANALYSIS_TASK_LABELS_NAMES_H
#define QTUI_ANALYSIS_TASK_LABELS_NAMES_H

#include "qtui/engine/graph.h"

struct names {
	char **at; // [n] NULL where a number has no name
	int n;     // 0: none known
	bool of_file; // not the model's own: they may change beside it
};
void names_parse(struct names *out, const char *text); // text NULL or not understood: n is 0
void names_of_lines(struct names *out, const char *text);   // a line each, empty ones left out
// Of a file of lines, or of YAML with "names". n is 0 where it names none, or cannot be read, which is warned of.
void names_read(struct names *out, const char *path);
void names_of_model(struct names *out, const struct graph *g); // in MODEL.names beside it, else in its metadata
// Of the numbers in a directory of text files: in a file of lines or in YAML in it, or in one of the two directories around it, as
// labelImg, Label Studio, CVAT, Darknet, Roboflow and Ultralytics put them. *path: heap, the file, if n is not 0.
void names_of_labels(struct names *out, const char *dir, char **path);
// What a model with so many classes that does not name them is likely to call them: COCO's 80, Pascal VOC's 20.
void names_known(struct names *out, int n); // n 0: none
void names_done(struct names *names);
bool names_alike(const char *a, const char *b); // but for capitals, blanks, hyphens and underscores: "dining table", "DiningTable"

#endif
