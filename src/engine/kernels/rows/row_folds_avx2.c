#define NAME row_folds_avx2
#include "row_folds_body.h"
