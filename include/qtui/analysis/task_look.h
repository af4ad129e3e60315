// One sample in the eyes of the task: the truth, what the float network said, what the quantized one says, and what
// changed between them. Immutable and reference-counted.
#ifndef QTUI_ANALYSIS_TASK_LOOK_H
#define QTUI_ANALYSIS_TASK_LOOK_H

#include "qtui/analysis/keypoints.h"
#include "qtui/analysis/rle.h"
#include "qtui/analysis/task.h"

struct task_box { // in pixels of the image
	float x, y, w, h, score; // score 1: a truth
	int class;               // position among the labels' classes
	const struct keypoint *point; // TASK_POSE: the object's, as many as the look has points; TASK_OBB: its corners; NULL: none
	const struct rle *mask;       // TASK_INSTANCE: the object's; NULL: none, or the score is very low
};
enum task_change_kind {
	CHANGE_MISSED,   // the float network found it, the quantized one does not
	CHANGE_APPEARED, // the other way round
	CHANGE_MOVED,    // both found it, with another score or box
	CHANGE_KINDS,
};
const char *task_change_name(enum task_change_kind k);
struct task_change {
	enum task_change_kind kind;
	const char *name;       // of the class
	bool right;             // there is such an object
	struct task_box box[TASK_VARIANTS]; // score 0: there is none
	double iou; // of the two (TASK_POSE: similarity of their keypoints, TASK_INSTANCE: of their masks, TASK_OBB: of their rotated boxes); 0
	            // where there is only one
};
// Of TASK_SEGMENT: a class in the sample, and what became of the picture's pixels.
struct task_region {
	int class;               // position among the labels' classes
	const char *name;
	double iou[TASK_VARIANTS]; // NAN: neither label nor network says the class
	bool labelled;           // is it in the truth?
};
enum task_cell {
	CELL_SAME,   // both networks say the same class, find an object there, or come as close to the truth
	CELL_LOST,   // the float network was right, or closer
	CELL_GAINED, // the quantized one is
	CELL_OTHER,  // neither is
	CELL_KINDS,
};
enum { TASK_LOOK_FIGURES = 6 };
struct task_look {
	atomic_int refs;
	int sample;
	struct key network;     // of the quantized variant
	enum task_kind kind;
	const char *name, *file; // file: NULL when the sample is not from a file
	bool known;             // false: the networks' answers are not there yet
	double least;           // only boxes with a higher score are here

	struct task_box *truth, *box[TASK_VARIANTS];
	int n_truths, n_boxes[TASK_VARIANTS];
	int points;                // of a box
	bool rotated;              // TASK_OBB: the points are corners, and the box is the one around them
	int (*bone)[2], n_bones;   // lines between them
	const char **class_name; // of the class of a box; NULL where none here is of it
	struct task_change *change; // missed ones first, then appeared, then moved; each by falling score
	int n_changes;

	struct task_region *region; // TASK_SEGMENT: those that lost most first
	int n_regions;
	struct task_figure figure[TASK_LOOK_FIGURES]; // TASK_RESTORE, TASK_DEPTH, TASK_AGREE
	int n_figures;
	// enum task_cell of [cells_h, cells_w] that lie over the picture, of TASK_SEGMENT, TASK_INSTANCE and where pictures are
	// made; NULL: not known.
	uint8_t *cell;
	int cells_w, cells_h;

	const char *class;                 // TASK_CLASSIFY, TASK_EMBED: the label's class; TASK_TEXT: its text; TASK_REGRESS: its numbers
	// TASK_CLASSIFY: the class with the highest probability; TASK_TEXT: what was read; TASK_EMBED: the class of the nearest other
	const char *said[TASK_VARIANTS];
	const char *nearest[TASK_VARIANTS]; // TASK_EMBED: the sample that this is
	double sure[TASK_VARIANTS];        // and that probability; how near it comes, 1: that is it
	double value[TASK_VARIANTS];       // as in the report

	// The sample's picture; of TASK_RESTORE and TASK_DEPTH that which the networks should make, of TASK_AGREE none where they make any. w x h,
	// made smaller where it was large; NULL: there is none.
	uint8_t *rgb;
	uint8_t *made[TASK_VARIANTS]; // TASK_RESTORE, TASK_DEPTH, TASK_AGREE: what they make, likewise; NULL: no pictures
	int w, h;
	double scale; // from pixels of the image to those of the picture
	struct arena *memory;
};
// Boxes under `least` do not count as found.
struct task_look *task_look_new(struct task *t, const struct task_net *before, const struct task_net *after, struct key network,
    int sample, double least);
struct task_look *task_look_take(struct task_look *l);
void task_look_drop(struct task_look **l);

#endif
