// Two convolutions by 1x1 whose weights are known: what the tests of both sets of rules for equalization begin with.
#ifndef TESTS_ENGINE_EQUALIZE_PAIR_H
#define TESTS_ENGINE_EQUALIZE_PAIR_H

#include "equalize_case.h"

enum { IN = 3, MID = 4, OUT = 2 };
static const float front[MID * IN] = {8, 1, -2, 0.5f, 0.25f, 0.125f, 0, 0, 0, 1, -1, 0.5f};
static const float front_bias[MID] = {1, -2, 3, 4};
static const float behind[OUT * MID] = {0.5f, 2, 1, 1, -0.25f, 0.5f, 1, -1};

// The first convolution, "one" from x to h, and the weights w2 of the second.
static inline void begin(struct onnx_case *c)
{
	case_init(c);
	case_input(c, "x", FLOAT, DIMS(1, IN, 2, 2));
	case_floats(c, "w1", DIMS(MID, IN, 1, 1), front);
	case_floats(c, "b1", DIMS(MID), front_bias);
	case_floats(c, "w2", DIMS(OUT, MID, 1, 1), behind);
	case_node(c, "Conv", "one", "x w1 b1", "h");
}

#endif
