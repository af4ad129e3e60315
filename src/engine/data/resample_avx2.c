#ifdef __AVX2__
#define ROWS resample_avx2
#include "resample_body.h"
#else
#include "resample_rows.h"

const struct resample_rows resample_avx2 = {0};
#endif
