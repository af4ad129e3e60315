// 16 registers: 12 sums beside their operands.
#define VBYTES 32
#define MOST_SUMS 12
#define MOST_TILES 12
#define MOST_BY_WIDTH {12, 6, 4}
#define EACH_SIZE(of)                                                                                                  \
	of(1, 1) of(2, 1) of(3, 1) of(4, 1) of(5, 1) of(6, 1) of(7, 1) of(8, 1) of(9, 1) of(10, 1) of(11, 1) of(12, 1) \
	of(1, 2) of(2, 2) of(3, 2) of(4, 2) of(5, 2) of(6, 2) of(1, 3) of(2, 3) of(3, 3) of(4, 3)
#include "panel_body.h"
