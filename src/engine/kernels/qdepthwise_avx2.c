#define QDW_TABLE qdw_avx2
#include "qdepthwise_body.h"
