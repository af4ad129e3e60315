#define NORM_ROW norm_row_avx2
#include "norm_body.h"
