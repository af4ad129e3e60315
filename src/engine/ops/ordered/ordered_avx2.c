// The loops for processors with AVX2 and FMA.
#include "ordered_loops.h"

const struct ordered_loops ordered_avx2 = ORDERED_LOOPS;
