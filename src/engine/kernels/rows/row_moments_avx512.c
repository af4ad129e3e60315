#define VBYTES 64
#include "row_moments_body.h"

const struct row_moments_loops row_moments_avx512 = {of, apply};
