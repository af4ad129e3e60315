// Rotary positions: pairs of elements of a head turned by the angles of its position.
#ifndef QTUI_ENGINE_OPS_ATTENTION_ROTARY_H
#define QTUI_ENGINE_OPS_ATTENTION_ROTARY_H

#include <stdbool.h>
#include <stdint.h>

struct rotary_pairs {
	int64_t size, pairs; // elements of a head, of which the first 2 * pairs are turned
	bool interleaved;    // a pair is two neighbours; else its elements lie `pairs` apart
};
// One row of one head; y may be x. cos and sin have `pairs` numbers.
void rotary_turn(float *y, const float *x, const struct rotary_pairs *r, const float *cos, const float *sin);

#endif
