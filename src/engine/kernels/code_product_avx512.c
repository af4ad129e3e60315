#if defined(__x86_64__)
#define VBYTES 64
#define CODE_ROWS code_rows_avx512
#include "code_product_body.h"
#endif
