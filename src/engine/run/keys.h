// Private to src/engine/run: which quantizer acts where under a simulation, and the keys that follow from it.
#ifndef QTUI_ENGINE_RUN_KEYS_H
#define QTUI_ENGINE_RUN_KEYS_H

#include "run_impl.h"

// What runs in the node's place under a simulation, or NULL.
const struct stand_in *stand_in_of(const struct plan *plan, enum sim sim, int node);
const struct quantizer *slot_in_quantizer(const struct plan *plan, enum sim sim, int node, int i);  // NULL: none acts
const struct quantizer *slot_out_quantizer(const struct plan *plan, enum sim sim, int node, int i); // NULL: none acts

// Of what stands for a constant at input i of the node under the simulation.
struct key slot_content(const struct graph *g, const struct plan *plan, enum sim sim, int node, int i);
const struct tensor *slot_constant(const struct graph *g, const struct plan *plan, enum sim sim, int node, int i);

#endif
