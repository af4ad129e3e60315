// Private to src/interop: TensorQuantOverrides of ONNX Runtime.
#ifndef QTUI_INTEROP_OVERRIDES_H
#define QTUI_INTEROP_OVERRIDES_H

#include "formats.h"

// {tensor: [{"quant_type", "scale", "zero_point", "convert": {"quant_type", "recv_nodes"}}]} for every tensor that
// is not the tool's plain 8 bit: 16-bit outputs and weights, given scales, and readers of another width.
cJSON *tensor_overrides(const struct decided *d, const struct snapshot *s);
// The member of QuantType that holds the codes of the site.
const char *site_type(const struct site *x);

#endif
