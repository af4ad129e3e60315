// Boxes that a program of the user's reads out of a detector's outputs, where no decoder does (docs/TASK.md).
#ifndef QTUI_ANALYSIS_TASK_KINDS_BOXES_PROGRAM_H
#define QTUI_ANALYSIS_TASK_KINDS_BOXES_PROGRAM_H

#include "../decode/nms.h"
#include "../labels/labels.h"
#include "program.h"

struct boxes_program;
struct boxes_limits {
	double least; // a score must be more
	double iou;   // at which a box is dropped beside a better one of its class; <= 0: none is
	int most;     // boxes of a sample
};
// map[n]: the labels' class of each that the model numbers, as labels_map makes it. It and the labels must live on.
struct boxes_program *boxes_program_new(const char *command, const struct labels *l, const int *map, int n, const struct boxes_limits *limits);
void boxes_program_free(struct boxes_program **p);
const char *boxes_program_command(const struct boxes_program *p);
struct boxes_reader *boxes_reader_by(struct boxes_program *p); // boxes.h; the program must live on
// The boxes of an answer, which is changed on the way.
MUST_CHECK enum status boxes_program_parse(struct candidates *out, struct boxes_program *p, char *answer, struct error *err);
// The program's answer of a sample: the boxes of classes that the labels have, by falling score, in pixels of the input;
// their classes are those of the labels.
MUST_CHECK enum status boxes_program_read(struct candidates *out, struct boxes_program *p, const struct sample_outputs *of, struct error *err);

#endif
