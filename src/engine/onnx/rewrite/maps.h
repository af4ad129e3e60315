// Maps from labels to numbers, which converters of scikit-learn put behind a classifier: ZipMap of ai.onnx.ml.
#ifndef QTUI_ENGINE_ONNX_REWRITE_MAPS_H
#define QTUI_ENGINE_ONNX_REWRITE_MAPS_H

#include "onnx.pb-c.h"

// Changes the graph of an unpacked model in place: an output of maps becomes the matrix of their values, a row a sample, under
// the same name. Tells the user (log). Maps that something else reads stay, and are refused by name later.
void maps_resolve(Onnx__ModelProto *m);

#endif
