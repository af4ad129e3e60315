#define QDW_TABLE qdw_plain
#include "qdepthwise_body.h"
