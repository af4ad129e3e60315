// What segment.c knows of a sample, and segment_look.c shows.
#ifndef QTUI_ANALYSIS_TASK_KINDS_SEGMENT_H
#define QTUI_ANALYSIS_TASK_KINDS_SEGMENT_H

#include "../task_impl.h"

// Pixels of one class in one sample that have a label.
struct area {
	int32_t labelled, predicted, both;
};
struct segments { // of one sample
	struct task_result base; // value: the mean IoU of the classes that the sample has
	int w, h;                // cells
	struct segment_cell {
		int16_t class;
		bool right;
	} *cell;
	struct area area[]; // of each class
};

double segment_iou(const struct area *a); // NAN: neither mask nor network has the class
bool segment_same_cells(const struct segments *a, const struct segments *b);
const char *segment_class_name(const struct task *t, int c); // NULL where it has none
void segment_look(struct task *t, const struct looked *at, struct task_look *l);

#endif
