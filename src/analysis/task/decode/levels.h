// The levels 0..255 of a picture that a network makes: its outputs may be 0..1, 0..255, -1..1 or as the input is normalized.
// The pictures that it should make tell which, else its own values.
#ifndef QTUI_ANALYSIS_TASK_DECODE_LEVELS_H
#define QTUI_ANALYSIS_TASK_DECODE_LEVELS_H

#include <pthread.h>
#include "pixels.h"

// The part of a picture that counts.
struct area {
	int x, y, w, h;
};
// The range of a network's outputs: that of all samples, once one has told it beyond doubt.
struct levels_range;
struct levels_range *levels_range_new(const struct preprocess *input);
void levels_range_free(struct levels_range **r);
const char *levels_range_name(const struct levels_range *r); // NULL: not known yet

// The range of `said`, an output, which should have the levels `truth` in the area; truth NULL: what its values look like. May
// be called from any thread; `lock` is over *r.
int levels_range_find(struct levels_range *r, pthread_mutex_t *lock, const struct pixels *p, const struct area *a, const float *said,
    const float *truth);
// Rounded to whole levels, as planes [channels, h, w], NaN as 0. Heap.
float *levels_new(const struct levels_range *r, int range, const struct pixels *p, const float *said);

#endif
