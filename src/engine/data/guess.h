// Preprocessing that the user did not give: from the model's metadata, else the plainest.
#ifndef QTUI_ENGINE_DATA_GUESS_H
#define QTUI_ENGINE_DATA_GUESS_H

#include "qtui/engine/data.h"

// Fills what is not set in `pre`, and its `guess` and `warn`. `type` is that of the image input: unsigned
// bytes are given as they are, signed ones less 128, both with std 1.
void guess_preprocess(struct preprocess *pre, const struct graph *g, enum dtype type);
// Are mean and std those of pixels of 0..1, as PyTorch writes them? (0 and 1 leave pixels as they are, and may be meant.)
bool preprocess_is_of_unit(const struct preprocess *pre);

#endif
