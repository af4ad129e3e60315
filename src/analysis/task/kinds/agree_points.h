// How like the keypoints are that two networks find, of networks that find those of one object.
#ifndef QTUI_ANALYSIS_TASK_KINDS_AGREE_POINTS_H
#define QTUI_ANALYSIS_TASK_KINDS_AGREE_POINTS_H

#include "qtui/engine/graph.h"

struct agree_points;
// `decoder` may be NULL. NULL: the network is none of these, or its shapes are not known before it runs.
struct agree_points *agree_points_new(const struct graph *g, const char *decoder);
void agree_points_free(struct agree_points **p);
// From 0 to 1: the mean similarity of the keypoints (as in OKS, of an object that fills the input), each as important as the
// network that said f is sure of it; NAN where it is sure of none. f and q: all outputs.
double agree_points_similarity(const struct agree_points *p, const struct tensor *f, const struct tensor *q);

#endif
