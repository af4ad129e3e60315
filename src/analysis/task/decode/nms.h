// Candidates of a detector and non-maximum suppression among them, in pixels of the network's input.
#ifndef QTUI_ANALYSIS_TASK_DECODE_NMS_H
#define QTUI_ANALYSIS_TASK_DECODE_NMS_H

#include <stddef.h>
#include <stdint.h>

struct candidate {
	float x1, y1, x2, y2, score; // of a rotated box the box around it
	float xx, yy, xy;            // how a rotated box is spread about the same centre (rotated.h); xx 0: it is none
	int class;
	int source, anchor; // where it was found, for what else a decoder knows of it
	int64_t cell;
};
struct candidates {
	struct candidate *at;
	size_t n, cap;
};
void candidates_add(struct candidates *c, const struct candidate *one);
void candidates_done(struct candidates *c);
double candidate_iou(const struct candidate *a, const struct candidate *b); // intersection over union, of two rotated boxes rotated_overlap

// Keeps, in order of falling score (equal scores: as they came), the candidates of each class that overlap no better
// one of that class by more than `iou`, and of these the best `most` of all classes. iou <= 0: nothing is suppressed.
void nms_keep(struct candidates *c, double iou, int most);

#endif
