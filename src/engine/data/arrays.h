// What datasets ask of files that hold arrays (struct arrays of data.h). A large .npy stays mapped and is read row by row.
#ifndef QTUI_ENGINE_DATA_ARRAYS_H
#define QTUI_ENGINE_DATA_ARRAYS_H

#include "qtui/engine/data.h"

bool arrays_is_name(const char *path); // by the extension
// Why an array of the file cannot be read, for when one is missed; NULL: all can.
const struct error *arrays_unread(const struct arrays *a);
// The array's own shape (rank 1 for raw elements).
struct shape arrays_shape(const struct arrays *a, int i);
bool arrays_are_bytes(const struct arrays *a, int i); // without a sign
// The array for input `input` of the model: by name; when no array has the name of an input, by position (an array
// alone: for input `main`). -1 when there is none.
int arrays_find(const struct arrays *a, const struct graph *g, int input, int main);
// How many samples of an input of this shape the array holds: 0 when it does not fit. An array of 8 rows is
// two samples of an input whose batch the file fixes at 4; one with a dimension in front of the input's is a stack of
// samples.
int arrays_rows(const struct arrays *a, int i, const struct shape *input);
// Converts sample `row` to the type of `out`, which has type and shape and is allocated.
// A number that the type does not have (0.5 or 300 as uint8) is STATUS_FORMAT.
MUST_CHECK enum status arrays_copy(
    struct tensor *out, const struct arrays *a, int i, int row, const char *path, struct error *err);

#endif
