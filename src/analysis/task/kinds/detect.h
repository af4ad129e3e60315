// Private to detect.c, detect_read.c, detect_look.c, and task.c, which asks whether a model has poses.
#ifndef QTUI_ANALYSIS_TASK_KINDS_DETECT_H
#define QTUI_ANALYSIS_TASK_KINDS_DETECT_H

#include "../decode/decode.h"
#include "../task_impl.h"
#include "boxes.h"
#include "boxes_program.h"
#include "qtui/analysis/task_look.h"

struct detect { // the state of a task of this kind
	struct head head;              // as declared
	char *named;                   // decoder that the user wants, or NULL
	const struct decoder *decoder; // NULL: shapes are known when the first sample comes, or `program` reads the boxes
	struct boxes_program *program; // of the user's, in place of a decoder; NULL: none
	double iou;
	int *map, n_map; // model's class -> label's; NULL as long as there is no decoder
	bool ids;        // the model says category ids
	int background;  // scores in front of the classes that are no class
	const char *how;
};
struct detections { // of one image
	struct task_result base;
	struct coco_image image;
	struct task_box *box; // by falling score
	int n;
	struct keypoint *point; // those that boxes point to
	int points; // of each box, or its corners; 0: none are looked at
	bool rotated; // the keypoints are corners
	struct rle *mask; // [masks] those that boxes point to; NULL: none are looked at
	int masks;
};
struct boxes_limits detect_limits(const struct task *t);
struct coco_rule detect_rule(const struct task *t); // what its objects are matched by
int detect_points(const struct task *t); // keypoints or corners that are read of each object
// Does the model find keypoints (TASK_POSE), masks (TASK_INSTANCE) or rotated boxes (TASK_OBB)? `decoder` NULL: with any.
bool detect_finds(const struct graph *g, const struct labels *l, const char *decoder, enum task_kind kind);
bool detect_may_have_masks(const struct graph *g); // before labels are there
bool detect_is_rotated(const struct graph *g);     // by its metadata
// The decoder for outputs of these shapes, and the classes that it gives; the lock is held, or nobody else has the task yet.
MUST_CHECK enum status detect_find_decoder(const struct task *t, struct head *h, struct error *err);
// The decoder has to find what is matched: of poses as many keypoints as the labels have, masks.
MUST_CHECK enum status detect_check_bound(const struct task *t, const struct decoder *d, const struct bound *b, struct error *err);
MUST_CHECK enum status detect_read(struct task *t, int sample, const struct task_said *said, struct task_result **result, struct error *err);
void detect_release(struct task_result *r);
const char *detect_class_name(const struct task *t, int class);
// The pixels of which the two networks do not both say that an object of a class is there.
void detect_look_cells(const struct label *label, int classes, struct task_look *l);
// Copies those of both variants that count. Their classes are to be named in l->class_name before detect_look_changes.
void detect_look_boxes(struct task_look *l, const struct found_boxes *by); // by[TASK_VARIANTS]
// What changed between them; label NULL: nobody knows what is right.
void detect_look_changes(
    struct task_look *l, const struct found_boxes *by, const struct coco_rule *rule, const struct label *label);
struct coco_box detect_image_box(const struct candidate *c, const struct placement *p); // cut at the image's border
struct keypoint detect_image_point(struct keypoint k, const struct placement *p, bool corner); // likewise, but for a corner
void detect_look(struct task *t, const struct looked *at, struct task_look *l);

#endif
