// Labels as text, which a classifier picks at its end: outputs of strings are left out.
#ifndef QTUI_ENGINE_ONNX_REWRITE_STRINGS_H
#define QTUI_ENGINE_ONNX_REWRITE_STRINGS_H

#include "onnx.pb-c.h"

// Changes the graph of an unpacked model in place: outputs of strings that are only moved go, and the nodes that move them. If
// there is no other output, what says which are picked becomes one. Tells the user (log). Other strings stay, and are
// refused by name later.
void strings_leave_out(Onnx__ModelProto *m);

#endif
