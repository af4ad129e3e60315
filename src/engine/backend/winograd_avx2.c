#define WINOGRAD_LOOPS winograd_avx2
#define LEVEL CPU_AVX2
#include "panel_avx2.h"
#include "winograd_body.h"
