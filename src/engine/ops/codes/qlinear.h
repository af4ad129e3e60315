// What the operators on codes share: codes of a tensor stand for (code - zero) * scale, rounded half to even.
#ifndef QTUI_ENGINE_OPS_CODES_QLINEAR_H
#define QTUI_ENGINE_OPS_CODES_QLINEAR_H

#include "../ops.h"
#include "qtui/engine/quantizer.h"

// A quantizer over all codes of `type`; n 1: one scale for the tensor, else one an element along `axis`. Borrows both
// arrays.
struct quantizer qlinear_quantizer(enum dtype type, const float *scale, const int32_t *zero, int n, int axis);

// Inputs must have one element, or `channels` of them when that is not 0; those left out have none to check.
MUST_CHECK enum status qlinear_counts(const struct node *n, const struct tensor *const *in, const int *inputs,
    int n_inputs, int64_t channels, struct error *err);

// Scale and zero point of a whole tensor.
struct qlinear {
	float scale;
	int32_t zero;
};
// From inputs `scale` and `zero` (may be left out: 0), which must have one element each.
MUST_CHECK enum status qlinear_read(
    struct qlinear *q, const struct node *n, const struct tensor *const *in, int scale, int zero, struct error *err);
// Allocates *x, the floats that the codes stand for; the caller drops it.
MUST_CHECK enum status qlinear_decode(
    struct tensor *x, const struct tensor *codes, const struct qlinear *q, int width, struct error *err);
void qlinear_encode(struct tensor *codes, const struct tensor *x, const struct qlinear *q, int width);

// The codes of input `at`, which its scale and its zero point follow, for another scale and zero point.
// Allocates *y; the caller drops it.
MUST_CHECK enum status qlinear_recode(struct tensor *y, const struct node *n, const struct tensor *const *in, int at,
    const struct qlinear *to, int width, struct error *err);

// Codes of an integer tensor minus their zero points, of which element i has number i / run modulo their count (zero
// NULL: 0). The caller frees it; NULL when there is no memory. Unsigned, because sums of products may wrap.
uint32_t *qlinear_centred(const struct tensor *t, const struct tensor *zero, int64_t run);

#endif
