#define POOL_TABLE pool_avx512
#include "pool_body.h"
