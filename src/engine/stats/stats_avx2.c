#define STATS_TABLE stats_avx2
#include "stats_body.h"
