#define WINOGRAD_LOOPS winograd_avx512
#define LEVEL CPU_AVX512
#include "panel_avx512.h"
#include "winograd_body.h"
