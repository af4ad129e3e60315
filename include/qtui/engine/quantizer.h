// Quantizers: how a tensor becomes codes and back, all in float32:
//   q = clamp(round(x / scale) + zero, qmin, qmax)    x^ = (q - zero) * scale
// Plain data: a quantizer borrows its arrays from the plan (or whoever built it).
#ifndef QTUI_ENGINE_QUANTIZER_H
#define QTUI_ENGINE_QUANTIZER_H

#include <stdbool.h>
#include <stdint.h>
#include "qtui/base/hash.h"
#include "qtui/engine/tensor.h"

enum rounding {
	ROUND_HALF_EVEN, ROUND_HALF_UP, ROUND_HALF_DOWN, ROUND_HALF_TOWARDS_ZERO, ROUND_HALF_FAR_FROM_ZERO, ROUND_UP, ROUND_DOWN,
};
enum quantizer_kind { QUANT_NONE, QUANT_LINEAR, QUANT_FP16, QUANT_BF16 }; // the last two are casts, without scales

struct quantizer {
	enum quantizer_kind kind;
	int bits;                // 8, 16; biases 20, 32, 40
	enum rounding rounding;
	int64_t qmin, qmax;
	bool symmetric, pow2;
	int axis;                // channel axis of scale[]; -1: per tensor
	int n;                   // entries in scale[] and zero[]; 1 per tensor
	const float *scale;
	const int32_t *zero;
};
// The type that holds its codes: DT_I8 or DT_U8 by range for 8 bit, DT_I16/DT_U16, else DT_I32 (DT_I64 past 32 bit).
enum dtype quantizer_dtype(const struct quantizer *q);
struct key quantizer_key(const struct quantizer *q); // zero key for NULL or QUANT_NONE
bool quantizer_equal(const struct quantizer *a, const struct quantizer *b);

// Over whole tensors of any layout (padding of LAYOUT_BLOCK written as `zero` codes and 0.0f). dst is allocated with
// the type that is wanted: codes of quantizer_dtype, or DT_F32 for quantize-then-dequantize. `width` OpenMP threads.
void quantize(struct tensor *codes, const struct tensor *x, const struct quantizer *q, int width);
void dequantize(struct tensor *x, const struct tensor *codes, const struct quantizer *q, int width);
void fake_quantize(struct tensor *dst, const struct tensor *x, const struct quantizer *q, int width); // dst may be x
// The same over n elements anywhere, with a quantizer per tensor; `type` is that of the codes.
void quantize_run(void *codes, enum dtype type, const float *x, int64_t n, const struct quantizer *q);
void dequantize_run(float *x, const void *codes, enum dtype type, int64_t n, const struct quantizer *q);
// Codes of constants, one for each element of x: of weights those of at most 16 bits, a bias of one dimension has a
// scale for each element or one for all.
void codes_of_weights(int16_t *codes, const struct tensor *x, const struct quantizer *q);
void codes_of_bias(int64_t *codes, const struct tensor *x, const struct quantizer *q);
// One value, for tables and tests.
int64_t quantize_one(const struct quantizer *q, int channel, float x);

#endif
