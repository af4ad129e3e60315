// Tuned constants: weights and biases that stand in for the graph's own wherever the plan quantizes their node. They
// are values on a grid, and belong to it: under another one (16 bit, float, another target) the graph's own constants
// are used. The grid is the one that the graph's own weight has, so that no scale moves; or, of weights that were read
// from another tool's file, one that they bring with them. Observers and the float network never see them.
#ifndef QTUI_ENGINE_TUNING_H
#define QTUI_ENGINE_TUNING_H

#include "qtui/base/hash.h"
#include "qtui/engine/tensor.h"

struct tuned {
	int node;
	struct key grid;            // of the weight's quantizer; zero: from an equalization, for any grid, to be written to a file
	bool first;                 // the weight is input 0, not 1: an Add or a Mul whose constant comes first
	struct tensor weight, bias; // float32, shaped as the node's inputs; bias (input 2) without data: the graph's own holds
	// Of a grid that is not the plan's: float32 > 0 and int32 codes, one of each for the tensor, or for each channel where
	// the plan has them so. Without data: it is the plan's.
	struct tensor scale, zero;
	struct key weight_key, bias_key;
};
// The tuned constants of some nodes: reference-counted, and immutable once it is shared.
struct tuning;
struct tuning *tuning_new(void);
struct tuning *tuning_take(struct tuning *t); // NULL stays NULL
void tuning_drop(struct tuning **t);
struct tuning *tuning_copy(const struct tuning *t); // of NULL: an empty one. The tensors are shared, the copy may be changed
void tuned_drop(struct tuned *one); // its tensors
// Takes over the tensors; what the node had before is dropped.
void tuning_put(struct tuning *t, const struct tuned *one);
const struct tuned *tuning_of(const struct tuning *t, int node); // NULL: none; t may be NULL
// Input `input` of its node; NULL: the graph's own.
const struct tensor *tuned_input(const struct tuned *t, int input);
int tuning_count(const struct tuning *t);
const struct tuned *tuning_at(const struct tuning *t, int i); // in the order of nodes
struct key tuning_key(const struct tuning *t);                // zero for NULL and for an empty one
enum { TUNING_NAME = 17 };
void tuning_name(const struct tuning *t, char out[TUNING_NAME]); // 16 hexadecimal digits of it

#endif
