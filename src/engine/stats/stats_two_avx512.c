// Two comparisons at once: see compare_body.h.
#if defined(__x86_64__)
#define VBYTES 64
#include "compare_body.h"

compare_fn *const stats_two_avx512[DT_COUNT] = COMPARE_LOOPS;
#endif
