// Elements of less than 16 bits that C has no type for: integers of 4 bits,
// floats of 8 and of 4 (qtui/engine/minifloat.h).
#ifndef QTUI_ENGINE_ONNX_PROTO_NARROW_H
#define QTUI_ENGINE_ONNX_PROTO_NARROW_H

#include <stddef.h>

enum { NARROW_UINT4 = 21, NARROW_INT4 = 22, NARROW_UINT2 = 25, NARROW_INT2 = 26 }; // TensorProto.DataType; those of 2 bits are not read

// n elements, in the bytes that elements of the engine's type have;
// those of 4 bits come two a byte, the first in the low bits.
typedef void narrow_fn(void *out, const void *in, size_t n);
narrow_fn narrow_e4m3fn, narrow_e4m3fnuz, narrow_e5m2, narrow_e5m2fnuz, narrow_e8m0, narrow_e2m1; // to float
narrow_fn narrow_int4, narrow_uint4;                                                              // to int8, uint8

#endif
