#define STATS_TABLE stats_avx2
#define STATS_TWO NULL
#include "stats_body.h"
