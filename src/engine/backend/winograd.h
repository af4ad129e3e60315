// Convolution by a 3x3 kernel of stride 1 in fewer multiplications: Winograd's F(2x2, 3x3). A tile of 4x4 inputs, transformed by
// additions, meets the transformed kernel (16 numbers, made once) position by position, and the 16 sums over the channels give 2x2 outputs
// by additions again: 16 products where the definition has 36. With factors of 1, 1/2 and 1/4 alone it is as precise as the direct sum.
//
// All terms of a tile share its range: an input x adds up to |x| * 2^-24 to the error of every output of the tiles that it lies in, and an
// infinity makes them NaN.
#ifndef QTUI_ENGINE_BACKEND_WINOGRAD_H
#define QTUI_ENGINE_BACKEND_WINOGRAD_H

#include "../kernels/cpu.h"
#include "kernel_impl.h"

// STATUS_UNSUPPORTED for other kernels, other processors, and where the direct sum is as fast.
MUST_CHECK enum status winograd_conv(struct kernel **out, const struct conv_task *t, struct error *err);

// Private to winograd*.
//
// Tensors are in blocks of 8 or 16 channels, a block being one vector. Transformed inputs stand as [position][block][tile][channel],
// transformed kernels as [position][input channel][output channel], sums as [position][tile][output channel], for a panel of 1 to 3
// blocks of output channels.
enum { WINOGRAD_POSITIONS = 16, WINOGRAD_WIDEST = 3 };

// Tiles side by side are read from four rows of the image; outside of it are zeros.
struct winograd_rows {
	const float *row[4];
	int64_t pixels;
};

// The sums of one position, for all tiles of a chunk and a panel. What is wanted next is sent for meanwhile: a tile has too few products to
// wait for a kernel that comes from memory.
struct winograd_product {
	const float *v;          // inputs: tiles of a block side by side, blocks v_step floats apart
	int64_t v_step;
	const float *now, *next; // kernels of this position and of the next
	int64_t blocks, tiles;
	int width;               // of the panel, in blocks
};

// A row of tiles of one block of outputs. With the bias added, then what the residual's place says and the activation.
struct winograd_output {
	const float *m;
	int64_t m_step, m_tile;  // floats between positions, between tiles
	const float *bias;       // of the block
	float *y[2];             // the outputs of both rows; NULL for a row that the image does not have
	const float *residual[2];
	int64_t pixels;          // of a row; may end in the middle of the last tile
	enum add_kind add;
	enum act_kind act;       // ACT_SWISH, ACT_SIGMOID, or ACT_CLIP to what is between low and high
	float low, high;
};

// What a processor level offers.
struct winograd_loops {
	int lanes; // of a vector: the block of channels that it serves
	enum cpu_level level;
	// A block of outputs' kernels of one input channel, those of an output `from_step` floats after those of the one before; outputs
	// from `outputs` on are zero.
	void (*weights)(float *to, int64_t to_step, const float *from, int64_t from_step, int outputs);
	// `tiles` tiles of one block side by side, the first from pixel x on.
	void (*input)(float *to, int64_t to_step, const struct winograd_rows *from, int64_t x, int64_t tiles);
	void (*product)(float *m, const struct winograd_product *p);
	void (*output)(const struct winograd_output *o);
};
extern const struct winograd_loops winograd_avx2, winograd_avx512;

#endif
