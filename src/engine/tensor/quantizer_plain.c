#define QSPAN_TABLE qspan_plain
#include "quantizer_body.h"
