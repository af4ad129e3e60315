#define INTERP_TABLE interp_avx2
#include "interp_body.h"
