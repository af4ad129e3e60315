#define QSPAN_TABLE qspan_avx2
#include "quantizer_body.h"
