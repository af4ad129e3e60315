#define POINTWISE_PANEL pointwise_avx512
#include "panel_avx512.h"
#include "pointwise_body.h"
