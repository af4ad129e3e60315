#if defined(__x86_64__)
#define VBYTES 64
#define PRODUCT_ROWS product_rows_avx512
#include "product_codes_body.h"
#endif
