// Depthwise integer convolution (private): a vector of channels at a time, in int32 from several
// taps of a column at once where that is exact, else tap by tap in double, exact to 2^53.
// qdepthwise_body.h is compiled once for every processor level.
#ifndef QTUI_ENGINE_KERNELS_INTEGER_QDEPTHWISE_H
#define QTUI_ENGINE_KERNELS_INTEGER_QDEPTHWISE_H

#include "qfast.h"

enum {
	QDW_LANES = 16,    // channels of a vector at the most
	QDW_TOGETHER = 4,  // input rows that a number holds at the most
	QDW_ROUND = 4,     // pixels of a row that are summed at a time
	QDW_ROWS = 2,      // output rows that are made at a time
};

// Output rows of a vector of channels. They see the same numbers, each under weights of its own (`shared`),
// or each its own numbers under the same weights.
struct qdw_band {
	int rows;                // 1 .. QDW_ROWS
	bool shared;
	const char *const *tap;  // [rows, or 1 when shared][n_taps]: what a tap meets for the first pixel
	int64_t n_taps, step;    // bytes from what a pixel meets to what the next one meets
	const void *weight;      // [n_taps][QDW_ROWS when shared, or 1][lanes] numbers
	const void *bias;        // [lanes] sums
};

// An expanded row holds `lanes` numbers a pixel: a double, or pairs of int16 or quads of uint8,
// from the pixel and those below it.
struct qdw_loops {
	int lanes;     // channels of a vector
	size_t size;   // of a number
	int together;  // input rows that a number holds
	// n pixels of numbers from the codes of `together` rows, `step` elements apart,
	// `shift` taken away. NULL: no such loop.
	void (*spread[DT_COUNT])(void *y, const void *const *row, int64_t step, int64_t n, int32_t shift);
	// acc[rows][room][lanes] = bias + sums over taps, for n pixels from pixel `first` on.
	// Reads and writes n rounded up to QDW_ROUND pixels.
	void (*taps)(void *acc, int64_t room, const struct qdw_band *band, int64_t first, int64_t n);
	// taps and finish in one for all n pixels of rows of 8-bit codes:
	// y[row], pixels `step` bytes apart. NULL: no such loop.
	void (*direct)(uint8_t *const y[QDW_ROWS], int64_t step, const struct qdw_band *band, int64_t n, const struct qscaling *s,
	    const float *scale, const float *fbias);
	// The sums as floats; NULL: they are int32.
	void (*to_float)(float *y, const void *acc, int64_t n);
};
struct qdw_table {
	struct qdw_loops narrow, wide;
};
extern const struct qdw_table qdw_plain, qdw_avx2;
extern const struct qdw_loops qdw_vnni; // of 8-bit codes, under weights of 8 bits

#endif
