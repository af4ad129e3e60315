// Inputs beside the image that have a customary meaning.
#ifndef QTUI_ENGINE_DATA_CONVENTION_H
#define QTUI_ENGINE_DATA_CONVENTION_H

#include "qtui/engine/graph.h"

// Whether the input has a value by convention; `text` (may be NULL) gets a phrase for the user.
bool convention_known(const struct value *input, const char **text);
// Fills `out` (type and shape set, allocated) for an image input of w x h pixels.
void convention_fill(struct tensor *out, const struct value *input, int w, int h);

#endif
