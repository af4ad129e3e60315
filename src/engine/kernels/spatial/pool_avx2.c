#define POOL_TABLE pool_avx2
#include "pool_body.h"
