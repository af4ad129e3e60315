#define ELT_TABLE elt_avx2
#include "elt_body.h"
