#define NAME row_folds_avx512
#define VBYTES 64
#include "row_folds_body.h"
