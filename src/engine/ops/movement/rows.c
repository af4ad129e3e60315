#include "rows.h"

#include <string.h>

// Elements, and boxes of two and four, are no calls.
void rows_copy(char *to, size_t to_row, const char *from, size_t from_row, size_t size, int64_t rows)
{
#define PIECES(bytes)                                                                                                  \
	case bytes:                                                                                                    \
		for (int64_t r = 0; r < rows; r++)                                                                     \
			memcpy(to + (size_t)r * to_row, from + (size_t)r * from_row, bytes);                           \
		break;
	switch (size) {
		PIECES(1)
		PIECES(2)
		PIECES(4)
		PIECES(8)
		PIECES(16)
	case 0:
		break;
	default:
		for (int64_t r = 0; r < rows; r++)
			memcpy(to + (size_t)r * to_row, from + (size_t)r * from_row, size);
	}
#undef PIECES
}

int64_t rows_together(size_t row)
{
	enum { CACHED = 1 << 13 };
	return row && row < CACHED ? CACHED / (int64_t)row : 1;
}
