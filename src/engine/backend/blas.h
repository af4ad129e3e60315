// The blas backend's parts (private): OpenBLAS always runs on one thread;
// threads share out pieces of work whose size does not depend on their number, so that the results do not either.
#ifndef QTUI_ENGINE_BACKEND_BLAS_H
#define QTUI_ENGINE_BACKEND_BLAS_H

#include "tiles.h"

MUST_CHECK enum status blas_conv(struct kernel **out, const struct conv_task *t, struct error *err);
MUST_CHECK enum status blas_conv_transpose(struct kernel **out, const struct conv_task *t, struct error *err);

tiles_gemm_fn blas_gemm;

// Around every call of OpenBLAS.
void blas_enter(void);
void blas_leave(void);

#endif
