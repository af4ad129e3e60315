#define PRODUCT_ROWS product_rows_avx2
#include "product_codes_body.h"
