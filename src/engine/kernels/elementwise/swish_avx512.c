#define VBYTES 64
#define SWISH_LOOP swish_avx512
#include "swish_body.h"
