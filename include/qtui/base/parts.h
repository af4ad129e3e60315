// Loops whose parts do not depend on each other, shared by OpenMP threads. A loop for one thread, or of one part, runs
// as a plain loop: a parallel region of one thread is a call of the system (0.25 microseconds, on a virtual machine with
// shadow page tables 1.3), and one of several wakes the others for nothing, which takes as long as a layer of a small network.
// Reference kernels and operators that few networks have keep an OpenMP pragma where it reads more simply.
#ifndef QTUI_BASE_PARTS_H
#define QTUI_BASE_PARTS_H

#include <stdint.h>

// Does part i on thread number `thread`, 0 <= thread < width.
typedef void part_fn(void *arg, int64_t i, int thread);

void parts_share(int64_t n, int width, part_fn *fn, void *arg); // for parts that take equally long: neighbours on one thread
void parts_deal(int64_t n, int width, part_fn *fn, void *arg);  // for others: each goes to the thread that is free next

// Does elements at .. at + n - 1.
typedef void piece_fn(void *arg, int64_t at, int64_t n);

// `total` elements, `piece` of them at a time, as parts_share has it; what is left over is the last piece.
void parts_cut(int64_t total, int64_t piece, int width, piece_fn *fn, void *arg);

#endif
