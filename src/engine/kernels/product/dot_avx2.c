#define DOT_ROWS dot_rows_avx2
#include "dot_body.h"
