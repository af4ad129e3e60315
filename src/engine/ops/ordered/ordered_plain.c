// The loops for any processor.
#include "ordered_loops.h"

const struct ordered_loops ordered_plain = ORDERED_LOOPS;
