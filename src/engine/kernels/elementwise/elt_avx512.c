#define ELT_TABLE elt_avx512
#include "elt_body.h"
