// Elements of less than 16 bits that C has no type for: integers of 4 bits, floats of 8 and of 4.
#ifndef QTUI_ENGINE_ONNX_NARROW_H
#define QTUI_ENGINE_ONNX_NARROW_H

#include <stddef.h>

// TensorProto.DataType of them; the description of the format that this is built with may be older than they are.
enum {
	NARROW_FLOAT8E4M3FN = 17,
	NARROW_FLOAT8E4M3FNUZ,
	NARROW_FLOAT8E5M2,
	NARROW_FLOAT8E5M2FNUZ,
	NARROW_UINT4,
	NARROW_INT4,
	NARROW_FLOAT4E2M1,
	NARROW_FLOAT8E8M0,
};

// n elements, in the bytes that elements of the engine's type have; those of 4 bits come two a byte, the first in the low bits.
typedef void narrow_fn(void *out, const void *in, size_t n);
narrow_fn narrow_e4m3fn, narrow_e4m3fnuz, narrow_e5m2, narrow_e5m2fnuz, narrow_e8m0, narrow_e2m1; // to float
narrow_fn narrow_int4, narrow_uint4;                                                              // to int8, uint8

#endif
