// Loops whose parts do not depend on each other, by the threads of OpenMP. A loop for one thread, or of one part, is no parallel region:
// that costs a quarter of a microsecond alone and a wake of the others for nothing, as long as a layer of a small network.
#ifndef QTUI_BASE_PARTS_H
#define QTUI_BASE_PARTS_H

#include <stdint.h>

// Part i, by thread 0 <= thread < width.
typedef void part_fn(void *arg, int64_t i, int thread);

void parts_share(int64_t n, int width, part_fn *fn, void *arg); // neighbours to one thread: parts that take equally long
void parts_deal(int64_t n, int width, part_fn *fn, void *arg);  // each to the thread that is free next

#endif
