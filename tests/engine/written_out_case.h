// Models with a normalization written out in several nodes, built message by message.
#ifndef TESTS_ENGINE_WRITTEN_OUT_CASE_H
#define TESTS_ENGINE_WRITTEN_OUT_CASE_H

#include <stdio.h>
#include "onnx_case.h"

enum { ROWS = 3, COLUMNS = 4 };

// x -> MatMul "front" -> what the caller adds, which reads "f".
static inline void written_out_begin(struct onnx_case *c)
{
	static const float w[COLUMNS * COLUMNS] = {1, 0, .5f, 0, 0, -1, 0, .25f, 1, 1, 0, 0, 0, 2, 0, 1}, gain[COLUMNS] = {1, 2, .5f, 1};
	case_init(c);
	c->opset.version = 18;
	case_input(c, "x", FLOAT, DIMS(1, ROWS, COLUMNS));
	case_floats(c, "w", DIMS(COLUMNS, COLUMNS), w);
	case_floats(c, "gain", DIMS(COLUMNS), gain);
	case_floats(c, "two", 0, NULL, &(float){2});
	case_floats(c, "three", 0, NULL, &(float){3});
	case_floats(c, "one", 0, NULL, &(float){1});
	case_floats(c, "least", 0, NULL, &(float){1e-5f});
	case_ints(c, "last", 1, (int64_t[]){-1});
	case_ints(c, "middle", 1, (int64_t[]){1});
	case_ints(c, "both", 2, (int64_t[]){1, 2});
	case_ints(c, "shape", 3, (int64_t[]){1, ROWS, COLUMNS});
	case_node(c, "MatMul", "front", "x w", "f");
}

static inline void written_out_squares(struct onnx_case *c, const char *exponent, const char *axes)
{
	char in[32];
	snprintf(in, sizeof in, "f %s", exponent);
	case_node(c, "Pow", "square", in, "s");
	snprintf(in, sizeof in, "s %s", axes);
	case_node(c, "ReduceMean", "mean", in, "m");
}

// As torch writes it: x * (1 / sqrt(mean + e)) * gain.
static inline void written_out_rms(struct onnx_case *c, const char *exponent, const char *axes)
{
	written_out_squares(c, exponent, axes);
	case_node(c, "Add", "epsilon", "m least", "e");
	case_node(c, "Sqrt", "root", "e", "r");
	case_node(c, "Reciprocal", "inverse", "r", "i");
	case_node(c, "Mul", "norm", "f i", "n");
	case_node(c, "Mul", "gained", "gain n", "y");
}

static inline void written_out_layer_norm(struct onnx_case *c, bool gain_first)
{
	case_node(c, "ReduceMean", "mean", "f last", "m");
	case_node(c, "Sub", "difference", "f m", "d");
	case_node(c, "Pow", "square", "d two", "s");
	case_node(c, "ReduceMean", "variance", "s last", "v");
	case_node(c, "Add", "epsilon", "v least", "e");
	case_node(c, "Sqrt", "root", "e", "r");
	case_node(c, "Div", "norm", "d r", "n");
	case_node(c, "Mul", "gained", gain_first ? "gain n" : "n gain", "g");
	case_node(c, "Add", "shifted", "g gain", "y");
}

#endif
