// The inner loops of resampling, compiled for each processor level from resample_body.h. Integers: the same bits
// everywhere.
#ifndef QTUI_ENGINE_DATA_RESAMPLE_ROWS_H
#define QTUI_ENGINE_DATA_RESAMPLE_ROWS_H

#include <stddef.h>
#include <stdint.h>

#define RESAMPLE_BITS 22

// Output i is the sum of weight[i * taps + k] * input[first[i] + k] for k < count[i], in RESAMPLE_BITS of fraction.
struct resample_filter {
	int taps;
	int *first, *count, *weight;
};
struct resample_rows {
	// A row of w pixels from a row of pixels.
	void (*along_x)(uint8_t *out, const uint8_t *in, int w, const struct resample_filter *f);
	// Row y from rows of `stride` bytes; `sum` is scratch for as many.
	void (*along_y)(
	    uint8_t *out, int *sum, const uint8_t *in, size_t stride, int y, const struct resample_filter *f);
};
extern const struct resample_rows resample_plain, resample_avx2; // members NULL where not compiled

#endif
