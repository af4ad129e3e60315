#define DOT_COLUMNS dot_columns_avx2
#include "dot_columns_body.h"
