// Rows of bytes that Concat joins and Split cuts.
#ifndef QTUI_ENGINE_OPS_MOVEMENT_ROWS_H
#define QTUI_ENGINE_OPS_MOVEMENT_ROWS_H

#include <stddef.h>
#include <stdint.h>

// `rows` pieces of `size` bytes, which begin to_row and from_row bytes apart. They may not overlap.
void rows_copy(char *to, size_t to_row, const char *from, size_t from_row, size_t size, int64_t rows);

// How many rows of that many bytes are moved part by part: short ones stay in the cache until all parts have had their turn. At least 1.
int64_t rows_together(size_t row);

#endif
