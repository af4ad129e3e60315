#define SWISH_LOOP swish_avx2
#include "swish_body.h"
