#define PRODUCT_PANEL_FN product_panel_avx2
#include "product_floats_body.h"
