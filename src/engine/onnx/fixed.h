// Inputs that choose what a model computes, and have one value in all samples: an If that asks one of them is no If.
#ifndef QTUI_ENGINE_ONNX_FIXED_H
#define QTUI_ENGINE_ONNX_FIXED_H

#include "draft.h"

// Puts constants in the place of the inputs that decide the conditions of Ifs, where the caller knows their values.
// *changed: there was one.
MUST_CHECK enum status fixed_inputs(struct draft *d, bool *changed, struct error *err);

#endif
