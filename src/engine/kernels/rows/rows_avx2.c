#define ROWS_TABLE rows_avx2
#include "rows_body.h"
