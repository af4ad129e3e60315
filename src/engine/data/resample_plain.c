#define ROWS resample_plain
#include "resample_body.h"
