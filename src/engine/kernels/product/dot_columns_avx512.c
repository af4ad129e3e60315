#if defined(__x86_64__)
#define VBYTES 64
#define DOT_COLUMNS dot_columns_avx512
#include "dot_columns_body.h"
#endif
