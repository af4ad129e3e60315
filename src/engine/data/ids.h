// What random data have for inputs of integers that pick rows of tables: words, positions, users.
#ifndef QTUI_ENGINE_DATA_IDS_H
#define QTUI_ENGINE_DATA_IDS_H

#include "qtui/engine/graph.h"

// The rows of the smallest table that Gather or EmbedLayerNormalization picks from by the value, also where it has been
// cast or moved before; 0: it picks from none.
int64_t ids_rows(const struct graph *g, int value);

#endif
