// How like the boxes are that two networks find, and which are not.
#ifndef QTUI_ANALYSIS_TASK_KINDS_AGREE_BOXES_H
#define QTUI_ANALYSIS_TASK_KINDS_AGREE_BOXES_H

#include "detect.h"

struct agree_boxes;
// `decoder` may be NULL. NULL: no decoder fits what is known of the outputs.
struct agree_boxes *agree_boxes_new(const struct graph *g, const char *decoder);
void agree_boxes_free(struct agree_boxes **b);

// Of one sample.
struct boxes_alike {
	double value, weight; // 1 less how far they are apart (boxes_apart), and how much that counts
	struct found_boxes by[TASK_VARIANTS]; // in pixels of the picture, if the sample is one
	struct keypoint *point[TASK_VARIANTS]; // of these boxes; NULL: none
	int points; // keypoints of each
	bool rotated; // which are corners
};
// `where`: how the picture lies in the input; NULL: the sample is none. f and q: all outputs. The value is NAN where the decoder
// does not fit the outputs as they came; the weight is 0 where neither finds any.
void agree_boxes_compare(
    struct boxes_alike *out, const struct agree_boxes *b, const struct tensor *f, const struct tensor *q, const struct placement *where);
size_t boxes_alike_bytes(const struct boxes_alike *a);
void boxes_alike_done(struct boxes_alike *a);
void agree_boxes_look(const struct agree_boxes *b, const struct boxes_alike *a, struct task_look *l);

#endif
