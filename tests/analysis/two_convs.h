// A file with two convolutions of 1x1 and an operator between them, through which factors of channels may pass.
#ifndef TESTS_ANALYSIS_TWO_CONVS_H
#define TESTS_ANALYSIS_TWO_CONVS_H

#include "../engine/onnx_case.h"

struct two_convs {
	const char *between, *file;
	int in, mid, out, side;        // channels, and the input's height and width
	const float *front, *behind;   // weights: [mid][in], [out][mid]
};
// The nodes are "one", "between" and "two". The file's path, heap.
static inline char *two_convs(const struct two_convs *m)
{
	struct onnx_case c;
	case_init(&c);
	case_input(&c, "x", FLOAT, DIMS(1, m->in, m->side, m->side));
	case_floats(&c, "w1", DIMS(m->mid, m->in, 1, 1), m->front);
	case_floats(&c, "w2", DIMS(m->out, m->mid, 1, 1), m->behind);
	case_node(&c, "Conv", "one", "x w1", "h");
	case_node(&c, m->between, "between", "h", "r");
	case_node(&c, "Conv", "two", "r w2", "y");
	case_output(&c, c.graph, "y");
	char *path = xstrdup(case_save(&c, m->file));
	case_done(&c);
	return path;
}

#endif
