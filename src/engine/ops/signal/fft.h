// Discrete Fourier transforms in double: y[k] = sum of x[i] e^(-2 pi sqrt(-1) i k / n),
// with + for `inverse`, which is not divided by n. In steps of the factors of n;
// where one is large, as a convolution of a power of two (Bluestein). Complex numbers are pairs of doubles.
#ifndef QTUI_ENGINE_OPS_SIGNAL_FFT_H
#define QTUI_ENGINE_OPS_SIGNAL_FFT_H

#include <stdbool.h>
#include <stdint.h>
#include "qtui/base/error.h"

struct fft;
MUST_CHECK enum status fft_new(struct fft **out, int64_t n, bool inverse, struct error *err);
void fft_free(struct fft **f);
int64_t fft_room(const struct fft *f); // doubles that fft_run may write to meanwhile
// x is kept; y and x do not overlap.
void fft_run(const struct fft *f, double *y, const double *x, double *room);

#endif
