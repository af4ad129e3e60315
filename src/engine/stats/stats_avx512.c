#define STATS_TABLE stats_avx512
#define STATS_TWO stats_two_avx512
#include "stats_body.h"
