// Private to coco_pool.c and coco_draw.c: how the matches of many images lie.
#ifndef QTUI_ANALYSIS_TASK_METRIC_COCO_POOL_H
#define QTUI_ANALYSIS_TASK_METRIC_COCO_POOL_H

#include "coco.h"

struct entry { // a match and the image that it is in
	struct coco_match m;
	int image;
};
struct demand { // objects of a class in an image
	int image;
	int truths[COCO_AREAS];
};
struct span {
	int first, n;
};
struct coco_pool {
	int n_classes;
	struct entry *entry;         // by class, then falling score, then image and rank
	struct demand *demand;       // by class, then image
	struct span *found, *wanted; // [n_classes] of entry and demand
	double *recall, *precision;  // scratch: one point for each hit of a class
};
// The mean over 101 recalls of the best precision that is had at that recall or a higher one; 0 where there is none.
double coco_average_precision(const double *recall, const double *precision, int n);

#endif
