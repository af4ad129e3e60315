#define STATS_TABLE stats_plain
#define STATS_TWO NULL
#include "stats_body.h"
