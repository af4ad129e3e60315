// What a decision costs besides multiply-accumulates: bytes of memory, and conversions of tensors that are made at one
// width and read at another. Counted on a snapshot; tensors without a quantizer count 32 bits an element. Plain data.
#ifndef QTUI_ANALYSIS_TRAFFIC_H
#define QTUI_ANALYSIS_TRAFFIC_H

#include "qtui/analysis/snapshot.h"

enum { TRAFFIC_PHRASE = 160 };
struct traffic {
	double weights, weights_float;           // bytes, quantized and as floats
	double activations, activations_float;   // likewise, of all tensors that are written for one sample (a view writes nothing)
	int conversion[PREC_COUNT][PREC_COUNT];  // [made at][read at] tensors; the network's inputs and outputs are left out
	int conversions;                         // all of them
};
// False: no plan is finished yet.
bool traffic_of(struct traffic *out, const struct snapshot *s);
// "int8 to float 3, float to int8 1"; "none".
const char *traffic_phrase(char out[TRAFFIC_PHRASE], const struct traffic *t);

#endif
