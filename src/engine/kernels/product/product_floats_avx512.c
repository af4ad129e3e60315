#if defined(__x86_64__)
#define VBYTES 64
#define PRODUCT_PANEL_FN product_panel_avx512
#include "product_floats_body.h"
#endif
