#define QSPAN_TABLE qspan_avx512
#include "quantizer_body.h"
