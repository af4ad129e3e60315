// Rotated boxes, as networks that look from above find them: four corners in order around the box, kept as an object's keypoints.
#ifndef QTUI_ANALYSIS_TASK_METRIC_ROTATED_H
#define QTUI_ANALYSIS_TASK_METRIC_ROTATED_H

#include "qtui/analysis/keypoints.h"

enum { ROTATED_CORNERS = 4 };
// How the points of a box are spread: their mean, variances and covariance.
struct spread {
	double x, y, xx, yy, xy;
};
// Centre and size in pixels, angle in radians, clockwise on the screen.
void rotated_corners(struct keypoint out[ROTATED_CORNERS], double cx, double cy, double w, double h, double angle);
// Of a parallelogram too, which a rotated box becomes where a picture was stretched; whichever corner is the first.
struct spread rotated_spread(const struct keypoint corner[ROTATED_CORNERS]);
double rotated_area(const struct keypoint corner[ROTATED_CORNERS]);
// ProbIoU, 0..1: one less the Hellinger distance of the normal distributions of these spreads (Llerena et al., Gaussian Bounding
// Boxes and Probabilistic Intersection-over-Union, 2021). By it Ultralytics suppresses rotated boxes and matches them.
double rotated_overlap(const struct spread *a, const struct spread *b);

#endif
