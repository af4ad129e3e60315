// Inputs in which a NaN says that a number is missing.
#ifndef QTUI_ENGINE_DATA_MISSING_H
#define QTUI_ENGINE_DATA_MISSING_H

#include "qtui/engine/graph.h"

// Does a node that `value` reaches through casts and moves ask for NaN, to put another number in its place?
bool missing_is_meant(const struct graph *g, int value);

#endif
