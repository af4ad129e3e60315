#define CODE_ROWS code_rows_avx2
#include "code_product_body.h"
