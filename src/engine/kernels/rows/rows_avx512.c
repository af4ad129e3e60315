#define ROWS_TABLE rows_avx512
#include "rows_body.h"
