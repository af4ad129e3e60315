#define STATS_TABLE stats_plain
#include "stats_body.h"
