// Operators on codes, as ONNX Runtime's format QOperator has them.
#ifndef QTUI_ENGINE_ONNX_REWRITE_ON_CODES_H
#define QTUI_ENGINE_ONNX_REWRITE_ON_CODES_H

#include "onnx.pb-c.h"

// Each gives way to the operator on floats between pairs: the same network in QDQ form, as far as names go, too. What
// makes T_quantized becomes T (T_QuantizeLinear_Input where the file has a T) and its QuantizeLinear, a node N_quant is
// called N. What moves codes does so between pairs, too.
void on_codes_resolve(Onnx__ModelProto *m);

#endif
