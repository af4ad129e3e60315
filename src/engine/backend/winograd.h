// Convolution by a 3x3 kernel of stride 1 in fewer multiplications: Winograd's F(2x2, 3x3).
// A tile of 4x4 inputs, transformed by additions, meets the transformed kernel (16 numbers, made once)
// position by position, and the 16 sums over the channels give 2x2 outputs by additions again:
// 16 products where the definition has 36. With factors of 1, 1/2 and 1/4 alone it is as precise as the direct sum.
//
// All terms of a tile share its range: an input x adds up to |x| * 2^-24 to the error of every output
// of the tiles that it lies in, and an infinity makes them NaN.
#ifndef QTUI_ENGINE_BACKEND_WINOGRAD_H
#define QTUI_ENGINE_BACKEND_WINOGRAD_H

#include "panel.h"

// STATUS_UNSUPPORTED for other kernels, other processors, and where the direct sum is as fast.
MUST_CHECK enum status winograd_conv(struct kernel **out, const struct conv_task *t, struct error *err);

// Private to winograd*. Transformed inputs stand as [position][block][tile][channel], transformed kernels as
// [panel][position][input channel][output channel], sums as [position][tile][output channel].
enum { WINOGRAD_POSITIONS = 16 };

// Tiles side by side are read from four rows of the image; outside of it are zeros.
struct winograd_rows {
	const float *row[4];
	int64_t pixels;
};

// A row of tiles of one block of outputs. With the bias added, then finished.
struct winograd_output {
	const float *m;
	int64_t m_step, m_tile;  // floats between positions, between tiles
	const float *bias;       // of the block
	float *y[2];             // the outputs of both rows; NULL for a row that the image does not have
	const float *residual[2];
	int64_t pixels;          // of a row; may end in the middle of the last tile
	struct panel_finish finish;
};

// What a processor level offers.
struct winograd_loops {
	int lanes; // of a vector: the block of channels that it serves
	enum cpu_level level;
	// A block of outputs' kernels of one input channel, those of an output `from_step` floats after
	// those of the one before; outputs from `outputs` on are zero.
	void (*weights)(float *to, int64_t to_step, const float *from, int64_t from_step, int outputs);
	// `tiles` tiles of one block side by side, the first from pixel x on.
	void (*input)(float *to, int64_t to_step, const struct winograd_rows *from, int64_t x, int64_t tiles);
	void (*product)(float *m, const struct panel_product *p); // the sums of one position
	void (*output)(const struct winograd_output *o);
};
extern const struct winograd_loops winograd_avx2, winograd_avx512;

#endif
