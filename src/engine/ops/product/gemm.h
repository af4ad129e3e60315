// The sizes of a Gemm, for the operators that contain one.
#ifndef QTUI_ENGINE_OPS_PRODUCT_GEMM_H
#define QTUI_ENGINE_OPS_PRODUCT_GEMM_H

#include "matmul.h"

// Checks the three operands (c may be NULL) and that c broadcasts to the result.
MUST_CHECK enum status gemm_resolve(struct matmul *t, const struct gemm_attrs *g, const struct tensor *a,
    const struct tensor *b, const struct tensor *c, struct error *err);

#endif
