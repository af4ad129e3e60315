// 32 registers: 28 sums beside their operands.
#define VBYTES 64
#define MOST_SUMS 28
#define MOST_TILES 14
#define MOST_BY_WIDTH {14, 14, 9}
#define UP_TO_9(of, width) \
	of(1, width) of(2, width) of(3, width) of(4, width) of(5, width) of(6, width) of(7, width) of(8, width) of(9, width)
#define UP_TO_14(of, width) UP_TO_9(of, width) of(10, width) of(11, width) of(12, width) of(13, width) of(14, width)
#define EACH_SIZE(of) UP_TO_14(of, 1) UP_TO_14(of, 2) UP_TO_9(of, 3)
#include "panel_body.h"
