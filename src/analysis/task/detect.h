// Private to detect.c, detect_look.c, and task.c, which asks whether a model has poses.
#ifndef QTUI_ANALYSIS_TASK_DETECT_H
#define QTUI_ANALYSIS_TASK_DETECT_H

#include "decode.h"
#include "qtui/analysis/task_look.h"
#include "task_impl.h"

struct detect { // the state of a task of this kind
	struct head head;              // as declared
	char *named;                   // decoder that the user wants, or NULL
	const struct decoder *decoder; // NULL: shapes are known when the first sample comes
	double iou;
	int *map, n_map; // model's class -> label's; NULL as long as there is no decoder
	bool ids;        // the model says category ids
	const char *how;
};
struct detections { // of one image
	struct task_result base;
	struct coco_image image;
	struct task_box *box; // by falling score
	int n;
	struct keypoint *point; // those that boxes point to
	size_t point_bytes;
	int points; // of each box; 0: none are looked at
};
const struct skeleton *detect_poses(const struct task *t); // NULL: the task is of boxes alone
// Does the model find keypoints? `decoder` NULL: with any.
bool detect_has_points(const struct graph *g, const struct labels *l, const char *decoder);
const char *detect_class_name(const struct task *t, int class);
void detect_look(struct task *t, struct task_result *const r[TASK_VARIANTS], struct task_look *l);

#endif
