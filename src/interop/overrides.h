// Private to src/interop: TensorQuantOverrides, which two tools share.
#ifndef QTUI_INTEROP_OVERRIDES_H
#define QTUI_INTEROP_OVERRIDES_H

#include "formats.h"

// {tensor: [{"quant_type", "scale", "zero_point", "convert": {"quant_type", "recv_nodes"}}]} for every tensor that is not the
// tool's plain 8 bit: 16-bit outputs and weights, given scales, and readers of another width.
cJSON *tensor_overrides(const struct decided *d, const struct snapshot *s);

#endif
